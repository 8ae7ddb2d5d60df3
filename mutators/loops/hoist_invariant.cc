#include <fmt/format.h>

#include <map>
#include <set>

#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"
#include "mutators/source_mutators.h"

namespace evo {
namespace {

// What may be computed though the loop does not run: integer division traps nowhere on a GPU but is undefined in C++.
bool DividesIntegers(const SyntaxTree& tree, int expression) {
  for (const int node : Subtree(tree, expression)) {
    const std::string_view spelled = tree.Operator(node);
    if (spelled != "/" && spelled != "%") continue;
    const int divisor = tree.node(node).children[1];
    if (tree.node(node).type != "float" && tree.node(node).type != "double" && tree.node(divisor).kind_name != "IntegerLiteral")
      return true;
  }
  return false;
}

// What compilers do not hoist, or not always, because it is long or may trap: calls into the library but the shortest, divisions
// of floating point, products of two variables. Of 68 children by others 65 had their parent's machine code.
bool IsLong(const SyntaxTree& tree, int expression) {
  const auto is_variable = [&](int operand) {
    const int declaration = NamedDeclaration(tree, operand);
    return declaration >= 0 && tree.node(declaration).function >= 0;
  };
  for (const int node : Subtree(tree, expression)) {
    const SyntaxNode& at = tree.node(node);
    const std::string_view callee = LibraryCallee(tree, node);
    if (!callee.empty() && callee != "min" && callee != "max" && callee != "fminf" && callee != "fmaxf") return true;
    if (at.kind_name != "BinaryOperator" || at.children.size() != 2) continue;
    const std::string_view spelled = tree.Operator(node);
    if (spelled == "/" && (at.type == "float" || at.type == "double")) return true;
    if (spelled == "*" && is_variable(at.children[0]) && is_variable(at.children[1])) return true;
  }
  return false;
}

// Of names or calls: an expression of literals alone is the compiler's business.
bool IsWorthIt(const SyntaxTree& tree, int expression) {
  const std::string& kind = tree.node(expression).kind_name;
  if (kind != "BinaryOperator" && kind != "CallExpr" && kind != "ConditionalOperator") return false;
  if (!IsLong(tree, expression)) return false;
  for (const int declaration : NamedIn(tree, expression)) {
    if (!tree.node(declaration).type.starts_with("const ") || tree.node(declaration).function >= 0) return true;
  }
  return false;
}

// What each loop writes, looked up once.
class Loops {
 public:
  explicit Loops(const SyntaxTree& tree) : tree_(tree) {}

  bool IsInvariantIn(int expression, int loop) {
    const auto [known, is_new] = written_.try_emplace(loop);
    if (is_new) known->second = WrittenIn(tree_, loop);
    return IsInvariant(tree_, expression, loop, known->second);
  }

  // The loops round a node within which the expression does not change, the innermost first.
  std::vector<int> ToLeave(int expression) {
    std::vector<int> loops;
    for (int at = tree_.node(expression).parent; at > 0; at = tree_.node(at).parent) {
      const std::string& kind = tree_.node(at).kind_name;
      if (kind == "FunctionDecl" || kind == "FunctionTemplate" || kind == "LambdaExpr") break;
      const auto loop = AsForLoop(tree_, at);
      if (!loop) continue;
      if (!IsInvariantIn(expression, at)) break;
      // What stands in the init runs once as it is.
      if (IsInBlock(tree_, at) && !IsWithin(tree_, expression, loop->init)) loops.push_back(at);
    }
    return loops;
  }

 private:
  const SyntaxTree& tree_;
  std::map<int, std::set<int>> written_;
};

class HoistInvariant : public SourceMutator {
 public:
  std::string_view name() const override { return "hoist_invariant"; }
  std::string_view description() const override {
    return "computes an expression that a loop does not change once, in front of the loop";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    Loops loops(tree);
    const std::string name = FreshName(tree, "invariant");
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      const int node = static_cast<int>(i);
      if (tree.node(node).function < 0 || !IsArithmetic(WithoutConst(tree.node(node).type)) || !IsWorthIt(tree, node)) continue;
      const auto left = loops.ToLeave(node);
      if (left.empty() || DividesIntegers(tree, node)) continue;
      for (const int loop : left) {
        Proposal proposal = Hoist(tree, node, loop, name, loops);
        // One for all the places where the loop has the same expression: that of the first.
        if (proposal.changes.at(1).node == node) proposals.push_back(std::move(proposal));
      }
    }
    return proposals;
  }

 private:
  static Proposal Hoist(const SyntaxTree& tree, int expression, int loop, const std::string& name, Loops& loops) {
    const std::string declaration =
        fmt::format("const {} {} = {};", WithoutConst(tree.node(expression).type), name, tree.Text(expression));
    Proposal proposal;
    proposal.changes.push_back({FirstNode(tree, loop), Placement::kBefore, LineBefore(tree, loop, declaration)});
    // Everywhere in the loop, as a person would.
    for (const int node : Subtree(tree, loop)) {
      const bool same = tree.node(node).kind_name == tree.node(expression).kind_name &&
                        tree.Text(node) == tree.Text(expression) && tree.node(node).type == tree.node(expression).type &&
                        loops.IsInvariantIn(node, loop);
      if (same || node == expression) proposal.changes.push_back({node, Placement::kReplace, name});
    }
    return proposal;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeHoistInvariant() { return std::make_unique<HoistInvariant>(); }

}  // namespace evo
