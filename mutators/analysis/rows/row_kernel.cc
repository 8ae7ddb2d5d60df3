#include "mutators/analysis/rows/row_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/memory_traffic.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Whether a node is a statement that can be put under a condition.
bool IsStatement(const SyntaxTree& tree, int node) {
  const std::string& kind = tree.node(tree.node(node).parent).kind_name;
  return (kind == "CompoundStmt" || kind == "IfStmt" || kind == "ForStmt") && tree.Text(node).ends_with(";");
}

// The atomic operations that a kernel does with buffers that it uses for nothing else, such as the sum of all rows' losses.
std::set<int> AtomicStatements(const SyntaxTree& tree, int kernel) {
  constexpr std::array kAtomics{"atomicAdd"sv, "atomicSub"sv, "atomicMax"sv, "atomicMin"sv, "atomicOr"sv, "atomicAnd"sv};
  std::set<int> atomics, targets;
  for (const int node : Subtree(tree, kernel)) {
    if (std::find(kAtomics.begin(), kAtomics.end(), LibraryCallee(tree, node)) == kAtomics.end()) continue;
    const auto& parts = tree.node(node).children;
    const int target = parts.size() == 3 && IsStatement(tree, node) ? RootOf(tree, parts[1]) : -1;
    if (target < 0) return {};
    targets.insert(target);
    atomics.insert(node);
  }
  // A pointer that is copied or read through elsewhere may be the same one.
  for (const int target : targets) {
    for (const int use : tree.UsesOf(target)) {
      const auto around = [&](int atomic) { return IsWithin(tree, use, tree.node(atomic).children[1]); };
      if (std::none_of(atomics.begin(), atomics.end(), around)) return {};
    }
  }
  return atomics;
}

bool HasAny(const SyntaxTree& tree, int scope, const std::set<int>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [&](int node) { return IsWithin(tree, node, scope); });
}

// Whether a kernel names an index or an extent along another axis than its rows', or the extent elsewhere than in the row's
// number.
bool HasBuiltinsBut(const SyntaxTree& tree, const ThreadIndex& index) {
  for (const char* builtin : {"threadIdx", "blockIdx", "blockDim", "gridDim"}) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto uses = BuiltinUses(tree, index.kernel, builtin, axis);
      const bool own = axis == index.axis && std::string_view(builtin) != "gridDim" && uses.size() <= 1;
      if (!own && !uses.empty()) return true;
    }
  }
  return false;
}

