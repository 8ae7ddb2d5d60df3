#include "mutators/fast_math.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "mutators/syntax_queries.h"

namespace evo {
namespace {

// The accurate function and its intrinsic; CUDA C++ Programming Guide, "Intrinsic Functions".
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kPairs{{
    {"expf", "__expf"}, {"logf", "__logf"}, {"log2f", "__log2f"}, {"log10f", "__log10f"},
    {"sinf", "__sinf"}, {"cosf", "__cosf"}, {"powf", "__powf"}, {"tanf", "__tanf"},
}};

// What a call's function may be exchanged for; empty if nothing.
std::string Exchange(std::string_view function, const std::string& type) {
  if (type != "float") return "";
  for (const auto& [accurate, fast] : kPairs) {
    if (function == accurate || function == accurate.substr(0, accurate.size() - 1)) return std::string(fast);
    if (function == fast) return std::string(accurate);
  }
  return "";
}

struct Site {
  int node;
  std::string text;
};

std::vector<Site> Sites(const SyntaxTree& tree) {
  std::vector<Site> sites;
  for (const int call : NodesOfKind(tree, "CallExpr")) {
    const SyntaxNode& node = tree.node(call);
    if (node.function < 0 || node.children.empty()) continue;
    const int callee = node.children.front();
    const std::string other = Exchange(tree.Text(callee), node.type);
    if (!other.empty()) sites.push_back({callee, other});
    if (tree.Text(callee) == "__fdividef" && node.children.size() == 3) {
      sites.push_back({call, fmt::format("(({}) / ({}))", tree.Text(node.children[1]), tree.Text(node.children[2]))});
    }
  }
  for (const int division : NodesOfKind(tree, "BinaryOperator")) {
    const SyntaxNode& node = tree.node(division);
    if (node.function < 0 || node.type != "float" || OperatorOf(tree, division) != "/" || node.is_statement) continue;
    sites.push_back({division, fmt::format("__fdividef({}, {})", tree.Text(node.children[0]), tree.Text(node.children[1]))});
  }
  return sites;
}

}  // namespace

std::optional<Mutation> FastMath::Mutate(const MutationContext& context, Rng& rng) const {
  const std::vector<Site> sites = Sites(context.tree);
  if (sites.empty()) return std::nullopt;
  const Site& site = sites[rng.Below(sites.size())];
  return Edit{std::string(name()), {context.tree.AnchorOf(site.node)}, {{0, Placement::kReplace, site.text}}, {}, {}};
}

}  // namespace evo
