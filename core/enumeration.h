#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/search_space.h"

namespace evo {

// Every assignment of a space that meets its constraints, each once, in a fixed order: the first parameter varies slowest. Keeps
// eight bytes for each. Half-made assignments that no further value can save are left out with all that begin like them, so that
// the work goes with what is legal rather than with the product of all values.
class Enumeration {
 public:
  // Throws Error if more than kMost are legal or if a constraint cannot be evaluated.
  explicit Enumeration(const SearchSpace& space);

  // More than a day's work at a hundred a second.
  static constexpr std::size_t kMost = 10'000'000;

  std::size_t size() const { return codes_.size(); }
  // Precondition: index < size().
  Parameters At(std::size_t index) const;

 private:
  std::vector<Parameter> parameters_;
  std::vector<std::uint64_t> codes_;  // mixed radix: the places of the values, the last parameter's lowest
};

}  // namespace evo
