#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "core/breeder.h"
#include "evaluator/workers/worker_pool.h"

namespace evo {

// Breeds in worker processes, beside the evaluation. The worker's init message carries the templates; a job {"request"} is
// answered
// {"child"}.
class BreederPool : public Breeder {
 public:
  explicit BreederPool(WorkerPoolOptions options) : pool_(std::move(options)) {}

  void Start(std::vector<BreedRequest> requests) override;
  // Throws Error if workers cannot be started at all.
  std::vector<BredChild> Finish(std::stop_token stop) override;

  // A genome's source: one request, waited for. Throws Error if it cannot be rendered.
  std::string Render(const Genome& genome);

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<BredChild> children_;
  std::size_t missing_ = 0;
  WorkerPool pool_;  // last: its threads use the members above
};

}  // namespace evo
