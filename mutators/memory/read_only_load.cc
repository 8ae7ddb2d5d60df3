#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// In this order: through the read-only cache, bypass L1, data that is read only once (streaming).
constexpr std::array<std::string_view, 3> kLoads{"__ldg", "__ldcg", "__ldcs"};

// CUDA 13 has these loads of 16-bit elements as assembly that neither is volatile nor names memory, so that the compiler may move
// one before the condition that guards it: a bias was read behind its end.
bool LeavesItsGuard(std::string_view type) { return type.starts_with("__half") || type.starts_with("__nv_bfloat16"); }

class ReadOnlyLoad : public SourceMutator {
 public:
  std::string_view name() const override { return "read_only_load"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "loads global memory that no thread writes with a cache hint (__ldg, __ldcg, __ldcs)";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      const int node = static_cast<int>(i);
      if (tree.node(node).function < 0) continue;
      const std::string address = AddressRead(context, node);
      for (const std::string_view load : kLoads) {
        if (!address.empty()) {
          proposals.push_back({{{node, Placement::kReplace, fmt::format("{}({})", load, address)}}, {}, {}});
        } else if (IsOtherLoad(tree, node, load)) {
          proposals.push_back({{{tree.node(node).children.front(), Placement::kReplace, std::string(load)}}, {}, {}});
        }
      }
    }
    return proposals;
  }

 private:
  // The address from which a node reads read-only global memory; empty if it reads none.
  static std::string AddressRead(const MutationContext& context, int node) {
    const SyntaxTree& tree = context.tree;
    const SyntaxNode& read = tree.node(node);
    if (!IsRead(tree, node) || !IsLoadable(WithoutConst(read.type)) || !read.type.starts_with("const ")) return "";
    if (LeavesItsGuard(WithoutConst(read.type))) return "";
    if (read.kind_name == "ArraySubscriptExpr") {
      if (!IsReadOnlyGlobal(tree, context.rendered, read.children.front())) return "";
      return fmt::format("&{}", tree.Text(node));
    }
    if (read.kind_name == "UnaryOperator" && tree.Operator(node) == "*") {
      if (!IsReadOnlyGlobal(tree, context.rendered, read.children.front())) return "";
      const std::string_view text = tree.Text(read.children.front());
      const bool parenthesised = tree.node(read.children.front()).kind_name == "ParenExpr" && text.size() > 2;
      return std::string(parenthesised ? text.substr(1, text.size() - 2) : text);
    }
    return "";
  }

  // The value of a class type is read by operator=, without a conversion.
  static bool IsRead(const SyntaxTree& tree, int node) {
    const SyntaxNode& parent = tree.node(tree.node(node).parent);
    return tree.node(node).converted ||
           (parent.kind_name == "CallExpr" && parent.name == "operator=" && parent.children.back() == node);
  }

  static bool IsOtherLoad(const SyntaxTree& tree, int node, std::string_view load) {
    const std::string_view callee = LibraryCallee(tree, node);
    return callee != load && std::find(kLoads.begin(), kLoads.end(), callee) != kLoads.end();
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeReadOnlyLoad() { return std::make_unique<ReadOnlyLoad>(); }

}  // namespace evo
