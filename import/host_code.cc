#include "import/host_code.h"

#include <algorithm>
#include <utility>

#include "import/element_type.h"
#include "import/host_facts.h"
#include "import/separate_runs.h"
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
  if (value.kind != Kind::kNumber || !value.number.is_real || !integer) return value;
  return HostExpression::Integer(static_cast<std::int64_t>(value.number.real));
}

// Keeps a name in a set while it is alive.
class Expansion {
 public:
  Expansion(std::set<std::string>& names, const std::string& name) : names_(names), at_(names.insert(name)) {}
  ~Expansion() {
    if (at_.second) names_.erase(at_.first);
  }
  Expansion(const Expansion&) = delete;
  Expansion& operator=(const Expansion&) = delete;
  bool reaches_itself() const { return !at_.second; }

 private:
  std::set<std::string>& names_;
  std::pair<std::set<std::string>::iterator, bool> at_;
};

bool IsArithmetic(const std::string& type) {
  static const std::vector<std::string> kTypes = {
      "int",  "unsigned int",  "long", "unsigned long", "long long", "unsigned long long", "short", "unsigned short",
      "char", "unsigned char", "bool", "float",         "double"};
  const std::string plain = type.starts_with("const ") ? type.substr(6) : type;
  return std::find(kTypes.begin(), kTypes.end(), plain) != kTypes.end();
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

}  // namespace

