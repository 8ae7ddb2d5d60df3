#include "mutators/unroll_pragma.h"

#include <array>
#include <string>

#include "mutators/syntax_queries.h"

namespace evo {
namespace {

// 1 forbids unrolling; the empty one asks for the whole loop.
constexpr std::array<const char*, 6> kCounts{"1", "2", "4", "8", "16", ""};
constexpr double kRemoval = 0.25;

// The unroll pragma that belongs to a loop; -1 if it has none.
int PragmaOf(const SyntaxTree& tree, int loop) {
  for (const int sibling : tree.node(tree.node(loop).parent).children) {
    const SyntaxNode& node = tree.node(sibling);
    const std::string between = sibling < loop && node.kind == kPragmaNode
                                    ? SpelledTokens(std::string_view(tree.text()).substr(node.range.end, tree.node(loop).range.begin - node.range.end))
                                    : "x";
    if (between.empty() && SpelledTokens(tree.Text(sibling)).rfind("#pragma unroll", 0) == 0) return sibling;
  }
  return -1;
}

}  // namespace

std::optional<Mutation> UnrollPragma::Mutate(const MutationContext& context, Rng& rng) const {
  const SyntaxTree& tree = context.tree;
  std::vector<int> loops = NodesOfKind(tree, "ForStmt");
  std::erase_if(loops, [&](int loop) { return !StartsItsLine(tree, loop) || tree.node(loop).parent < 0; });
  if (loops.empty()) return std::nullopt;
  const int loop = loops[rng.Below(loops.size())];
  const std::string count = kCounts[rng.Below(kCounts.size())];
  const std::string pragma = count.empty() ? "#pragma unroll" : "#pragma unroll " + count;
  const int present = PragmaOf(tree, loop);
  if (present < 0) {
    // The pragma takes the loop's place on its line.
    return Edit{std::string(name()), {tree.AnchorOf(loop)}, {{0, Placement::kBefore, pragma + "\n" + IndentOf(tree, loop)}}, {}, {}};
  }
  const bool remove = rng.Chance(kRemoval);
  if (!remove && SpelledTokens(tree.Text(present)) == pragma) return std::nullopt;
  return Edit{std::string(name()), {tree.AnchorOf(present)}, {{0, Placement::kReplace, remove ? "" : pragma}}, {}, {}};
}

}  // namespace evo
