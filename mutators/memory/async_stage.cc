#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "mutators/analysis/block_uniform.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/dependence.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/shared_array.h"
#include "mutators/source_mutators.h"

namespace evo {
namespace {

// What the hardware copies at once.
bool IsCopySize(int bytes) { return bytes == 4 || bytes == 8 || bytes == 16; }

// An element copied from global to shared memory.
struct Copy {
  std::vector<Proposal::Change> changes;  // that make it asynchronous
  int first = -1;                         // statement
  int last = -1;                          // statement: the store
  int function = -1;
};

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

// The address of `*p` or `a[i]`.
std::string AddressOf(const SyntaxTree& tree, int place) {
  const SyntaxNode& node = tree.node(place);
  return node.kind_name == "UnaryOperator" ? std::string(tree.Text(node.children.front())) : fmt::format("&{}", tree.Text(place));
}

class Finder {
 public:
  explicit Finder(const MutationContext& context) : context_(context), tree_(context.tree) {}

  std::vector<Copy> Copies() const {
    std::vector<Copy> copies;
    for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
      const int node = static_cast<int>(i);
      if (tree_.Operator(node) != "=" && tree_.node(node).name != "operator=") continue;
      if (auto copy = AsCopy(node)) copies.push_back(std::move(*copy));
    }
    return copies;
  }

  // A pointer expression that leads to shared memory only.
  bool IsSharedPointer(int pointer, int depth = 6) const {
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
    const bool passes = node.kind_name == "ParenExpr" || node.kind_name == "BinaryOperator" ||
                        node.kind_name == "CStyleCastExpr" || node.kind_name == "CXXReinterpretCastExpr" ||
                        node.kind_name == "CXXStaticCastExpr";
    return passes && operand >= 0 && IsSharedPointer(operand, depth);
  }

  // Of an element or `*p`: the pointer; -1 for anything else.
  int PointerOf(int place) const {
    const SyntaxNode& node = tree_.node(place);
    if (node.children.empty()) return -1;
    const bool element = node.kind_name == "ArraySubscriptExpr" && !node.type.ends_with("]");
    return element || (node.kind_name == "UnaryOperator" && tree_.Operator(place) == "*") ? node.children.front() : -1;
  }

  bool IsUnwrittenGlobal(int pointer) const {
    for (const int kernel : Functions(tree_)) {
      if (IsKernel(tree_, kernel) && BlockUniform(context_, kernel).IsUnwritten(pointer)) return true;
    }
    return false;
  }