// Whether a kernel calls functions of the file that ask which thread calls them.
bool CallsForThreads(const SyntaxTree& tree, int kernel) {
  std::set<int> known{kernel};
  std::vector<int> open{kernel};
  while (!open.empty()) {
    const int function = open.back();
    open.pop_back();
    for (const int node : Subtree(tree, function)) {
      const std::string& name = tree.node(node).name;
      if (function != kernel && (name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim"))
        return true;
    }
    for (const int called : Functions(tree)) {
      if (!IsKernel(tree, called) && ContainsName(tree.Text(function), tree.node(called).name) && known.insert(called).second)
        open.push_back(called);
    }
  }
  return false;
}

// Whether the threads of a kernel differ in nothing but their row, and no pointer points to a thread's variables.
bool IsAlone(const MutationContext& context, const ThreadIndex& index, const std::set<int>& atomics) {
  const SyntaxTree& tree = context.tree;
  if (!index.launch->cluster.empty()) return false;
  // Blocks are one thread thick along the other axes, so that neighbours along this one are lanes of a warp.
  const auto others_are_one = [&](const std::vector<Expression>& extents) {
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      if (axis != index.axis && extents[axis].text() != "1") return false;
    }
    return true;
  };
  if (!others_are_one(index.launch->block)) return false;
  if (index.axis != 0) {
    if (index.axis != 1 || !others_are_one(index.launch->grid) || HasBuiltinsBut(tree, index)) return false;
  }
  if (CallsForThreads(tree, index.kernel)) return false;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (axis != index.axis && !BuiltinUses(tree, index.kernel, "threadIdx", axis).empty()) return false;
  }
  if (!BuiltinUses(tree, index.kernel, "gridDim", index.axis).empty() || Cooperates(tree, index.kernel, true, atomics))
    return false;
  for (const int dimension : BuiltinUses(tree, index.kernel, "blockDim", index.axis)) {
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

// Which loops of a kernel the threads of a row share: the outermost ones, the loops that compute the sums that an outer loop
// stores, or the innermost ones, where the outer ones may have few turns.
enum class Picked { kOutermost, kSums, kInnermost };

class Picker {
 public:
  Picker(const SyntaxTree& tree, Picked picked, const std::set<int>& atomics) : tree_(tree), picked_(picked), atomics_(atomics) {}

  bool Collect(int node, RowKernel& kernel) const {
    const auto shared = AsSharedLoop(tree_, node);
    if (shared && !IsPassed(*shared) && !HasAny(tree_, node, atomics_)) {
      kernel.loops.push_back(*shared);
      return true;
    }
    if (atomics_.contains(node)) kernel.atomics.push_back(node);
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
  const std::set<int>& atomics_;
};

bool IsInAnyLoop(const SyntaxTree& tree, int node) {
  for (int at = tree.node(node).parent; at > 0; at = tree.node(at).parent) {
    const std::string& kind = tree.node(at).kind_name;
    if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") return true;
  }
  return false;
}

// Whether a node reads in the declaration of a sum what nothing stores to before: all threads have read it when they combine the
// sum, behind which one stores.
bool IsInStartOfSum(const SyntaxTree& tree, const RowKernel& kernel, int node, int root) {
  for (const SharedLoop& loop : kernel.loops) {
    for (const Accumulation& accumulation : loop.accumulations) {
      const int variable = accumulation.declaration;
      if (accumulation.combine != "+" || !IsWithin(tree, node, variable) || IsInAnyLoop(tree, variable)) continue;
      const bool same_block = tree.node(tree.node(variable).parent).parent == tree.node(loop.counted.parts.statement).parent;
      const auto stores_before = [&](int store) {
        const int pointer = PointerAt(tree, WithoutMembers(tree, Assigned(tree, store)));
        return store < variable && (pointer < 0 || RootOf(tree, pointer) == root);
      };
      if (same_block && std::none_of(kernel.stores.begin(), kernel.stores.end(), stores_before)) return true;
    }
  }
  return false;
}

// Whether what one thread of a row stores may be read by others.
bool StoresWhatItReads(const SyntaxTree& tree, const RowKernel& kernel, const Traffic& traffic) {
  return std::any_of(kernel.stores.begin(), kernel.stores.end(), [&](int store) {
    const int pointer = PointerAt(tree, WithoutMembers(tree, Assigned(tree, store)));
    const int root = pointer < 0 ? -1 : RootOf(tree, pointer);
    return root < 0 || traffic.read.contains(-1) || traffic.read.contains(root);
  });
}

// Whether what a kernel stores to is read in its stores only, which one thread of a row makes.
bool ReadsInStores(const SyntaxTree& tree, const RowKernel& kernel, const Traffic& traffic) {
  if (traffic.read.contains(-1) || traffic.stored.contains(-1)) return false;
  for (const int node : Subtree(tree, kernel.index.kernel)) {
    const SyntaxNode& name = tree.node(node);
    const int pointer = PointerAt(tree, node);
    const bool passed = name.type.find('*') != std::string::npos && tree.node(name.parent).kind_name == "CallExpr";
    if ((pointer < 0 && !passed) || !traffic.stored.contains(RootOf(tree, passed ? node : pointer))) continue;
    const auto around = [&](int store) { return IsWithin(tree, node, store); };
    if (IsInStartOfSum(tree, kernel, node, RootOf(tree, passed ? node : pointer))) continue;
    if (std::none_of(kernel.stores.begin(), kernel.stores.end(), around)) return false;
  }
  return true;
}

}  // namespace

std::vector<RowKernel> RowKernels(const MutationContext& context) {
  const SyntaxTree& tree = context.tree;
  std::vector<RowKernel> kernels;
  for (const ThreadIndex& index : MovedThreadIndices(context)) {
    const std::set<int> atomics = AtomicStatements(tree, index.kernel);
    if (!IsAlone(context, index, atomics)) continue;
    const auto traffic = TrafficOf(tree, index.kernel);
    if (!traffic) continue;
    RowKernel bare{index, {}, {}, {}, traffic->read.contains(-1)};  // a read through an unknown pointer
    for (const int root : traffic->stored) bare.reads_what_it_stores |= traffic->read.contains(root);
    std::set<std::vector<int>> known;
    for (const Picked which : {Picked::kOutermost, Picked::kSums, Picked::kInnermost}) {
      RowKernel kernel = bare;
      if (!Picker(tree, which, atomics).Collect(tree.node(index.kernel).children.back(), kernel)) continue;
      if (kernel.loops.empty() ||
          (kernel.reads_what_it_stores && StoresWhatItReads(tree, kernel, *traffic) && !ReadsInStores(tree, kernel, *traffic)))
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
  for (const ThreadIndex& index : MovedThreadIndices(context)) {
    const auto is_it = [&](const RowKernel& kernel) { return kernel.index.kernel == index.kernel; };
    if (std::any_of(kernels.begin(), kernels.end(), is_it) ||
        Cooperates(tree, index.kernel, true, AtomicStatements(tree, index.kernel)))
      continue;
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
        why = index.axis != 0 ? "its rows do not lie along x, or along y alone"
                              : "its threads differ in more than their row, or also store elsewhere";
    }
    if (why.empty()) continue;
    told.push_back(index.kernel);
    refusals.push_back(fmt::format("{}: {}", tree.node(index.kernel).name, why));
  }
  return refusals;
}

std::string RowExtent(const SyntaxTree& tree, const RowKernel& kernel) {
  const bool along_y = kernel.index.axis == 1 && SameTokens(tree.Text(kernel.index.extent), "blockDim.y");
  return along_y ? "blockDim.x" : Parenthesised(tree, kernel.index.extent);
}

LaunchChange RowDimension(const RowKernel& kernel, std::string_view field, const std::string& text) {
  const ThreadIndex& index = kernel.index;
  if (index.axis == 0) return WithDimension(*index.launch, field, 0, text);
  return {index.launch->kernel, std::string(field), text};
}

Proposal::Change StoreOnce(const SyntaxTree& tree, int store, const RowThreads& threads) {
  const bool in_block = IsInBlock(tree, store);
  return {store, Placement::kReplace,
          fmt::format("{}if ({} == 0) {}{}", in_block ? "" : "{ ", threads.name, tree.Text(store), in_block ? "" : " }")};
}

}  // namespace evo
