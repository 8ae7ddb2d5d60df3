#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evaluator/gate/input_program.h"

namespace evo {

inline constexpr std::size_t kWholeBattery = 72;

// The inputs that every candidate must survive if the baseline does: each hard structure on all real-valued inputs together, the
// hardest on each of them alone, and those of integers on each integer input. The deadliest for reductions come first. At most
// `most` programs: of a longer list, a subset that is spread evenly over it.
std::vector<InputProgram> StandardBattery(const Task& task, const Case& sizes, std::uint64_t seed,
                                          std::size_t most = kWholeBattery);

}  // namespace evo
