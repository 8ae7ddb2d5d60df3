#include "mutators/analysis/block_runs/partial_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "mutators/analysis/block_runs/lane_arithmetic.h"
#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/source/combination.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

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
                               const LaneFlow& flow, std::size_t lanes, Refusal& refusal)
    : tree_(tree),
      elements_(elements),
      integers_(integers),
      flow_(flow),
      lanes_(lanes),
      refusal_(refusal),
      shared_(lanes, refusal) {}

Partials PartialResults::Refuse(const std::string& why) {
  refusal_.Add(why);
  return Partials(lanes_);
}

Partials PartialResults::Evaluate(int expression, const LaneMask& mask, const std::string& member) {
  if (refusal_.given()) return Partials(lanes_);
  const int node = WithoutParentheses(tree_, expression);
  for (const int one : {expression, node}) {
    if (elements_.NumberOf(one) >= 0 && elements_.FactorOf(one) < 0 && member.empty()) return Element(one, mask);
  }
  if (const int variable = NamedDeclaration(tree_, node); elements_.IsPartial(variable))
    return OfVariable(variable, mask, member);
  if (SharedArrayOf(tree_, WithoutRows(tree_, node)) >= 0) {
    const auto place = PlaceOf(node, member);
    return place ? shared_.Read(*place, mask) : Partials(lanes_);
  }
  const auto& parts = tree_.node(node).children;
  const auto combination = CombinationOf(tree_, node);
  const auto callee = LibraryCallee(tree_, node);
  if (tree_.node(node).kind_name == "ConditionalOperator" && parts.size() == 3 && !LoadsIn(tree_, parts[0]) && !combination)
    return Conditional(node, mask, member);
  if (tree_.node(node).kind_name == "MemberRefExpr" || !member.empty()) return OfMember(node, mask, member);
  if (tree_.Operator(node) == "&&" && !LoadsIn(tree_, parts[0])) return Guarded(node, mask);
  if (callee.starts_with("__shfl_") && callee.ends_with("_sync")) return Shuffled(node, mask);
  if (IsVote(callee)) return Voted(node, callee, mask);
  if (callee == "__popc" && parts.size() == 2) return CountedVotes(node, mask);
  if (combination) {
    const Partials a = Evaluate(combination->a, mask);
    return Combined(combination->combine, a, Evaluate(combination->b, mask), mask);
  }
  if (IsFusedProduct(tree_, node) && elements_.FactorOf(parts[1]) == parts[2]) {
    const Partials product = Element(parts[1], mask);
    return Combined("+", product, Evaluate(parts[3], mask), mask);
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

Partials PartialResults::Conditional(int expression, const LaneMask& mask, const std::string& member) {
  const auto& parts = tree_.node(expression).children;
  const LaneMask yes = integers_.Where(parts[0], mask);
  Partials values = Evaluate(parts[1], yes, member);
  const Partials others = Evaluate(parts[2], Without(mask, yes), member);
  for (std::size_t lane = 0; lane < lanes_; ++lane) values[lane] = yes[lane] ? values[lane] : others[lane];
  return values;
}

// `i < n && x[i] > 0`: 0 where there is no element.
Partials PartialResults::Guarded(int expression, const LaneMask& mask) {
  const auto& parts = tree_.node(expression).children;
  if (tree_.node(WithoutParentheses(tree_, parts[1])).type != "bool")
    return Refuse(fmt::format("{} asks whether a number is not 0", Quoted(tree_, expression)));
  const LaneMask yes = integers_.Where(parts[0], mask);
  Partials values = Evaluate(parts[1], yes);
  const std::uint32_t zero = texts_.initials.BitOf("0");
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane] && !yes[lane]) values[lane] = {.defined = true, .initials = zero};
  }
  return values;
}

