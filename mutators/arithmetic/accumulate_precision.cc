#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

bool IsLoop(const SyntaxTree& tree, int node) {
  const std::string& kind = tree.node(node).kind_name;
  return kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt";
}

// Whether some loop adds to a variable that is declared outside of it.
bool IsAccumulator(const SyntaxTree& tree, int declaration) {
  for (const int node : Subtree(tree, tree.node(declaration).function)) {
    if (tree.Operator(node) != "+=" || NamedDeclaration(tree, tree.node(node).children[0]) != declaration) continue;
    for (int at = tree.node(node).parent; at >= 0; at = tree.node(at).parent) {
      if (IsLoop(tree, at) && !IsWithin(tree, declaration, at)) return true;
    }
  }
  return false;
}

// Whether the variable is passed to a function that may depend on its type, such as a shuffle, whose result would change its type
// too, or a template of this file.
bool IsPassedOn(const SyntaxTree& tree, int declaration) {
  for (const int node : Subtree(tree, tree.node(declaration).function)) {
    const SyntaxNode& name = tree.node(node);
    if (name.kind_name != "DeclRefExpr" || name.refers_to != declaration) continue;
    const SyntaxNode& parent = tree.node(name.parent);
    if (parent.kind_name == "CallExpr" && !IsPure(tree, name.parent)) return true;
  }
  return false;
}

class AccumulatePrecision : public SourceMutator {
 public:
  std::string_view name() const override { return "accumulate_precision"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override { return "accumulates a sum in double instead of float, or the reverse"; }
  double weight() const override { return 0.2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int declaration : NodesOfKind(tree, "VarDecl")) {
      const SyntaxNode& variable = tree.node(declaration);
      if ((variable.type != "float" && variable.type != "double") || variable.function < 0) continue;
      const std::string_view text = tree.Text(declaration);
      const bool alone = tree.node(variable.parent).kind_name == "DeclStmt" && tree.node(variable.parent).children.size() == 1;
      if (!alone || !text.starts_with(variable.type + " ") || IsMemoryName(tree, declaration)) continue;
      if (!IsAccumulator(tree, declaration) || IsPassedOn(tree, declaration)) continue;
      const std::string_view other = variable.type == "float" ? "double" : "float";
      proposals.push_back(
          {{{declaration, Placement::kReplace, fmt::format("{}{}", other, text.substr(variable.type.size()))}}, {}, {}});
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeAccumulatePrecision() { return std::make_unique<AccumulatePrecision>(); }

}  // namespace evo
