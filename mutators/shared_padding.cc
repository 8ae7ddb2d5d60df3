#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "mutators/data_flow.h"
#include "mutators/source_mutators.h"
#include "mutators/source_query.h"

namespace evo {
namespace {

constexpr std::array<int, 5> kPads{0, 1, 2, 4, 8};
// Static shared memory of a kernel, at most.
constexpr long long kMostBytes = 48 * 1024;

// The extents that a type ends with: 32 and 33 of "float[32][33]".
std::vector<long long> ExtentsOf(const std::string& type) {
  std::vector<long long> extents;
  for (std::size_t at = type.find('['); at != std::string::npos; at = type.find('[', at + 1)) {
    long long extent = 0;
    const auto read = std::from_chars(type.data() + at + 1, type.data() + type.size(), extent);
    extents.push_back(read.ec == std::errc{} ? extent : 0);
  }
  return extents;
}

// Of an element; the largest there is for a type that is not known.
long long ElementBytes(std::string_view type) {
  type = type.substr(0, type.find('['));
  while (type.ends_with(' ')) type.remove_suffix(1);
  if (type == "float" || type == "int" || type == "unsigned int" || type == "__half2") return 4;
  if (type == "__half" || type == "__nv_bfloat16" || type == "short") return 2;
  if (type == "double" || type == "float2") return 8;
  return type == "char" || type == "unsigned char" ? 1 : 16;
}

bool IsShared(const SyntaxTree& tree, int variable) {
  const auto& children = tree.node(variable).children;
  return std::any_of(children.begin(), children.end(), [&](int c) { return tree.node(c).kind_name == "attribute(shared)"; });
}

// Every use names one element and reads or writes it there: nobody knows how far apart the rows are.
bool IsUsedByElement(const SyntaxTree& tree, int variable, std::size_t dimensions) {
  for (std::size_t i = 0; i < tree.nodes().size(); ++i) {
    const SyntaxNode& use = tree.nodes()[i];
    if (std::find(use.hidden.begin(), use.hidden.end(), variable) != use.hidden.end()) return false;
    if (use.kind_name != "DeclRefExpr" || use.refers_to != variable) continue;
    int element = static_cast<int>(i);
    for (std::size_t d = 0; d < dimensions; ++d) {
      const int parent = tree.node(element).parent;
      if (tree.node(parent).kind_name != "ArraySubscriptExpr" || tree.node(parent).children.front() != element) return false;
      element = parent;
    }
    const int parent = tree.node(element).parent;
    const bool written = IsAssignment(tree, parent) && tree.node(parent).children.front() == element;
    if (!tree.node(element).converted && !written) return false;
  }
  return true;
}

// An extent without the padding at its end, and that padding.
struct Extent {
  int node = -1;
  std::string text;
  int pad = 0;
};

std::optional<Extent> LastExtent(const SyntaxTree& tree, int variable) {
  const std::string_view text = tree.Text(variable);
  const std::size_t open = text.rfind('[');
  if (open == std::string_view::npos) return std::nullopt;
  for (const int child : tree.node(variable).children) {
    if (tree.node(child).range.begin != tree.node(variable).range.begin + open + 1) continue;
    Extent extent{child, std::string(tree.Text(child)), 0};
    const SyntaxNode& sum = tree.node(child);
    if (tree.Operator(child) == "+" && tree.node(sum.children[1]).kind_name == "IntegerLiteral") {
      const std::string_view pad = tree.Text(sum.children[1]);
      const auto read = std::from_chars(pad.data(), pad.data() + pad.size(), extent.pad);
      if (read.ec == std::errc{} && read.ptr == pad.data() + pad.size()) {
        extent.text = tree.Text(sum.children[0]);
      } else {
        extent.pad = 0;
      }
    }
    return extent;
  }
  return std::nullopt;
}

class SharedPadding : public SourceMutator {
 public:
  std::string_view name() const override { return "shared_padding"; }
  std::string_view description() const override {
    return "puts the rows of an array in shared memory 1, 2, 4 or 8 elements further apart, or back";
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
      if (!last || !IsUsedByElement(tree, variable, extents.size())) continue;
      for (const int pad : kPads) {
        if (pad == last->pad || used + Bytes(tree, variable, pad - last->pad) - Bytes(tree, variable, 0) > kMostBytes) continue;
        const std::string padded = pad == 0 ? last->text : fmt::format("{} + {}", last->text, pad);
        proposals.push_back({{{last->node, Placement::kReplace, padded}}, {}, {}});
      }
    }
    return proposals;
  }

 private:
  // With rows that are `more` elements longer.
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
