#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/machine.h"
#include "evaluator/gate/program.h"

namespace evo {

// Our own kernels whose amount of work is known, for a GPU of that architecture. The best rates are measured with them. Some are
// controls: they reveal a timer or a machine that cannot tell fast from slow, before it judges a candidate.
std::string MachineCheckSource(const std::string& arch);
std::vector<std::string> MachineCheckKernels(const std::string& arch);

// Runs these kernels and fills in a MachineState except its moment. Takes a few milliseconds of device time and up to half a
// gigabyte of device memory. The failure kNoisy says that the controls came out in the wrong order or proportion.
std::variant<MachineState, Failure> MeasureMachine(Device& device, LoadedProgram& program);

}  // namespace evo
