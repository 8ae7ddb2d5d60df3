#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mutators/analysis/numbers/lane_mask.h"

namespace evo {

// What is known of a number that a thread computes.
enum class Knowledge : std::uint8_t {
  kKnown,     // the number itself
  kElements,  // a linear combination of elements of buffers: the same combination of random numbers, modulo 2^64
  kUnknown,   // neither; also what was never stored
};

// What the threads of a block have for an expression, one value each.
struct LaneValues {
  explicit LaneValues(std::size_t lanes = 0, std::int64_t number = 0, Knowledge knowledge = Knowledge::kKnown)
      : numbers(lanes, number), known(lanes, knowledge) {}

  // Takes the numbers of these lanes from others.
  void Take(const LaneValues& others, const LaneMask& mask) {
    if (parts.size() < others.parts.size()) parts.resize(others.parts.size(), LaneValues(numbers.size(), 0, Knowledge::kUnknown));
    for (std::size_t part = 0; part < parts.size(); ++part) {
      if (part < others.parts.size())
        parts[part].Take(others.parts[part], mask);
      else
        parts[part].Take(LaneValues(numbers.size(), 0, Knowledge::kUnknown), mask);
    }
    for (std::size_t lane = 0; lane < mask.size(); ++lane) {
      if (!mask[lane]) continue;
      numbers[lane] = others.numbers[lane];
      known[lane] = others.known[lane];
    }
  }

  std::vector<std::int64_t> numbers;  // of a pointer, the offset in elements
  std::vector<Knowledge> known;
  int memory = -1;                // what a pointer points into; -1 for other values
  int width = 1;                  // how many elements of it the pointer points to at once, such as 4 for an `int4`
  std::vector<LaneValues> parts;  // of a vector
};

inline LaneValues UnknownLanes(std::size_t lanes) { return LaneValues(lanes, 0, Knowledge::kUnknown); }

}  // namespace evo
