#include <fmt/format.h>

#include <bit>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// A two-dimensional array in shared memory whose row length is a power of two.
struct Tile {
  std::vector<int> elements;  // nodes of all its uses
  std::string width;          // row length, as spelled
};

std::optional<Tile> AsTile(const SyntaxTree& tree, int variable) {
  const auto extents = ExtentsOf(tree.node(variable).type);
  if (!IsShared(tree, variable) || extents.size() != 2 || extents[1] < 2) return std::nullopt;
  if (!std::has_single_bit(static_cast<unsigned long long>(extents[1]))) return std::nullopt;
  const auto last = LastExtent(tree, variable);
  const auto elements = ElementsOf(tree, variable, 2);
  if (!last || last->pad != 0 || !elements || elements->empty() || DependsOnSize(tree, last->text)) return std::nullopt;
  return Tile{*elements, fmt::format("{}", Parenthesised(tree, last->node))};
}

// The operand that is XORed with the column: `row % width`. It permutes the columns, since the row length is a power of two.
std::string Mask(const SyntaxTree& tree, int element, const std::string& width) {
  const int row = tree.node(tree.node(element).children[0]).children[1];
  return fmt::format("{} % {}", Parenthesised(tree, row), width);
}

// The column before the XOR; -1 if the column is not swizzled.
int Unswizzled(const SyntaxTree& tree, int element, const std::string& width) {
  const int column = tree.node(element).children[1];
  if (tree.Operator(column) != "^" || tree.node(column).children.size() != 2) return -1;
  return tree.Text(tree.node(column).children[1]) == Mask(tree, element, width) ? tree.node(column).children[0] : -1;
}

std::optional<Proposal> Swizzle(const SyntaxTree& tree, const Tile& tile) {
  Proposal proposal;
  std::size_t swizzled = 0;
  for (const int element : tile.elements) {
    const int column = tree.node(element).children[1];
    const int row = tree.node(tree.node(element).children[0]).children[1];
    if (!IsPure(tree, row) || LoadsIn(tree, row)) return std::nullopt;
    if (const int plain = Unswizzled(tree, element, tile.width); plain >= 0) {
      ++swizzled;
      std::string text(tree.Text(plain));
      if (text.starts_with("(") && text.find(')') == text.size() - 1) text = text.substr(1, text.size() - 2);
      proposal.changes.push_back({column, Placement::kReplace, text});
    } else {
      const std::string text = fmt::format("{} ^ {}", Parenthesised(tree, column), Mask(tree, element, tile.width));
      proposal.changes.push_back({column, Placement::kReplace, text});
    }
  }
  if (swizzled != 0 && swizzled != tile.elements.size()) return std::nullopt;
  return proposal;
}

class SharedSwizzle : public SourceMutator {
 public:
  std::string_view name() const override { return "shared_swizzle"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "swizzles the columns of an array in shared memory by XOR with the row, or undoes it";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    std::vector<Proposal> proposals;
    for (const int variable : NodesOfKind(context.tree, "VarDecl")) {
      const auto tile = AsTile(context.tree, variable);
      if (!tile) continue;
      auto proposal = Swizzle(context.tree, *tile);
      if (!proposal) continue;
      // XOR permutes the columns only of a row whose length is a power of two.
      proposal->parameters = ParametersBehind(context, tile->width);
      proposals.push_back(std::move(*proposal));
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeSharedSwizzle() { return std::make_unique<SharedSwizzle>(); }

}  // namespace evo
