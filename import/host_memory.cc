// What HostCode knows of memory that helpers and containers allocate, and of values that only the command line gives.
#include <algorithm>

#include "import/element_type.h"
#include "import/host_code.h"
#include "import/host_facts.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

constexpr int kMostHelpers = 8;  // variables of a helper that stand for one another

bool IsName(const HostExpression& expression) { return expression.kind == Kind::kName; }

}  // namespace

// The elements of a vector that is declared with their number.
std::optional<HostExpression> HostCode::SizeOf(const HostExpression& vector, int function, int depth) {
  if (!IsName(vector)) return vector.IsKnown() ? std::optional(vector) : std::nullopt;
  const ProgramVariable* const variable = program_.FindVariable(vector.text, function);
  if (variable == nullptr || variable->initialiser.size() == 0 || IsTypeOfNumber(variable->type))
    return leaves().contains(vector.text) ? std::optional(vector) : std::nullopt;
  const std::size_t open = program_.TokenAt(variable->initialiser.begin);
  if (program_.Token(open) != "(") return std::nullopt;
  const auto values = calls_.Split(open, program_.AfterBracket(open) - 1);
  if (values.empty()) return std::nullopt;
  return ResolvedAt(values[0], variable->function, depth + 1);
}

// `int width = 1920;` in the struct of a variable that nothing else sets.
std::optional<HostExpression> HostCode::FieldDefault(const HostExpression& member, int function, int depth) {
  if (!IsName(member.parts[0])) return std::nullopt;
  const ProgramVariable* const variable = program_.FindVariable(member.parts[0].text, function);
  std::string type = variable == nullptr ? "" : PointedType(variable->type);
  if (variable == nullptr && HasMembers(program_, member.parts[0].text, function)) {
    for (const ProgramParameter& one : program_.functions()[static_cast<std::size_t>(function)].parameters) {
      if (one.name == member.parts[0].text) type = PointedType(one.type);
    }
  }
  for (const ProgramParameter& field : FieldsOf(program_, type)) {
    if (field.name != member.text) continue;
    std::size_t at = program_.TokenAt(program_.tree().node(field.node).range.begin);
    while (program_.Token(at) != ";" && program_.Token(at) != "=" && at < program_.tokens().size()) ++at;
    if (program_.Token(at) != "=") return std::nullopt;
    std::size_t end = at + 1;
    while (program_.Token(end) != ";" && end < program_.tokens().size()) ++end;
    if (end <= at + 1 || end >= program_.tokens().size()) return std::nullopt;
    const SourceRange value{program_.tokens()[at + 1].begin, program_.tokens()[end - 1].end};
    const HostExpression resolved = Simplified(ResolvedAt(value, -1, depth + 1));
    if (resolved.kind != Kind::kNumber) return resolved.IsKnown() ? std::optional(resolved) : std::nullopt;
    return leaves_.Add({member.text, HostLeaf::Origin::kVariable, -1, resolved.number, program_.PlaceOf(value.begin)});
  }
  return std::nullopt;
}

// An expression of a helper in terms of what one call of it passes.
HostExpression HostCode::InCall(const HostExpression& expression, int callee, const HostCall& call, int depth) {
  const ProgramFunction& helper = program_.functions()[static_cast<std::size_t>(callee)];
  if (depth > kMostHelpers) return expression;
  const auto passed = [&](const std::string& name) -> const SourceRange* {
    for (std::size_t i = 0; i < std::min(helper.parameters.size(), call.arguments.size()); ++i) {
      if (helper.parameters[i].name == name) return &call.arguments[i];
    }
    return nullptr;
  };
  // The elements of a vector that the call passes.
  const HostExpression counted = Replaced(expression, [&](const HostExpression& part) -> std::optional<HostExpression> {
    const bool size = part.kind == Kind::kCall && part.Is(".size") && part.parts.size() == 1 && IsName(part.parts[0]);
    const SourceRange* const argument = size ? passed(part.parts[0].text) : nullptr;
    if (argument == nullptr) return std::nullopt;
    return SizeOf(ParseHostExpression(program_.Tokens(*argument)), call.function, depth);
  });
  return Replaced(counted, [&](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind == Kind::kCall) return ResolveCall(part, callee, depth + 1);
    if (!IsName(part)) return std::nullopt;
    if (const SourceRange* const argument = passed(part.text)) return Resolve(*argument, call.function);
    const ProgramVariable* const variable = program_.FindVariable(part.text, callee);
    const bool own = variable != nullptr && (variable->function == callee || !variable->record.empty());
    if (own && variable->initialiser.size() > 0)
      return InCall(ParseHostExpression(program_.Tokens(variable->initialiser)), callee, call, depth + 1);
    return ResolveName(part.text, -1, depth + 1);
  });
}

