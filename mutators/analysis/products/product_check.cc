#include "mutators/analysis/products/product_check.h"

#include <cmath>
#include <cstdint>
#include <map>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/source/product_store.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {

bool StoresTheSame(const MutationContext& context, int kernel, const ProductFinder& product, const std::string& text) {
  const auto tree = context.tree.Reparsed(text);
  if (!tree) return false;
  const KernelTemplate rendered = ParseTemplate(context.rendered.name, text);
  const MutationContext restated{context.kernel_template, context.genome, *tree, rendered, nullptr};
  const LaunchDirective* const launch = OnlyLaunch(rendered, context.tree.node(kernel).name);
  if (launch == nullptr || tree->node(product.output()).name != context.tree.node(product.output()).name) return false;
  LaunchRuns runs(restated, *launch, kernel, -1, {});
  if (product.of_integers()) runs.TellSums();
  runs.given().words = IsOfWords(context.tree, kernel);
  for (const std::size_t number : {0u, 1u}) {
    const ProductLaunch& expected = product.launch(number);
    const auto setting = runs.SettingOf(expected.sizes);
    if (!setting) return false;
    std::map<std::int64_t, double> stored;
    for (std::int64_t thread = 0; thread < setting->Threads(); ++thread) {
      const ThreadTrace trace = runs.Run(*setting, thread);
      if (!trace.refusal.empty()) return false;
      for (const auto& [buffer, elements] : trace.stores) {
        if (buffer != product.output()) return false;
        for (const auto& [element, access] : elements) stored[element] = access.value;
      }
    }
    if (stored.size() != expected.sums.size() + expected.of_others.size()) return false;
    for (const auto* sums : {&expected.sums, &expected.of_others}) {
      for (const ProductSum& sum : *sums) {
        const auto at = stored.find(sum.element);
        if (at == stored.end() || !(std::abs(at->second - sum.stored) <= 1e-9 * (1 + std::abs(sum.stored)))) return false;
      }
    }
  }
  return true;
}

}  // namespace evo
