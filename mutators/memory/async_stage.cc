#include <algorithm>
#include <map>
#include <set>

#include "mutators/analysis/source/dependence.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/shared_copy.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// Finds the next barrier after a copy, provided that nothing looks at shared memory before it.
class NextBarrier {
 public:
  NextBarrier(const SyntaxTree& tree, const SharedCopies& finder, const std::vector<SharedCopy>& copies)
      : tree_(tree), finder_(finder), copies_(copies) {}

  // The barrier after a statement; -1 if there is none that the copy can wait at.
  int After(int statement) const {
    const int function = tree_.node(statement).function;
    int barrier = -1;
    for (const int node : Subtree(tree_, function)) {
      if (barrier < 0 && IsBlockBarrier(tree_, node) && tree_.node(node).range.begin >= tree_.node(statement).range.end)
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
        if (IsBlockBarrier(tree_, node)) return -1;  // the next iteration reaches this barrier first
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
    return std::any_of(copies_.begin(), copies_.end(), [&](const SharedCopy& copy) {
      return IsWithin(tree_, node, copy.last) || IsWithin(tree_, node, copy.first);
    });
  }

  // Whether a node reads shared memory, or writes it after the statement, or may do so.
  bool Looks(int node, int statement) const {
    const SyntaxNode& at = tree_.node(node);
    if (at.opaque || at.kind_name.find("Asm") != std::string::npos) return true;
    if (IsACopy(node)) return false;
    if (at.kind_name == "CallExpr" && at.children.size() > 1 && !at.name.starts_with("operator")) {
      const int function = NamedDeclaration(tree_, at.children.front());
      const bool copies =
          std::any_of(copies_.begin(), copies_.end(), [&](const SharedCopy& c) { return c.function == function; });
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
  const SharedCopies& finder_;
  const std::vector<SharedCopy>& copies_;
};

class AsyncStage : public SourceMutator {
 public:
  std::string_view name() const override { return "async_stage"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "copies from global to shared memory asynchronously (cp.async), without registers in between, and waits at the next "
           "barrier";
  }

  double weight() const override { return 1.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    const SharedCopies finder(context);
    const auto copies = finder.All();
    const NextBarrier next_barrier(tree, finder, copies);
    std::map<int, Proposal> groups;  // by the first barrier at which the copy must have arrived
    std::map<int, std::set<int>> waits;
    for (const SharedCopy& copy : copies) {
      const auto barriers = Barriers(tree, next_barrier, copy);
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
  // The barriers before which the copy must be waited for: one in its own function, or one after each call of that function.
  static std::set<int> Barriers(const SyntaxTree& tree, const NextBarrier& next_barrier, const SharedCopy& copy) {
    if (const int barrier = next_barrier.After(copy.last); barrier >= 0) return {barrier};
    for (const int node : Subtree(tree, copy.function)) {
      if (IsBlockBarrier(tree, node)) return {};
    }
    std::set<int> barriers;
    for (const int call : NodesOfKind(tree, "CallExpr")) {
      const auto& parts = tree.node(call).children;
      if (parts.empty() || NamedDeclaration(tree, parts.front()) != copy.function) continue;
      const int barrier = next_barrier.After(call);
      if (barrier < 0) return {};
      barriers.insert(barrier);
    }
    return barriers;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeAsyncStage() { return std::make_unique<AsyncStage>(); }

}  // namespace evo
