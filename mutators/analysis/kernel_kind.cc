#include "mutators/analysis/kernel_kind.h"

#include <algorithm>
#include <variant>

#include "mutators/analysis/attention/attention.h"
#include "mutators/analysis/convolutions/convolution.h"
#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/rows/row_kernel.h"
#include "mutators/analysis/source/element_kernel.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

std::string KernelKind(const MutationContext& context) {
  const std::vector<int> functions = Functions(context.tree);
  const auto attends = [&](int function) {
    return IsKernel(context.tree, function) && std::holds_alternative<Attention>(AsAttention(context, function));
  };
  if (std::any_of(functions.begin(), functions.end(), attends)) return "attention";
  const auto convolves = [&](int function) {
    return IsKernel(context.tree, function) && std::holds_alternative<Convolution>(AsConvolution(context, function));
  };
  if (std::any_of(functions.begin(), functions.end(), convolves)) return "convolution";
  const auto contracts = [&](int function) {
    return IsKernel(context.tree, function) && std::holds_alternative<Contraction>(AsContraction(context, function));
  };
  if (std::any_of(functions.begin(), functions.end(), contracts)) return "contraction";
  if (!RowKernels(context).empty()) return "rows";
  const std::vector<ThreadIndex> indices = BlockIndices(context);
  const auto of_elements = [&](const ThreadIndex& index) { return AsElementKernel(context, index).has_value(); };
  return std::any_of(indices.begin(), indices.end(), of_elements) ? "elements" : "";
}

}  // namespace evo
