#include <algorithm>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/number_place.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// How many other variables are tried in the place of a variable: those declared last before its use.
constexpr std::size_t kMostOthers = 3;

// The names of other variables of the same type that are visible at a node, the nearest declaration first.
std::vector<std::string> Others(const SyntaxTree& tree, int node, int declaration) {
  std::vector<std::string> names;
  const std::string type = WithoutConst(tree.node(declaration).type);
  const SyntaxNode& at = tree.node(node);
  std::vector<int> known;
  for (const int variable : Subtree(tree, at.function)) {
    const SyntaxNode& other = tree.node(variable);
    if (other.range.end > at.range.begin || variable == declaration || WithoutConst(other.type) != type) continue;
    const bool parameter = other.kind_name == "ParmDecl" && other.parent == at.function;
    const bool local = other.kind_name == "VarDecl" && IsWithin(tree, node, tree.node(other.parent).parent);
    if ((parameter || local) && !other.name.empty()) known.push_back(variable);
  }
  for (auto one = known.rbegin(); one != known.rend() && names.size() < kMostOthers; ++one) names.push_back(tree.node(*one).name);
  return names;
}

class ExpressionReplace : public SourceMutator {
 public:
  std::string_view name() const override { return "expression_replace"; }
  bool mostly_wrong() const override { return true; }
  Promise promise() const override { return Promise::kUnproven; }
  std::string_view description() const override {
    return "replaces an expression by another variable of the same type, or by one of its own operands; usually wrong";
  }
  double weight() const override { return 0.1; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      const int node = static_cast<int>(i);
      const SyntaxNode& at = tree.node(node);
      if (at.function < 0 || at.opaque || !IsArithmetic(at.type)) continue;
      if (at.kind_name == "DeclRefExpr" && at.converted && at.refers_to >= 0) {
        // The headers of loops stay, since the loops might never end.
        if (InLoopHead(tree, node) || !MayBeAnyNumber(tree, node)) continue;
        for (const std::string& other : Others(tree, node, at.refers_to))
          proposals.push_back({{{node, Placement::kReplace, other}}, {}, {}});
      }
      if ((at.kind_name == "BinaryOperator" || at.kind_name == "CallExpr") && IsPure(tree, node) && !InLoopHead(tree, node) &&
          MayBeAnyNumber(tree, node)) {
        for (const int part : at.children) {
          const bool same = tree.node(part).type == at.type && tree.node(part).kind_name != "TypeRef";
          if (same) proposals.push_back({{{node, Placement::kReplace, Parenthesised(tree, part)}}, {}, {}});
        }
      }
    }
    return proposals;
  }

 private:
  static bool InLoopHead(const SyntaxTree& tree, int node) {
    for (int at = node; at >= 0; at = tree.node(at).parent) {
      const int parent = tree.node(at).parent;
      if (parent < 0) return false;
      const SyntaxNode& around = tree.node(parent);
      if ((around.kind_name == "ForStmt" || around.kind_name == "WhileStmt") && around.children.back() != at) return true;
      if (around.kind_name == "DoStmt" && around.children.front() != at) return true;
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeExpressionReplace() { return std::make_unique<ExpressionReplace>(); }

}  // namespace evo
