#include "mutators/breeding/operator_draw.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

namespace evo {
namespace {

// The most operators that are tried for one child: enough for all of them. One that does not apply costs a fraction of a
// millisecond.
constexpr int kOperatorTries = 64;

}  // namespace

void DrawOperators(const BreedRequest& request, Rng& rng, BredChild& child,
                   const std::function<bool(const std::string&)>& apply) {
  auto operators = request.operators;
  std::erase_if(operators, [](const auto& entry) { return entry.second <= 0; });
  std::vector<std::string> inapplicable;
  for (int tries = 0; tries < kOperatorTries && !operators.empty(); ++tries) {
    std::vector<double> weights;
    for (const auto& [name, weight] : operators) weights.push_back(weight);
    const std::size_t drawn = rng.Weighted(weights);
    const std::string op = operators[drawn].first;
    operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(drawn));
    if (apply(op)) {
      child.inapplicable = std::move(inapplicable);
      return;
    }
    inapplicable.push_back(op);
  }
  child.failure =
      fmt::format("no operator applied to {}: tried {}", request.parents.front().template_name, fmt::join(inapplicable, ", "));
  child.inapplicable = std::move(inapplicable);
}

}  // namespace evo
