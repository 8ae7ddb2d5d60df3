#include "import/host_objects.h"

#include <algorithm>

#include "import/element_type.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

constexpr int kMostMethods = 4;  // of a class that call each other

// The class of a type, without its namespace and its template's arguments.
std::string ClassOf(const std::string& type) {
  const std::string plain = PointedType(type);
  const std::string base = plain.substr(0, plain.find('<'));
  return base.substr(base.rfind(':') == std::string::npos ? 0 : base.rfind(':') + 1);
}

bool IsAllocation(const HostCall& call) { return call.name.starts_with("cudaMalloc") && call.arguments.size() > 1; }

HostExpression MemberOf(const std::string& object, const std::string& member) {
  return {Kind::kMember, member, {}, {HostExpression::Name(object)}};
}

}  // namespace

std::optional<HostExpression> BytesAskedFor(const SourceProgram& program, const HostCall& allocation) {
  const auto written = [&](std::size_t i) { return ParseHostExpression(program.Tokens(allocation.arguments[i])); };
  if (!allocation.name.starts_with("cudaMallocPitch")) return written(1);
  if (allocation.arguments.size() < 4) return std::nullopt;
  return HostExpression::Binary("*", written(3), written(2));
}

const HostCall* PitchedRowsOf(const SourceProgram& program, const HostCode& host, const ProgramVariable& variable) {
  for (const HostCall& call : host.calls()) {
    if (!call.name.starts_with("cudaMallocPitch") || call.arguments.size() < 4) continue;
    const auto words = program.Tokens(call.arguments[1]);
    if (words.size() != 2 || words[0] != "&" || words[1] != variable.name) continue;
    if (program.FindVariable(variable.name, call.function) == &variable) return &call;
  }
  return nullptr;
}

const ProgramVariable* HostObjects::ObjectOf(const HostCode::Pointer& pointer) const {
  const ProgramVariable* const object = program_.FindVariable(pointer.name.substr(0, pointer.name.find('.')), pointer.function);
  return object == nullptr || FieldsOf(program_, ClassOf(object->type)).empty() ? nullptr : object;
}

// The only allocation in functions of a class, of those for a field if that is known.
const HostCall* HostObjects::AllocationIn(const std::string& record, const std::string& field) const {
  const HostCall* found = nullptr;
  for (const HostCall& call : host_.calls()) {
    if (!IsAllocation(call) || call.function < 0) continue;
    if (program_.functions()[static_cast<std::size_t>(call.function)].record != record) continue;
    const auto words = program_.Tokens(call.arguments[0]);
    if (!field.empty() && std::find(words.begin(), words.end(), field) == words.end()) continue;
    if (found != nullptr) return nullptr;
    found = &call;
  }
  return found;
}

// `object.resize(n)`
const HostCall* HostObjects::MethodCallOn(const ProgramVariable& object, const ProgramFunction& method) const {
  for (const HostCall& call : host_.calls()) {
    if (call.name != method.name) continue;
    const std::size_t at = program_.TokenAt(call.range.begin);
    const bool of_object = at > 1 && (program_.Token(at - 1) == "." || program_.Token(at - 1) == "->") &&
                           program_.FindVariable(program_.Token(at - 2), call.function) == &object;
    if (of_object) return &call;
  }
  return nullptr;
}

// What a method gets as its parameter: what a constructor stores in a field is the field.
std::optional<HostExpression> HostObjects::OfParameter(const ProgramVariable& object, const ProgramFunction& method,
                                                       std::size_t place, int depth) {
  if (depth > kMostMethods) return std::nullopt;
  for (const ProgramVariable& member : program_.variables()) {
    if (member.record != method.record || program_.Text(member.initialiser) != method.parameters[place].name) continue;
    HostExpression value = host_.Resolve(MemberOf(object.name, member.name), object.function);
    if (IsOfLeaves(value)) return value;
  }
  const HostCall* call = MethodCallOn(object, method);
  for (const HostCall& one : host_.calls()) {  // `Buffer x(n);`
    const bool constructs = method.name == method.record && one.name == method.name && object.initialiser.size() > 0 &&
                            one.range.begin == object.initialiser.begin && one.function == object.function;
    if (constructs && one.arguments.size() == method.parameters.size()) call = &one;
  }
  if (call != nullptr) {
    if (place >= call->arguments.size()) return std::nullopt;
    return host_.Resolve(call->arguments[place], call->function);
  }
  // Another function of the class calls it, such as the constructor.
  for (const HostCall& one : host_.calls()) {
    if (one.name != method.name || one.function < 0 || place >= one.arguments.size()) continue;
    const ProgramFunction& caller = program_.functions()[static_cast<std::size_t>(one.function)];
    if (caller.record != method.record || caller.name == method.name) continue;
    HostExpression value = Replaced(ParseHostExpression(program_.Tokens(one.arguments[place])), [&](const HostExpression& part) {
      for (std::size_t i = 0; part.kind == Kind::kName && i < caller.parameters.size(); ++i) {
        if (caller.parameters[i].name == part.text) return OfParameter(object, caller, i, depth + 1);
      }
      return std::optional<HostExpression>();
    });
    if (IsOfLeaves(value)) return value;
  }
  return std::nullopt;
}

