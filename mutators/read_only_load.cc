#include "mutators/read_only_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/syntax_queries.h"

namespace evo {
namespace {

constexpr std::array<const char*, 4> kLoads{"__ldg", "__ldg", "__ldca", "__ldcg"};
// Types that the loads take; the half types through their header's own overloads.
constexpr std::array<std::string_view, 13> kTypes{"float", "double", "int", "unsigned int", "__half", "half", "__half2", "float2", "float4",
                                                  "int2", "int4", "uint4", "__nv_bfloat16"};

bool Loadable(std::string type) {
  if (type.rfind("const ", 0) == 0) type = type.substr(6);
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

// The pointer parameter that a subscript or a chain of pointer variables starts from; -1 if it is something else, such as shared memory.
int RootParameter(const SyntaxTree& tree, int pointer, int depth = 0) {
  constexpr int kLongestChain = 8;
  if (depth > kLongestChain) return -1;
  for (int i : [&] { auto all = tree.Descendants(pointer); all.insert(all.begin(), pointer); return all; }()) {
    const SyntaxNode& node = tree.node(i);
    if (node.kind_name != "DeclRefExpr" || node.type.find('*') == std::string::npos || node.refers_to < 0) continue;
    const SyntaxNode& declaration = tree.node(node.refers_to);
    if (declaration.kind_name == "ParmDecl") return declaration.parent >= 0 && tree.Text(declaration.parent).find("__global__") != std::string_view::npos ? node.refers_to : -1;
    if (declaration.kind_name == "VarDecl") return RootParameter(tree, node.refers_to, depth + 1);
    return -1;
  }
  return -1;
}

// A value is read if nothing assigns to it, steps it or takes its address.
bool IsRead(const SyntaxTree& tree, int subscript) {
  int child = subscript;
  for (int i = tree.node(child).parent; i >= 0; child = i, i = tree.node(i).parent) {
    const SyntaxNode& node = tree.node(i);
    if (node.kind_name == "UnexposedExpr" || node.kind_name == "ParenExpr") continue;
    if (node.kind_name == "UnaryOperator") {
      const std::string_view text = tree.Text(i);
      return text.find("++") == std::string_view::npos && text.find("--") == std::string_view::npos && text.front() != '&';
    }
    const bool assignment = node.kind_name == "CompoundAssignOperator" || (node.kind_name == "BinaryOperator" && OperatorOf(tree, i) == "=");
    if (assignment) return node.children.front() != child;
    // A member of a vector element is not a load of the whole.
    return node.kind_name != "MemberRefExpr" && node.kind_name != "ArraySubscriptExpr";
  }
  return true;
}

bool IsConstPointer(const SyntaxTree& tree, int parameter) { return tree.node(parameter).type.rfind("const ", 0) == 0; }

}  // namespace

std::optional<Mutation> ReadOnlyLoad::Mutate(const MutationContext& context, Rng& rng) const {
  const SyntaxTree& tree = context.tree;
  std::vector<std::pair<int, std::string>> sites;
  for (const int subscript : NodesOfKind(tree, "ArraySubscriptExpr")) {
    const SyntaxNode& node = tree.node(subscript);
    if (node.function < 0 || node.children.size() != 2 || !Loadable(node.type) || !IsRead(tree, subscript)) continue;
    const int parameter = RootParameter(tree, node.children.front());
    if (parameter < 0 || !IsConstPointer(tree, parameter)) continue;
    sites.emplace_back(subscript, fmt::format("{}(&{})", kLoads[rng.Below(kLoads.size())], tree.Text(subscript)));
  }
  if (sites.empty()) return std::nullopt;
  const auto& [node, text] = sites[rng.Below(sites.size())];
  return Edit{std::string(name()), {tree.AnchorOf(node)}, {{0, Placement::kReplace, text}}, {}, {}};
}

}  // namespace evo
