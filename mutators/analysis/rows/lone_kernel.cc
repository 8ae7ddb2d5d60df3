#include "mutators/analysis/rows/lone_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"

namespace evo {
namespace {

std::string LoneStatement(std::string_view text) {
  while (!text.empty() && (text.back() == ';' || text.back() == ' ' || text.back() == '\n')) text.remove_suffix(1);
  return std::string(text) + (text.ends_with("}") ? "\n" : ";\n");
}

// Lines indented by the braces around them.
std::string AtDepth(const std::string& text) {
  std::string indented;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::size_t first = std::min(text.find_first_not_of(" \t", at), end);
    const std::string line = text.substr(first, end - first);
    const std::size_t closed = line.starts_with("}") && depth > 0 ? 1 : 0;
    indented += (line.starts_with("#") ? "" : std::string(2 * (depth - closed), ' ')) + line;
    depth += static_cast<std::size_t>(std::count(line.begin(), line.end(), '{'));
    depth -= std::min(depth, static_cast<std::size_t>(std::count(line.begin(), line.end(), '}')));
    at = end;
  }
  return indented;
}

bool IsJumpOnly(const SyntaxTree& tree, int branch) {
  const int only = OnlyStatement(tree, branch);
  return only >= 0 && tree.node(only).kind_name == "ReturnStmt" && tree.node(only).children.empty();
}

}  // namespace

std::string LoneKernel::Body() {
  const int body = tree_.node(kernel_).children.back();
  if (!threads_.HasSharedLoop(body)) return "";
  std::string text;
  if (state_.empty()) {
    Refuse("the size of its blocks is not known before the launch, or has too many values");
  } else {
    Statements(body, text);
  }
  if (!why_.empty()) return "";
  return AtDepth(fmt::format("{{\nconst unsigned int {} = blockIdx.x * blockDim.x + threadIdx.x;\n{}{}}}", state_.row(),
                             state_.Declarations(), text));
}

bool LoneKernel::Refuse(std::string why) {
  if (why_.empty()) why_ = std::move(why);
  return false;
}

std::string LoneKernel::Text(int node) {
  const auto text = state_.Text(node);
  if (!text) Refuse(fmt::format("its warps have the number of their block in {}", Quoted(tree_, node)));
  return text.value_or("");
}

// Of a body with or without braces.
bool LoneKernel::Statements(int body, std::string& text) {
  const bool braces = tree_.node(body).kind_name == "CompoundStmt";
  const std::vector<int> list = braces ? tree_.node(body).children : std::vector<int>{body};
  for (const int statement : list) {
    const SyntaxNode& node = tree_.node(statement);
    const bool returns = node.kind_name == "IfStmt" && node.children.size() == 2 && IsJumpOnly(tree_, node.children[1]);
    if (returns && threads_.IsOfThread(node.children[0])) {
      // Those that stay go on alone.
      state_.TakeResults(statement, statement, text);
      if (tree_.node(node.parent).parent != kernel_) return Refuse("some threads return early");
      if (!state_.Restrict(node.children[0], true)) return Refuse(state_.refusal());
    } else if (!Statement(statement, text)) {
      return false;
    }
  }
  if (!list.empty()) state_.TakeResults(list.back(), tree_.EndOf(list.back()), text);
  return why_.empty();
}

bool LoneKernel::Together(int statement) {
  if (threads_.HasEffects(statement)) return NotUnderstood(statement);
  return state_.Run(statement) || Refuse(state_.refusal());
}

bool LoneKernel::Statement(int statement, std::string& text) {
  const SyntaxNode& node = tree_.node(statement);
  if (node.kind_name == kPragmaKind || node.kind_name == "NullStmt") return true;
  const bool loops = threads_.HasSharedLoop(statement);
  if (!loops && threads_.IsBarrier(statement)) return Together(statement);
  const bool points = node.kind_name == "DeclStmt" && !node.children.empty() &&
                      tree_.node(node.children.front()).type.find('*') != std::string::npos;
  const bool first = !loops && node.kind_name == "IfStmt" && node.children.size() == 2 && state_.IsOfFirst(node.children[0]);
  if (!loops && !first && !points && threads_.WorkTogether(statement) && !threads_.HasEffects(statement))
    return Together(statement);
  if (loops && !threads_.IsSharedLoop(statement) && node.kind_name == "IfStmt") return UnderCondition(statement, text);
  if (loops && !threads_.IsSharedLoop(statement) && node.kind_name == "ForStmt") return LoopOverRows(statement, text);
  state_.TakeResults(statement, statement, text);
  if (threads_.IsSharedLoop(statement)) return SharedLoopAt(statement, text);
  if (node.kind_name == "CompoundStmt") {
    std::string inner;
    if (!Statements(statement, inner)) return false;
    text += "{\n" + inner + "}\n";
    return true;
  }
  if (node.kind_name == "IfStmt" && threads_.IsOfThread(node.children[0])) return ForSomeThreads(statement, text);
  if (loops || (!points && threads_.WorkTogether(statement))) return NotUnderstood(statement);
  return node.kind_name == "DeclStmt" ? Declaration(statement, text) : Single(statement, text);
}

