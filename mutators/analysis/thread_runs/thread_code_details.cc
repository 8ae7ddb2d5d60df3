#include <algorithm>
#include <charconv>
#include <string>

#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_arithmetic.h"
#include "mutators/analysis/thread_runs/thread_code.h"
#include "mutators/analysis/thread_runs/thread_vectors.h"

namespace evo {
namespace {

constexpr std::int64_t kWarpSize = 32;

bool IsRealLiteral(std::string_view text) {
  if (IsNameOnly(text)) return false;
  const bool exponent = text.find_first_of("eEfF") != std::string_view::npos && !text.starts_with("0x");
  return exponent || text.find('.') != std::string_view::npos;
}

// Of digits, also with a suffix.
std::optional<std::int64_t> PlainInteger(std::string_view text) {
  std::int64_t number = 0;
  const std::string_view digits = text.substr(0, text.find_last_not_of("uUlL") + 1);
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  const char* const begin = digits.data() + (hexadecimal ? 2 : 0);
  const auto [stop, error] = std::from_chars(begin, digits.data() + digits.size(), number, hexadecimal ? 16 : 10);
  return error == std::errc{} && stop == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

bool MentionsThreadType(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

void ThreadCode::AddVariable(int declaration) {
  int& slot = slots_[static_cast<std::size_t>(declaration)];
  if (slot >= 0) return;
  slot = static_cast<int>(variables_.size());
  const SyntaxNode& node = tree_.node(declaration);
  const std::string_view type = node.type;
  ThreadVariable& variable = variables_.emplace_back();
  variable.declaration = declaration;
  variable.parameter = node.kind_name == "ParmDecl";
  variable.shared = IsShared(tree_, declaration);
  variable.reference = type.ends_with("&") || type.find("(&)") != std::string_view::npos;
  // A reference to an array is its address, as one that is passed.
  variable.array = type.ends_with("]") && (!variable.reference || variable.parameter);
  const std::string_view pointed = type.substr(0, type.find('*'));
  variable.integers = MentionsThreadType(pointed, "int") || MentionsThreadType(pointed, "long");
  for (const char* real : {"float", "double", "half", "bfloat16"})
    variable.reals = variable.reals || MentionsThreadType(type, real);
  const ThreadVectorType vector = ThreadVectorTypeOf(variable.array ? PointedThreadType(type) : type);
  variable.components = vector.count;
  variable.type = ThreadTypeOf(variable.array && vector.count > 0 ? vector.number
                               : variable.array                   ? type.substr(0, type.find('['))
                                                                  : type);
  const std::string_view held = PointedThreadType(type).empty() ? type : PointedThreadType(type);
  // Vectors that a kernel's parameter points to stay whole.
  variable.bytes = ThreadBytesOf(held) / (variable.parameter ? 1 : std::max(1, ThreadVectorTypeOf(held).count));
  variable.structure = structs_.NumberOf(type);
  if (variable.structure >= 0) {
    const bool pointer = !variable.array && type.find('*') != std::string_view::npos;
    variable.components = pointer ? 0 : static_cast<int>(structs_.CountOf(variable.structure));
    variable.bytes = ThreadStructs::kBytesOfPart;
    variable.integers = variable.reals = false;
  }
  variable.constant = (variable.array || variable.structure >= 0 || vector.count > 0) && IsConstantMemory(tree_, declaration);
  variable.device = node.kind_name == "VarDecl" && node.function < 0 && IsDeviceVariable(tree_, declaration);
  variable.declared = node.kind_name == "VarDecl";
  if (variable.array) variable.extents = ExtentsOf(node.type);
  for (const int child : node.children) {
    if (tree_.node(child).kind_name == "InitListExpr") variable.list = child;
  }
  if (!variable.declared || node.children.empty()) return;
  const std::string& last = tree_.node(node.children.back()).kind_name;
  // `float4 v;` calls a constructor that does nothing.
  const bool made = variable.components > 0 && last == "CallExpr" && tree_.Text(node.children.back()) == node.name;
  if (last != "TypeRef" && !last.starts_with("attribute") && !made) variable.initialiser = node.children.back();
}

int ThreadCode::AddConstant(int node) {
  ThreadConstant& constant = constants_.emplace_back();
  const std::string_view text = tree_.Text(node);
  constant.text = text;
  constant.is_bool = text == "true" || text == "false";
  const bool is_null = text == "nullptr" || text == "NULL";
  constant.plain = constant.is_bool ? text == "true" : is_null ? 0 : text == "warpSize" ? kWarpSize : PlainInteger(text);
  constant.is_name = IsNameOnly(text);
  constant.resolved = constant.plain.has_value();
  // A scalar in constant memory is some number, the same for all threads.
  const int named = tree_.node(node).refers_to;
  if (named >= 0 && IsConstantMemory(tree_, named) && ThreadTypeOf(tree_.node(named).type) == ThreadType::kReal) {
    constant.resolved = true;
    constant.real = RandomElement(named, 0);
    constant.real_text = SharedText(std::string(text));
  }
  return static_cast<int>(constants_.size()) - 1;
}

// That reads the whole source.
const ThreadConstant& ThreadCode::Resolved(int number) {
  ThreadConstant& constant = constants_[static_cast<std::size_t>(number)];
  constant.resolved = true;
  constant.depends_on_size = DependsOnSize(tree_, constant.text);
  if (!IsRealLiteral(constant.text)) constant.integer = ConstantValue(tree_, constant.text);
  // Such as a mask of lanes, in hexadecimal digits or with a suffix.
  if (!constant.integer && constant.is_name) constant.integer = PlainInteger(LiteralBehind(tree_, constant.text));
  if (!constant.integer) constant.real = RealConstant(tree_, constant.text);
  if (constant.real) constant.real_text = SharedText(std::string(constant.text));
  return constant;
}

int ThreadCode::AddCall(int node) {
  const auto& parts = tree_.node(node).children;
  ThreadCall& call = calls_.emplace_back();
  call.arguments = std::span(parts).subspan(1);
  call.function = NamedDeclaration(tree_, parts.front());
  const SyntaxNode& called = tree_.node(call.function >= 0 ? call.function : node);
  call.of_file = called.kind_name == "FunctionDecl" || called.kind_name == "FunctionTemplate";
  call.callee = ThreadCallee(LibraryCallee(tree_, node));
  if (!call.of_file) return static_cast<int>(calls_.size()) - 1;
  if (!called.children.empty() && tree_.node(called.children.back()).kind_name == "CompoundStmt")
    call.body = called.children.back();
  call.compares = call.body >= 0 && tree_.Text(call.body).find("atomicCAS") != std::string_view::npos;
  for (const int child : called.children) {
    const SyntaxNode& parameter = tree_.node(child);
    if (parameter.kind_name != "ParmDecl") continue;
    const bool changes = parameter.type.ends_with("&") && !parameter.type.starts_with("const ");
    std::string_view type = parameter.type;
    while (changes && (type.ends_with('&') || type.ends_with(' '))) type.remove_suffix(1);
    call.parameters.push_back({child, ThreadTypeOf(type), changes});
  }
  call.returned = ThreadTypeOf(std::string_view(called.type).substr(0, called.type.find(" (")));
  return static_cast<int>(calls_.size()) - 1;
}

}  // namespace evo
