#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/global_memory.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// In this order: data is not read again soon (streaming), bypass L1, write through to memory, default (as without a hint).
constexpr std::array<std::string_view, 4> kStores{"__stcs", "__stcg", "__stwt", "__stwb"};

bool IsStore(std::string_view callee) { return std::find(kStores.begin(), kStores.end(), callee) != kStores.end(); }

class CacheHintStore : public SourceMutator {
 public:
  std::string_view name() const override { return "cache_hint_store"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "stores to global memory with a cache hint (__stcs, __stcg, __stwt), or removes the hint";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
      const int node = static_cast<int>(i);
      if (tree.node(node).function < 0) continue;
      for (const std::string_view store : kStores) {
        if (store != "__stwb" && IsPlainStore(context, node)) {
          proposals.push_back({{{node, Placement::kReplace, Hinted(tree, node, store)}}, {}, {}});
        } else if (const auto callee = LibraryCallee(tree, node); IsStore(callee) && store != callee && store != "__stwb") {
          proposals.push_back({{{tree.node(node).children.front(), Placement::kReplace, std::string(store)}}, {}, {}});
        }
      }
      if (IsStore(LibraryCallee(tree, node)) && tree.node(node).children.size() == 3) {
        proposals.push_back({{{node, Placement::kReplace, Plain(tree, node)}}, {}, {}});
      }
    }
    return proposals;
  }

 private:
  // Whether a node is a statement `element = value;` of a type that the store functions take.
  static bool IsPlainStore(const MutationContext& context, int node) {
    const SyntaxTree& tree = context.tree;
    const SyntaxNode& store = tree.node(node);
    const bool built_in = store.kind_name == "BinaryOperator" && tree.Operator(node) == "=";
    const bool of_class = store.kind_name == "CallExpr" && store.name == "operator=";
    if ((!built_in && !of_class) || !tree.Text(node).ends_with(";") || store.children.size() < 2) return false;
    const int target = store.children.front();
    const SyntaxNode& element = tree.node(target);
    if (!IsLoadable(element.type) || element.children.empty()) return false;
    const bool memory =
        element.kind_name == "ArraySubscriptExpr" || (element.kind_name == "UnaryOperator" && tree.Operator(target) == "*");
    return memory && IsGlobal(tree, context.rendered, element.children.front());
  }

  static std::string Hinted(const SyntaxTree& tree, int node, std::string_view store) {
    const SyntaxNode& assignment = tree.node(node);
    const int target = assignment.children.front();
    const int value = assignment.children.back();
    std::string address = fmt::format("&{}", tree.Text(target));
    if (tree.node(target).kind_name == "UnaryOperator") address = tree.Text(tree.node(target).children.front());
    const std::string& type = tree.node(target).type;
    // The functions are overloaded, so that a value of another type would be ambiguous.
    const bool same = WithoutConst(tree.node(value).type) == type;
    const std::string text(tree.Text(value));
    return fmt::format("{}({}, {});", store, address, same ? text : fmt::format("static_cast<{}>({})", type, text));
  }

  static std::string Plain(const SyntaxTree& tree, int call) {
    const auto& parts = tree.node(call).children;
    const SyntaxNode& address = tree.node(parts[1]);
    const bool of_element = address.kind_name == "UnaryOperator" && tree.Operator(parts[1]) == "&";
    const std::string target =
        of_element ? std::string(tree.Text(address.children.front())) : "*" + Parenthesised(tree, parts[1]);
    return fmt::format("{} = {}{}", target, tree.Text(parts[2]), tree.Text(call).ends_with(";") ? ";" : "");
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeCacheHintStore() { return std::make_unique<CacheHintStore>(); }

}  // namespace evo
