#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "core/evaluation.h"
#include "evaluator/messages/requests.h"
#include "evaluator/session/hard_input_check.h"
#include "evaluator/session/program_checker.h"
#include "evaluator/session/session_context.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// Checks and times one candidate of the search: cheap checks first, then each search case, then further checks while no job
// waits. Precondition: the inputs are placed.
class CandidateEvaluation {
 public:
  CandidateEvaluation(const SessionContext& context, const EvaluateRequest& request, WorkerChannel& channel);

  // Fills in the stage, facts, cases and counterexample of `evaluation`, which has its source digest. The failure that ended it,
  // if any. Throws InfrastructureFailure.
  std::optional<Failure> Run(Evaluation& evaluation, std::chrono::milliseconds reverification_time);

 private:
  void Enter(Stage stage);
  std::vector<Probe> FirstProbes() const;
  std::optional<Failure> CheckFirst(Program& program);
  std::optional<Failure> CheckAndTime(Program& program, CaseOfProgram& one);
  bool IsFastest() const;
  // The failure; the inputs on which it was found are noted in the evaluation.
  std::optional<Failure> Noted(std::optional<Failure> failure, const Probe& probe);

  const SessionContext& context_;
  const EvaluateRequest& request_;
  WorkerChannel& channel_;
  ProgramChecker checker_;
  Gate gate_;
  Evaluation* evaluation_ = nullptr;
};

}  // namespace evo
