#include "mutators/analysis/source/index_range.h"

#include <string_view>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// Variables that are looked through, one initialised with the other.
constexpr int kMostVariables = 8;

class LargestIndexFinder {
 public:
  LargestIndexFinder(const MutationContext& context, int function)
      : context_(context), tree_(context.tree), function_(function) {}

  std::optional<std::int64_t> Find(int expression, int depth = kMostVariables) {
    const int node = WithoutParentheses(tree_, expression);
    if (const auto constant = Constant(tree_.Text(node))) return constant;
    const SyntaxNode& at = tree_.node(node);
    if (at.opaque || !at.hidden.empty()) return std::nullopt;
    if (IsConversion(tree_, node) && at.children.size() == 1 && IsIntegerType(at.type)) return Find(at.children.front(), depth);
    if (at.kind_name == "MemberRefExpr") return OfThread(tree_.Text(node));
    if (at.kind_name == "BinaryOperator" && at.children.size() == 2) return OfOperator(node, depth);
    const int variable = NamedDeclaration(tree_, node);
    return variable >= 0 && depth > 0 ? OfVariable(variable, depth - 1) : std::nullopt;
  }

  Parameters parameters;

 private:
  std::optional<std::int64_t> Constant(std::string_view text) {
    const auto value = ConstantValue(tree_, text);
    if (value && *value >= 0) parameters.merge(ParametersBehind(context_, text));
    return value && *value >= 0 ? value : std::nullopt;
  }

  std::optional<std::int64_t> OfThread(std::string_view text) {
    const LaunchDirective* launch = OnlyLaunch(context_.rendered, tree_.node(function_).name);
    if (launch == nullptr || !text.starts_with("threadIdx.") || !IsKernel(tree_, function_)) return std::nullopt;
    const auto axis = static_cast<std::size_t>(text.back() - 'x');
    const auto extent = axis < 3 ? Constant(BlockExtent(context_, *launch, axis)) : std::nullopt;
    return extent && *extent > 0 ? std::optional(*extent - 1) : std::nullopt;
  }

  std::optional<std::int64_t> OfOperator(int node, int depth) {
    const auto& operands = tree_.node(node).children;
    const std::string_view op = tree_.Operator(node);
    const auto left = op == "%" ? 0 : Find(operands[0], depth);
    if (!left) return std::nullopt;
    if (op == "+" || op == "*") {
      const auto right = Find(operands[1], depth);
      if (!right) return std::nullopt;
      return op == "+" ? *left + *right : *left * *right;
    }
    const auto right = Constant(tree_.Text(operands[1]));
    if (!right || *right == 0) return std::nullopt;
    if (op == "%") return *right - 1;
    return op == "/" ? std::optional(*left / *right) : std::nullopt;
  }

  std::optional<std::int64_t> OfVariable(int variable, int depth) {
    const SyntaxNode& declared = tree_.node(variable);
    if (declared.kind_name != "VarDecl" || declared.function != function_ || declared.children.empty() ||
        !IsIntegerType(declared.type))
      return std::nullopt;
    if (!WrittenIn(tree_, function_).contains(variable)) return Find(declared.children.back(), depth);
    for (const int loop : NodesOfKind(tree_, "ForStmt")) {
      const auto counted = WithCountedHeader(tree_, loop);
      if (counted && counted->counter == variable) return OfCounter(*counted);
    }
    return std::nullopt;
  }

  // The last number before the bound; where the loop's start is one number, the last at which its steps arrive.
  std::optional<std::int64_t> OfCounter(const CountedLoop& loop) {
    const auto bound = Constant(tree_.Text(loop.bound));
    if (!bound) return std::nullopt;
    const std::int64_t last = loop.comparison == "<=" ? *bound : *bound - 1;
    const auto start = Constant(tree_.Text(loop.start));
    const auto step = Constant(loop.step);
    if (!start || !step || *step == 0 || last < *start) return last;
    return *start + (last - *start) / *step * *step;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int function_;
};

}  // namespace

std::optional<LargestIndex> LargestIndexOf(const MutationContext& context, int expression) {
  LargestIndexFinder finder(context, context.tree.node(expression).function);
  const auto value = finder.Find(expression);
  if (!value) return std::nullopt;
  return LargestIndex{*value, finder.parameters};
}

}  // namespace evo
