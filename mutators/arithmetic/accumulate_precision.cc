#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"
#include "mutators/source_mutators.h"

namespace evo {
namespace {

bool IsLoop(const SyntaxTree& tree, int node) {
  const std::string& kind = tree.node(node).kind_name;
  return kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt";
}

// Added to in a loop that it is declared outside of.
bool IsAccumulator(const SyntaxTree& tree, int declaration) {
  for (const int node : Subtree(tree, tree.node(declaration).function)) {
    if (tree.Operator(node) != "+=" || NamedDeclaration(tree, tree.node(node).children[0]) != declaration) continue;
    for (int at = tree.node(node).parent; at >= 0; at = tree.node(at).parent) {
      if (IsLoop(tree, at) && !IsWithin(tree, declaration, at)) return true;
    }
  }
  return false;
}

// Whoever takes its value takes any number: no shuffle, whose answer would change its type with it, no template of the file.
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
  std::string_view description() const override { return "sums up in double instead of float, or the other way round"; }
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
