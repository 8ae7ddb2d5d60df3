#include "import/host_code.h"

#include <algorithm>
#include <utility>

#include "import/branch_values.h"
#include "import/clamped_values.h"
#include "import/element_type.h"
#include "import/expansion.h"
#include "import/host_facts.h"
#include "import/host_objects.h"
#include "import/returned_value.h"
#include "import/separate_runs.h"
#include "import/stored_values.h"
#include "import/template_types.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

constexpr int kDeepest = 12;            // of variables that stand for one another
constexpr int kMostReplacements = 300;  // of one expression
constexpr int kLargest = 500;           // parts of what a macro or a function gets

int PartsOf(const HostExpression& expression) {
  int count = 1;
  for (const HostExpression& part : expression.parts) count += PartsOf(part);
  return count;
}

// A real number that an integer variable gets: `int width = sqrt(1024);`.
HostExpression OfType(const std::string& type, HostExpression value) {
  const auto names = [&](const char* word) { return type.find(word) != std::string::npos; };
  const bool integer = names("int") || names("long") || names("unsigned") || names("size_t") || names("short");
  return integer ? Truncated(std::move(value)) : value;
}

using Path = std::vector<std::string>;

// `p.inner.n` by its names; empty for other expressions.
Path NamesIn(const HostExpression& member) {
  if (member.kind == Kind::kName) return {member.text};
  if (member.kind != Kind::kMember) return {};
  Path names = NamesIn(member.parts[0]);
  if (!names.empty()) names.push_back(member.text);
  return names;
}

// A program that is run with each of several sizes is taken with the largest.
std::optional<Number> LargestOf(HostCode& host, const std::vector<SourceRange>& list, int function) {
  std::optional<Number> largest;
  for (const SourceRange& one : list) {
    const HostExpression element = host.Resolve(one, function);
    const auto value = ValueOf(element, host.Values());
    if (!value || value->is_real) return std::nullopt;
    if (!largest || value->integer > largest->integer) largest = value;
  }
  return largest;
}

// Whether it has no calls, whose values only a run knows.
bool IsOfNames(const HostExpression& expression) {
  if (expression.kind == Kind::kCall || expression.kind == Kind::kUnknown) return expression.IsKnown();
  return std::all_of(expression.parts.begin(), expression.parts.end(), IsOfNames);
}

// Whether a loop is in the block of a variable's declaration, under no condition, and ends by its own condition only.
bool RunsAlways(const SourceProgram& program, const ProgramVariable& variable, const HostLoop& loop) {
  const auto inside = program.Tokens(loop.body);
  constexpr std::string_view kJumps[] = {"if", "break", "return", "continue", "goto", "?"};
  const bool jumps = std::any_of(inside.begin(), inside.end(), [&](std::string_view token) {
    return std::find(std::begin(kJumps), std::end(kJumps), token) != std::end(kJumps);
  });
  const auto before = program.Tokens({program.tree().node(variable.node).range.begin, loop.range.begin});
  const bool behind_statement = !before.empty() && (before.back() == ";" || before.back() == "}");
  const bool same_block = std::count(before.begin(), before.end(), "{") == std::count(before.begin(), before.end(), "}");
  return !jumps && behind_statement && same_block;
}

// Whether a variable that is assigned once has that value at a place: `int n = 0; for (..) { n = 1 << k; scan(x, n); }`.
bool IsSetBefore(const SourceProgram& program, const ProgramVariable& variable, const SourceRange& value, std::uint32_t at) {
  if (at <= value.end || program.FunctionAt(value.begin) != program.FunctionAt(at)) return false;
  const std::size_t first = program.TokenAt(value.begin);
  const std::string_view before = first > 2 ? program.Token(first - 3) : std::string_view();
  const bool is_statement = program.Token(first - 1) == "=" && program.Token(first - 2) == variable.name &&
                            (before == ";" || before == "{" || before == "}");
  const HostExpression expression = ParseHostExpression(program.Tokens(value));
  const auto names = expression.Names();
  if (!is_statement || !IsOfNames(expression) || std::find(names.begin(), names.end(), variable.name) != names.end())
    return false;
  // The block in which it is set goes on to that place.
  const auto between = program.Tokens({value.end, at});
  int depth = 0;
  for (const std::string_view token : between) {
    depth += token == "{" ? 1 : token == "}" ? -1 : 0;
    if (depth < 0) return false;
  }
  return true;
}

}  // namespace

