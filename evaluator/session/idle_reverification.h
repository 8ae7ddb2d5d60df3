#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/evaluation.h"
#include "evaluator/session/program_checker.h"
#include "evaluator/session/session_context.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// Further checks of a candidate while no job waits for its device: they find races that rarely lose, and answers that are right
// for known inputs only.
class IdleReverification {
 public:
  // Ends after `most`, since the search waits for the result.
  IdleReverification(const SessionContext& context, std::chrono::milliseconds most) : context_(context), most_(most) {}

  // Draws inputs that no candidate has met; they follow from the candidate's text and the run's seeds. To be called before the
  // candidate is loaded: its code is not there when the answer is computed. Throws InfrastructureFailure.
  void Draw(const std::string& source_digest);
  bool drawn() const { return fresh_ != nullptr; }

  // Checks the program on the drawn inputs, then on all others again and again until a job waits or the time is up. Counts the
  // runs in `evaluation`, and notes there on which inputs a check failed. Precondition: drawn().
  std::optional<Failure> Run(Evaluation& evaluation, Program& program, Gate& gate, WorkerChannel& channel);

 private:
  std::vector<Probe> Probes() const;
  std::optional<Failure> SearchCounterexample(Evaluation& evaluation, Program& program, Gate& gate,
                                              const std::function<bool()>& stop);

  const SessionContext& context_;
  std::chrono::milliseconds most_;
  std::unique_ptr<InputSet> fresh_;
  int generator_ = 0;
  std::uint64_t seed_ = 0;
};

}  // namespace evo
