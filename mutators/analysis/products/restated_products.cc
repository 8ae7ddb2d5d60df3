#include "mutators/analysis/products/restated_products.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <utility>
#include <variant>

#include "mutators/analysis/numbers/step_budget.h"
#include "mutators/analysis/products/contraction.h"
#include "mutators/analysis/products/product_forms.h"
#include "mutators/analysis/products/product_restatement.h"
#include "mutators/analysis/products/product_results.h"
#include "mutators/analysis/source/product_store.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_block.h"

namespace evo {
namespace {

struct FoundProduct {
  std::optional<std::string> text;
  bool in_order = true;
  std::string why;
};

using Form = std::optional<std::string> (*)(const MutationContext&, int kernel);

// A source in another form, and the kernel there.
struct Formed {
  std::shared_ptr<const SyntaxTree> tree;
  KernelTemplate rendered;
  int kernel = -1;
  MutationContext In(const MutationContext& context) const {
    return {context.kernel_template, context.genome, *tree, rendered, nullptr, context.product_elsewhere};
  }
};

std::optional<Formed> FormedBy(Form form, const MutationContext& context, int kernel) {
  const auto text = form(context, kernel);
  Formed formed{text ? context.tree.Reparsed(*text) : nullptr, {}};
  if (!formed.tree) return std::nullopt;
  formed.rendered = ParseTemplate(context.rendered.name, *text);
  for (const int function : Functions(*formed.tree)) {
    if (formed.tree->node(function).name == context.tree.node(kernel).name && IsKernel(*formed.tree, function))
      formed.kernel = function;
  }
  return formed.kernel < 0 ? std::nullopt : std::optional(std::move(formed));
}

// The source with the kernel in another form in which it is a contraction.
// What is found there counts, also the reason why it is none.
std::optional<std::string> InOtherForm(const MutationContext& context, int kernel, std::string& why) {
  if (const auto single = FormedBy(WithSingleDeclarations, context, kernel)) {
    const MutationContext other = single->In(context);
    if (std::holds_alternative<Contraction>(AsContraction(other, single->kernel))) return single->tree->text();
    if (auto text = InOtherForm(other, single->kernel, why)) return text;
  }
  if (const auto bytes = FormedBy(WithWordsAsBytes, context, kernel)) {
    const MutationContext other = bytes->In(context);
    if (std::holds_alternative<Contraction>(AsContraction(other, bytes->kernel))) return bytes->tree->text();
    if (auto text = InOtherForm(other, bytes->kernel, why)) return text;
    return RestatedProduct(other, bytes->kernel, why);
  }
  for (const Form form : {WithLateCondition, WithBatchesAlongZ}) {
    const auto formed = FormedBy(form, context, kernel);
    if (!formed) continue;
    const auto found = AsContraction(formed->In(context), formed->kernel);
    const auto* const product = std::get_if<Contraction>(&found);
    // What a sum starts with may be there for elements only that are stored.
    if (product != nullptr && (form != WithLateCondition || product->start < 0)) return formed->tree->text();
  }
  return std::nullopt;
}

// What its launch leaves, where it does not matter how. What has edits has come from a source that was asked without.
void AddByResults(const MutationContext& context, int kernel, FoundProduct& found) {
  if (!context.genome.edits.empty()) return;
  std::string why;
  if (auto product = FindProductByResults(context, kernel, why)) {
    found.text = std::move(product->text);
    found.in_order = product->in_order;
    if (!found.in_order) found.why = "it adds up in another order than that of k";
  } else if (!why.empty()) {
    found.why = why;
  }
}

// Several operators ask for the same kernels, and it may take seconds.
const FoundProduct& KeptWithTree(const MutationContext& context, int kernel) {
  const std::string key = fmt::format("product of {} with {}{}", kernel, fmt::join(context.genome.parameters, ","),
                                      IsKnownElsewhere(context, kernel) ? ", known" : "");
  return context.tree.Kept<FoundProduct>(key, [&] {
    const StepBudget budget;
    FoundProduct found;
    found.text = InOtherForm(context, kernel, found.why);
    if (!found.text && found.why.empty()) found.text = RestatedProduct(context, kernel, found.why);
    if (!found.text && !found.why.empty() && SumsInHalf(context.tree, kernel))
      found.why = "it sums up in half or bfloat16, which rounds after each step";
    if (!found.text) AddByResults(context, kernel, found);
    return found;
  });
}

}  // namespace

static std::optional<std::string> RestatedFrom(const MutationContext& context,
                                               const std::function<void(const std::string&)>& refuse, bool in_order) {
  const SyntaxTree& tree = context.tree;
  for (const int kernel : Functions(tree)) {
    if (!IsKernel(tree, kernel) || std::holds_alternative<Contraction>(AsContraction(context, kernel))) continue;
    const FoundProduct& found = KeptWithTree(context, kernel);
    if (found.text && (found.in_order || !in_order)) return found.text;
    if (!found.why.empty()) refuse(fmt::format("{}: {}", tree.node(kernel).name, found.why));
  }
  return std::nullopt;
}

std::optional<std::string> RestatedProducts(const MutationContext& context,
                                            const std::function<void(const std::string&)>& refuse) {
  return RestatedFrom(context, refuse, true);
}

std::optional<std::string> ReassociatedProducts(const MutationContext& context,
                                                const std::function<void(const std::string&)>& refuse) {
  return RestatedFrom(context, refuse, false);
}

}  // namespace evo
