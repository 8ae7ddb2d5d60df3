#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/search_space.h"

namespace evo {

// All assignments of a space that meet its constraints, each once, in a fixed order: the first parameter varies slowest. Takes
// eight bytes for each assignment. A partial assignment that already violates a constraint is pruned, so that the work depends on
// the number of legal assignments rather than on the product of all values.
class Enumeration {
 public:
  // Throws Error if more than kMost assignments are legal, or if a constraint cannot be evaluated.
  explicit Enumeration(const SearchSpace& space);

  // More than a day's work at a hundred evaluations per second.
  static constexpr std::size_t kMost = 10'000'000;

  std::size_t size() const { return codes_.size(); }
  // Precondition: index < size().
  Parameters At(std::size_t index) const;

 private:
  std::vector<Parameter> parameters_;
  std::vector<std::uint64_t> codes_;  // the positions of the values in mixed radix; the last parameter is the lowest digit
};

}  // namespace evo
