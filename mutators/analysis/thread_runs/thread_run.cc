#include "mutators/analysis/thread_runs/thread_run.h"

#include <cstdint>

#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/thread_runs/thread_statements.h"

namespace evo {

ThreadTrace ThreadRun::Run(const ThreadSetting& setting) {
  // A block's threads are counted together, since they run in parts (RunBlock).
  if (setting.exchange != nullptr) return ThreadStatements(tree_, code_, symbols_, setting).Run(kernel_);
  ThreadTrace trace;
  if (StepBudget::IsSpent()) {
    trace.refusal = StepBudget::kSpent;
    return trace;
  }
  code_.Limit();
  const std::int64_t before = code_.steps();
  trace = ThreadStatements(tree_, code_, symbols_, setting).Run(kernel_);
  StepBudget::Spend(code_.steps() - before);
  return trace;
}

}  // namespace evo
