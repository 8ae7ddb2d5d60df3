#include "mutators/analysis/attention/attention_depth.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/directive_lexer.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// Kernels whose lanes share a row take multiples of a warp.
constexpr std::int64_t kLargeDepth = 96, kStepOfDepths = 32;
// What the writers reckon with where a size decides.
constexpr std::int64_t kLikelyDepth = 128;

// The sizes that are arguments of a launch line as they are, by parameter.
std::vector<std::pair<int, std::string>> SizesPassed(const MutationContext& context, const LaunchDirective& launch, int kernel) {
  const SyntaxTree& tree = context.tree;
  std::vector<std::pair<int, std::string>> passed;
  std::size_t place = 0;
  for (const int child : tree.node(kernel).children) {
    const SyntaxNode& parameter = tree.node(child);
    if (parameter.kind_name != "ParmDecl" || place >= launch.arguments.size()) continue;
    const std::string& argument = launch.arguments[place++];
    const bool number = !argument.empty() && argument.find_first_not_of("0123456789") == std::string::npos;
    if (IsIntegerType(WithoutConst(parameter.type)) && (IsIdentifier(argument) || number) &&
        !context.genome.parameters.contains(argument))
      passed.emplace_back(child, argument);
  }
  return passed;
}

Expression WithNumber(const Expression& expression, const DepthChoice& choice, const std::string& number) {
  const auto names = expression.Names();
  if (std::find(names.begin(), names.end(), choice.name) == names.end()) return expression;
  return Expression::Parse(WithOtherName(expression.text(), choice.name, number));
}

// Whether all that it says of a kernel is the same.
bool SaysTheSame(Attention one, const Attention& other) {
  one.depth = other.depth, one.depth_name = other.depth_name;
  one.launch = other.launch;
  one.largest_number = other.largest_number;
  return one == other;
}

// The likely ones first; quotients are those that the kernel computes.
std::vector<DepthChoice> DepthChoices(const MutationContext& context, const LaunchDirective& launch, int kernel) {
  const SyntaxTree& tree = context.tree;
  std::vector<DepthChoice> choices;
  const auto passed = SizesPassed(context, launch, kernel);
  for (const bool in_grid : {false, true}) {
    for (const auto& [parameter, size] : passed) {
      if (!IsIdentifier(size)) continue;  // a divisor only
      const bool names = std::any_of(launch.grid.begin(), launch.grid.end(),
                                     [&](const Expression& dimension) { return ContainsName(dimension.text(), size); });
      if (names == in_grid) choices.push_back({size, size, ""});
    }
  }
  const auto size_of = [&](int node) {
    const int named = NamedDeclaration(tree, node);
    const auto found = std::find_if(passed.begin(), passed.end(), [&](const auto& one) { return one.first == named; });
    return found == passed.end() ? std::pair<int, std::string>(-1, "") : *found;
  };
  for (const int node : Subtree(tree, kernel)) {
    if (tree.Operator(node) != "/" || tree.node(node).children.size() != 2) continue;
    const auto [dividend, all] = size_of(tree.node(node).children[0]);
    const auto [divisor, heads] = size_of(tree.node(node).children[1]);
    const std::string quotient = fmt::format("{} / {}", all, heads);
    if (dividend < 0 || divisor < 0 || all == heads || !IsIdentifier(all) || heads == "0" ||
        std::any_of(choices.begin(), choices.end(), [&](const DepthChoice& one) { return one.size == quotient; }))
      continue;
    choices.push_back({quotient, all, heads, dividend, divisor});
  }
  return choices;
}

std::optional<Attention> AttentionOfAnyDepth(const MutationContext& context, const DepthChoice& choice,
                                             const FindWithDepth& find) {
  const auto with = [&](std::int64_t depth) -> std::optional<Attention> {
    auto found = find(WithDepth(context.rendered, choice, depth), choice);
    auto* const attention = std::get_if<Attention>(&found);
    return attention != nullptr && attention->depth == depth ? std::optional(std::move(*attention)) : std::nullopt;
  };
  const auto small = with(kSmallDepth);
  if (!small) return std::nullopt;
  const std::int64_t largest = small->largest_number;
  std::int64_t most = LargeDepth(largest), limit = most <= largest ? most : 0;
  auto found = with(most);
  if (!found && most > kLargeDepth && limit == 0) {
    // Such as rows that a thread keeps in an array.
    most = largest / kStepOfDepths * kStepOfDepths;
    limit = largest;
    if (most > kSmallDepth) found = with(most);
  }
  if (!found || !SaysTheSame(*small, *found)) return std::nullopt;
  found->depth = kLikelyDepth;
  found->depth_size = choice.size;
  found->depth_limit = limit;
  found->depth_name = UnusedName(context.tree.text(), "HEAD_DIM");
  return found;
}

}  // namespace

std::int64_t LargeDepth(std::int64_t largest_number) {
  return std::min(kLargestDepth, std::max(kLargeDepth, (largest_number / kStepOfDepths + 1) * kStepOfDepths));
}

KernelTemplate WithDepth(const KernelTemplate& rendered, const DepthChoice& choice, std::int64_t depth) {
  const std::string number = choice.times.empty() ? std::to_string(depth) : fmt::format("({} * {})", choice.times, depth);
  KernelTemplate with = rendered;
  for (Step& step : with.steps) {
    if (!step.launch) continue;
    for (std::string& argument : step.launch->arguments) argument = WithOtherName(argument, choice.name, number);
    for (auto* dimensions : {&step.launch->grid, &step.launch->block}) {
      for (Expression& dimension : *dimensions) dimension = WithNumber(dimension, choice, number);
    }
    step.launch->shared = WithNumber(step.launch->shared, choice, number);
  }
  return with;
}

bool IsQuotientOf(const SyntaxTree& tree, int variable, const DepthChoice& choice) {
  if (choice.dividend < 0 || tree.node(variable).children.empty()) return false;
  const int quotient = WithoutParentheses(tree, tree.node(variable).children.back());
  const auto& sides = tree.node(quotient).children;
  if (tree.Operator(quotient) != "/" || sides.size() != 2) return false;
  const std::set<int> written = WrittenIn(tree, tree.node(variable).function);
  return NamedDeclaration(tree, sides[0]) == choice.dividend && NamedDeclaration(tree, sides[1]) == choice.divisor &&
         !written.contains(choice.dividend) && !written.contains(choice.divisor);
}

std::optional<Attention> AttentionOfSizes(const MutationContext& context, int kernel, bool resembles, const FindWithDepth& find) {
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, context.tree.node(kernel).name);
  if (launch == nullptr) return std::nullopt;
  for (const DepthChoice& choice : DepthChoices(context, *launch, kernel)) {
    // With other numbers for its sizes it is one in one of two runs.
    if (!resembles && choice.dividend < 0) continue;
    if (auto found = AttentionOfAnyDepth(context, choice, find)) return found;
  }
  return std::nullopt;
}

}  // namespace evo
