#include "mutators/analysis/rows/staged_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// How deep variables of a loop's body are followed to their initialisers.
constexpr int kStagedDepth = 8;

class StagedRow {
 public:
  StagedRow(const SyntaxTree& tree, int kernel, int row) : tree_(tree), kernel_(kernel), row_(row) {}

  // What replaces the uses of an array or a pointer in shared memory; empty if it has no row as described.
  Replacements Find() {
    std::map<int, std::pair<int, bool>> events;  // by where they happen: an element, and whether it is stored
    for (const int use : tree_.UsesOf(row_)) {
      const int element = tree_.node(use).parent;
      if (IsOffset(use)) continue;
      if (tree_.node(element).kind_name != "ArraySubscriptExpr" || tree_.node(element).children.front() != use) return {};
      const int parent = tree_.node(element).parent;
      const bool assigned = IsAssignment(tree_, parent) && tree_.node(parent).children.front() == element;
      if (IsCount(tree_, parent) || LoopOf(element) < 0) return {};
      events[assigned ? tree_.EndOf(parent) : element] = {element, assigned};
    }
    for (const auto& [at, event] : events) {
      if (!(event.second ? Store(event.first) : Load(event.first))) return {};
    }
    if (loads_ == 0 || !StaysAsStored() || !RemoveLoops() || !MoveOthers()) return {};
    return replaced_;
  }

 private:
  // The loop whose counter an element's index is; -1 if there is none.
  int LoopOf(int element) const {
    const int counter = NamedDeclaration(tree_, tree_.node(element).children[1]);
    for (int at = tree_.node(element).parent; counter >= 0 && at > kernel_; at = tree_.node(at).parent) {
      const auto loop = WithCountedHeader(tree_, at);
      if (loop && loop->counter == counter && IsWithin(tree_, element, loop->parts.body)) return at;
    }
    return -1;
  }

