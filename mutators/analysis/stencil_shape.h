#pragma once

#include <set>
#include <string>

#include "mutators/analysis/launch_numbers.h"
#include "mutators/analysis/stencil.h"
#include "mutators/analysis/stencil_launch.h"

namespace evo {

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
  std::set<int> Neighbouring(bool always) const;
  bool Fits(const LaunchNumber& row, const LaunchNumber& plane, bool always, Stencil& found);
  bool FindLengths(Stencil& found);
  bool ReadsOnlyItsOwn(const StencilThread& thread);
  bool FindStores(Stencil& found);
  bool FindReads(Stencil& found);

  const SyntaxTree& tree_;
  const LaunchNumbers& numbers_;
  const std::set<int>& stored_;
  StencilLaunches& launches_;
  std::string why_;
};

}  // namespace evo
