#include "mutators/analysis/thread_runs/thread_run.h"

#include "mutators/analysis/thread_runs/thread_statements.h"

namespace evo {

ThreadTrace ThreadRun::Run(const ThreadSetting& setting) {
  return ThreadStatements(tree_, code_, symbols_, setting).Run(kernel_);
}

}  // namespace evo