HostCode::HostCode(const SourceProgram& program) : program_(program), calls_(program), loops_(ReadHostLoops(program, calls_)) {
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
      if (assigned.size() == 1) return ResolvedAt(assigned[0], function, depth + 1);
      if (const auto property = DeviceProperty(part.text)) return HostExpression::Integer(*property);
      int place = function;
      if (const Path names = NamesIn(part); !names.empty()) {
        if (const auto set = HostFields(program_, calls_).PartOfVariable(names, place)) return ResolvedAt(*set, place, depth + 1);
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
  if (const auto chosen = ValueOf(part.parts[0], Values())) return part.parts[chosen->AsReal() != 0 ? 1 : 2];
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
    if (function < 0) return std::nullopt;
    const auto& parameters = program_.functions()[static_cast<std::size_t>(function)].parameters;
    if (std::none_of(parameters.begin(), parameters.end(), [&](const ProgramParameter& one) { return one.name == name; }))
      return std::nullopt;
    return leaves_.Add({name, HostLeaf::Origin::kParameter, function, std::nullopt, ""});
  }
  if (const auto answered = AnswerOfDevice(program_, calls_, name, variable->function)) return HostExpression::Integer(*answered);
  const std::string place = program_.PlaceOf(program_.tree().node(variable->node).range.begin);
  if (variable->loop) {
    const auto last = LastOf(separate_, program_, *variable);
    return leaves_.Add({name, last ? HostLeaf::Origin::kVariable : HostLeaf::Origin::kLoop, variable->function, last, place});
  }
  SourceRange initialiser = variable->initialiser;
  const auto& assigned = calls_.AssignedTo(KeyOf(*variable), variable->function);
  if (initialiser.size() == 0 && !assigned.empty()) initialiser = assigned.front();
  if (const auto set = calls_.SetByReference(*variable)) return ResolvedAt(set->range, set->function, depth + 1);
  const bool only_declared = initialiser.size() > 0 && program_.Text(initialiser) == "0";
  for (std::size_t i = 0; before_ > 0 && i < assigned.size(); ++i) {
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
  const auto tokens = program_.Tokens(initialiser);
  const int place_of_value = variable->function < 0 ? program_.FunctionAt(initialiser.begin) : variable->function;
  const HostExpression value = OfType(variable->type, Simplified(ResolvedAt(initialiser, place_of_value, depth + 1)));
  if (value.kind == Kind::kNumber && DeviceProperty(tokens.back())) return value;
  const bool bytes = std::find(tokens.begin(), tokens.end(), "sizeof") != tokens.end();
  // What a loop that is no part of the task changes: n = pow(2, p).
  const auto names = value.Names();
  const bool changes = std::any_of(names.begin(), names.end(), [&](const std::string& one) {
    const auto leaf = leaves().find(one);
    return leaf != leaves().end() && leaf->second.origin == HostLeaf::Origin::kLoop && !one.starts_with("evo_loop");
  });
  if (changes) return leaves_.Add({name, origin, variable->function, std::nullopt, place});
  if (value.IsKnown() && (!names.empty() || bytes) && (value.Names() != std::vector{name} || !variable->record.empty()))
    return value;
  if (!IsArithmetic(variable->type) && value.kind != Kind::kNumber) return std::nullopt;
  std::optional<Number> number = value.IsKnown() ? ValueOf(value, {}) : ValueOf(value, Values());
  if (!number) number = LargestOf(*this, ListOf(program_, calls_, initialiser, place_of_value), place_of_value);
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
  return leaves_.Add({name, origin, variable->function, number, place});
}

std::optional<HostExpression> HostCode::ResolveCall(const HostExpression& call, int function, int depth) {
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
    if (tokens.size() < 5 || tokens[1] != "return" || tokens[tokens.size() - 2] != ";") return DefaultAmong(call);
    for (const ProgramParameter& parameter : callee.parameters) parameters.push_back(parameter.name);
    body = ParseHostExpression({tokens.begin() + 2, tokens.end() - 2});
  } else if (call.Is(".size") && call.parts.size() == 1) {
    return SizeOf(call.parts[0], function, depth);
  } else {
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

// x, y or z of a dim3. One that is computed, such as dimensions of a matrix kept in a dim3, is a leaf of its own: dims_x.
std::optional<HostExpression> HostCode::ResolveComponent(const HostExpression& member, int function) {
  static const std::vector<std::string> kComponents = {"x", "y", "z"};
  const auto axis = std::find(kComponents.begin(), kComponents.end(), member.text);
  if (axis == kComponents.end() || member.parts[0].kind != Kind::kName) return std::nullopt;
  int owner = function;
  const std::vector<HostExpression> all = DimensionsOf(member.parts[0].text, owner);
  const auto index = static_cast<std::size_t>(axis - kComponents.begin());
  if (all.empty()) return std::nullopt;
  if (index >= all.size()) return HostExpression::Integer(1);
  if (all[index].kind == Kind::kName) return all[index];
  const auto value = ValueOf(all[index], Values());
  if (!value || IsGrid(program_, calls_, member.parts[0].text, function)) return all[index];
  const ProgramVariable* variable = program_.FindVariable(member.parts[0].text, owner);
  const std::string place = variable == nullptr ? "" : program_.PlaceOf(program_.tree().node(variable->node).range.begin);
  return leaves_.Add({member.parts[0].text + "_" + member.text, HostLeaf::Origin::kComponent, owner, value, place});
}

// Of the dim3 variable or parameter `name`; empty if it is none. `function`: where it stands, then where its value stands.
std::vector<HostExpression> HostCode::DimensionsOf(const std::string& name, int& function) {
  const Expansion expansion(expanding_, name + " of " + std::to_string(function));
  if (expansion.reaches_itself()) return {};
  std::vector<HostExpression> dimensions;
  const ProgramVariable* variable = program_.FindVariable(name, function, at_);
  if (variable == nullptr) {
    const auto passed = calls_.PassedFor(name, function);
    if (!passed) return {};
    const auto& parameters = program_.functions()[static_cast<std::size_t>(function)].parameters;
    const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const auto& one) { return one.name == name; });
    if (found == parameters.end() || found->type.find("dim3") == std::string::npos) return {};
    function = passed->function;
    return Dimensions(passed->range, passed->function);
  }
  if (variable->type.find("dim3") == std::string::npos) return {};
  for (const char* member : {".x", ".y", ".z"}) {
    const auto& assigned = calls_.AssignedTo(name + member, function);
    if (!assigned.empty()) dimensions.push_back(Resolve(assigned.back(), function));
  }
  if (!dimensions.empty() && variable->initialiser.size() == 0) return dimensions;
  dimensions.clear();
  SourceRange value = variable->initialiser;
  const auto& assigned = calls_.AssignedTo(KeyOf(*variable), variable->function);
  if (value.size() == 0 && !assigned.empty()) value = assigned.front();
  if (value.size() == 0) return {};
  function = variable->function < 0 ? program_.FunctionAt(value.begin) : variable->function;
  const std::size_t open = program_.TokenAt(value.begin);
  if (program_.Token(open) != "(" && program_.Token(open) != "{") return Dimensions(value, function);
  for (const SourceRange& one : calls_.Split(open, program_.AfterBracket(open) - 1)) dimensions.push_back(Resolve(one, function));
  return dimensions;
}

std::vector<HostExpression> HostCode::Dimensions(const SourceRange& range, int function) {
  const HostExpression written = ParseHostExpression(program_.Tokens(range));
  std::vector<HostExpression> dimensions;
  if (written.kind == Kind::kName) {
    int owner = function;
    const std::uint32_t before = std::exchange(at_, range.begin);
    dimensions = DimensionsOf(written.text, owner);
    at_ = before;
    // What the grid names as block.x is the same in the block.
    for (std::size_t i = 0; i < dimensions.size() && i < 3; ++i) {
      if (const auto known = leaves_.Component(written.text + "_" + "xyz"[i], owner)) dimensions[i] = *known;
    }
    if (!dimensions.empty()) return dimensions;
  }
  if (written.kind == Kind::kCall && written.Is("dim3")) {
    for (const HostExpression& part : written.parts) dimensions.push_back(ResolvedFrom(range.begin, part, function));
    return dimensions;
  }
  const std::size_t open = program_.TokenAt(range.begin);
  if (program_.Token(open) == "{") {
    for (const SourceRange& one : calls_.Split(open, program_.AfterBracket(open) - 1))
      dimensions.push_back(Resolve(one, function));
    return dimensions;
  }
  return {ResolvedFrom(range.begin, written, function)};
}

}  // namespace evo
