#include "mutators/parallelism/histograms/count_addition.h"

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/parallelism/histograms/block_ranges.h"

namespace evo {

std::optional<CountAddition> AsCountAddition(const SyntaxTree& tree, int call) {
  const auto& parts = tree.node(call).children;
  if (LibraryCallee(tree, call) != "atomicAdd" || parts.size() != 3 || !tree.Text(call).ends_with(';')) return std::nullopt;
  CountAddition found{call, -1, {}, parts[2]};
  const int pointer = WithoutParentheses(tree, parts[1]);
  const auto& operands = tree.node(pointer).children;
  if (tree.Operator(pointer) == "&" && operands.size() == 1) {
    const int element = WithoutParentheses(tree, operands[0]);
    if (tree.node(element).kind_name != "ArraySubscriptExpr") return std::nullopt;
    found.use = tree.node(element).children[0];
    found.bins = {tree.node(element).children[1]};
  } else if (tree.Operator(pointer) == "+" && operands.size() == 2) {
    // `H + a + b`
    int at = pointer;
    for (; tree.Operator(at) == "+" && tree.node(at).children.size() == 2;
         at = WithoutParentheses(tree, tree.node(at).children[0]))
      found.bins.insert(found.bins.begin(), tree.node(at).children[1]);
    found.use = at;
  } else {
    return std::nullopt;
  }
  found.use = WithoutParentheses(tree, found.use);
  return found;
}

bool IsPositiveThere(const SyntaxTree& tree, int addition, int amount) {
  int branch = tree.node(addition).parent;
  while (tree.node(branch).kind_name == "CompoundStmt") branch = tree.node(branch).parent;
  const auto& parts = tree.node(branch).children;
  if (tree.node(branch).kind_name != "IfStmt" || OnlyStatement(tree, parts[1]) != addition) return false;
  const int condition = WithoutParentheses(tree, parts[0]);
  const auto& sides = tree.node(condition).children;
  return tree.Operator(condition) == ">" && SameTokens(tree.Text(sides[0]), tree.Text(amount)) &&
         WholeNumber(tree, sides[1]) == 0;
}

bool IsParameterOfCounts(const SyntaxTree& tree, int use) {
  std::string type = tree.node(use).type;
  if (const std::size_t restricted = type.find("__restrict"); restricted != std::string::npos) type.resize(restricted);
  while (type.ends_with(' ')) type.pop_back();
  const int name = NamedDeclaration(tree, use);
  return name >= 0 && tree.node(name).kind_name == "ParmDecl" &&
         (type == "int *" || type == "unsigned int *" || type == "unsigned long long *" || type == "float *" ||
          type == "double *");
}

bool CountsForItsBlock(const SyntaxTree& tree, int kernel) {
  bool shared = false, others = false;
  for (const int at : Subtree(tree, kernel)) {
    const auto addition = AsCountAddition(tree, at);
    if (!addition) continue;
    const int named = NamedDeclaration(tree, addition->use);
    (named >= 0 && IsShared(tree, named) ? shared : others) = true;
  }
  return shared && !others;
}

}  // namespace evo
