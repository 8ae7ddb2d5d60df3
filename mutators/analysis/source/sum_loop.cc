#include "mutators/analysis/source/sum_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// The loops around a statement, innermost first, up to the block that `sum` is declared in. nullopt if anything else is around
// it.
std::optional<std::vector<int>> LoopsAround(const SyntaxTree& tree, int statement, int block) {
  std::vector<int> loops;
  for (int at = tree.node(statement).parent; at != block; at = tree.node(at).parent) {
    if (at < 0) return std::nullopt;
    const std::string& kind = tree.node(at).kind_name;
    if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") loops.push_back(at);
    if (kind == "IfStmt" || kind == "SwitchStmt") return std::nullopt;
  }
  return loops;
}

class SumFinder {
 public:
  SumFinder(const SyntaxTree& tree, bool by_words) : tree_(tree), by_words_(by_words) {}

  std::variant<SumLoop, std::string> Find(const std::vector<int>& statements) {
    if (!FindSum(statements) || !FindLoop()) return why_;
    return found_;
  }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // What an update adds to a variable: p of `sum += p`, `sum = sum + p`, or the call `fmaf(x, y, sum)`, `__dp4a(x, y, sum)`; -1
  // if it is no update.
  int Added(int node, int& variable) const {
    const auto& sides = tree_.node(node).children;
    if (!IsAssignment(tree_, node) || sides.size() != 2) return -1;
    variable = NamedDeclaration(tree_, sides[0]);
    if (variable < 0 || tree_.node(variable).kind_name != "VarDecl") return -1;
    const std::string_view spelled = tree_.Operator(node);
    if (spelled == "+=") return sides[1];
    if (spelled != "=") return -1;
    const int value = WithoutParentheses(tree_, sides[1]);
    const auto& parts = tree_.node(value).children;
    if (tree_.Operator(value) == "+" && parts.size() == 2) {
      for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        if (NamedDeclaration(tree_, parts[side]) == variable) return parts[1 - side];
      }
    }
    const std::string_view callee = LibraryCallee(tree_, value);
    const bool fused = (IsFusedMultiplyAdd(callee) || (by_words_ && IsWordProduct(callee))) && parts.size() == 4;
    return fused && NamedDeclaration(tree_, parts[3]) == variable ? value : -1;
  }

  bool FindSum(const std::vector<int>& statements) {
    int sums = 0;
    for (const int statement : statements) {
      for (const int node : Subtree(tree_, statement)) {
        int variable = -1;
        const int added = Added(node, variable);
        if (added < 0 || !IsInLoopBelow(node, variable)) continue;
        ++sums;
        found_.accumulator = variable;
        found_.update = node;
        found_.added = added;
      }
    }
    if (sums == 0) return Refuse("no loop adds up anything in a variable that is declared before it");
    if (sums > 1) return Refuse("it adds up more than one sum");
    const SyntaxNode& sum = tree_.node(found_.accumulator);
    const std::string last = sum.children.empty() ? "" : tree_.node(sum.children.back()).kind_name;
    if (last.empty() || last == "TypeRef" || last.starts_with("attribute"))
      return Refuse(fmt::format("{} is declared without a value", sum.name));
    if (!ConstantOfZero(sum.children.back())) found_.start = sum.children.back();
    if (!IsArithmetic(sum.type)) return Refuse(fmt::format("{} is of the type {}", sum.name, sum.type));
    if (tree_.node(sum.parent).children.size() != 1) return Refuse(fmt::format("{} is declared with others", sum.name));
    return true;
  }

  bool ConstantOfZero(int expression) const {
    const std::string_view text = tree_.Text(WithoutParentheses(tree_, expression));
    constexpr std::array kZeros{"0"sv,   "0.0f"sv, "0.f"sv, "0.0"sv, "0."sv,  "0.0F"sv,
                                "0.F"sv, "0u"sv,   "0U"sv,  "0ll"sv, "0LL"sv, "{}"sv};
    return std::find(kZeros.begin(), kZeros.end(), text) != kZeros.end();
  }

  bool IsInLoopBelow(int node, int variable) const {
    const int block = tree_.node(tree_.node(variable).parent).parent;
    for (int at = node; at >= 0 && at != block; at = tree_.node(at).parent) {
      const std::string& kind = tree_.node(at).kind_name;
      if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") return true;
    }
    return false;
  }

  bool FindLoop() {
    const SyntaxNode& sum = tree_.node(found_.accumulator);
    const auto loops = LoopsAround(tree_, found_.update, tree_.node(sum.parent).parent);
    if (!loops) return Refuse(fmt::format("{} is added to under a condition", sum.name));
    if (loops->size() != 1)
      return Refuse(fmt::format("{} is summed over {} loops, and one is understood", sum.name, loops->size()));
    const auto loop = AsCountedLoop(tree_, loops->front());
    if (!loop) return Refuse("the loop of its sum does not count upwards to a bound, or is left early");
    const bool whole = ConstantValue(tree_, tree_.Text(loop->start)) == 0 && loop->step == "1" && loop->comparison == "<";
    if (!whole)
      return Refuse(
          fmt::format("the loop over {} does not go from 0 to below its bound in steps of 1", tree_.node(loop->counter).name));
    if (JumpsOut(tree_, loop->parts.body)) return Refuse("an iteration of its sum may end early");
    found_.loop = *loop;
    return true;
  }

  const SyntaxTree& tree_;
  const bool by_words_;
  SumLoop found_;
  std::string why_;
};

}  // namespace

bool IsFusedMultiplyAdd(std::string_view callee) {
  constexpr std::array kFused{"fmaf"sv, "fma"sv, "__fmaf_rn"sv};
  return std::find(kFused.begin(), kFused.end(), callee) != kFused.end();
}

bool IsWordProduct(std::string_view callee) { return callee == "__dp4a"; }

std::variant<SumLoop, std::string> OnlySumLoop(const SyntaxTree& tree, const std::vector<int>& statements, bool by_words) {
  return SumFinder(tree, by_words).Find(statements);
}

}  // namespace evo
