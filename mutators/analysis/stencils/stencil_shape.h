#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/analysis/grid_runs/launch_numbers.h"
#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_launch.h"

namespace evo {

// Of what is no stencil, or of one that stores beyond its ends.
inline constexpr std::string_view kNoNeighboursOfStencil = "it reads no neighbours in other rows or planes";

// Of rows of pixels: with how many numbers each.
inline constexpr std::int64_t kNumbersOfPixel = 4;

// Finds how elements of a stencil lie: in rows and planes of which lengths, and which of them are stored and read.
class StencilShape {
 public:
  // The arguments must outlive the object. `stored`: the buffers to which threads store. Of the launches, `setting` and `threads`
  // are set.
  StencilShape(const SyntaxTree& tree, const LaunchNumbers& numbers, const std::set<int>& stored, StencilLaunches& launches)
      : tree_(tree), numbers_(numbers), stored_(stored), launches_(launches) {}

  // Sets the dimensions, lengths, buffers, `stores` and `reads`, and the same in the launches. False if the kernel is refused.
  bool AddTo(Stencil& found);
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  // A buffer that threads read and do not store to.
  struct Reading {
    int buffer = -1;
    std::size_t reads = 0;  // in both launches
    std::size_t far = 0;    // of those seen so far, those that are far away
    bool moved = false;     // whether some are in another row or plane
    bool dropped = false;
  };
  std::vector<Reading> Readings() const;
  std::set<int> Neighbouring(bool always) const;
  std::pair<std::size_t, std::size_t> Distances(const Stencil& found) const;
  bool Fits(const LaunchNumber& row, const LaunchNumber& plane, bool always, Stencil& found);
  bool FindLengths(Stencil& found);
  bool FitsLine(const LaunchNumber& length, Stencil& found);
  std::optional<Stencil::Range> RangeOf(const std::array<StencilBox, 2>& boxes, std::size_t axis) const;
  bool ReadsOnlyItsOwn(const StencilThread& thread);
  bool FindStores(Stencil& found);
  void KeepAlike(const std::map<int, StencilBox>& bounds, Stencil& found) const;
  bool FindReads(Stencil& found);

  const SyntaxTree& tree_;
  const LaunchNumbers& numbers_;
  const std::set<int>& stored_;
  StencilLaunches& launches_;
  std::vector<Reading> readings_;
  bool any_axis_ = false;  // whether neighbours need not be in other rows, or planes
  std::string why_;
};

}  // namespace evo