 private:
  bool IsSharedParameter(int parameter, int depth) const {
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

  bool IsLoad(int value, const std::string& type) const {
    const int pointer = PointerOf(value);
    return pointer >= 0 && WithoutConst(tree_.node(value).type) == type && IsPure(tree_, value) && IsUnwrittenGlobal(pointer);
  }

  std::string Copied(int target, int source, const std::string& type) const {
    return fmt::format("__pipeline_memcpy_async({}, {}, sizeof({}));", AddressOf(tree_, target), AddressOf(tree_, source), type);
  }

  // `s[i] = g[j];`, `s[i] = c ? g[j] : 0;` or a variable in between that begins at zero.
  std::optional<Copy> AsCopy(int store) const {
    const auto& parts = tree_.node(store).children;
    if (parts.size() < 2 || !tree_.Text(store).ends_with(";")) return std::nullopt;
    const int target = parts.front();
    const int value = parts.back();
    const int pointer = PointerOf(target);
    const std::string type = tree_.node(target).type;
    if (pointer < 0 || !IsCopySize(SizeOf(type)) || !IsSharedPointer(pointer)) return std::nullopt;
    Copy copy{{}, store, store, tree_.node(store).function};
    if (IsLoad(value, type)) {
      copy.changes.push_back({store, Placement::kReplace, Copied(target, value, type)});
      return copy;
    }
    const SyntaxNode& choice = tree_.node(value);
    if (choice.kind_name == "ConditionalOperator" && choice.children.size() == 3 && IsLoad(choice.children[1], type) &&
        IsZero(tree_.Text(choice.children[2]))) {
      copy.changes.push_back({store, Placement::kReplace,
                              Either(tree_.Text(choice.children[0]), Copied(target, choice.children[1], type),
                                     fmt::format("{} = {};", tree_.Text(target), tree_.Text(choice.children[2])), store)});
      return copy;
    }
    return AsCopyByVariable(copy, target, value, type);
  }

  std::string Either(std::string_view condition, const std::string& yes, const std::string& no, int at) const {
    const std::string indent = IndentOf(tree_, at);
    return fmt::format("if ({0}) {{\n{1}  {2}\n{1}}} else {{\n{1}  {3}\n{1}}}", condition, indent, yes, no);
  }

  // `T v = 0; if (c) v = g[j]; s[i] = v;`
  std::optional<Copy> AsCopyByVariable(Copy copy, int target, int value, const std::string& type) const {
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
    if (variable.parent != declared || tree_.node(declared).children.size() != 1 || variable.children.empty())
      return std::nullopt;
    if (WithoutConst(variable.type) != type || !IsZero(tree_.Text(variable.children.back()))) return std::nullopt;
    if (tree_.node(branch).kind_name != "IfStmt" || tree_.node(branch).children.size() != 2) return std::nullopt;
    int load = tree_.node(branch).children[1];
    if (tree_.node(load).kind_name == "CompoundStmt" && tree_.node(load).children.size() == 1)
      load = tree_.node(load).children[0];
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
                     Either(tree_.Text(tree_.node(branch).children[0]), Copied(target, assigned.back(), type), zero, branch)},
                    {store, Placement::kReplace, ""}};
    return copy;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
};

bool IsBarrier(const SyntaxTree& tree, int node) { return LibraryCallee(tree, node) == "__syncthreads"; }

// Where the block next meets after a statement, as long as nobody looks at shared memory before.
class Meeting {
 public:
  Meeting(const SyntaxTree& tree, const Finder& finder, const std::vector<Copy>& copies)
      : tree_(tree), finder_(finder), copies_(copies) {}

  // The barrier behind a statement; -1 if there is none that serves.
  int After(int statement) const {
    const int function = tree_.node(statement).function;
    int barrier = -1;
    for (const int node : Subtree(tree_, function)) {
      if (barrier < 0 && IsBarrier(tree_, node) && tree_.node(node).range.begin >= tree_.node(statement).range.end)
        barrier = node;
    }
    if (barrier < 0 || !IsInBlock(tree_, barrier)) return -1;
    std::uint32_t begin = tree_.node(statement).range.begin;
    for (int at = tree_.node(statement).parent; at != function; at = tree_.node(at).parent) {
      const std::string& kind = tree_.node(at).kind_name;
      if (kind == "WhileStmt" || kind == "DoStmt" || kind == "LambdaExpr") return -1;
      if (kind != "ForStmt") continue;
      if (IsWithin(tree_, barrier, at)) break;
      for (const int node : Subtree(tree_, at)) {
        if (IsBarrier(tree_, node)) return -1;  // comes round before
      }
      begin = tree_.node(at).range.begin;
    }
    for (const int node : Subtree(tree_, function)) {
      const SourceRange& range = tree_.node(node).range;
      if (range.begin >= begin && range.end <= tree_.node(barrier).range.begin && Looks(node, statement)) return -1;
    }
    return barrier;
  }

 private:
  bool IsACopy(int node) const {
    return std::any_of(copies_.begin(), copies_.end(),
                       [&](const Copy& copy) { return IsWithin(tree_, node, copy.last) || IsWithin(tree_, node, copy.first); });
  }

