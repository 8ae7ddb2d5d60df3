// What HostCode knows of pointers: where they come from and how much is allocated for them.
#include <fmt/format.h>

#include <algorithm>

#include "import/element_type.h"
#include "import/host_code.h"
#include "import/host_objects.h"

namespace evo {
namespace {

using Kind = HostExpression::Kind;

constexpr std::string_view kPitched = "cudaMallocPitch";
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
    case Kind::kConditional:  // p or no pointer
      return RootOf(expression.parts[IsNullWord(expression.parts[1].text) ? 2 : 1], offset);
    case Kind::kCall:
      if (expression.parts.empty()) return "";
      return RootOf(expression.parts[0], offset);
    default:
      return "";
  }
}

// The name in the brackets of one of several pointers; empty for other expressions.
std::string IndexOf(const SourceProgram& program, const SourceRange& range, int function) {
  const HostExpression expression = ParseHostExpression(program.Tokens(range));
  if (expression.kind != Kind::kIndex || expression.parts[0].kind != Kind::kName || expression.parts[1].kind == Kind::kNumber)
    return "";
  std::string type;
  if (const ProgramVariable* variable = program.FindVariable(expression.parts[0].text, function)) {
    type = variable->type;
  } else if (function >= 0) {
    for (const ProgramParameter& one : program.functions()[static_cast<std::size_t>(function)].parameters) {
      if (one.name == expression.parts[0].text) type = one.type;
    }
  }
  const std::size_t star = type.find('*');
  const bool several = star != std::string::npos && type.find_first_of("*[", star + 1) != std::string::npos;
  return several ? expression.parts[1].Text() : "";
}

}  // namespace

HostCode::Pointer HostCode::Origin(const SourceRange& range, int function) const {
  Pointer pointer;
  pointer.name = RootOf(ParseHostExpression(program_.Tokens(range)), pointer.offset);
  pointer.function = program_.OwnerOf(pointer.name, function);
  pointer.index = IndexOf(program_, range, function);
  for (int depth = 0; depth < kMostCallers; ++depth) {
    const std::size_t dot = std::min(pointer.name.find('.'), pointer.name.size());  // of a struct that the function gets
    const auto passed = calls_.PassedFor(pointer.name.substr(0, dot), pointer.function);
    if (!passed) break;
    const std::string name = RootOf(ParseHostExpression(program_.Tokens(passed->range)), pointer.offset);
    if (name.empty()) break;
    pointer.name = name + pointer.name.substr(dot);
    pointer.function = program_.OwnerOf(name, passed->function);
  }
  if (const ProgramVariable* variable = program_.FindVariable(pointer.name, pointer.function))
    pointer.function = variable->function;
  return pointer;
}

bool HostCode::IsCopiedFrom(const Pointer& pointer) {
  if (HostObjects(program_, *this).IsCopied(pointer)) return true;
  return std::any_of(calls().begin(), calls().end(), [&](const HostCall& call) {
    const SourceRange* const source = call.name.starts_with("cudaMemcpy") ? SourceOfCopy(call) : nullptr;
    return source != nullptr && Origin(*source, call.function) == pointer;
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

std::optional<HostExpression> HostCode::BytesOf(const Pointer& pointer, int depth) {
  for (const HostCall* call : CallsOn(pointer, "cudaMalloc")) {
    if (call->arguments.size() < (call->name.starts_with(kPitched) ? 4U : 2U)) continue;
    const auto words = program_.Tokens(call->arguments[0]);
    const bool passed =
        std::any_of(words.begin(), words.end(), [&](auto word) { return program_.HasParameter(call->function, word); });
    if (passed && calls_.IsHelper(call->function)) break;  // which allocates others, too
    before_ = call->range.begin;
    HostExpression bytes = Resolve(call->arguments[call->name.starts_with(kPitched) ? 2 : 1], call->function);
    if (call->name.starts_with(kPitched))
      bytes = Simplified(HostExpression::Binary("*", Resolve(call->arguments[3], call->function), bytes));
    before_ = 0;
    return bytes;
  }
  if (auto bytes = BytesByHelper(pointer)) return bytes;
  if (auto bytes = BytesOfVector(pointer)) return bytes;
  if (auto bytes = HostObjects(program_, *this).BytesOf(pointer)) return bytes;
  // `float *src = a;`
  const ProgramVariable* const variable = program_.FindVariable(pointer.name, pointer.function);
  if (variable == nullptr || variable->initialiser.size() == 0 || !IsPointerType(variable->type)) return std::nullopt;
  const Pointer from = Origin(variable->initialiser, variable->function);
  return from.name.empty() || from.offset || depth > kMostCallers ? std::nullopt : BytesOf(from, depth + 1);
}

}  // namespace evo