HostCode::HostCode(const SourceProgram& program)
    : program_(program), calls_(program), loops_(ReadHostLoops(program, calls_)), plain_loops_(ReadPlainLoops(program, calls_)) {
  separate_ = TakeSeparate(program, *this, loops_);
  ReadEqualities();
}

HostExpression HostCode::Resolve(const HostExpression& expression, int function) {
  return Simplified(Resolved(expression, function, 0));
}

HostExpression HostCode::Resolve(const SourceRange& range, int function) {
  return ResolvedFrom(range.begin, ParseHostExpression(program_.Tokens(range)), function);
}

HostExpression HostCode::Resolved(const HostExpression& expression, int function, int depth) {
  if (depth == 0 && expanding_.empty()) steps_ = 0;
  if (depth > kDeepest || ++steps_ > kMostReplacements) return expression;
  return Replaced(expression, [&](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind == Kind::kName) return ResolveName(part.text, function, depth);
    if (part.kind == Kind::kMember) {
      if (auto component = ResolveComponent(part, function)) return component;
      const auto& assigned = calls_.AssignedTo(part.Text(), function);
      if (assigned.size() == 1) return ValueOfField(assigned[0], part.text, function, depth + 1);
      if (const auto property = DeviceProperty(part.text)) return HostExpression::Integer(*property);
      int place = function;
      if (const Path names = NamesIn(part); !names.empty()) {
        if (const auto set = HostFields(program_, calls_).PartOfVariable(names, place))
          return ValueOfField(*set, names.back(), place, depth + 1);
      }
      if (auto value = FieldDefault(part, function, depth)) return value;
      if (!assigned.empty() || part.parts[0].kind != Kind::kName) return std::nullopt;
      const auto passed = calls_.PassedFor(part.parts[0].text, function);
      if (!passed) {
        const SourceRange* const set = calls_.AssignedThrough(part.parts[0].text, part.text, function);
        if (set == nullptr) return std::nullopt;
        return ResolvedAt(*set, program_.FunctionAt(set->begin), depth + 1);
      }
      HostExpression whole = ParseHostExpression(program_.Tokens(passed->range));
      if (whole.kind == Kind::kUnary && whole.Is("&")) whole = HostExpression(whole.parts[0]);
      if (whole.kind != Kind::kName) return std::nullopt;
      return ResolvedAt(passed->range, {Kind::kMember, part.text, {}, {whole}}, passed->function, depth + 1);
    }
    if (part.kind == Kind::kCall) return ResolveCall(part, function, depth);
    return Chosen(part);
  });
}

// A choice whose condition is known, or that the command line makes: what is chosen without one.
std::optional<HostExpression> HostCode::Chosen(const HostExpression& part) const {
  if (part.kind != Kind::kConditional) return std::nullopt;
  // Whether something is left over is different for other sizes.
  if (part.parts[0].Text().find('%') != std::string::npos && !part.parts[0].Names().empty() && part.IsKnown())
    return std::nullopt;
  if (const auto chosen = ValueOf(part.parts[0], Values())) return part.parts[chosen->AsReal() != 0 ? 1 : 2];
  if (const auto same = AreSameEnumerator(program_, part.parts[0])) return part.parts[*same ? 1 : 2];
  if (!part.parts[1].IsKnown() && part.parts[2].IsKnown()) return part.parts[2];
  if (!part.parts[2].IsKnown() && part.parts[1].IsKnown()) return part.parts[1];
  return std::nullopt;
}