// Whether all its names are of the host, or sizes of types.
bool HostObjects::IsOfLeaves(const HostExpression& expression) const {
  const auto names = expression.Names();
  return expression.IsKnown() && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
           return name.starts_with("sizeof ") || host_.leaves().contains(name);
         });
}

std::optional<HostExpression> HostObjects::OfClass(const ProgramVariable& object, const HostCall& allocation) {
  const ProgramFunction& method = program_.functions()[static_cast<std::size_t>(allocation.function)];
  const auto written = BytesAskedFor(program_, allocation);
  if (!written) return std::nullopt;
  const auto in_object = [&](const HostExpression& part) -> std::optional<HostExpression> {
    if (part.kind != Kind::kName) return std::nullopt;
    for (std::size_t i = 0; i < method.parameters.size(); ++i) {
      if (method.parameters[i].name == part.text) return OfParameter(object, method, i, 0);
    }
    const ProgramVariable* const member = program_.FindVariable(part.text, allocation.function);
    if (member == nullptr || member->record != method.record) return std::nullopt;
    HostExpression value = host_.Resolve(MemberOf(object.name, member->name), object.function);
    return IsOfLeaves(value) ? std::optional(value) : std::nullopt;
  };
  // Variables of the method stand for what they are made of.
  HostExpression bytes = *written;
  for (int round = 0; round < 3; ++round) {
    bytes = Replaced(bytes, [&](const HostExpression& part) -> std::optional<HostExpression> {
      const ProgramVariable* const own =
          part.kind == Kind::kName ? program_.FindVariable(part.text, allocation.function) : nullptr;
      const bool local = own != nullptr && own->function == allocation.function && own->initialiser.size() > 0;
      return local ? std::optional(ParseHostExpression(program_.Tokens(own->initialiser))) : std::nullopt;
    });
  }
  bytes = Simplified(Replaced(bytes, in_object));
  return IsOfLeaves(bytes) ? std::optional(bytes) : std::nullopt;
}

// Structs that a function makes, `Matrix a = make(m, n)`, or fills, `fill(&a, m, n)`.
std::optional<HostExpression> HostObjects::OfFunction(const ProgramVariable& object, const std::string& field) {
  for (const HostCall& allocation : host_.calls()) {
    if (!IsAllocation(allocation) || allocation.function < 0) continue;
    const ProgramFunction& maker = program_.functions()[static_cast<std::size_t>(allocation.function)];
    const auto words = program_.Tokens(allocation.arguments[0]);
    if (maker.device || words.size() < 3 || words.back() != field) continue;
    const std::string inner(words[words.size() - 3]);
    for (const HostCall& call : host_.calls()) {
      if (call.name != maker.name || call.function != object.function) continue;
      const bool made = object.initialiser.Contains(call.range);
      const bool filled = std::any_of(call.arguments.begin(), call.arguments.end(), [&](const SourceRange& argument) {
        return program_.Text(argument) == object.name || program_.Text(argument) == "&" + object.name;
      });
      const auto written = made || filled ? BytesAskedFor(program_, allocation) : std::nullopt;
      if (!written) continue;
      const HostExpression of_object = Replaced(*written, [&](const HostExpression& part) -> std::optional<HostExpression> {
        if (part.kind != Kind::kMember || !part.parts[0].Is(inner)) return std::nullopt;
        return host_.Resolve(MemberOf(object.name, part.text), object.function);
      });
      const HostExpression bytes = Simplified(host_.InCall(of_object, allocation.function, call, 0));
      if (IsOfLeaves(bytes)) return bytes;
    }
  }
  return std::nullopt;
}

std::optional<HostExpression> HostObjects::BytesOf(const HostCode::Pointer& pointer) {
  const ProgramVariable* const object = ObjectOf(pointer);
  if (object == nullptr) return std::nullopt;
  const std::size_t dot = pointer.name.find('.');
  const std::string field = dot == std::string::npos ? "" : pointer.name.substr(dot + 1);
  if (const HostCall* const allocation = AllocationIn(ClassOf(object->type), field)) {
    if (auto bytes = OfClass(*object, *allocation)) return bytes;
  }
  return field.empty() ? std::nullopt : OfFunction(*object, field);
}

bool HostObjects::IsCopied(const HostCode::Pointer& pointer) const {
  const ProgramVariable* const object = ObjectOf(pointer);
  if (object == nullptr) return false;
  return std::any_of(host_.calls().begin(), host_.calls().end(), [&](const HostCall& copy) {
    if (!copy.name.starts_with("cudaMemcpy") || copy.function < 0) return false;
    const ProgramFunction& method = program_.functions()[static_cast<std::size_t>(copy.function)];
    const SourceRange* const source = SourceOfCopy(copy);
    if (method.record != ClassOf(object->type) || method.name == method.record || source == nullptr) return false;
    const ProgramVariable* const member = program_.FindVariable(program_.Text(*source), copy.function);
    return member != nullptr && member->record == method.record && MethodCallOn(*object, method) != nullptr;
  });
}

}  // namespace evo
