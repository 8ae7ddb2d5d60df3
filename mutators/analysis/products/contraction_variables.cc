#include "mutators/analysis/products/contraction_variables.h"

#include <algorithm>

#include "mutators/analysis/source/data_flow.h"

namespace evo {

std::set<int> ContractionVariables::In(int expression) const {
  std::set<int> found, seen;
  Add(expression, found, seen);
  return found;
}

void ContractionVariables::Add(int expression, std::set<int>& found, std::set<int>& seen) const {
  for (const int declaration : NamedIn(tree_, expression)) {
    if (!seen.insert(declaration).second) continue;
    const SyntaxNode& variable = tree_.node(declaration);
    if (IsOne(declaration))
      found.insert(declaration);
    else if (variable.kind_name == "VarDecl" && variable.function >= 0)
      Add(declaration, found, seen);
  }
}

bool ContractionVariables::IsOne(int declaration) const {
  const auto& indices = found_.grid.indices;
  return declaration == found_.k.counter || declaration == found_.grid.flat || declaration == found_.accumulator ||
         std::any_of(indices.begin(), indices.end(), [&](const auto& index) { return index.declaration == declaration; });
}

std::set<int> ContractionVariables::Indices() const {
  return {found_.k.counter, found_.grid.indices[0].declaration, found_.grid.indices[1].declaration};
}

}  // namespace evo
