#pragma once

#include <string>

#include "cli/device_choice.h"
#include "cli/executor.h"
#include "evaluator/scheduling/worker_set.h"

namespace evo {

// Where the workers of a run are to be, and how they are started.
struct WorkerPlan {
  DeviceChoice device;
  bool usual = true;          // started by the usual command (UsualWorker)
  LaunchedCommands commands;  // otherwise
};

// `device`: as --device says it. With an executor, the GPUs are elsewhere and are not looked for here. Reads the environment for
// Slurm's and the file of hosts for ssh. Throws UsageError: no allocation, no hosts, a device that cannot be measured there.
WorkerPlan PlanWorkers(const ExecutorOptions& executor, const std::string& device, int compile_workers);

// Sets how the workers are started, and how many there are. `compile_workers`: as asked for; 0: as many as suit.
void Apply(const WorkerPlan& plan, int compile_workers, PipelineOptions& options);

}  // namespace evo