  // Reads shared memory, writes it behind the statement, or may.
  bool Looks(int node, int statement) const {
    const SyntaxNode& at = tree_.node(node);
    if (at.opaque || at.kind_name.find("Asm") != std::string::npos) return true;
    if (IsACopy(node)) return false;
    if (at.kind_name == "CallExpr" && at.children.size() > 1 && !at.name.starts_with("operator")) {
      const int function = NamedDeclaration(tree_, at.children.front());
      const bool copies = std::any_of(copies_.begin(), copies_.end(), [&](const Copy& c) { return c.function == function; });
      if (copies) return false;
      if (LibraryCallee(tree_, node).starts_with("__pipeline")) return false;
      for (std::size_t i = 1; i < at.children.size(); ++i) {
        const std::string& type = tree_.node(at.children[i]).type;
        const bool pointer = type.ends_with("*") || type.ends_with("]");
        if (pointer && !finder_.IsUnwrittenGlobal(at.children[i])) return true;
      }
    }
    const int pointer = finder_.PointerOf(node);
    if (pointer < 0) return false;
    const int array = ArrayOf(tree_, node);
    if (array >= 0 && IsOwnArray(tree_, array)) return false;
    const int parent = at.parent;
    const bool stored =
        Assigned(tree_, parent) == node && (tree_.Operator(parent) == "=" || tree_.node(parent).name == "operator=");
    if (stored)
      return at.range.begin > tree_.node(statement).range.end && finder_.IsSharedPointer(pointer) && !InElse(node, statement);
    return !finder_.IsUnwrittenGlobal(pointer);
  }

  bool InElse(int node, int statement) const {
    for (int at = node; at >= 0; at = tree_.node(at).parent) {
      if (tree_.node(at).kind_name == "IfStmt" && IsWithin(tree_, statement, at)) return true;
    }
    return false;
  }

  const SyntaxTree& tree_;
  const Finder& finder_;
  const std::vector<Copy>& copies_;
};

class AsyncStage : public SourceMutator {
 public:
  std::string_view name() const override { return "async_stage"; }
  std::string_view description() const override {
    return "copies from global to shared memory without a detour through registers (cp.async), waited for at the barrier";
  }

  double weight() const override { return 1.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    const Finder finder(context);
    const auto copies = finder.Copies();
    const Meeting meeting(tree, finder, copies);
    std::map<int, Proposal> groups;  // by the first barrier that they lead to
    std::map<int, std::set<int>> waits;
    for (const Copy& copy : copies) {
      const auto barriers = Barriers(tree, meeting, copy);
      if (barriers.empty()) continue;
      Proposal& group = groups[*barriers.begin()];
      group.changes.insert(group.changes.end(), copy.changes.begin(), copy.changes.end());
      waits[*barriers.begin()].insert(barriers.begin(), barriers.end());
    }
    std::vector<Proposal> proposals;
    for (auto& [first, group] : groups) {
      for (const int barrier : waits[first]) {
        const std::string text =
            LineBefore(tree, barrier, "__pipeline_commit();") + LineBefore(tree, barrier, "__pipeline_wait_prior(0);");
        group.changes.push_back({barrier, Placement::kBefore, text});
      }
      group.changes.push_back({group.changes.front().node, Placement::kBefore, "#include <cuda_pipeline.h>\n"});
      proposals.push_back(std::move(group));
    }
    return proposals;
  }

 private:
  // In front of which the copy must be waited for: in its own function, or behind each call of it.
  static std::set<int> Barriers(const SyntaxTree& tree, const Meeting& meeting, const Copy& copy) {
    if (const int barrier = meeting.After(copy.last); barrier >= 0) return {barrier};
    for (const int node : Subtree(tree, copy.function)) {
      if (IsBarrier(tree, node)) return {};
    }
    std::set<int> barriers;
    for (const int call : NodesOfKind(tree, "CallExpr")) {
      const auto& parts = tree.node(call).children;
      if (parts.empty() || NamedDeclaration(tree, parts.front()) != copy.function) continue;
      const int barrier = meeting.After(call);
      if (barrier < 0) return {};
      barriers.insert(barrier);
    }
    return barriers;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeAsyncStage() { return std::make_unique<AsyncStage>(); }

}  // namespace evo