  bool Load(int element) {
    if (stored_.empty()) return false;
    std::string text = stored_;
    const std::string counter(tree_.Text(tree_.node(element).children[1]));
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at)) text.replace(at, 1, counter);
    replaced_.emplace_back(element, text);
    ++loads_;
    return true;
  }

  bool Store(int element) {
    const int assignment = tree_.node(element).parent, loop = LoopOf(element);
    const auto counted = WithCountedHeader(tree_, loop);
    const auto& sides = tree_.node(assignment).children;
    const int holder = tree_.node(assignment).parent;
    const bool statement = tree_.node(holder).kind_name == "CompoundStmt" || holder == loop;
    if (!counted || !statement || !IsUnconditional(tree_, assignment, counted->parts.body) || !IsPure(tree_, sides[1]))
      return false;
    if (bound_.empty()) bound_ = tree_.Text(counted->bound);
    if (counted->comparison != "<" || !SameTokens(bound_, tree_.Text(counted->bound))) return false;
    const std::string_view spelled = tree_.Operator(assignment);
    auto text = Expanded(sides[1], *counted, kStagedDepth);
    if (!text || (spelled != "=" && stored_.empty())) return false;
    if (spelled != "=") text = fmt::format("({} {} ({}))", stored_, spelled.substr(0, spelled.size() - 1), *text);
    const std::string type = WithoutConst(tree_.node(element).type);
    const bool same = WithoutConst(tree_.node(sides[1]).type) == type;
    stored_ = same ? fmt::format("({})", *text) : fmt::format("static_cast<{}>({})", type, *text);
    if (stored_.size() > 2000) return false;
    replaced_.emplace_back(assignment, "");
    stores_.push_back(assignment);
    loops_.insert(loop);
    return true;
  }

  // The text of an expression with `@` for the counter, and without variables of the loop's body.
  std::optional<std::string> Expanded(int expression, const CountedLoop& loop, int depth) {
    Replacements replacements = replaced_;
    for (const int at : Subtree(tree_, expression)) {
      const SyntaxNode& one = tree_.node(at);
      if (one.opaque || (one.kind_name == "MemberRefExpr" && tree_.Text(at).starts_with("threadIdx"))) return std::nullopt;
      if (const int pointer = PointerAt(tree_, at); pointer >= 0 && !IsWithin(tree_, row_, pointer)) pointers_.insert(pointer);
      if (one.kind_name != "DeclRefExpr" || one.refers_to < 0 || one.refers_to == row_) continue;
      const int named = one.refers_to;
      if (named == loop.counter) {
        replacements.emplace_back(at, "@");
      } else if (IsWithin(tree_, named, loop.parts.body)) {
        const auto& parts = tree_.node(named).children;
        if (depth == 0 || tree_.node(named).kind_name != "VarDecl" || parts.empty() ||
            WrittenIn(tree_, kernel_).contains(named) || tree_.node(named).type.find_first_of("*&[") != std::string::npos ||
            !IsPure(tree_, parts.back()))
          return std::nullopt;
        const auto inner = Expanded(parts.back(), loop, depth - 1);
        if (!inner) return std::nullopt;
        const bool same = WithoutConst(tree_.node(parts.back()).type) == WithoutConst(tree_.node(named).type);
        replacements.emplace_back(at, same ? fmt::format("({})", *inner)
                                           : fmt::format("static_cast<{}>({})", WithoutConst(tree_.node(named).type), *inner));
      } else {
        named_.emplace(named, loop.parts.statement);
      }
    }
    // Of two for one node, the last one found counts.
    std::reverse(replacements.begin(), replacements.end());
    return TextWith(tree_, expression, replacements);
  }

  // Whether nothing that is in a stored value changes behind it.
  bool StaysAsStored() const {
    for (const auto& [named, from] : named_) {
      if (tree_.node(named).function >= 0 && tree_.node(named).kind_name == "VarDecl" && IsShared(tree_, named)) return false;
      for (int at = kernel_; at < tree_.EndOf(kernel_); ++at) {
        // Elsewhere the name may mean another one.
        const SyntaxNode& other = tree_.node(at);
        if (other.kind_name == "VarDecl" && at != named && other.name == tree_.node(named).name) return false;
        if (at >= from && WrittenAt(at) == named) return false;
      }
    }
    for (const int pointer : pointers_) {
      const int root = RootOf(tree_, pointer);
      if (root < 0 || MayStoreThrough(root)) return false;
    }
    return true;
  }

  bool IsIntoShared(int variable) const {
    if (variable < 0 || tree_.node(variable).kind_name != "VarDecl") return false;
    const auto named = NamedIn(tree_, variable);
    const auto shared = [&](int d) { return tree_.node(d).kind_name == "VarDecl" && IsShared(tree_, d); };
    return shared(variable) || std::any_of(named.begin(), named.end(), shared);
  }

  bool MayStoreThrough(int root) const {
    for (const int node : Subtree(tree_, kernel_)) {
      if (tree_.node(node).kind_name == "CallExpr" && !CallsPure(tree_, node) && NamedIn(tree_, node).contains(root)) return true;
      if (!IsStore(tree_, node)) continue;
      const int target = WithoutMembers(tree_, Assigned(tree_, node)), pointer = PointerAt(tree_, target);
      const int into = pointer < 0 ? Owner(tree_, target) : NamedDeclaration(tree_, pointer);
      if (IsIntoShared(into)) continue;
      const int stored = pointer < 0 ? -1 : RootOf(tree_, pointer);
      if (stored < 0 || stored == root) return true;
    }
    return false;
  }

  int WrittenAt(int node) const {
    if (!IsAssignment(tree_, node) && !IsCount(tree_, node)) return -1;
    return NamedDeclaration(tree_, WithoutMembers(tree_, tree_.node(node).children.front()));
  }

  // Loops in which nothing is left.
  bool RemoveLoops() {
    for (const int loop : loops_) {
      const int body = WithCountedHeader(tree_, loop)->parts.body;
      const auto gone = [&](int statement) {
        const std::string& kind = tree_.node(statement).kind_name;
        return std::find(stores_.begin(), stores_.end(), statement) != stores_.end() || kind == "DeclStmt" || kind == "NullStmt";
      };
      const bool list = tree_.node(body).kind_name == "CompoundStmt";
      const auto& statements = tree_.node(body).children;
      if (list ? !std::all_of(statements.begin(), statements.end(), gone) : !gone(body)) continue;
      if (const int pragma = PragmaOf(tree_, loop); pragma >= 0) replaced_.emplace_back(pragma, "");
      replaced_.insert(replaced_.begin(), {loop, ";"});
    }
    return true;
  }

  // The array that a pointer is into from its beginning on, `float* row = s;`, or the array itself.
  int Base() const {
    const SyntaxNode& row = tree_.node(row_);
    return row.type.find('*') == std::string::npos || row.children.empty() ? row_ : NamedDeclaration(tree_, row.children.back());
  }

  // Whether a use of the array is in the initialiser of a pointer behind the row: `float* sums = s + n;`.
  bool IsOffset(int use) const { return OtherPointer(use) >= 0; }
  int OtherPointer(int use) const {
    for (int at = tree_.node(use).parent; at > kernel_ && tree_.node(at).kind_name != "DeclStmt"; at = tree_.node(at).parent) {
      if (tree_.node(at).kind_name == "VarDecl")
        return at != row_ && tree_.node(at).type.find('*') != std::string::npos && !WrittenIn(tree_, kernel_).contains(at) ? at
                                                                                                                           : -1;
      if (tree_.node(at).kind_name == "CompoundStmt") return -1;
    }
    return -1;
  }

  // Whoever begins behind the row begins at its place now.
  bool MoveOthers() {
    const int base = Base();
    if (base < 0) return false;
    if (tree_.node(row_).type.find('*') != std::string::npos && !IsShared(tree_, base)) return false;
    int others = 0;
    for (const int use : tree_.UsesOf(base)) {
      if (IsWithin(tree_, use, row_)) continue;
      const int pointer = OtherPointer(use);
      if (pointer < 0) {
        if (base == row_) continue;
        return false;
      }
      const int start = WithoutParentheses(tree_, tree_.node(pointer).children.back());
      const auto& parts = tree_.node(start).children;
      int offset = -1;
      if (tree_.Operator(start) == "+" && parts.size() == 2 && NamedDeclaration(tree_, parts[0]) == base) offset = parts[1];
      if (tree_.Operator(start) == "&" && parts.size() == 1 && tree_.node(parts[0]).children.size() == 2)
        offset = tree_.node(parts[0]).children[1];
      if (offset < 0 || !SameTokens(tree_.Text(offset), bound_) || ++others > 1) return false;
      replaced_.emplace_back(start, tree_.node(base).name);
    }
    return true;
  }

  const SyntaxTree& tree_;
  int kernel_;
  int row_;
  std::string stored_, bound_;
  std::size_t loads_ = 0;
  std::vector<int> stores_;
  std::set<int> loops_, pointers_;
  std::map<int, int> named_;  // variables that stored values name, and from which node on they may not change
  Replacements replaced_;
};

}  // namespace

std::optional<std::string> WithoutStagedRows(const SyntaxTree& tree, int kernel) {
  const int body = tree.node(kernel).children.back();
  for (const int node : Subtree(tree, body)) {
    const SyntaxNode& one = tree.node(node);
    if (one.kind_name != "VarDecl") continue;
    const auto named = NamedIn(tree, node);
    const bool points = one.type.find('*') != std::string::npos && std::any_of(named.begin(), named.end(), [&](int d) {
                          return tree.node(d).kind_name == "VarDecl" && IsShared(tree, d);
                        });
    const bool array = IsShared(tree, node) && std::count(one.type.begin(), one.type.end(), '[') == 1;
    if (!points && !array) continue;
    const Replacements replaced = StagedRow(tree, kernel, node).Find();
    if (!replaced.empty()) return TextWith(tree, body, replaced);
  }
  return std::nullopt;
}

}  // namespace evo
