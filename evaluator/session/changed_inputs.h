#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel_ranges.h"
#include "evaluator/gate/input_generator.h"
#include "evaluator/gate/input_set.h"
#include "evaluator/session/array_statistics.h"
#include "kernel_templates/task.h"

// Contents of arguments that are changed element by element.
namespace evo {

inline bool IsRealInput(const Argument& argument) { return argument.IsDrawn() && IsFloating(argument.dtype); }

// `change(value, dtype, place)` for each real value; values that would leave the dtype's range stay as they were. No two elements
// of a task's arguments have the same place.
template <typename Change>
std::vector<std::byte> Changed(const std::vector<std::byte>& bytes, Dtype dtype, std::uint64_t first, const Change& change) {
  std::vector<std::byte> changed(bytes.size());
  const std::size_t size = ByteSize(dtype);
  ForRanges(bytes.size() / size, [&](const Range& range) {
    const std::size_t count = range.end - range.begin;
    const auto part = std::span(changed).subspan(range.begin * size, count * size);
    std::vector<double> before(count), values(count), after(count);
    LoadDoubles(std::span(bytes).subspan(range.begin * size, count * size), dtype, before);
    for (std::size_t i = 0; i < count; ++i) values[i] = change(before[i], dtype, first + range.begin + i);
    StoreDoubles(values, dtype, part);
    LoadDoubles(part, dtype, after);
    for (std::size_t i = 0; i < count; ++i) values[i] = std::isfinite(after[i]) ? values[i] : before[i];
    StoreDoubles(values, dtype, part);
  });
  return changed;
}

// The same for the real inputs among a task's arguments; the others stay as they are.
template <typename Change>
DrawnArguments Changed(const Task& task, const DrawnArguments& drawn, const Change& change) {
  DrawnArguments changed(drawn.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const Argument& argument = task.arguments[i];
    const std::uint64_t first = static_cast<std::uint64_t>(i) << 40;
    changed[i] = IsRealInput(argument) ? Changed(drawn[i], argument.dtype, first, change) : drawn[i];
  }
  return changed;
}

// Whether every finite value is still finite when changed.
template <typename Change>
bool Fits(const Task& task, const DrawnArguments& drawn, Change change) {
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const Argument& argument = task.arguments[i];
    if (!IsRealInput(argument)) continue;
    const double largest = LargestFinite(ToDoubles(drawn[i], argument.dtype));
    const double changed = change(largest, argument.dtype, 0);
    if (!std::isfinite(ToDoubles(FromDoubles({changed}, argument.dtype), argument.dtype).front())) return false;
  }
  return true;
}

}  // namespace evo
