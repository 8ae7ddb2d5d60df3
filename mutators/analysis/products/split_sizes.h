#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel_templates/kernel_template.h"
#include "mutators/mutator.h"

namespace evo {

// A source one of whose launch lines passes a size several times, as of square matrices, with another size for each: what its
// kernel leaves then, it leaves for equal sizes, too.
struct WithSplitSizes {
  std::shared_ptr<const SyntaxTree> tree;
  KernelTemplate rendered;
  std::map<std::string, std::string> sizes;  // what the new sizes are in the source

  MutationContext In(const MutationContext& context) const;
  // A text made of this source, with the source's own sizes.
  std::string WithOwnSizes(std::string text) const;
};

// Each axis of the grid goes along one of the new sizes: the ways in which products have them. Empty if no size is passed twice.
std::vector<WithSplitSizes> SplitSizes(const MutationContext& context, int kernel, const LaunchDirective& launch);

}  // namespace evo
