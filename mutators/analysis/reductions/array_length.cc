#include "mutators/analysis/reductions/array_length.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>

namespace evo {

std::int64_t ArrayLength::With(const LaunchRuns::Sizes& sizes) const {
  std::int64_t length = times;
  for (const std::string& name : names) length *= sizes.at(name);
  return length;
}

std::string ArrayLength::Text() const {
  return fmt::format("{}{}", fmt::join(names, " * "), times > 1 ? fmt::format(" * {}", times) : "");
}

std::optional<ArrayLength> ArrayLengthFor(const LaunchRuns::Sizes& sizes, std::int64_t length) {
  for (std::size_t some = 1; some < (std::size_t{1} << sizes.size()); ++some) {
    ArrayLength found;
    std::size_t at = 0;
    for (const auto& [name, number] : sizes) {
      if ((some >> at++ & 1) != 0) found.names.push_back(name);
    }
    for (const std::int64_t times : {1, 2, 4}) {
      found.times = times;
      if (found.With(sizes) == length) return found;
    }
  }
  return std::nullopt;
}

}  // namespace evo
