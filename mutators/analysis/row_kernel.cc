#include "mutators/analysis/row_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/global_memory.h"
#include "mutators/analysis/memory_traffic.h"

namespace evo {
namespace {

// Whether the threads of a kernel differ in nothing but their row, and no pointer points to a thread's variables.
bool IsAlone(const MutationContext& context, const ThreadIndex& index) {
  const SyntaxTree& tree = context.tree;
  if (index.axis != 0 || index.launch->block.size() != 1 || !index.launch->cluster.empty()) return false;
  for (const int function : Functions(tree)) {
    if (IsKernel(tree, function)) continue;
    for (const int node : Subtree(tree, function)) {
      const std::string& name = tree.node(node).name;
      if (name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim") return false;
    }
  }
  for (const std::size_t axis : {1, 2}) {
    if (!BuiltinUses(tree, index.kernel, "threadIdx", axis).empty()) return false;
  }
  if (!BuiltinUses(tree, index.kernel, "gridDim", 0).empty() || Cooperates(tree, index.kernel)) return false;
  for (const int dimension : BuiltinUses(tree, index.kernel, "blockDim", 0)) {
    if (dimension != index.extent) return false;
  }
  for (const int node : Subtree(tree, index.kernel)) {
    const SyntaxNode& variable = tree.node(node);
    if (variable.kind_name == "ParmDecl" && variable.type.find('*') != std::string::npos &&
        IsPassedTwice(tree, context.rendered, node))
      return false;
    if (variable.kind_name == "VarDecl" && !IsLocalArray(tree, node) && IsMemoryName(tree, node)) return false;
    // An array that is passed as a pointer.
    if (variable.kind_name == "DeclRefExpr" && IsLocalArray(tree, variable.refers_to) &&
        tree.node(variable.parent).kind_name != "ArraySubscriptExpr")
      return false;
  }
  return true;
}

// Whether a node is a statement that can be put under a condition.
bool IsStatement(const SyntaxTree& tree, int node) {
  const std::string& kind = tree.node(tree.node(node).parent).kind_name;
  return (kind == "CompoundStmt" || kind == "IfStmt" || kind == "ForStmt") && tree.Text(node).ends_with(";");
}

// Which loops of a kernel the threads of a row share: the outermost ones, the loops that compute the sums that an outer loop
// stores, or the innermost ones, where the outer ones may have few turns.
enum class Picked { kOutermost, kSums, kInnermost };

class Picker {
 public:
  Picker(const SyntaxTree& tree, Picked picked) : tree_(tree), picked_(picked) {}

  bool Collect(int node, RowKernel& kernel) const {
    const auto shared = AsSharedLoop(tree_, node);
    if (shared && !IsPassed(*shared)) {
      kernel.loops.push_back(*shared);
      return true;
    }
    if (IsStore(tree_, node)) {
      if (!IsStatement(tree_, node)) return false;
      kernel.stores.push_back(node);
    }
    const auto& children = tree_.node(node).children;
    return std::all_of(children.begin(), children.end(), [&](int child) { return Collect(child, kernel); });
  }

 private:
  // Whether loops within a loop are picked in its place.
  bool IsPassed(const SharedLoop& loop) const {
    if (picked_ == Picked::kOutermost || (picked_ == Picked::kSums && !loop.stores)) return false;
    bool passed = false;
    for (const int node : Subtree(tree_, loop.counted.parts.body)) {
      const auto nested = AsSharedLoop(tree_, node);
      if (!nested) continue;
      const bool own = HasOwnSums(*nested, loop);
      // Sums of each turn of the outer loop would be combined in each, or arrays of sums.
      if (picked_ == Picked::kInnermost && own) return false;
      passed = passed || picked_ == Picked::kInnermost || !nested->accumulations.empty();
    }
    return passed;
  }

  bool HasOwnSums(const SharedLoop& nested, const SharedLoop& outer) const {
    return std::any_of(nested.accumulations.begin(), nested.accumulations.end(), [&](const Accumulation& a) {
      return !a.length.empty() || IsWithin(tree_, a.declaration, outer.counted.parts.body);
    });
  }

  const SyntaxTree& tree_;
  Picked picked_;
};

}  // namespace

namespace {

// Whether what a kernel stores to is read in its stores only, which one thread of a row makes.
bool ReadsInStores(const SyntaxTree& tree, const RowKernel& kernel, const Traffic& traffic) {
  if (traffic.read.contains(-1) || traffic.stored.contains(-1)) return false;
  for (const int node : Subtree(tree, kernel.index.kernel)) {
    const SyntaxNode& name = tree.node(node);
    const int pointer = PointerAt(tree, node);
    const bool passed = name.type.find('*') != std::string::npos && tree.node(name.parent).kind_name == "CallExpr";
    if ((pointer < 0 && !passed) || !traffic.stored.contains(RootOf(tree, passed ? node : pointer))) continue;
    const auto around = [&](int store) { return IsWithin(tree, node, store); };
    if (std::none_of(kernel.stores.begin(), kernel.stores.end(), around)) return false;
  }
  return true;
}

}  // namespace

std::vector<RowKernel> RowKernels(const MutationContext& context) {
  const SyntaxTree& tree = context.tree;
  std::vector<RowKernel> kernels;
  for (const ThreadIndex& index : ThreadIndices(context)) {
    if (!IsAlone(context, index)) continue;
    const auto traffic = TrafficOf(tree, index.kernel);
    if (!traffic) continue;
    RowKernel bare{index, {}, {}, traffic->read.contains(-1)};  // a read through an unknown pointer
    for (const int root : traffic->stored) bare.reads_what_it_stores |= traffic->read.contains(root);
    std::set<std::vector<int>> known;
    for (const Picked which : {Picked::kOutermost, Picked::kSums, Picked::kInnermost}) {
      RowKernel kernel = bare;
      if (!Picker(tree, which).Collect(tree.node(index.kernel).children.back(), kernel)) continue;
      if (kernel.loops.empty() ||
          (kernel.reads_what_it_stores && !kernel.stores.empty() && !ReadsInStores(tree, kernel, *traffic)))
        continue;
      std::vector<int> picked;
      for (const SharedLoop& loop : kernel.loops) picked.push_back(loop.counted.parts.statement);
      if (known.insert(picked).second) kernels.push_back(std::move(kernel));
    }
  }
  return kernels;
}

std::vector<std::string> RowRefusals(const MutationContext& context) {
  const SyntaxTree& tree = context.tree;
  const auto kernels = RowKernels(context);
  std::vector<std::string> refusals;
  std::vector<int> told;
  for (const ThreadIndex& index : ThreadIndices(context)) {
    const auto is_it = [&](const RowKernel& kernel) { return kernel.index.kernel == index.kernel; };
    if (std::any_of(kernels.begin(), kernels.end(), is_it) || Cooperates(tree, index.kernel)) continue;
    if (std::find(told.begin(), told.end(), index.kernel) != told.end()) continue;
    std::string why;
    for (const int node : Subtree(tree, index.kernel)) {
      const std::string& kind = tree.node(node).kind_name;
      if (kind != "ForStmt" && kind != "WhileStmt" && kind != "DoStmt") continue;
      const auto shared = AsSharedLoop(tree, node);
      if (why.empty() && !shared)
        why = fmt::format("the turns of the loop {} leave behind more than sums, extremes and elements of their own",
                          Quoted(tree, node));
      else if (shared && why.empty())
        why = index.axis != 0 ? "its rows do not lie along x"
                              : "its threads differ in more than their row, or also store elsewhere";
    }
    if (why.empty()) continue;
    told.push_back(index.kernel);
    refusals.push_back(fmt::format("{}: {}", tree.node(index.kernel).name, why));
  }
  return refusals;
}

Proposal::Change StoreOnce(const SyntaxTree& tree, int store, const RowThreads& threads) {
  const bool in_block = IsInBlock(tree, store);
  return {store, Placement::kReplace,
          fmt::format("{}if ({} == 0) {}{}", in_block ? "" : "{ ", threads.name, tree.Text(store), in_block ? "" : " }")};
}

}  // namespace evo