// `float* p = make(n)` and `make(&p, n)`, where the helper calls cudaMalloc.
std::optional<HostExpression> HostCode::BytesByHelper(const Pointer& pointer) {
  std::vector<SourceRange> values = calls_.AssignedTo(pointer.name, pointer.function);
  for (const ProgramVariable& variable : program_.variables()) {
    if (variable.name == pointer.name && variable.function == pointer.function) values.push_back(variable.initialiser);
  }
  for (const HostCall& call : calls()) {
    const int helper = program_.FindFunction(call.name);
    if (helper < 0 || program_.functions()[static_cast<std::size_t>(helper)].device || helper == call.function) continue;
    const bool returned =
        std::any_of(values.begin(), values.end(), [&](const SourceRange& one) { return one.Contains(call.range); });
    for (const HostCall& allocation : calls()) {
      if (allocation.function != helper || !allocation.name.starts_with("cudaMalloc") || allocation.arguments.size() < 2)
        continue;
      bool taken = returned;
      const auto& parameters = program_.functions()[static_cast<std::size_t>(helper)].parameters;
      for (std::size_t i = 0; i < std::min(parameters.size(), call.arguments.size()) && !taken; ++i) {
        const auto words = program_.Tokens(allocation.arguments[0]);
        const bool passed = std::find(words.begin(), words.end(), parameters[i].name) != words.end();
        taken = passed && Origin(call.arguments[i], call.function) == pointer;
      }
      if (!taken) continue;
      return Simplified(InCall(ParseHostExpression(program_.Tokens(allocation.arguments[1])), helper, call, 0));
    }
  }
  return std::nullopt;
}

// Where `thrust::device_vector<float> v(n)` stands.
std::optional<HostCode::DeviceVector> HostCode::VectorOf(const Pointer& pointer) const {
  for (std::size_t i = 0; i + 4 < program_.tokens().size(); ++i) {
    if (program_.Token(i) != "device_vector" || program_.Token(i + 1) != "<") continue;
    DeviceVector vector;
    std::size_t close = i + 2;
    for (; close < program_.tokens().size() && program_.Token(close) != ">"; ++close)
      vector.type += (vector.type.empty() ? "" : " ") + std::string(program_.Token(close));
    const std::size_t first = close + 2;
    if (program_.Token(close + 1) != pointer.name || (program_.Token(first) != "(" && program_.Token(first) != "=")) continue;
    if (program_.FunctionAt(program_.tokens()[i].begin) != pointer.function) continue;
    vector.values = program_.Token(first) == "(" ? calls_.Split(first, program_.AfterBracket(first) - 1)
                                                 : std::vector<SourceRange>{program_.tokens()[first + 1]};
    return vector;
  }
  return std::nullopt;
}

// Also of one that is made of a vector of the host.
std::optional<HostExpression> HostCode::BytesOfVector(const Pointer& pointer) {
  const auto vector = VectorOf(pointer);
  if (!vector || vector->values.empty()) return std::nullopt;
  HostExpression elements = Resolve(vector->values[0], pointer.function);
  const std::string other(program_.Text(vector->values[0]));
  const ProgramVariable* const source = program_.FindVariable(other, pointer.function);
  if (source != nullptr && source->type.find("vector") != std::string::npos) {
    if (auto size = SizeOf(HostExpression::Name(other), pointer.function, 0)) elements = *std::move(size);
  }
  const int bytes = SizeOfType(vector->type);
  return HostExpression::Binary("*", elements,
                                bytes > 0 ? HostExpression::Integer(bytes) : HostExpression::Name("sizeof " + vector->type));
}

}  // namespace evo
