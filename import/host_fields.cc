// What HostCode knows of the fields of structs: where they get their values.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/element_type.h"
#include "import/host_code.h"
#include "import/host_facts.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;
using FieldPath = std::vector<std::string>;

constexpr int kMostParts = 12;  // from one struct to another

FieldPath PathOf(std::string_view text) {
  FieldPath path(1);
  for (const char c : text) {
    if (c == '.') {
      path.emplace_back();
    } else {
      path.back() += c;
    }
  }
  return path;
}

// `p`, `p.inner` and `p->inner` as names; empty for other expressions.
FieldPath NamesOf(const std::vector<std::string_view>& tokens) {
  FieldPath names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool name = i % 2 == 0;
    if (name ? !IsWord(tokens[i]) : tokens[i] != "." && tokens[i] != "->") return {};
    if (name) names.emplace_back(tokens[i]);
  }
  if (names.size() > 1 && names.front() == "this") names.erase(names.begin());
  return names;
}

}  // namespace

// Which of the values that a constructor gets is a field's: what `field(parameter)` says, else the one at its place.
std::size_t HostFields::PlaceOfField(const std::string& type, const std::string& field, std::size_t values) const {
  const std::string base = type.substr(0, type.find('<'));
  for (const ProgramFunction& one : program_.functions()) {
    if (one.record.empty() || one.record != base || one.name.substr(0, one.name.find('<')) != base) continue;
    if (one.parameters.size() != values) continue;
    for (std::size_t at = program_.TokenAt(one.range.begin); program_.tokens()[at].begin < one.body.begin; ++at) {
      if (program_.Token(at) != field || (program_.Token(at + 1) != "(" && program_.Token(at + 1) != "{")) continue;
      for (std::size_t p = 0; p < one.parameters.size(); ++p) {
        if (one.parameters[p].name == program_.Token(at + 2)) return p;
      }
    }
  }
  const auto fields = FieldsOf(program_, type);
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& one) { return one.name == field; });
  return static_cast<std::size_t>(found - fields.begin());
}

// The part path[at..] of a value of the type; `function`: where the value stands, then where the part stands.
std::optional<SourceRange> HostFields::PartOf(const SourceRange& value, const std::string& type, const FieldPath& path,
                                              std::size_t at, int& function, int depth) const {
  if (at == path.size()) return value;
  if (depth > kMostParts || value.size() == 0) return std::nullopt;
  if (FieldPath names = NamesOf(program_.Tokens(value)); !names.empty()) {
    names.insert(names.end(), path.begin() + static_cast<std::ptrdiff_t>(at), path.end());
    return PartOfVariable(names, function, depth + 1);
  }
  if (const auto element = ElementOf(value, function)) return PartOf(*element, type, path, at, function, depth + 1);
  // {a, b}, (a, b), Type{a, b} and Type<T>(a, b)
  std::size_t open = program_.TokenAt(value.begin);
  const std::string base = type.substr(0, type.find('<'));
  const std::string name = base.substr(base.rfind(':') == std::string::npos ? 0 : base.rfind(':') + 1);
  while (open < program_.tokens().size() && program_.tokens()[open].begin < value.end && program_.Token(open) != "{" &&
         program_.Token(open) != "(")
    ++open;
  const bool list = open == program_.TokenAt(value.begin);
  const auto head = program_.Tokens({value.begin, program_.tokens()[open].begin});
  if (!list && !head.empty() && head.back() != name && IsWord(head.back()) && head.back() != "new")
    return PartOfResult(head.back(), calls_.Split(open, program_.AfterBracket(open) - 1), path, at, function, depth);
  if (!list && std::find(head.begin(), head.end(), name) == head.end()) return std::nullopt;
  const auto values = calls_.Split(open, program_.AfterBracket(open) - 1);
  const auto fields = FieldsOf(program_, type);
  const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& one) { return one.name == path[at]; });
  if (field == fields.end()) return std::nullopt;
  for (const SourceRange& one : values) {
    const auto tokens = program_.Tokens(one);
    if (tokens.size() < 4 || tokens[0] != "." || tokens[1] != path[at]) continue;
    const std::size_t first = program_.TokenAt(one.begin) + 3;
    return PartOf({program_.tokens()[first].begin, one.end}, PointedType(field->type), path, at + 1, function, depth + 1);
  }
  const std::size_t place = PlaceOfField(type, path[at], values.size());
  if (place >= values.size() || program_.Text(values[place]).starts_with(".")) return std::nullopt;
  return PartOf(values[place], PointedType(field->type), path, at + 1, function, depth + 1);
}

