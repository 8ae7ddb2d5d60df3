#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_launch.h"

namespace evo {

// Finds how far away the elements are that each expression of a kernel reads.
class StencilSites {
 public:
  // The arguments must outlive the object. `counters`: those of the loops that stay, of which touches tell. Of the launches, all
  // but `periodic` is set.
  StencilSites(const SyntaxTree& tree, const std::vector<int>& counters, StencilLaunches& launches)
      : tree_(tree), counters_(counters), launches_(launches) {}

  // Adds the expressions that read elements of `buffers`, and sets `lowest`, `highest` and `periodic`, the last in the launches,
  // too. False if the kernel is refused.
  bool AddTo(Stencil& found);
  // Whether an expression read what its offsets say; past an edge the nearest element or the one at the other edge.
  bool Explains(const StencilLaunch& launch, const StencilThread& thread, const ThreadTrace::Touch& touch,
                const Stencil::Site& site) const;
  const std::string& why() const { return why_; }

 private:
  // What an expression read, and how far away that was.
  struct Seen {
    const ThreadTrace::Touch* touch = nullptr;
    StencilPlace away{};
  };

  bool Refuse(std::string why);
  std::vector<Seen> SeenAt(int node, bool inner) const;
  bool IsInLoopOf(int node, int counter) const;
  std::optional<Stencil::Offset> Fit(int node, const std::vector<Seen>& seen, std::size_t axis) const;
  bool FitAll(const std::vector<Seen>& seen, Stencil::Site& site) const;
  StencilPlace OffsetsIn(const Stencil::Site& site, const ThreadTrace::Touch& touch) const;
  void FindPeriodic(const Stencil::Site& site);
  bool AddSite(const Stencil::Site& site, bool is_inner, Stencil& found);

  const SyntaxTree& tree_;
  const std::vector<int>& counters_;
  StencilLaunches& launches_;
  std::string why_;
};

}  // namespace evo
