#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/machine.h"
#include "evaluator/gate/program.h"

namespace evo {

// Kernels of ours whose work is known, for a GPU of that architecture: what the best rates are taken from, and controls by which
// a timer or a machine that cannot tell fast from slow is found out before it judges a candidate.
std::string MachineCheckSource(const std::string& arch);
std::vector<std::string> MachineCheckKernels(const std::string& arch);

// Runs them, loaded from that source, and fills in all of a MachineState but its moment. A few milliseconds of device time; up to
// half a gigabyte of its memory meanwhile. A failure (kNoisy) says that the controls come out in the wrong order or proportion.
std::variant<MachineState, Failure> MeasureMachine(Device& device, LoadedProgram& program);

}  // namespace evo