// The part of what a function of the program returns, a struct that it makes: `Matrix::of(m, n)`.
std::optional<SourceRange> HostFields::PartOfResult(std::string_view called, const std::vector<SourceRange>& arguments,
                                                    const FieldPath& path, std::size_t at, int& function, int depth) const {
  const int maker = program_.FindFunction(called);
  if (maker < 0 || maker == function) return std::nullopt;
  const ProgramFunction& one = program_.functions()[static_cast<std::size_t>(maker)];
  std::string made;
  for (std::size_t i = program_.TokenAt(one.body.begin); i + 2 < program_.tokens().size(); ++i) {
    if (program_.tokens()[i].begin >= one.body.end) break;
    if (program_.Token(i) == "return" && program_.Token(i + 2) == ";") made = program_.Token(i + 1);
  }
  const ProgramVariable* const variable = program_.FindVariable(made, maker);
  if (variable == nullptr || variable->function != maker) return std::nullopt;
  FieldPath names{made};
  names.insert(names.end(), path.begin() + static_cast<std::ptrdiff_t>(at), path.end());
  int place = maker;
  const auto part = PartOfVariable(names, place, depth + 1);
  if (!part) return std::nullopt;
  for (std::size_t i = 0; i < std::min(one.parameters.size(), arguments.size()); ++i) {
    if (place == maker && program_.Text(*part) == one.parameters[i].name) return arguments[i];
  }
  // What is made of parameters is another value in every call.
  const auto tokens = program_.Tokens(*part);
  const auto is_own = [&](std::string_view token) { return IsWord(token) && program_.FindMacro(token) == nullptr; };
  if (std::any_of(tokens.begin(), tokens.end(), is_own)) return std::nullopt;
  function = place;
  return part;
}

// The element of a list that `shapes[1]` is, the first for one that only a run knows.
std::optional<SourceRange> HostFields::ElementOf(const SourceRange& value, int function) const {
  const HostExpression written = ParseHostExpression(program_.Tokens(value));
  if (written.kind != HostExpression::Kind::kIndex || written.parts[0].kind != HostExpression::Kind::kName) return std::nullopt;
  const auto elements = ListNamed(program_, calls_, written.parts[0].text, function);
  const HostExpression& index = written.parts[1];
  const bool known = index.kind == HostExpression::Kind::kNumber && !index.number.is_real && index.number.integer >= 0;
  const std::size_t place = known ? static_cast<std::size_t>(index.number.integer) : 0;
  return place < elements.size() ? std::optional(elements[place]) : std::nullopt;
}

// `p.inner.data` by its names.
std::optional<SourceRange> HostFields::PartOfVariable(const FieldPath& names, int& function, int depth) const {
  const ProgramVariable* const variable = program_.FindVariable(names[0], function);
  std::string type = variable == nullptr ? "" : PointedType(variable->type);
  const auto passed = variable == nullptr ? calls_.PassedFor(names[0], function) : std::nullopt;
  if (passed) {
    for (const ProgramParameter& one : program_.functions()[static_cast<std::size_t>(function)].parameters) {
      if (one.name == names[0]) type = PointedType(one.type);
    }
  }
  std::vector<std::string> types{type};  // of each prefix
  for (std::size_t k = 1; k < names.size(); ++k) {
    const auto fields = FieldsOf(program_, types.back());
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& one) { return one.name == names[k]; });
    types.push_back(field == fields.end() ? "" : PointedType(field->type));
  }
  for (std::size_t k = names.size(); k >= 1; --k) {
    const FieldPath prefix(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(k));
    const auto& assigned = calls_.AssignedTo(fmt::format("{}", fmt::join(prefix, ".")), function);
    if (assigned.size() == 1) return PartOf(assigned[0], types[k - 1], names, k, function, depth + 1);
  }
  if (variable != nullptr) {
    if (const auto elements = ElementsOfRange(program_, calls_, *variable, function); !elements.empty())
      return PartOf(elements.front(), types[0], names, 1, function, depth + 1);
    if (variable->function < 0 && variable->initialiser.size() > 0) function = program_.FunctionAt(variable->initialiser.begin);
    return PartOf(variable->initialiser, types[0], names, 1, function, depth + 1);
  }
  if (!passed) return std::nullopt;
  function = passed->function;
  return PartOf(passed->range, types[0], names, 1, function, depth + 1);
}

