#include "mutators/analysis/restated_products.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>

#include "mutators/analysis/contraction.h"
#include "mutators/analysis/product_restatement.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/thread_block.h"

namespace evo {
namespace {

struct FoundProduct {
  std::optional<std::string> text;
  std::string why;
};

// Several operators ask for the same kernels, and it may take seconds.
const FoundProduct& KeptWithTree(const MutationContext& context, int kernel) {
  const std::string key = fmt::format("product of {} with {}{}", kernel, fmt::join(context.genome.parameters, ","),
                                      IsKnownElsewhere(context, kernel) ? ", known" : "");
  return context.tree.Kept<FoundProduct>(key, [&] {
    FoundProduct found;
    found.text = RestatedProduct(context, kernel, found.why);
    return found;
  });
}

}  // namespace

std::optional<std::string> RestatedProducts(const MutationContext& context,
                                            const std::function<void(const std::string&)>& refuse) {
  const SyntaxTree& tree = context.tree;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel) || std::holds_alternative<Contraction>(AsContraction(context, kernel))) continue;
    const FoundProduct& found = KeptWithTree(context, kernel);
    if (found.text) return found.text;
    if (!found.why.empty()) refuse(fmt::format("{}: {}", tree.node(kernel).name, found.why));
  }
  return std::nullopt;
}

}  // namespace evo
