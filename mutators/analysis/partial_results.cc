#include "mutators/analysis/partial_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "mutators/analysis/combination.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/fingerprint.h"
#include "mutators/analysis/lane_arithmetic.h"
#include "mutators/analysis/shared_array.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// `-INFINITY`, `(float)0`, `-2147483647 - 1`: numbers, and names that only macros have.
bool IsSpelledConstant(const SyntaxTree& tree, int expression) {
  for (const std::string_view token : tree.Tokens(tree.node(expression).range)) {
    if (token == "float" || token == "double" || token == "int" || std::isdigit(static_cast<unsigned char>(token.front())) != 0)
      continue;
    const auto is_macro = [](char c) { return c == '_' || std::isupper(static_cast<unsigned char>(c)) != 0; };
    if (token != "-" && token != "(" && token != ")" && token.front() != '.' &&
        !std::all_of(token.begin(), token.end(), is_macro))
      return false;
  }
  return NamedIn(tree, expression).empty();
}

}  // namespace

PartialResults::PartialResults(const SyntaxTree& tree, const ReductionElements& elements, LockstepIntegers& integers,
                               std::size_t lanes, Refusal& refusal)
    : tree_(tree), elements_(elements), integers_(integers), lanes_(lanes), refusal_(refusal), shared_(lanes, refusal) {}

Partials PartialResults::Refuse(const std::string& why) {
  refusal_.Add(why);
  return Partials(lanes_);
}

Partials PartialResults::Evaluate(int expression, const LaneMask& mask) {
  if (refusal_.given()) return Partials(lanes_);
  const int node = WithoutParentheses(tree_, expression);
  for (const int one : {expression, node}) {
    if (elements_.NumberOf(one) >= 0) return Element(one, mask);
  }
  if (const int variable = NamedDeclaration(tree_, node); elements_.IsPartial(variable)) return OfVariable(variable, mask);
  if (SharedArrayOf(tree_, node) >= 0) {
    const auto place = PlaceOf(node);
    return place ? shared_.Read(*place, mask) : Partials(lanes_);
  }
  const auto& parts = tree_.node(node).children;
  const auto combination = CombinationOf(tree_, node);
  if (tree_.node(node).kind_name == "ConditionalOperator" && parts.size() == 3 && !LoadsIn(tree_, parts[0]) && !combination)
    return Conditional(node, mask);
  if (const auto callee = LibraryCallee(tree_, node); callee.starts_with("__shfl_") && callee.ends_with("_sync"))
    return Shuffled(node, mask);
  if (combination) {
    const Partials a = Evaluate(combination->a, mask);
    return Combined(combination->combine, a, Evaluate(combination->b, mask), mask);
  }
  if (tree_.node(node).kind_name == "BinaryOperator" && IsFold(tree_.Operator(node)) && parts.size() == 2) {
    const Partials a = Evaluate(parts[0], mask);
    return Combined(tree_.Operator(node), a, Evaluate(parts[1], mask), mask);
  }
  if (IsConversion(tree_, node) && !parts.empty() && (NamesShared(tree_, node) || LoadsIn(tree_, node)))
    return Evaluate(parts.back(), mask);
  if (IsInitial(node)) return Initial(node, mask);
  return Refuse(fmt::format("{} is neither an element nor a combination of partial results", Quoted(tree_, node)));
}

bool PartialResults::IsInitial(int expression) const {
  const bool computed = IsPure(tree_, expression) && !LoadsIn(tree_, expression) && elements_.uniform().IsUniform(expression);
  return computed || IsSpelledConstant(tree_, expression);
}

Partials PartialResults::Conditional(int expression, const LaneMask& mask) {
  const auto& parts = tree_.node(expression).children;
  const LaneMask yes = integers_.Where(parts[0], mask);
  Partials values = Evaluate(parts[1], yes);
  const Partials others = Evaluate(parts[2], Without(mask, yes));
  for (std::size_t lane = 0; lane < lanes_; ++lane) values[lane] = yes[lane] ? values[lane] : others[lane];
  return values;
}

// What other lanes have. A lane that does not take part has nothing.
Partials PartialResults::Shuffled(int call, const LaneMask& mask) {
  const auto& parts = tree_.node(call).children;
  if (parts.size() < 4) return Refuse(fmt::format("{} is not understood", Quoted(tree_, call)));
  const Partials values = Evaluate(parts[2], mask);
  LaneValues lanes(lanes_), by(lanes_), width(lanes_, kWarpLanes);
  for (std::size_t lane = 0; lane < lanes_; ++lane) lanes.numbers[lane] = static_cast<std::int64_t>(lane);
  by.numbers = integers_.Evaluate(parts[3]);
  if (parts.size() > 4) width.numbers = integers_.Evaluate(parts[4]);
  const auto from = ShuffledLanes(LibraryCallee(tree_, call), lanes, by, width, mask);
  if (!from) return Refuse(fmt::format("the lanes of {} are not understood", Quoted(tree_, call)));
  Partials shuffled(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane] && from->known[lane] == Knowledge::kKnown)
      shuffled[lane] = values[static_cast<std::size_t>(from->numbers[lane])];
  }
  return shuffled;
}

Partials PartialResults::Element(int expression, const LaneMask& mask) {
  const LockstepIntegers::Values numbers = integers_.Evaluate(elements_.NumberOf(expression));
  Partials values(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane]) values[lane] = {FingerprintOf(numbers[lane]), 1, true, false};
  }
  return values;
}

Partials PartialResults::Initial(int expression, const LaneMask& mask) {
  initials_.insert(std::string(tree_.Text(expression)));
  Partials values(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane) values[lane] = {0, 0, mask[lane] != 0, true};
  return values;
}

Partials PartialResults::OfVariable(int variable, const LaneMask& mask) {
  const auto held = variables_.find(variable);
  bool all = held != variables_.end();
  for (std::size_t lane = 0; lane < lanes_ && all; ++lane) all = !mask[lane] || held->second[lane].defined;
  if (all) return held->second;
  return Refuse(fmt::format("`{}` is used before it has a value", tree_.node(variable).name));
}

Partials PartialResults::Combined(std::string_view combine, const Partials& a, const Partials& b, const LaneMask& mask) {
  AddCombine(combine);
  Partials values(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane]) values[lane] = Together(a[lane], b[lane], refusal_);
  }
  return values;
}

void PartialResults::Assign(int variable, const Partials& values, const LaneMask& mask) {
  Partials& held = variables_.try_emplace(variable, lanes_).first->second;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane]) held[lane] = values[lane];
  }
}

std::optional<SharedPlace> PartialResults::PlaceOf(int expression) {
  const int node = WithoutParentheses(tree_, expression);
  const int array = SharedArrayOf(tree_, node);
  if (array < 0) {
    Refuse(fmt::format("{} is not an element of an array in shared memory of one dimension", Quoted(tree_, node)));
    return std::nullopt;
  }
  const bool element = tree_.node(node).kind_name == "ArraySubscriptExpr";
  return SharedPlace{array, tree_.node(array).name,
                     element ? integers_.Evaluate(tree_.node(node).children[1]) : LockstepIntegers::Values(lanes_)};
}

}  // namespace evo