std::optional<HostExpression> HostCode::ResolveName(const std::string& name, int inside, int depth) {
  if (name.starts_with("sizeof ")) return SizeNamed(program_, name.substr(7), inside);
  const int function = program_.OwnerOf(name, inside);
  if (auto step = StepOf(name, function)) return step;
  // What is already a leaf keeps its label.
  const ProgramVariable* variable = program_.FindVariable(name, function, at_);
  if (variable == nullptr || variable->function < 0) {
    if (const ProgramMacro* macro = program_.FindMacro(name); macro != nullptr && !macro->function_like && variable == nullptr) {
      const HostExpression body = Simplified(Resolved(ParseHostExpression(SpelledTokens(macro->body)), inside, depth + 1));
      if (!body.Names().empty() || !body.IsKnown()) return body.Names() == std::vector{name} ? std::nullopt : std::optional(body);
      return leaves_.Add({name, HostLeaf::Origin::kMacro, -1, ValueOf(body, {}), program_.PlaceOf(macro->range.begin)});
    }
  }
  if (variable == nullptr) {
    if (const auto given = ValueOfTemplate(program_, calls_.calls(), inside, name)) {
      const HostExpression value =
          Simplified(Resolved(ParseHostExpression(SpelledTokens(given->text)), given->function, depth + 1));
      return value.IsKnown() && ValueOf(value, Values()) ? value : HostExpression::Name(given->text);
    }
    if (HasMembers(program_, name, function)) return std::nullopt;  // they are looked up one by one
    const auto passed = calls_.PassedFor(name, function);
    if (passed) {
      const HostExpression argument = Simplified(ResolvedAt(passed->range, passed->function, depth + 1));
      if (argument.IsKnown() && !argument.Names().empty()) return argument;
      auto value = ValueOf(argument, Values());
      if (!value) value = LargestOf(*this, ListOf(program_, calls_, passed->range, passed->function), passed->function);
      return leaves_.Add({name, HostLeaf::Origin::kParameter, function, value, program_.PlaceOf(passed->range.begin)});
    }
    if (!program_.HasParameter(function, name)) return EnumeratorOf(program_, name);
    return leaves_.Add({name, HostLeaf::Origin::kParameter, function, std::nullopt, ""});
  }
  if (const auto answered = AnswerOfDevice(program_, calls_, name, variable->function)) return HostExpression::Integer(*answered);
  if (const HostCall* const rows = PitchedRowsOf(program_, *this, *variable))
    return ResolvedAt(rows->arguments[2], rows->function, depth + 1);
  const std::string place = program_.PlaceOf(program_.tree().node(variable->node).range.begin);
  if (variable->loop) {
    const auto last = LastOf(separate_, program_, *variable);
    return leaves_.Add({name, last ? HostLeaf::Origin::kVariable : HostLeaf::Origin::kLoop, variable->function, last, place});
  }
  SourceRange initialiser = variable->initialiser;
  const auto& assigned = calls_.AssignedTo(KeyOf(*variable), variable->function);
  // `int n_ = 0;` of a class only declares what a method sets.
  const bool member_of_nothing = !variable->record.empty() && program_.Text(initialiser) == "0" && !assigned.empty();
  if ((initialiser.size() == 0 || member_of_nothing) && !assigned.empty()) initialiser = assigned.front();
  if (const auto set = calls_.SetByReference(*variable)) return ResolvedAt(set->range, set->function, depth + 1);
  const Expansion stored(expanding_, name + " stored");
  const auto is_zero = [&](const SourceRange& value) { return program_.Text(value) == "0"; };
  const bool is_set = !std::all_of(assigned.begin(), assigned.end(), is_zero) || stored.reaches_itself();
  if (const auto value = is_set ? std::nullopt : StoredByCall(program_, *this, *variable)) {
    if (value->IsKnown()) return value;
    return leaves_.Add({name, HostLeaf::Origin::kVariable, variable->function, std::nullopt, place});
  }
  const bool only_declared = initialiser.size() > 0 && program_.Text(initialiser) == "0";
  if (only_declared && before_ == 0 && assigned.size() == 1 && IsSetBefore(program_, *variable, assigned.front(), at_))
    initialiser = assigned.front();
  std::vector<ValueClamp> clamps = ClampsOf(program_, *variable, assigned, initialiser);
  const auto bound_of = [&](const ValueClamp& clamp) {
    return Simplified(ResolvedAt(clamp.place, clamp.bound, variable->function, depth + 1));
  };
  for (std::size_t i = 0; before_ > 0 && clamps.empty() && i < assigned.size(); ++i) {
    if (assigned[i].begin < before_ && assigned[i].begin > initialiser.begin &&
        IsOfNames(ParseHostExpression(program_.Tokens(assigned[i]))) &&
        (!only_declared || program_.FindMacro(program_.Text(assigned[i])) == nullptr))
      initialiser = assigned[i];
  }
  const bool of_file = variable->function < 0 && variable->record.empty();
  const auto origin = of_file ? HostLeaf::Origin::kFileConstant : HostLeaf::Origin::kVariable;
  if (initialiser.size() == 0 && !FieldsOf(program_, variable->type).empty()) return std::nullopt;  // its fields have values
  if (initialiser.size() == 0) {
    const auto suggested = SuggestedBlock(program_, calls_, name, variable->function);
    const auto elements = ElementsOfRange(program_, calls_, *variable, variable->function);
    const auto value = suggested ? Number::Integer(*suggested) : LargestOf(*this, elements, variable->function);
    return leaves_.Add({name, origin, variable->function, value, place});
  }
  if (const HostLoop* const loop = PlainLoopThatScales(program_, plain_loops_, *variable, at_)) {
    const LoopVariable& changed = *loop->Find(name);
    const SourceRange start = changed.initial.value_or(initialiser);
    const auto after =
        ValueAfterLoop(name, ParseHostExpression(program_.Tokens(start)), changed.next, ParseHostExpression(loop->condition));
    const auto value = after && RunsAlways(program_, *variable, *loop)
                           ? Simplified(ResolvedAt({loop->range.begin, loop->range.begin}, *after, variable->function, depth + 1))
                           : HostExpression{};
    if (value.IsKnown()) return value;
    return leaves_.Add({name, origin, variable->function, std::nullopt, place});
  }
  if (const CountingLoop counting = LoopThatCounts(program_, plain_loops_, *variable, at_); counting.loop != nullptr) {
    const std::uint32_t before = counting.loop->range.begin;
    const auto turns = RunsAlways(program_, *variable, *counting.loop)
                           ? Simplified(ResolvedAt({before, before}, counting.turns, variable->function, depth + 1))
                           : HostExpression{};
    if (turns.IsKnown()) return turns;
  }
  const auto tokens = program_.Tokens(initialiser);
  const bool real = variable->type.ends_with("float") || variable->type.ends_with("double");
  if (const HostExpression written = ParseHostExpression(tokens); real && written.kind == Kind::kCall && written.Is("log2")) {
    const HostExpression of = Simplified(ResolvedAt(initialiser, written.parts[0], variable->function, depth + 1));
    const HostExpression logarithm = HostExpression::Call("log2", {of});  // what rounds it knows how
    return RoundedLogarithm(logarithm, true, Values(), powers_of_two_).value_or(logarithm);
  }
  const int place_of_value = variable->function < 0 ? program_.FunctionAt(initialiser.begin) : variable->function;
  const auto branches = ValueOfBranches(program_, *variable, assigned);
  const HostExpression resolved = branches ? ResolvedAt(branches->place, branches->value, variable->function, depth + 1)
                                           : ResolvedAt(initialiser, place_of_value, depth + 1);
  HostExpression value = OfType(variable->type, Simplified(resolved));
  if (const auto adds = ConditionOfIncrement(program_, *variable)) {
    HostExpression condition = Simplified(ResolvedAt(*adds, place_of_value, depth + 1));
    const HostExpression one{
        Kind::kConditional, "?", {}, {std::move(condition), HostExpression::Integer(1), HostExpression::Integer(0)}};
    if (one.IsKnown()) value = Simplified(HostExpression::Binary("+", value, one));
  }
  if (value.kind == Kind::kNumber && DeviceProperty(tokens.back())) return value;
  const bool bytes = std::find(tokens.begin(), tokens.end(), "sizeof") != tokens.end();
  // What a loop that is no part of the task changes: n = pow(2, p).
  const auto names = value.Names();
  const bool changes = std::any_of(names.begin(), names.end(), [&](const std::string& one) {
    const auto leaf = leaves().find(one);
    return leaf != leaves().end() && leaf->second.origin == HostLeaf::Origin::kLoop && !one.starts_with("evo_loop");
  });
  if (changes) return leaves_.Add({name, origin, variable->function, std::nullopt, place});
  // `n = (1 << k) + 3` of a program that runs with several k.
  const ProgramVariable* const of =
      names.size() == 1 ? program_.FindVariable(names.front(), variable->function, initialiser.begin) : nullptr;
  const bool of_runs = of != nullptr && of->loop && value.kind == Kind::kBinary && (value.Is("+") || value.Is("-"));
  if (const auto last = of_runs ? ValueOf(value, Values()) : std::nullopt)
    return leaves_.Add({name, origin, variable->function, last, place});
  // `n` that is made of the n of a caller is that one.
  const auto own = leaves().find(name);
  const bool itself = names == std::vector{name} && variable->record.empty() &&
                      (own == leaves().end() || own->second.function == variable->function);
  if (value.IsKnown() && (!names.empty() || bytes) && !itself) {
    if (branches || value.kind == Kind::kName) return value;
    return WithClamps(std::move(value), clamps, bound_of);
  }
  if (!IsTypeOfNumber(variable->type) && value.kind != Kind::kNumber) return std::nullopt;
  std::optional<Number> number = value.IsKnown() ? ValueOf(value, {}) : ValueOf(value, Values());
  if (!number) number = LargestOf(*this, ListOf(program_, calls_, initialiser, place_of_value), place_of_value);
  if (number && number->AsReal() == 0 && IsCountedUp(program_, name, place_of_value)) number = std::nullopt;
  // A value that the command line may replace: the first one that is a number. `int n = 0;` only declares a size that is set
  // later, unless what is set is a choice.
  constexpr double kMostChoices = 16;
  for (const SourceRange& other : assigned) {
    if (number && number->AsReal() != 0) break;
    const HostExpression set = ParseHostExpression(program_.Tokens(other));
    const HostExpression meant = Simplified(set.kind == Kind::kName ? ResolvedAt(other, -1, depth + 1) : set);
    const auto later = ValueOf(meant, Values());
    if (later && (!number || later->AsReal() > kMostChoices)) number = later;
  }
  std::erase_if(clamps, [&](const ValueClamp& clamp) { return !NamesSize(leaves(), bound_of(clamp)); });
  return WithClamps(leaves_.Add({name, origin, variable->function, number, place}), clamps, bound_of);
}

