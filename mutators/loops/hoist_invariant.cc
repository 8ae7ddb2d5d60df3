#include <fmt/format.h>

#include <map>
#include <set>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// Whether an expression divides integers. It must not be computed if the loop has no iterations: division by zero does not trap
// on a GPU but is undefined in C++.
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

// Whether an expression is one that compilers do not always hoist: it contains a library call other than min and max, a division
// of floating-point numbers, or a product of two variables. Of 68 children that hoisted other expressions, 65 had their parent's
// machine code.
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

// Whether hoisting an expression is worth a try. Expressions of constants alone are left to the compiler.
bool IsWorthIt(const SyntaxTree& tree, int expression) {
  const std::string& kind = tree.node(expression).kind_name;
  if (kind != "BinaryOperator" && kind != "CallExpr" && kind != "ConditionalOperator") return false;
  if (!IsLong(tree, expression)) return false;
  for (const int declaration : NamedIn(tree, expression)) {
    if (!tree.node(declaration).type.starts_with("const ") || tree.node(declaration).function >= 0) return true;
  }
  return false;
}

// Remembers what each loop writes.
class Loops {
 public:
  explicit Loops(const SyntaxTree& tree) : tree_(tree) {}

  bool IsInvariantIn(int expression, int loop) {
    const auto [known, is_new] = written_.try_emplace(loop);
    if (is_new) known->second = WrittenIn(tree_, loop);
    return IsInvariant(tree_, expression, loop, known->second);
  }

  // The loops around an expression in which its value does not change, innermost first.
  std::vector<int> ToLeave(int expression) {
    std::vector<int> loops;
    for (int at = tree_.node(expression).parent; at > 0; at = tree_.node(at).parent) {
      const std::string& kind = tree_.node(at).kind_name;
      if (kind == "FunctionDecl" || kind == "FunctionTemplate" || kind == "LambdaExpr") break;
      const auto loop = AsForLoop(tree_, at);
      if (!loop) continue;
      if (!IsInvariantIn(expression, at)) break;
      // The init of a loop is executed only once anyway.
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
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override { return "computes a loop-invariant expression once, before the loop"; }

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
        // If the loop contains the expression several times, only its first occurrence makes a proposal.
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
    // Replaces every occurrence in the loop, as a person would.
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
