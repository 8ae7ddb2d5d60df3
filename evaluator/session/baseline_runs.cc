#include "evaluator/session/baseline_runs.h"

#include <exception>

namespace evo {

void BaselineRuns::Start(Announce announce, const std::vector<AvoidedInputs>& avoided) {
  announce_ = std::move(announce);
  avoided_.clear();
  for (const AvoidedInputs& one : avoided) avoided_.try_emplace({one.on.case_name, one.on.inputs}, one.reason);
}

std::optional<std::string> BaselineRuns::Avoided(const Counterexample& on) const {
  const auto found = avoided_.find({on.case_name, on.inputs});
  return found == avoided_.end() ? std::nullopt : std::optional(found->second);
}

BaselineRuns::Running::Running(const BaselineRuns& runs, const Counterexample& on, bool large)
    : runs_(runs), run_{on, true, 0, large}, exceptions_(std::uncaught_exceptions()) {
  runs_.announce_(run_);
}

BaselineRuns::Running::~Running() {
  if (std::uncaught_exceptions() > exceptions_) return;
  run_.of_baseline = false;
  runs_.announce_(run_);
}

}  // namespace evo
