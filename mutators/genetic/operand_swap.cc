#include <fmt/format.h>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

bool IsSum(std::string_view spelled) { return spelled == "+" || spelled == "-"; }
bool IsProduct(std::string_view spelled) { return spelled == "*" || spelled == "/" || spelled == "%"; }

// Whether a node is an operation `a op b` on numbers without side effects, spelled out rather than in a macro.
bool IsOperation(const SyntaxTree& tree, int node) {
  const SyntaxNode& at = tree.node(node);
  return at.kind_name == "BinaryOperator" && at.children.size() == 2 && IsArithmetic(at.type) && IsPure(tree, node) && !at.opaque;
}

// The text of an operand to the right of an operator, in parentheses if it is an operation of the same precedence.
std::string OnTheRight(const SyntaxTree& tree, int operand, std::string_view spelled) {
  const std::string_view own = tree.node(operand).kind_name == "BinaryOperator" ? tree.Operator(operand) : std::string_view();
  const std::string text(tree.Text(operand));
  const bool same_rank = IsSum(spelled) ? IsSum(own) : IsProduct(own);
  return same_rank && text.front() != '(' ? fmt::format("({})", text) : text;
}

// Without conversions: `x * count / all` divides a real number, and `count / all` would divide integers.
std::string OwnType(const SyntaxTree& tree, int operand) {
  operand = WithoutParentheses(tree, operand);
  while (tree.node(operand).kind_name == "UnexposedExpr" && tree.node(operand).children.size() == 1)
    operand = WithoutParentheses(tree, tree.node(operand).children.front());
  return WithoutConst(tree.node(operand).type);
}

class OperandSwap : public SourceMutator {
 public:
  std::string_view name() const override { return "operand_swap"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "exchanges the operands of a sum or a product, or regroups three of them";
  }
  double weight() const override { return 0.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(tree, "BinaryOperator")) {
      if (tree.node(node).function < 0 || !IsOperation(tree, node)) continue;
      const std::string_view spelled = tree.Operator(node);
      const int left = tree.node(node).children[0];
      const int right = tree.node(node).children[1];
      // Only the order of two loads matters: the compiler orders other operands as it likes.
      if ((spelled == "+" || spelled == "*") && LoadsIn(tree, left) && LoadsIn(tree, right))
        Replace(node, fmt::format("{} {} {}", tree.Text(right), spelled, OnTheRight(tree, left, spelled)), proposals);
      Regroup(tree, node, left, right, spelled, proposals);
    }
    return proposals;
  }

 private:
  static void Replace(int node, const std::string& text, std::vector<Proposal>& proposals) {
    proposals.push_back({{{node, Placement::kReplace, text}}, {}, {}});
  }

  // Turns `a + b + c` into `a + (b + c)`, `a * b / c` into `a * (b / c)`, `a / b * c` into `a * (c / b)`, and `a + (b + c)` into
  // `a + b + c`.
  static void Regroup(const SyntaxTree& tree, int node, int left, int right, std::string_view spelled,
                      std::vector<Proposal>& proposals) {
    // The compiler groups sums and products of 32-bit integers as it likes, whatever the source says.
    const std::string type = WithoutConst(tree.node(node).type);
    if (type == "int" || type == "unsigned int") return;
    const bool floating = type == "float" || type == "double";
    const int inner = WithoutParentheses(tree, left);
    if (IsOperation(tree, inner) && tree.node(inner).type == tree.node(node).type) {
      const std::string_view before = tree.Operator(inner);
      const std::string a(tree.Text(tree.node(inner).children[0]));
      const std::string b(tree.Text(tree.node(inner).children[1]));
      const std::string on_right = OnTheRight(tree, tree.node(inner).children[1], spelled);
      if (OwnType(tree, tree.node(inner).children[1]) != type && OwnType(tree, right) != type) return;
      if (before == "+" && IsSum(spelled))
        Replace(node, fmt::format("{} + ({} {} {})", a, b, spelled, tree.Text(right)), proposals);
      if (before == "-" && IsSum(spelled))
        Replace(node, fmt::format("{} - ({} {} {})", a, b, spelled == "+" ? "-" : "+", tree.Text(right)), proposals);
      const bool scales = spelled == "*" || (floating && spelled == "/");
      if (before == "*" && scales) Replace(node, fmt::format("{} * ({} {} {})", a, b, spelled, tree.Text(right)), proposals);
      if (before == "/" && spelled == "*" && floating)
        Replace(node, fmt::format("{} * ({} / {})", a, tree.Text(right), on_right), proposals);
    }
    const int other = WithoutParentheses(tree, right);
    if (other == right || !IsOperation(tree, other) || tree.node(other).type != tree.node(node).type) return;
    if (OwnType(tree, left) != type && OwnType(tree, tree.node(other).children[0]) != type) return;
    if ((spelled == "+" && IsSum(tree.Operator(other))) || (spelled == "*" && tree.Operator(other) == "*"))
      Replace(node, fmt::format("{} {} {}", tree.Text(left), spelled, tree.Text(other)), proposals);
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeOperandSwap() { return std::make_unique<OperandSwap>(); }

}  // namespace evo
