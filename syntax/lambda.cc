#include "syntax/lambda.h"

#include <algorithm>
#include <string>

namespace evo {

int LambdaOf(const SyntaxTree& tree, int variable) {
  if (variable < 0 || tree.node(variable).kind_name != "VarDecl" || tree.node(variable).children.empty()) return -1;
  const int value = tree.node(variable).children.back();
  return tree.node(value).kind_name == "LambdaExpr" ? value : -1;
}

bool CapturesTheSame(const SyntaxTree& tree, int lambda) {
  const bool by_reference = tree.Text(lambda).starts_with("[&]");
  const int function = tree.node(lambda).function;
  for (int at = lambda; at < tree.EndOf(lambda); ++at) {
    const int captured = tree.node(at).refers_to;
    if (captured < 0 || tree.node(captured).function < 0 || (captured >= lambda && captured < tree.EndOf(lambda))) continue;
    const auto& uses = tree.UsesOf(captured);
    // What is captured is a child of the lambda, too.
    const auto reads = [&](int use) {
      return tree.node(use).converted || tree.node(tree.node(use).parent).kind_name == "LambdaExpr";
    };
    if (!by_reference && !std::all_of(uses.begin(), uses.end(), reads)) return false;
    for (int other = function; other < tree.EndOf(function); ++other) {
      const std::string& kind = tree.node(other).kind_name;
      const bool declares = kind == "VarDecl" || kind == "ParmDecl";
      if (declares && other != captured && tree.node(other).name == tree.node(captured).name) return false;
    }
  }
  return true;
}

}  // namespace evo
