// What HostCode knows of variables that loops around launches change.
#include <fmt/format.h>

#include <algorithm>

#include "import/host_code.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

constexpr std::int64_t kSmallStart = 64;  // of what a loop multiplies or adds to

// A name that no program has.
std::string LabelOf(std::size_t loop, const std::string& variable) { return fmt::format("evo_loop{}_{}", loop, variable); }

// What a variable becomes in an iteration, where that does not depend on what the loop makes of it or of others.
std::optional<HostExpression> ComputedAnew(const std::vector<HostLoop>& loops, std::size_t loop, const LoopVariable& variable) {
  const auto names = variable.next.Names();
  const auto is_changed = [&](const std::string& name) {
    return std::any_of(loops.begin(), loops.end(), [&](const HostLoop& one) {
      const LoopVariable* const other = one.function == loops[loop].function ? one.Find(name) : nullptr;
      // Another one that is computed before it is as good.
      const bool before = &one == &loops[loop] && other != nullptr && other != &variable && other->in_body &&
                          other->update.end < variable.update.begin && ComputedAnew(loops, loop, *other).has_value();
      return other != nullptr && !before;
    });
  };
  if (!variable.next.IsKnown() && variable.next.kind != Kind::kCall) return std::nullopt;
  return std::any_of(names.begin(), names.end(), is_changed) ? std::nullopt : std::optional(variable.next);
}

}  // namespace

const HostLoop* PlainLoopThatScales(const SourceProgram& program, const std::vector<HostLoop>& loops,
                                    const ProgramVariable& variable, std::uint32_t at) {
  const HostLoop* last = nullptr;
  const std::uint32_t declared = program.tree().node(variable.node).range.begin;
  for (const HostLoop& loop : loops) {
    const LoopVariable* const changed = loop.Find(variable.name);
    if (changed == nullptr || loop.function != variable.function || loop.range.begin < declared ||
        (at > 0 && at < loop.range.end))
      continue;
    const ProgramVariable* const seen = program.FindVariable(variable.name, variable.function, loop.body.begin);
    const auto rule = RuleOf(variable.name, changed->next);
    if (seen == &variable && rule && rule->IsGeometric()) last = &loop;
  }
  return last;
}

CountingLoop LoopThatCounts(const SourceProgram& program, const std::vector<HostLoop>& loops, const ProgramVariable& variable,
                            std::uint32_t at) {
  const std::uint32_t declared = program.tree().node(variable.node).range.begin;
  if (program.Text(variable.initialiser) != "0") return {};
  CountingLoop found;
  for (const HostLoop& loop : loops) {
    const LoopVariable* const counted = loop.Find(variable.name);
    if (counted == nullptr || loop.function != variable.function || loop.range.begin < declared ||
        (at > 0 && at < loop.range.end))
      continue;
    if (program.FindVariable(variable.name, variable.function, loop.body.begin) != &variable) continue;
    // Counted once only.
    if (found.loop != nullptr || counted->initial || counted->next.Text() != variable.name + " + 1") return {};
    const HostExpression condition = ParseHostExpression(loop.condition);
    if (condition.kind != Kind::kBinary || condition.Is("&&") || condition.Is("||")) return {};
    std::optional<HostExpression> turns;
    const std::string left = condition.parts[0].Text();
    if (condition.Is("<") && left == "1 << " + variable.name) {
      turns = HostExpression::Call("ceil_log", {condition.parts[1], HostExpression::Integer(2)});
    } else {
      const auto is_other = [&](const std::string& name) { return name != variable.name && loop.Find(name) != nullptr; };
      const auto compared = ComparisonsOf(condition, is_other);
      if (compared.size() != 1) return {};
      const LoopVariable& other = *loop.Find(compared[0].variable);
      const auto rule = RuleOf(other.name, other.next);
      if (!rule || !rule->IsGeometric()) return {};
      const HostExpression start =
          other.initial ? ParseHostExpression(program.Tokens(*other.initial)) : HostExpression::Name(other.name);
      turns = IterationsOf(*rule, start, compared[0].op, compared[0].bound);
    }
    if (!turns) return {};
    found = {&loop, *turns};
  }
  return found;
}

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
    // What each iteration computes anew: `blocks = (n + 255) / 256;`.
    if (const auto anew = changed ? ComputedAnew(loops_, i, *variable) : std::nullopt) {
      const HostExpression value = ResolvedFrom(variable->update.begin, *anew, function);
      if (value.IsKnown()) return value;
    }
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
  const auto is_variable = [&](const std::string& name) { return loop.Find(name) != nullptr; };
  for (const LoopComparison& one : ComparisonsOf(ParseHostExpression(loop.condition), is_variable)) {
    meaning.variable = one.variable;
    const auto rule = rules.find(one.variable);
    // `i < log2(n)` goes on for a part of a step.
    const bool below = one.op == "<" && one.bound.kind == Kind::kCall && one.bound.Is("log2");
    const HostExpression limit =
        below ? HostExpression::Call("ceil_log", {one.bound.parts[0], HostExpression::Integer(2)}) : one.bound;
    const HostExpression bound = ResolvedFrom(loop.range.begin, limit, loop.function);
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