// A member of a struct, or what it is initialised with.
Partials PartialResults::OfMember(int expression, const LaneMask& mask, const std::string& member) {
  const SyntaxNode& node = tree_.node(expression);
  const auto unknown = [&] { return Refuse(fmt::format("{} is not understood", Quoted(tree_, expression))); };
  if (node.kind_name == "MemberRefExpr") {
    if (!member.empty() || node.children.empty()) return unknown();
    return Evaluate(node.children.front(), mask, node.name);
  }
  const auto members = MembersOf(tree_, node.type);
  const auto place = static_cast<std::size_t>(std::find(members.begin(), members.end(), member) - members.begin());
  const bool made = LibraryCallee(tree_, expression).starts_with("make_");
  if (node.kind_name != "InitListExpr" && !made) {
    const bool wraps = node.children.size() == 1 && tree_.node(node.children[0]).kind_name == "InitListExpr";
    return wraps ? OfMember(node.children[0], mask, member) : unknown();
  }
  const std::size_t at = place + (made ? 1 : 0);
  return place < members.size() && at < node.children.size() ? Evaluate(node.children[at], mask) : unknown();
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

Partial PartialResults::AlsoCombined(Partial value, std::string_view combine) {
  value.combines |= texts_.combines.BitOf(combine);
  return value;
}

bool PartialResults::IsCount(const Partial& value) {
  for (std::size_t kind = 0; kind < elements_.kinds() && kind < 32; ++kind) {
    if ((value.kinds >> kind & 1u) != 0 && !elements_.IsCondition(kind)) return false;
  }
  return value.defined && (value.combines & ~texts_.combines.BitOf("+")) == 0 &&
         (value.initials & ~texts_.initials.BitOf("0")) == 0;
}

Partials PartialResults::Element(int expression, const LaneMask& mask) {
  const std::size_t kind = elements_.KindOf(expression);
  if (kind >= 32) return Refuse("it combines too many different things");
  const LockstepIntegers::Values numbers = integers_.Evaluate(elements_.NumberOf(expression));
  const LockstepIntegers::Values turns = integers_.TurnsOf(elements_.loops());
  Partials values(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane])
      values[lane] = {
          .elements = ElementFingerprint(kind, turns[lane], numbers[lane]), .count = 1, .defined = true, .kinds = 1u << kind};
  }
  return values;
}

Partials PartialResults::Initial(int expression, const LaneMask& mask) {
  const std::uint32_t bit = texts_.initials.BitOf(tree_.Text(expression));
  if (bit == 0) return Refuse("its partial results begin with too many constants");
  Partials values(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane]) values[lane] = {.defined = true, .initials = bit};
  }
  return values;
}

Partials PartialResults::OfVariable(int variable, const LaneMask& mask, const std::string& member) {
  const auto held = variables_.find({variable, member});
  bool all = held != variables_.end();
  for (std::size_t lane = 0; lane < lanes_ && all; ++lane) all = !mask[lane] || held->second[lane].defined;
  if (all) return held->second;
  return Refuse(fmt::format("`{}` is used before it has a value", tree_.node(variable).name));
}

Partials PartialResults::Combined(std::string_view combine, const Partials& a, const Partials& b, const LaneMask& mask) {
  const std::uint32_t bit = texts_.combines.BitOf(combine);
  Partials values(lanes_);
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane]) values[lane] = Together(a[lane], b[lane], bit, refusal_);
  }
  return values;
}

// What a variable or an array of a type has held. A condition that is kept is no sum yet.
void PartialResults::Hold(const std::string& type, Partials& values) {
  const std::uint32_t bit = texts_.types.BitOf(type);
  for (Partial& value : values) {
    const bool condition = type == "bool" && value.combines == 0 && IsCount(value);
    if (!condition) value.types |= bit;
  }
}

void PartialResults::Declare(int variable, int value, const LaneMask& mask) {
  const std::string& type = tree_.node(variable).type;
  std::vector<std::pair<std::string, Partials>> all;
  for (const std::string& member : MembersOf(tree_, type)) {
    all.emplace_back(member, value < 0 ? Partials(lanes_) : Evaluate(value, mask, member));
    Hold(MemberType(tree_, type, member), all.back().second);
  }
  for (auto& [member, values] : all) variables_[{variable, member}] = std::move(values);
}

