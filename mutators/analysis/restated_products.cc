#include "mutators/analysis/restated_products.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>

#include "mutators/analysis/contraction.h"
#include "mutators/analysis/product_forms.h"
#include "mutators/analysis/product_restatement.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/thread_block.h"

namespace evo {
namespace {

struct FoundProduct {
  std::optional<std::string> text;
  std::string why;
};

// The source with the kernel in another form in which it is a contraction.
std::optional<std::string> InOtherForm(const MutationContext& context, int kernel) {
  for (const auto form : {WithLateCondition, WithBatchesAlongZ}) {
    const auto text = form(context, kernel);
    const auto tree = text ? context.tree.Reparsed(*text) : nullptr;
    if (!tree) continue;
    const KernelTemplate rendered = ParseTemplate(context.rendered.name, *text);
    const MutationContext other{context.kernel_template, context.genome, *tree, rendered, nullptr};
    for (const int function : Functions(*tree)) {
      if (tree->node(function).name != context.tree.node(kernel).name || !IsKernel(*tree, function)) continue;
      const auto found = AsContraction(other, function);
      const auto* const product = std::get_if<Contraction>(&found);
      // What a sum starts with may be there for elements only that are stored.
      if (product != nullptr && (form != WithLateCondition || product->start < 0)) return text;
    }
  }
  return std::nullopt;
}

// Several operators ask for the same kernels, and it may take seconds.
const FoundProduct& KeptWithTree(const MutationContext& context, int kernel) {
  const std::string key = fmt::format("product of {} with {}{}", kernel, fmt::join(context.genome.parameters, ","),
                                      IsKnownElsewhere(context, kernel) ? ", known" : "");
  return context.tree.Kept<FoundProduct>(key, [&] {
    FoundProduct found;
    found.text = InOtherForm(context, kernel);
    if (!found.text) found.text = RestatedProduct(context, kernel, found.why);
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
