#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mutators/analysis/block_runs/lane_values.h"

namespace evo {

// What operators, conversions and functions make of the values of a block's threads. Lanes that a mask lacks have any values.

struct LaneResult {
  LaneValues values;
  bool understood = true;
  bool of_data = false;  // some lane computes what is not known from elements of buffers
};

// The types of a binary operator's sides, without const and references.
struct OperandTypes {
  std::string left, right;
};

// A binary operator of numbers, as spelled. Elements may be added and subtracted, and multiplied by known numbers.
LaneResult CombinedNumbers(std::string_view spelled, const LaneValues& a, const LaneValues& b, const OperandTypes& types,
                           const LaneMask& mask);
// The same of values of which one at least is a pointer: what it points to, or how it compares with another or with null.
LaneResult MovedPointers(std::string_view spelled, const LaneValues& a, const LaneValues& b);
// `-`, `+`, `!` or `~` of numbers; the type is the result's.
LaneResult UnaryNumbers(std::string_view spelled, LaneValues values, const std::string& type, const LaneMask& mask);
LaneResult ConvertedLanes(LaneValues values, const std::string& from, const std::string& to, const LaneMask& mask);
// The smaller or the larger of two numbers.
LaneResult ExtremeNumbers(bool largest, LaneValues a, const LaneValues& b, const LaneMask& mask);
// `__shfl_sync` and its kind, by their names. nullopt if lanes or widths are not known, or none that the function takes.
std::optional<LaneValues> ShuffledLanes(std::string_view callee, const LaneValues& values, const LaneValues& by,
                                        const LaneValues& width, const LaneMask& mask);

}  // namespace evo
