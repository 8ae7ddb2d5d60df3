#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/numbers/lane_mask.h"

namespace evo {

// A number for each thread of a group.
struct ThreadNumbers {
  std::vector<double> numbers;
  std::vector<char> known;
  // From which threads' own numbers it was computed: words for each thread, with a bit for each thread, and one more for what
  // stands for a number that is not known. Empty if all of them were constants and indices.
  std::vector<std::uint64_t> of;
};

// Makes such numbers for groups of so many threads.
class GroupNumbers {
 public:
  explicit GroupNumbers(std::size_t lanes) : lanes_(lanes), words_(lanes / 64 + 1) {}
  std::size_t lanes() const { return lanes_; }
  std::size_t words() const { return words_; }

  ThreadNumbers Unknown() const;
  ThreadNumbers Constant(double number) const;
  // Each thread's own.
  ThreadNumbers Own(std::vector<double> numbers) const;
  // The same for all, which only stands for one that is not known.
  ThreadNumbers StandIn(double number) const;
  // What a binary operator, as spelled, makes of numbers of a type.
  ThreadNumbers Combined(const std::string& type, std::string_view spelled, ThreadNumbers a, const ThreadNumbers& b) const;

  // The first ones are also computed from what the others are computed from.
  void Mix(ThreadNumbers& values, const std::vector<std::uint64_t>& of) const;
  // Takes the numbers of some threads.
  void Take(ThreadNumbers& held, const ThreadNumbers& values, const LaneMask& mask) const;
  // Whether any of these threads has computed it from threads' own numbers or from what is not known; or from the latter.
  bool IsOfData(const ThreadNumbers& values, const LaneMask& mask) const;
  bool IsOfStandIn(const ThreadNumbers& values, const LaneMask& mask) const;
  // Whether a thread has computed it from all threads' own numbers.
  bool IsOfAll(const ThreadNumbers& values, std::size_t lane) const;

 private:
  std::size_t lanes_, words_;
};

}  // namespace evo
