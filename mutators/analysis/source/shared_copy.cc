#include "mutators/analysis/source/shared_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "mutators/analysis/source/block_uniform.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// The sizes that cp.async can copy.
bool IsCopySize(int bytes) { return bytes == 4 || bytes == 8 || bytes == 16; }

// Whether an expression is a constant zero: `0`, `0.0f`, `{}`, `make_float4(0, 0, 0, 0)`.
bool IsZero(std::string_view text) {
  for (const SourceRange& range : Tokenize(text)) {
    const std::string_view token = text.substr(range.begin, range.size());
    const bool number = std::isdigit(static_cast<unsigned char>(token.front())) != 0;
    if (number && token.find_first_of("123456789") != std::string_view::npos) return false;
    const bool name = std::isalpha(static_cast<unsigned char>(token.front())) != 0 || token.front() == '_';
    if (name && !token.starts_with("make_")) return false;
    if (!number && !name && std::string_view("(){},").find(token) == std::string_view::npos) return false;
  }
  return true;
}

// The text of the address of `*p` or `a[i]`.
std::string AddressOf(const SyntaxTree& tree, int place) {
  const SyntaxNode& node = tree.node(place);
  return node.kind_name == "UnaryOperator" ? std::string(tree.Text(node.children.front())) : fmt::format("&{}", tree.Text(place));
}

}  // namespace

std::vector<SharedCopy> SharedCopies::All() const {
  std::vector<SharedCopy> copies;
  for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
    const int node = static_cast<int>(i);
    if (tree_.Operator(node) != "=" && tree_.node(node).name != "operator=") continue;
    if (auto copy = AsCopy(node)) copies.push_back(std::move(*copy));
  }
  return copies;
}

bool SharedCopies::IsSharedPointer(int pointer, int depth) const {
  const SyntaxNode& node = tree_.node(pointer);
  if (depth == 0) return false;
  if (node.children.empty() && node.kind_name != "DeclRefExpr") return false;
  if (node.kind_name == "DeclRefExpr" && node.refers_to >= 0) {
    const SyntaxNode& declaration = tree_.node(node.refers_to);
    if (declaration.kind_name == "VarDecl" && IsShared(tree_, node.refers_to)) return declaration.type.ends_with("]");
    if (declaration.type.find('*') == std::string::npos || declaration.function < 0) return false;
    if (WrittenIn(tree_, declaration.function).contains(node.refers_to)) return false;
    if (declaration.kind_name == "ParmDecl") return IsSharedParameter(node.refers_to, depth);
    return declaration.kind_name == "VarDecl" && !declaration.children.empty() &&
           IsSharedPointer(declaration.children.back(), depth - 1);
  }
  if (node.kind_name == "ArraySubscriptExpr") return node.type.ends_with("]") && IsSharedPointer(node.children.front(), depth);
  if (node.kind_name == "UnaryOperator" && tree_.Operator(pointer) == "&") {
    const SyntaxNode& element = tree_.node(node.children.front());
    return element.kind_name == "ArraySubscriptExpr" && IsSharedPointer(element.children.front(), depth);
  }
  int operand = -1;
  for (const int child : node.children) {
    const std::string& type = tree_.node(child).type;
    if (tree_.node(child).kind_name == "TypeRef" || (type.find('*') == std::string::npos && !type.ends_with("]"))) continue;
    if (operand >= 0) return false;
    operand = child;
  }
  const bool passes = node.kind_name == "ParenExpr" || node.kind_name == "BinaryOperator" || node.kind_name == "CStyleCastExpr" ||
                      node.kind_name == "CXXReinterpretCastExpr" || node.kind_name == "CXXStaticCastExpr";
  return passes && operand >= 0 && IsSharedPointer(operand, depth);
}

int SharedCopies::PointerOf(int place) const {
  const SyntaxNode& node = tree_.node(place);
  if (node.children.empty()) return -1;
  const bool element = node.kind_name == "ArraySubscriptExpr" && !node.type.ends_with("]");
  return element || (node.kind_name == "UnaryOperator" && tree_.Operator(place) == "*") ? node.children.front() : -1;
}

bool SharedCopies::IsUnwrittenGlobal(int pointer) const {
  for (const int kernel : Functions(tree_)) {
    if (IsKernel(tree_, kernel) && BlockUniform(context_, kernel).IsUnwritten(pointer)) return true;
  }
  return false;
}

// Every call in the file must pass a pointer to shared memory.
bool SharedCopies::IsSharedParameter(int parameter, int depth) const {
  const int function = tree_.node(parameter).function;
  if (IsKernel(tree_, function)) return false;
  std::size_t place = 0;
  for (const int child : tree_.node(function).children) {
    if (child == parameter) break;
    place += tree_.node(child).kind_name == "ParmDecl";
  }
  bool called = false;
  for (const int call : NodesOfKind(tree_, "CallExpr")) {
    const auto& parts = tree_.node(call).children;
    if (parts.empty() || NamedDeclaration(tree_, parts.front()) != function) continue;
    called = true;
    if (parts.size() <= place + 1 || !IsSharedPointer(parts[place + 1], depth - 1)) return false;
  }
  return called;
}

