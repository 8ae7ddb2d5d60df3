#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/index_range.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::array<int, 5> kPads{0, 1, 2, 4, 8};
// The most static shared memory that a kernel can have.
constexpr long long kMostPaddedBytes = 48 * 1024;

// The size of an element; the largest possible size if the type is not known.
long long ElementBytes(std::string_view type) {
  type = type.substr(0, type.find('['));
  while (type.ends_with(' ')) type.remove_suffix(1);
  if (type == "float" || type == "int" || type == "unsigned int" || type == "__half2") return 4;
  if (type == "__half" || type == "__nv_bfloat16" || type == "short") return 2;
  if (type == "double" || type == "float2") return 8;
  return type == "char" || type == "unsigned char" ? 1 : 16;
}

class SharedPadding : public SourceMutator {
 public:
  std::string_view name() const override { return "shared_padding"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "pads the rows of an array in shared memory by 1, 2, 4 or 8 elements, or removes the padding";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    long long used = 0;
    for (const int variable : NodesOfKind(tree, "VarDecl")) {
      if (IsShared(tree, variable)) used += Bytes(tree, variable, 0);
    }
    for (const int variable : NodesOfKind(tree, "VarDecl")) {
      const auto extents = ExtentsOf(tree.node(variable).type);
      if (!IsShared(tree, variable) || extents.size() < 2 || std::count(extents.begin(), extents.end(), 0) > 0) continue;
      const auto last = LastExtent(tree, variable);
      const auto elements = ElementsOf(tree, variable, extents.size());
      if (!last || !elements) continue;
      const auto used_columns = last->pad > 0 ? ColumnsOf(context, *elements) : std::nullopt;
      for (const int pad : kPads) {
        if (pad == last->pad || used + Bytes(tree, variable, pad - last->pad) - Bytes(tree, variable, 0) > kMostPaddedBytes)
          continue;
        const bool fewer = pad < last->pad;
        // What looks like padding may be the edge of a tile.
        if (fewer && (!used_columns || used_columns->value + last->pad - pad >= extents.back())) continue;
        const std::string padded = pad == 0 ? last->text : fmt::format("{} + {}", last->text, pad);
        Proposal proposal{{{last->node, Placement::kReplace, padded}}, {}, {}};
        if (fewer) proposal.parameters = used_columns->parameters;
        proposals.push_back(std::move(proposal));
      }
    }
    return proposals;
  }

 private:
  // The last column that the elements of an array have.
  static std::optional<LargestIndex> ColumnsOf(const MutationContext& context, const std::vector<int>& elements) {
    LargestIndex columns;
    for (const int element : elements) {
      auto column = LargestIndexOf(context, context.tree.node(element).children[1]);
      if (!column) return std::nullopt;
      columns.value = std::max(columns.value, column->value);
      columns.parameters.merge(column->parameters);
    }
    return columns;
  }

  // The size of an array whose rows are `more` elements longer.
  static long long Bytes(const SyntaxTree& tree, int variable, int more) {
    const std::string& type = tree.node(variable).type;
    long long bytes = ElementBytes(type);
    const auto extents = ExtentsOf(type);
    for (std::size_t i = 0; i < extents.size(); ++i) bytes *= extents[i] + (i + 1 == extents.size() ? more : 0);
    return bytes;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeSharedPadding() { return std::make_unique<SharedPadding>(); }

}  // namespace evo