void PartialResults::Forget(int variable) {
  std::erase_if(variables_, [&](const auto& held) { return held.first.declaration == variable; });
}

void PartialResults::Assign(int target, std::string_view fold, int value, const LaneMask& mask) {
  std::vector<std::pair<std::string, Partials>> all;
  for (const std::string& member : MembersOf(tree_, tree_.node(target).type)) {
    Partials values = Evaluate(value, mask, member);
    if (!fold.empty() && !refusal_.given()) values = Combined(fold, Evaluate(target, mask, member), values, mask);
    all.emplace_back(member, std::move(values));
  }
  for (const auto& [member, values] : all) Store(target, values, mask, member);
}

void PartialResults::Store(int target, const Partials& values, const LaneMask& mask, const std::string& member) {
  if (refusal_.given()) return;
  Partials held_now = values;
  int node = WithoutParentheses(tree_, target);
  Hold(MemberType(tree_, tree_.node(node).type, member), held_now);
  std::string part = member;
  if (tree_.node(node).kind_name == "MemberRefExpr" && part.empty() && !tree_.node(node).children.empty()) {
    part = tree_.node(node).name;
    node = WithoutParentheses(tree_, tree_.node(node).children.front());
  }
  const int variable = NamedDeclaration(tree_, node);
  if (variable < 0 || IsShared(tree_, variable)) {
    if (const auto place = PlaceOf(node, part)) shared_.Write(*place, held_now, mask);
    return;
  }
  Partials& held = variables_.try_emplace({variable, part}, lanes_).first->second;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    if (mask[lane]) held[lane] = held_now[lane];
  }
}

void PartialResults::AddAtomically(int target, std::string_view combine, const Partials& values, const LaneMask& mask) {
  Partials held = values;
  int node = WithoutParentheses(tree_, target);
  Hold(MemberType(tree_, tree_.node(node).type, ""), held);
  std::string part;
  if (tree_.node(node).kind_name == "MemberRefExpr" && !tree_.node(node).children.empty()) {
    part = tree_.node(node).name;
    node = WithoutParentheses(tree_, tree_.node(node).children.front());
  }
  const auto place = PlaceOf(node, part);
  if (place && !refusal_.given()) shared_.Add(*place, held, texts_.combines.BitOf(combine), mask);
}

// Of `s[a][b]`, too.
std::optional<SharedPlace> PartialResults::PlaceOf(int expression, const std::string& member) {
  int node = WithoutParentheses(tree_, expression);
  const int array = SharedArrayOf(tree_, WithoutRows(tree_, node));
  const auto extents = array < 0 ? std::vector<long long>{} : ExtentsOf(tree_.node(array).type);
  LockstepIntegers::Values index(lanes_);
  long long stride = 1;
  for (std::size_t left = extents.size(); left > 0; --left) {
    if (tree_.node(node).kind_name != "ArraySubscriptExpr" || (left > 1 && extents[left - 1] <= 0)) node = -1;
    if (node < 0) break;
    const auto along = integers_.Evaluate(tree_.node(node).children[1]);
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      // A row must not go on in the next one.
      const bool outside = left > 1 && (along[lane] < 0 || along[lane] >= extents[left - 1]);
      index[lane] = outside || index[lane] < 0 ? -1 : index[lane] + along[lane] * stride;
    }
    stride *= extents[left - 1];
    node = WithoutParentheses(tree_, tree_.node(node).children.front());
  }
  if (array < 0 || node < 0 || NamedDeclaration(tree_, node) != array) {
    Refuse(fmt::format("{} is not an element of an array in shared memory", Quoted(tree_, expression)));
    return std::nullopt;
  }
  return SharedPlace{{array, member}, tree_.node(array).name, std::move(index)};
}

}  // namespace evo