bool SharedCopies::IsLoad(int value, const std::string& type) const {
  const int pointer = PointerOf(value);
  return pointer >= 0 && WithoutConst(tree_.node(value).type) == type && IsPure(tree_, value) && IsUnwrittenGlobal(pointer);
}

std::string SharedCopies::Asynchronous(int target, int source, const std::string& type) const {
  return fmt::format("__pipeline_memcpy_async({}, {}, sizeof({}));", AddressOf(tree_, target), AddressOf(tree_, source), type);
}

// Recognises `s[i] = g[j];`, `s[i] = c ? g[j] : 0;` and the same through a variable that begins at zero.
std::optional<SharedCopy> SharedCopies::AsCopy(int store) const {
  const auto& parts = tree_.node(store).children;
  if (parts.size() < 2 || !tree_.Text(store).ends_with(";")) return std::nullopt;
  const int target = parts.front();
  const int value = parts.back();
  const int pointer = PointerOf(target);
  const std::string type = tree_.node(target).type;
  if (pointer < 0 || !IsCopySize(SizeOf(type)) || !IsSharedPointer(pointer)) return std::nullopt;
  SharedCopy copy{{}, store, store, tree_.node(store).function};
  if (IsLoad(value, type)) {
    copy.changes.push_back({store, Placement::kReplace, Asynchronous(target, value, type)});
    return copy;
  }
  const SyntaxNode& choice = tree_.node(value);
  if (choice.kind_name == "ConditionalOperator" && choice.children.size() == 3 && IsLoad(choice.children[1], type) &&
      IsZero(tree_.Text(choice.children[2]))) {
    copy.changes.push_back({store, Placement::kReplace,
                            Either(tree_.Text(choice.children[0]), Asynchronous(target, choice.children[1], type),
                                   fmt::format("{} = {};", tree_.Text(target), tree_.Text(choice.children[2])), store)});
    return copy;
  }
  return AsCopyByVariable(copy, target, value, type);
}

std::string SharedCopies::Either(std::string_view condition, const std::string& yes, const std::string& no, int at) const {
  const std::string indent = IndentOf(tree_, at);
  return fmt::format("if ({0}) {{\n{1}  {2}\n{1}}} else {{\n{1}  {3}\n{1}}}", condition, indent, yes, no);
}

// Recognises `T v = 0; if (c) v = g[j]; s[i] = v;`, where v is used nowhere else.
std::optional<SharedCopy> SharedCopies::AsCopyByVariable(SharedCopy copy, int target, int value, const std::string& type) const {
  const int store = copy.last;
  int named = -1;
  for (const int declaration : NamedIn(tree_, value)) named = named < 0 ? declaration : -2;
  if (named < 0 || !IsInBlock(tree_, store) || tree_.Text(value) != tree_.node(named).name) return std::nullopt;
  const auto& siblings = tree_.node(tree_.node(store).parent).children;
  const auto at = std::find(siblings.begin(), siblings.end(), store);
  if (at - siblings.begin() < 2) return std::nullopt;
  const int declared = *(at - 2);
  const int branch = *(at - 1);
  const SyntaxNode& variable = tree_.node(named);
  if (variable.parent != declared || tree_.node(declared).children.size() != 1 || variable.children.empty()) return std::nullopt;
  if (WithoutConst(variable.type) != type || !IsZero(tree_.Text(variable.children.back()))) return std::nullopt;
  if (tree_.node(branch).kind_name != "IfStmt" || tree_.node(branch).children.size() != 2) return std::nullopt;
  int load = tree_.node(branch).children[1];
  if (tree_.node(load).kind_name == "CompoundStmt" && tree_.node(load).children.size() == 1) load = tree_.node(load).children[0];
  const auto& assigned = tree_.node(load).children;
  const bool assigns = tree_.Operator(load) == "=" || tree_.node(load).name == "operator=";
  if (!assigns || assigned.size() < 2 || NamedDeclaration(tree_, assigned.front()) != named || !IsLoad(assigned.back(), type))
    return std::nullopt;
  int uses = 0;
  for (const int node : Subtree(tree_, copy.function)) uses += tree_.node(node).refers_to == named;
  if (uses != 2) return std::nullopt;
  const std::string zero = fmt::format("{} = {};", tree_.Text(target), tree_.Text(variable.children.back()));
  copy.first = declared;
  copy.changes = {{declared, Placement::kReplace, ""},
                  {branch, Placement::kReplace,
                   Either(tree_.Text(tree_.node(branch).children[0]), Asynchronous(target, assigned.back(), type), zero, branch)},
                  {store, Placement::kReplace, ""}};
  return copy;
}

}  // namespace evo