// A variable with the thread's number, or one that depends on how many there are.
bool LoneKernel::DeclaresIndex(int statement, int variable, int value, std::string& text) {
  const SyntaxNode& one = tree_.node(variable);
  if (!IsIntegerType(WithoutConst(one.type)) || LoadsIn(tree_, value) || !IsPure(tree_, value) ||
      WrittenIn(tree_, kernel_).contains(variable))
    return Refuse(fmt::format("each thread has its own {}", Quoted(tree_, statement)));
  state_.Declare(variable);
  if (state_.IsRow(variable))
    text += fmt::format("const {} {} = {};\n", WithoutConst(one.type), one.name, state_.row());
  else
    threads_.AddIndex(variable);
  return true;
}

bool LoneKernel::Declaration(int statement, std::string& text) {
  for (const int variable : tree_.node(statement).children) {
    const SyntaxNode& one = tree_.node(variable);
    if (one.kind_name != "VarDecl") return NotUnderstood(statement);
    if (IsShared(tree_, variable)) continue;
    const int value = one.children.empty() || tree_.node(one.children.back()).type.empty() ? -1 : one.children.back();
    const auto named = value < 0 ? std::set<int>{} : NamedIn(tree_, value);
    const bool points = one.type.find('*') != std::string::npos;
    if (points && std::any_of(named.begin(), named.end(), [&](int d) {
          return tree_.node(d).kind_name == "VarDecl" && (IsShared(tree_, d) || threads_.IsPointer(d));
        })) {
      state_.Declare(variable);
      threads_.AddPointer(variable);
      continue;
    }
    if (threads_.IsOfThread(value) || (state_.of_warps() && value >= 0 && tree_.Text(value) == "blockIdx.x")) {
      if (!DeclaresIndex(statement, variable, value, text)) return false;
      continue;
    }
    if (one.type.find('[') != std::string::npos) return Refuse(fmt::format("`{}` is an array", one.name));
    std::string why;
    if (value >= 0 && !state_.ReadsAlike(value, &why)) {
      if (tree_.node(statement).children.size() > 1 || threads_.HasEffects(statement)) return Refuse(why);
      return Together(statement);
    }
    text +=
        value < 0 ? fmt::format("{} {};\n", one.type, one.name) : fmt::format("{} {} = {};\n", one.type, one.name, Text(value));
    if (points) continue;
    state_.SetUnset(variable);
    if (value >= 0) state_.SetAlike(variable, value);
  }
  return why_.empty();
}

// A statement that a single thread executes as it is.
bool LoneKernel::Single(int statement, std::string& text) {
  std::string why;
  const bool local = !threads_.HasEffects(statement);
  const bool alike = !threads_.IsOfThread(statement) && state_.ReadsAlike(statement, &why);
  if (!alike || (!state_.AllOn() && !state_.FirstOn())) {
    if (local && IsAssignment(tree_, statement)) return Together(statement);
    return Refuse(!why.empty() ? why : fmt::format("{} differs between threads", Quoted(tree_, statement)));
  }
  for (const int at : Subtree(tree_, statement)) {
    if (!state_.FirstOn() && tree_.node(at).kind_name == "CallExpr" && !CallsPure(tree_, at))
      return Refuse(fmt::format("all threads call {}", Quoted(tree_, at)));
  }
  text += LoneStatement(Text(statement));
  std::map<int, bool> changed;  // variables and elements of shared memory, and whether they always are
  std::set<int> known;
  for (const int at : Subtree(tree_, statement)) {
    if (!IsAssignment(tree_, at) && !IsCount(tree_, at)) continue;
    int target = WithoutParentheses(tree_, tree_.node(at).children.front());
    const int variable = NamedDeclaration(tree_, target);
    const auto inner = Subtree(tree_, target);
    const bool cell = std::any_of(inner.begin(), inner.end(),
                                  [&](int use) { return threads_.IsSharedUse(use) && threads_.CellNode(use) == target; });
    if (!cell && (variable < 0 || tree_.node(variable).kind_name != "VarDecl" || IsWithin(tree_, variable, statement))) continue;
    if (!cell) known.insert(target = variable);
    changed[target] = changed[target] || IsUnconditional(tree_, at, statement);
  }
  for (const int variable : WrittenIn(tree_, statement)) {
    const bool own = tree_.node(variable).kind_name == "VarDecl" && !IsShared(tree_, variable);
    if (own && !known.contains(variable) && !IsWithin(tree_, variable, statement)) return NotUnderstood(statement);
  }
  const bool plain = IsAssignment(tree_, statement) && tree_.Operator(statement) == "=";
  for (const auto& [node, always] : changed) {
    const bool tracked = tree_.node(node).kind_name != "VarDecl" || state_.IsTracked(node);
    if (!always && tracked && !state_.IsLike(node, false))
      return Refuse(fmt::format("{} may keep what differs between threads", Quoted(tree_, node)));
    state_.SetAlike(node, plain ? tree_.node(statement).children[1] : -1);
  }
  if (const std::string refusal = state_.refusal(); !refusal.empty()) return Refuse(refusal);
  return why_.empty();
}

}  // namespace evo
