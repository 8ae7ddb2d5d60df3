#include <fmt/format.h>

#include <array>
#include <map>

#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// The base-2 logarithm of e, with more digits than a float has.
constexpr std::string_view kLog2E = "1.4426950408889634f";

// Whether an expression is a value loaded from memory. Other values may be sentinels so large that they become infinite when
// multiplied by the scale; the difference of two such sentinels is zero, but that of two infinities is not a number.
bool IsData(const SyntaxTree& tree, int expression) {
  if (!IsPure(tree, expression)) return false;
  const int declaration = NamedDeclaration(tree, expression);
  if (declaration < 0) return LoadsIn(tree, expression);
  const SyntaxNode& variable = tree.node(declaration);
  return variable.kind_name == "VarDecl" && variable.type.starts_with("const ") && !variable.children.empty() &&
         NamedDeclaration(tree, variable.children.back()) < 0 && IsPure(tree, variable.children.back()) &&
         LoadsIn(tree, variable.children.back());
}

// The replacements of `expf(argument)`: with the scale applied to the argument and, if possible, folded into a difference or a
// product. The difference is written as one exact product and sum: then only the right side is rounded, once for all elements
// from which one maximum is subtracted, and softmax divides by that error. A compiler that fuses the other product would not.
std::vector<std::string> PowersOfTwo(const SyntaxTree& tree, int argument) {
  std::vector<std::string> powers{fmt::format("exp2f({} * {})", Parenthesised(tree, argument), kLog2E)};
  const auto& sides = tree.node(argument).children;
  if (tree.node(argument).kind_name != "BinaryOperator" || sides.size() != 2) return powers;
  const bool floats = WithoutConst(tree.node(sides[0]).type) == "float" && WithoutConst(tree.node(sides[1]).type) == "float";
  if (!floats) return powers;
  const std::string left = Parenthesised(tree, sides[0]);
  const std::string right = Parenthesised(tree, sides[1]);
  if (tree.Operator(argument) == "-" && IsData(tree, sides[0]))
    powers.push_back(fmt::format("exp2f(fmaf({0}, {2}, -{1} * {2}))", left, right, kLog2E));
  if (tree.Operator(argument) == "*") powers.push_back(fmt::format("exp2f({} * ({} * {}))", left, right, kLog2E));
  return powers;
}

class ExpToExp2 : public SourceMutator {
 public:
  std::string_view name() const override { return "exp_to_exp2"; }
  Promise promise() const override { return Promise::kReassociating; }
  std::string_view description() const override {
    return "replaces an exponential by a power of two, with the scale folded into the argument";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    std::map<int, std::array<Proposal, 2>> together;  // by function: all its calls, not folded and folded
    for (const int call : NodesOfKind(tree, "CallExpr")) {
      const std::string_view callee = LibraryCallee(tree, call);
      const auto& parts = tree.node(call).children;
      if ((callee != "expf" && callee != "__expf") || parts.size() != 2 || tree.node(call).function < 0) continue;
      // Only calls that are spelled out, not in a macro, and whose value is used.
      if (tree.Text(parts.front()) != callee || tree.Text(call).ends_with(";") || tree.node(call).opaque) continue;
      const auto powers = PowersOfTwo(tree, parts[1]);
      for (const std::string& power : powers) proposals.push_back({{{call, Placement::kReplace, power}}, {}, {}});
      if (IsInsideAnother(tree, call)) continue;
      auto& both = together[tree.node(call).function];
      both[0].changes.push_back({call, Placement::kReplace, powers.front()});
      both[1].changes.push_back({call, Placement::kReplace, powers.back()});
    }
    for (auto& [function, both] : together) {
      for (Proposal& proposal : both) {
        const bool same = &proposal == &both[1] && SameTexts(both[0], both[1]);
        if (proposal.changes.size() > 1 && !same) proposals.push_back(proposal);
      }
    }
    return proposals;
  }

 private:
  static bool IsInsideAnother(const SyntaxTree& tree, int call) {
    for (int at = tree.node(call).parent; at >= 0; at = tree.node(at).parent) {
      const std::string_view callee = LibraryCallee(tree, at);
      if (callee == "expf" || callee == "__expf") return true;
    }
    return false;
  }

  static bool SameTexts(const Proposal& a, const Proposal& b) {
    for (std::size_t i = 0; i < a.changes.size(); ++i) {
      if (a.changes[i].text != b.changes[i].text) return false;
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeExpToExp2() { return std::make_unique<ExpToExp2>(); }

}  // namespace evo
