#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/breeder.h"
#include "evaluator/workers/worker_pool.h"

namespace evo {

// Breeds in worker processes, in parallel. The worker's init message carries the templates; a job {"request"} is answered by
// {"child"}.
class BreederPool : public Breeder {
 public:
  explicit BreederPool(WorkerPoolOptions options) : pool_(std::move(options)) {}

  // Throws Error if no worker can be started, or if there is no room for temporary files.
  std::vector<BredChild> Breed(std::vector<BreedRequest> requests, std::stop_token stop) override;

  // What the machine lacks to confine the workers; see UnconfinedIn. Waits until one has started. Throws Error, Interrupted.
  std::set<std::string> Unconfined(const std::stop_token& stop);

  // What kind of kernel a template has, as KernelKind of mutators/ says it. Blocks. Empty if no worker can say it.
  std::string KindOf(const std::string& template_name);

  // The source of a genome. Blocks. Throws Error if the genome cannot be rendered.
  std::string Render(const Genome& genome);

 private:
  void BreedSome(const std::vector<BreedRequest>& requests, const std::vector<std::size_t>& which, const std::stop_token& stop);
  std::vector<std::size_t> LackedRoom() const;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_.
  std::vector<BredChild> children_;
  std::size_t missing_ = 0;  // children without an answer
  WorkerPool pool_;          // last: its threads use the members above
};

}  // namespace evo
