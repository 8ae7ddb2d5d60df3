#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/evaluation.h"
#include "core/part_times.h"
#include "evaluator/messages/requests.h"
#include "evaluator/session/hard_input_check.h"
#include "evaluator/session/program_checker.h"
#include "evaluator/session/session_context.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// Checks a champion candidate on cases that the search never sees, times it interleaved with the baseline, on data that repeats
// and on data that it has not seen, and looks for inputs on which it is slower. Precondition: the inputs are placed.
class HeldOutCheck {
 public:
  // `times` takes the parts of the check. All references outlive this.
  HeldOutCheck(const SessionContext& context, const ChampionRequest& request, WorkerChannel& channel, PartTimes& times);

  // Fills in the cases, tools and measurements of `check`. The failure that ended it, if any. Throws InfrastructureFailure.
  std::optional<Failure> Run(ChampionCheck& check);

 private:
  std::optional<Failure> CheckHeldOut(ChampionCheck& check, Program& program);
  // Sizes and inputs that the task does not list, and a search for counter-examples.
  std::optional<Failure> CheckInputs(ChampionCheck& check, Program& program);
  std::optional<Failure> CheckHardInputs(HardInputCheck& hard);
  std::optional<Failure> CheckOtherSizes(HardInputCheck& hard);
  std::optional<Failure> SearchInputs(HardInputCheck& hard);
  // Begins a part for the deadline and for the times. Gives what begins it again, for the deadline alone.
  std::function<void()> BeginPart(const std::string& part);
  std::optional<Failure> CheckTimedSets(CasesOfProgram& cases);
  std::optional<Failure> Compare(ChampionCheck& check, CasesOfProgram& candidate, CasesOfProgram& baseline);
  std::optional<Failure> CompareOnFreshData(ChampionCheck& check, CasesOfProgram& candidate, CasesOfProgram& baseline);
  std::optional<Failure> CheckBlocks(ChampionCheck& check);

  const SessionContext& context_;
  const ChampionRequest& request_;
  WorkerChannel& channel_;
  PartTimes& times_;
  ProgramChecker checker_;
  Gate gate_;
};

}  // namespace evo
