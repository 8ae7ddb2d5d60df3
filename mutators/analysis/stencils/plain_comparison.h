#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/analysis/stencils/stencil_by_results.h"
#include "mutators/analysis/stencils/stencil_launch.h"

namespace evo {

// Whether a kernel with one thread an element stores what a stencil's kernel stores: all of it in small launches, some of it in a
// large one and, where the grid has the same number of blocks for all sizes, all of it with more elements than threads along each
// axis.
class PlainComparison {
 public:
  // Of the kernel: its two small launches, what it stores in them, and the sizes that are a few elements there.
  struct Known {
    const Stencil& found;
    const StencilLaunches& launches;
    const std::array<StoredFormulas, 2>& stored;
    const std::set<std::string>& counts;
  };
  // The arguments must outlive the object.
  PlainComparison(const MutationContext& context, FormulaRuns& runs, const Known& known)
      : context_(context), tree_(context.tree), runs_(runs), known_(known) {}

  // `text`: the source with such a kernel.
  bool StoresTheSame(const std::string& text);
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  bool SameSmall(FormulaRuns& plain);
  bool SameLarge(FormulaRuns& plain);
  bool SameWithFewBlocks(FormulaRuns& plain);
  bool ReachesTheEnd(const StencilLaunch& launch, const LaunchRuns::Setting& setting, const StoredFormulas& stored) const;
  LaunchRuns::Sizes LargeSizes() const;
  std::optional<LaunchRuns::Sizes> SizesOfFewBlocks(const LaunchRuns::Setting& few, bool turned) const;
  bool AreSame(const StoredFormulas& stored, const StoredFormulas& others) const;

  const MutationContext& context_;
  const SyntaxTree& tree_;
  FormulaRuns& runs_;
  const Known known_;
  const SyntaxTree* other_ = nullptr;  // that of the plain kernel
  std::string why_;
};

}  // namespace evo
