#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/machine.h"
#include "evaluator/compiler/compiler.h"
#include "evaluator/workers/job_runner.h"

namespace evo {

// A state, and the UUID of the GPU that is in it; empty: it does not say.
struct MeasuredMachine {
  MachineState state;
  std::string uuid;
};

// Measures how fast the devices of the run workers are, by kernels of ours.
class MachineProbe {
 public:
  // `kernels`: MachineCheckSource, compiled. There are `devices` run workers, each with a device of its own called `device_name`.
  MachineProbe(JobRunner& run, CompiledProgram kernels, std::string device_name, int devices)
      : run_(run), kernels_(std::move(kernels)), device_name_(std::move(device_name)), devices_(devices) {}

  // One state for each device, of that moment: "start" or "end" of a run. Throws Error if a device or its timer is not in order,
  // Interrupted after a stop request. Precondition: the run workers are idle, so that each takes one job.
  std::vector<MeasuredMachine> Measure(const std::string& moment, const std::stop_token& stop) const;

 private:
  JobRunner& run_;
  CompiledProgram kernels_;
  std::string device_name_;
  int devices_;
};

}  // namespace evo