std::optional<HostExpression> MethodOf(const SourceProgram& program, const HostExpression& call) {
  if (!call.text.starts_with(".") || call.parts.empty()) return std::nullopt;
  const std::string name = call.text.substr(1);
  const auto& functions = program.functions();
  const auto is_method = [&](const ProgramFunction& one) {
    return !one.record.empty() && one.name == name && one.parameters.size() + 1 == call.parts.size();
  };
  const auto method = std::find_if(functions.begin(), functions.end(), is_method);
  if (method == functions.end() || std::count_if(functions.begin(), functions.end(), is_method) > 1) return std::nullopt;
  const auto tokens = program.Tokens(method->body);
  if (tokens.size() < 5 || tokens[1] != "return" || tokens[tokens.size() - 2] != ";") return std::nullopt;
  const HostExpression& object = call.parts[0];
  const auto fields = FieldsOf(program, method->record);
  return Replaced(ParseHostExpression({tokens.begin() + 2, tokens.end() - 2}),
                  [&](const HostExpression& part) -> std::optional<HostExpression> {
                    if (part.kind == HostExpression::Kind::kCall && !part.text.starts_with(".")) {
                      const bool own = std::any_of(functions.begin(), functions.end(), [&](const ProgramFunction& one) {
                        return one.record == method->record && one.name == part.text;
                      });
                      if (!own) return std::nullopt;
                      std::vector<HostExpression> parts = part.parts;
                      parts.insert(parts.begin(), object);
                      return HostExpression::Call("." + part.text, std::move(parts));
                    }
                    if (part.kind != HostExpression::Kind::kName) return std::nullopt;
                    for (std::size_t i = 0; i < method->parameters.size(); ++i) {
                      if (method->parameters[i].name == part.text) return call.parts[i + 1];
                    }
                    const bool field =
                        std::any_of(fields.begin(), fields.end(), [&](const auto& one) { return one.name == part.text; });
                    if (!field) return std::nullopt;
                    return HostExpression{HostExpression::Kind::kMember, part.text, {}, {object}};
                  });
}

HostCode::Pointer HostCode::OfField(const SourceRange& argument, const std::string& type, const std::string& field, int function,
                                    int depth) const {
  int place = function;
  const auto value = HostFields(program_, calls_).PartOf(argument, type, PathOf(field), 0, place);
  if (value && !IsNullWord(program_.Text(*value))) return Origin(*value, place);
  const FieldPath names = NamesOf(program_.Tokens(argument));
  if (names.empty()) return {function, fmt::format("{}.{}", program_.Text(argument), field), false, ""};
  if (const auto passed = calls_.PassedFor(names[0], function); passed && names.size() == 1 && depth < kMostParts)
    return OfField(passed->range, type, field, passed->function, depth + 1);
  return {program_.OwnerOf(names[0], function), fmt::format("{}.{}", fmt::join(names, "."), field), false, ""};
}

// A large number in a list is a size, by the name of its field; small ones are choices.
HostExpression HostCode::ValueOfField(const SourceRange& value, const std::string& field, int function, int depth) {
  constexpr std::int64_t kMostChoice = 16;
  const HostExpression resolved = Simplified(ResolvedAt(value, function, depth));
  if (resolved.kind == Kind::kNumber && !resolved.number.is_real && resolved.number.integer > kMostChoice)
    return leaves_.AddField(field, resolved.number, value.begin, program_.PlaceOf(value.begin));
  return resolved;
}

std::optional<HostExpression> HostCode::FieldValue(const SourceRange& argument, const std::string& type, const std::string& field,
                                                   int function) {
  int place = function;
  if (const auto value = HostFields(program_, calls_).PartOf(argument, type, PathOf(field), 0, place))
    return ValueOfField(*value, PathOf(field).back(), place, 0);
  HostExpression whole = ParseHostExpression(program_.Tokens(argument));
  if (whole.kind != HostExpression::Kind::kName && whole.kind != HostExpression::Kind::kMember) return std::nullopt;
  for (const std::string& name : PathOf(field)) whole = {HostExpression::Kind::kMember, name, {}, {whole}};
  return ResolvedFrom(argument.begin, whole, function);
}

// `if (a != b) { .. exit(1); }`: b is a.
void HostCode::ReadEqualities() {
  const SyntaxTree& tree = program_.tree();
  for (const SyntaxNode& node : tree.nodes()) {
    if (node.kind_name != "IfStmt" || node.children.size() != 2 || node.function < 0) continue;
    const auto body = program_.Tokens(tree.node(node.children[1]).range);
    const auto has = [&](std::string_view word) { return std::find(body.begin(), body.end(), word) != body.end(); };
    if (!has("exit") && !has("return") && !has("abort")) continue;
    const int function = program_.FunctionAt(node.range.begin);
    const HostExpression condition = ParseHostExpression(program_.Tokens(tree.node(node.children[0]).range));
    if (function < 0 || condition.kind != Kind::kBinary || !condition.Is("!=")) continue;
    if (condition.parts[0].kind != Kind::kMember || condition.parts[1].kind != Kind::kMember) continue;
    const HostExpression first = Resolve(condition.parts[0], function);
    const HostExpression second = Resolve(condition.parts[1], function);
    if (first.kind == Kind::kName && second.kind == Kind::kName && first.text != second.text)
      leaves_.SetEqual(first.text, second.text);
  }
}

}  // namespace evo