std::optional<HostExpression> HostCode::ResolveCall(const HostExpression& call, int function, int depth) {
  if (auto logarithm = RoundedLogarithm(call, false, Values(), powers_of_two_)) return logarithm;
  if (depth > kDeepest || ++steps_ > kMostReplacements || PartsOf(call) > kLargest) return std::nullopt;
  const Expansion expansion(expanding_, call.text + "()");
  if (expansion.reaches_itself()) return std::nullopt;
  std::vector<std::string> parameters;
  HostExpression body;
  if (const ProgramMacro* macro = program_.FindMacro(call.text); macro != nullptr && macro->function_like) {
    parameters = macro->parameters;
    body = ParseHostExpression(SpelledTokens(macro->body));
  } else if (const int found = program_.FindFunction(call.text); found >= 0) {
    const ProgramFunction& callee = program_.functions()[static_cast<std::size_t>(found)];
    const auto tokens = program_.Tokens(callee.body);
    const auto returned = ReturnedValue(program_, callee);
    if (!returned && (tokens.size() < 5 || tokens[1] != "return" || tokens[tokens.size() - 2] != ";")) return DefaultAmong(call);
    for (const ProgramParameter& parameter : callee.parameters) parameters.push_back(parameter.name);
    body = returned ? *returned : ParseHostExpression({tokens.begin() + 2, tokens.end() - 2});
  } else {
    if (call.Is(".size") && call.parts.size() == 1) {
      if (auto elements = SizeOf(call.parts[0], function, depth)) return elements;
    }
    const auto method = MethodOf(program_, call);
    return method ? std::optional(Resolved(*method, function, depth + 1)) : std::nullopt;
  }
  if (parameters.size() != call.parts.size() || body.kind == Kind::kUnknown) return std::nullopt;
  return Replaced(body, [&](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind == Kind::kCall) return ResolveCall(part, function, depth + 1);
    if (part.kind != Kind::kName) return Chosen(part);
    const auto parameter = std::find(parameters.begin(), parameters.end(), part.text);
    if (parameter != parameters.end()) return call.parts[static_cast<std::size_t>(parameter - parameters.begin())];
    return ResolveName(part.text, -1, depth + 1);
  });
}

}  // namespace evo
