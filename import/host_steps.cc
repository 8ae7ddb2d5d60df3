// What HostCode knows of variables that loops around launches change.
#include <fmt/format.h>

#include <algorithm>

#include "import/host_code.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

constexpr std::int64_t kSmallStart = 64;  // of what a loop multiplies or adds to

// A comparison of a loop's condition, the variable on the left.
struct LoopComparison {
  std::string variable;
  std::string op;
  HostExpression bound;
};

std::vector<LoopComparison> ComparisonsOf(const HostExpression& condition, const HostLoop& loop) {
  const auto is_variable = [&](const HostExpression& part) {
    return part.kind == Kind::kName && loop.Find(part.text) != nullptr;
  };
  if (is_variable(condition)) return {{condition.text, ">", HostExpression::Integer(0)}};
  if (condition.kind != Kind::kBinary) return {};
  if (condition.Is("&&")) {
    std::vector<LoopComparison> all = ComparisonsOf(condition.parts[0], loop);
    for (LoopComparison& one : ComparisonsOf(condition.parts[1], loop)) all.push_back(std::move(one));
    return all;
  }
  static const std::map<std::string, std::string, std::less<>> kReversed = {
      {"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}, {"!=", "!="}};
  const auto reversed = kReversed.find(condition.text);
  if (reversed == kReversed.end()) return {};
  if (is_variable(condition.parts[0])) return {{condition.parts[0].text, condition.text, condition.parts[1]}};
  if (is_variable(condition.parts[1])) return {{condition.parts[1].text, reversed->second, condition.parts[0]}};
  return {};
}

// A name that no program has.
std::string LabelOf(std::size_t loop, const std::string& variable) { return fmt::format("evo_loop{}_{}", loop, variable); }

}  // namespace

HostExpression HostCode::ResolvedAt(const SourceRange& place, const HostExpression& expression, int function, int depth) {
  const std::uint32_t before = at_;
  at_ = place.begin;
  HostExpression result = Resolved(expression, function, depth);
  at_ = before;
  return result;
}

HostExpression HostCode::ResolvedAt(const SourceRange& range, int function, int depth) {
  return ResolvedAt(range, ParseHostExpression(program_.Tokens(range)), function, depth);
}

HostExpression HostCode::ResolvedFrom(std::uint32_t place, const HostExpression& expression, int function) {
  return Simplified(ResolvedAt({place, place}, expression, function, 0));
}

// The value of a loop's variable, where the expression that is resolved stands in such a loop.
std::optional<HostExpression> HostCode::StepOf(const std::string& name, int function) {
  if (at_ == 0 || function < 0) return std::nullopt;
  for (std::size_t i = loops_.size(); i-- > 0;) {  // the innermost is the last
    const HostLoop& loop = loops_[i];
    if (loop.function != function || at_ < loop.range.begin || at_ >= loop.range.end) continue;
    const LoopVariable* const variable = loop.Find(name);
    if (variable == nullptr || (variable->initial && variable->initial->begin == at_)) continue;
    const bool changed = variable->in_body && at_ > variable->update.end;
    const std::string label = LabelOf(i, name) + (changed ? "_next" : "");
    return leaves_.Add({label, HostLeaf::Origin::kLoop, function, std::nullopt, program_.PlaceOf(loop.range.begin)});
  }
  return std::nullopt;
}

HostCode::LoopMeaning HostCode::MeaningOf(std::size_t index, const std::string& step) {
  const HostLoop& loop = loops_[index];
  LoopMeaning meaning;
  const HostExpression number = HostExpression::Name(step);
  std::map<std::string, std::pair<LoopRule, HostExpression>> rules;  // with the start, by variable
  for (const LoopVariable& variable : loop.variables) {
    const std::string label = LabelOf(index, variable.name);
    meaning.labels.insert({label, label + "_next"});
    const auto rule = RuleOf(label, ResolvedFrom(variable.update.begin, variable.next, loop.function));
    if (!rule) continue;
    HostExpression start = variable.initial
                               ? Resolve(*variable.initial, loop.function)
                               : ResolvedFrom(loop.range.begin - 1, HostExpression::Name(variable.name), loop.function);
    if (!start.IsKnown()) continue;
    if (const auto leaf = leaves_.all().find(start.text); start.kind == Kind::kName && leaf != leaves_.all().end()) {
      const auto& value = leaf->second.value;  // `int stride = 1;` is no size
      if (value && !value->is_real && value->integer <= kSmallStart) start = HostExpression::Integer(value->integer);
    }
    const auto by = ValueOf(rule->by, leaves_.Values()), begin = ValueOf(start, leaves_.Values());
    if (by && (rule->IsGeometric() ? by->AsReal() < 2 : by->AsReal() == 0)) continue;
    if (begin && rule->IsGeometric() && begin->AsReal() <= 0) continue;
    rules.emplace(variable.name, std::pair(*rule, start));
    meaning.values[label] = rule->ValueAfter(start, number);
    const HostExpression next = HostExpression::Binary("+", number, HostExpression::Integer(1));
    meaning.values[label + "_next"] = rule->ValueAfter(start, next);
    if (rule->kind != LoopRule::Kind::kDivide) continue;
    for (std::string& name : start.Names()) meaning.halved.insert(std::move(name));
  }
  for (const LoopComparison& one : ComparisonsOf(ParseHostExpression(loop.condition), loop)) {
    meaning.variable = one.variable;
    const auto rule = rules.find(one.variable);
    const HostExpression bound = ResolvedFrom(loop.range.begin, one.bound, loop.function);
    if (rule == rules.end() || !bound.IsKnown()) continue;
    meaning.count = IterationsOf(rule->second.first, rule->second.second, one.op, bound);
    if (!meaning.count) continue;
    if (loop.at_least_once) meaning.count = HostExpression::Call("max", {HostExpression::Integer(1), *meaning.count});
    meaning.geometric = rule->second.first.IsGeometric();
    meaning.plain = meaning.values[LabelOf(index, one.variable)].Text() == step;
    if (rule->second.first.kind == LoopRule::Kind::kTimes) {
      for (std::string& name : bound.Names()) meaning.doubled_to.insert(std::move(name));
    } else if (!meaning.geometric && meaning.count->Text().find("ceil_log") != std::string::npos) {
      for (std::string& name : meaning.count->Names()) meaning.halved.insert(std::move(name));  // levels of a tree
    }
    break;
  }
  return meaning;
}

}  // namespace evo
