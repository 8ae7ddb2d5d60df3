// What HostCode knows of pointers: where they come from and how much is allocated for them.
#include <fmt/format.h>

#include <algorithm>

#include "import/element_type.h"
#include "import/host_code.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

constexpr int kMostCallers = 12;  // of callers that pass a pointer on

// The variable at the root of a pointer expression: p of &p[4], p + 4, (float *)p, p.data(). Empty if there is none.
std::string RootOf(const HostExpression& expression, bool& offset) {
  switch (expression.kind) {
    case Kind::kName:
      return expression.text;
    case Kind::kMember: {
      const std::string base = RootOf(expression.parts[0], offset);
      return base.empty() ? base : base + "." + expression.text;
    }
    case Kind::kUnary:
      return RootOf(expression.parts[0], offset);
    case Kind::kIndex: {
      const HostExpression& index = expression.parts[1];
      if (index.kind != Kind::kNumber || index.number.integer != 0) offset = true;
      return RootOf(expression.parts[0], offset);
    }
    case Kind::kBinary:
      offset = true;
      return RootOf(expression.parts[0], offset);
    case Kind::kCall:
      if (expression.parts.empty()) return "";
      return RootOf(expression.parts[0], offset);
    default:
      return "";
  }
}

}  // namespace

HostCode::Pointer HostCode::Origin(const SourceRange& range, int function) const {
  Pointer pointer;
  pointer.name = RootOf(ParseHostExpression(program_.Tokens(range)), pointer.offset);
  pointer.function = function;
  pointer.index = IndexOf(range, function);
  for (int depth = 0; depth < kMostCallers; ++depth) {
    const auto passed = calls_.PassedFor(pointer.name, pointer.function);
    if (!passed) break;
    const std::string name = RootOf(ParseHostExpression(program_.Tokens(passed->range)), pointer.offset);
    if (name.empty()) break;
    pointer.name = name;
    pointer.function = passed->function;
  }
  if (const ProgramVariable* variable = program_.FindVariable(pointer.name, pointer.function))
    pointer.function = variable->function;
  return pointer;
}

// What a struct's field is in `Struct variable = {..}` or `variable{..}`.
std::optional<SourceRange> HostCode::FieldInitialiser(const std::string& variable, const std::string& field, int function) const {
  const ProgramVariable* const found = program_.FindVariable(variable, function);
  if (found == nullptr || found->initialiser.size() == 0) return std::nullopt;
  const std::size_t open = program_.TokenAt(found->initialiser.begin);
  if (program_.Token(open) != "{") return std::nullopt;
  const auto values = calls_.Split(open, program_.AfterBracket(open) - 1);
  const auto fields = FieldsOf(program_, PointedType(found->type));
  for (std::size_t i = 0; i < std::min(values.size(), fields.size()); ++i) {
    const bool designated = program_.Text(values[i]).starts_with(".");
    if (!designated && fields[i].name == field) return values[i];
    const auto tokens = program_.Tokens(values[i]);
    if (!designated || tokens.size() < 4 || tokens[1] != field) continue;
    return SourceRange{program_.tokens()[program_.TokenAt(values[i].begin) + 3].begin, values[i].end};
  }
  return std::nullopt;
}

HostCode::Pointer HostCode::OfField(const std::string& variable, const std::string& field, int function) const {
  const std::string name = fmt::format("{}.{}", variable, field);
  const auto& assigned = calls_.AssignedTo(name, function);
  if (assigned.size() == 1) return Origin(assigned.front(), function);
  const auto set = FieldInitialiser(variable, field, function);
  const auto is_null = [](std::string_view text) { return text == "nullptr" || text == "NULL" || text == "0"; };
  if (set && !is_null(program_.Text(*set))) return Origin(*set, function);
  return {function, name, false, ""};
}

// The name in the brackets of one of several pointers; empty for other expressions.
std::string HostCode::IndexOf(const SourceRange& range, int function) const {
  const HostExpression expression = ParseHostExpression(program_.Tokens(range));
  if (expression.kind != Kind::kIndex || expression.parts[0].kind != Kind::kName || expression.parts[1].kind != Kind::kName)
    return "";
  std::string type;
  if (const ProgramVariable* variable = program_.FindVariable(expression.parts[0].text, function)) {
    type = variable->type;
  } else if (function >= 0) {
    for (const ProgramParameter& one : program_.functions()[static_cast<std::size_t>(function)].parameters) {
      if (one.name == expression.parts[0].text) type = one.type;
    }
  }
  const std::size_t star = type.find('*');
  const bool several = star != std::string::npos && type.find_first_of("*[", star + 1) != std::string::npos;
  return several ? expression.parts[1].text : "";
}

bool HostCode::IsCopiedFrom(const Pointer& pointer) const {
  return std::any_of(calls().begin(), calls().end(), [&](const HostCall& call) {
    return call.name.starts_with("cudaMemcpy") && call.arguments.size() > 1 &&
           Origin(call.arguments[1], call.function) == pointer;
  });
}

std::vector<const HostCall*> HostCode::CallsOn(const Pointer& pointer, std::string_view prefix) const {
  std::vector<const HostCall*> found;
  for (const HostCall& call : calls()) {
    if (!std::string_view(call.name).starts_with(prefix) || call.arguments.empty()) continue;
    Pointer first = Origin(call.arguments[0], call.function);
    if (!pointer.index.empty()) first.index = pointer.index;  // buffers[0] is as large as buffers[src]
    if (first == pointer) found.push_back(&call);
  }
  return found;
}

std::optional<HostExpression> HostCode::BytesOf(const Pointer& pointer) {
  for (const HostCall* call : CallsOn(pointer, "cudaMalloc")) {
    if (call->arguments.size() < 2) continue;
    before_ = call->range.begin;
    HostExpression bytes = Resolve(call->arguments[1], call->function);
    before_ = 0;
    return bytes;
  }
  return std::nullopt;
}

}  // namespace evo
