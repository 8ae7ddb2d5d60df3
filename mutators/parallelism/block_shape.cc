#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "mutators/analysis/source/work_sharing.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kMostThreads = 1024;

std::optional<std::int64_t> Literal(std::string_view text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Whether a text contains a number as a token.
bool Mentions(std::string_view text, std::int64_t number) {
  const auto tokens = Tokenize(text);
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const SourceRange& t) { return Literal(text.substr(t.begin, t.size())) == number; });
}

// The text with another number in its place.
std::string With(std::string text, std::int64_t number, std::int64_t other) {
  auto tokens = Tokenize(text);
  std::reverse(tokens.begin(), tokens.end());
  for (const SourceRange& token : tokens) {
    if (Literal(std::string_view(text).substr(token.begin, token.size())) == number)
      text.replace(token.begin, token.size(), std::to_string(other));
  }
  return text;
}

// Whether the definition of some macro contains the number.
bool IsDefined(std::string_view text, std::int64_t number) {
  constexpr std::string_view kDefine = "#define ";
  for (std::size_t at = text.find(kDefine); at != std::string_view::npos; at = text.find(kDefine, at + 1)) {
    const std::string_view line = text.substr(at + kDefine.size(), text.find('\n', at) - at - kDefine.size());
    if (Mentions(line, number)) return true;
  }
  return false;
}

// A kernel whose launch line spells the block in numbers, and whose code knows the block's size only from blockDim.
struct Shape {
  const LaunchDirective* launch = nullptr;
  std::vector<std::int64_t> block;
  std::vector<bool> covers;  // whether the grid follows the block in this dimension: ceil_div(n, block)
};

std::int64_t Product(const std::vector<std::int64_t>& block) {
  std::int64_t threads = 1;
  for (const std::int64_t size : block) threads *= size;
  return threads;
}

// Whether the code depends on its block's size only through blockDim.
bool IsFree(const SyntaxTree& tree, int kernel, const std::vector<std::int64_t>& block) {
  for (const int node : Subtree(tree, kernel)) {
    if (tree.node(node).opaque) return false;
    // The extent of an array or a constant, possibly in a macro, may stand for the block's size.
    const std::string& type = tree.node(node).type;
    for (const std::int64_t size : {block[0], block.size() > 1 ? block[1] : 0, Product(block)}) {
      if (size <= 1) continue;
      if (tree.node(node).kind_name == "VarDecl" && type.find(fmt::format("[{}]", size)) != std::string::npos) return false;
      const bool constant = tree.node(node).kind_name == "IntegerLiteral" || tree.Text(node).starts_with("__launch_bounds__");
      if (constant && (Mentions(tree.Text(node), size) || (!Literal(tree.Text(node)) && IsDefined(tree.text(), size))))
        return false;
    }
    // A file-scope variable may stand for the block's size.
    const int named = tree.node(node).kind_name == "DeclRefExpr" ? tree.node(node).refers_to : -1;
    if (named >= 0 && tree.node(named).kind_name == "VarDecl" && tree.node(named).function < 0) return false;
  }
  return true;
}

std::optional<Shape> ShapeOf(const MutationContext& context, int kernel) {
  const SyntaxTree& tree = context.tree;
  Shape shape;
  shape.launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
  if (!shape.launch || shape.launch->block.size() > 2 || !shape.launch->cluster.empty() || shape.launch->cooperative)
    return std::nullopt;
  for (const Expression& dimension : shape.launch->block) {
    const auto size = Literal(dimension.text());
    if (!size) return std::nullopt;
    shape.block.push_back(*size);
  }
  if (IsUsedElsewhere(tree, kernel, "blockDim") || IsUsedElsewhere(tree, kernel, "threadIdx") ||
      !IsFree(tree, kernel, shape.block))
    return std::nullopt;
  for (std::size_t axis = 0; axis < shape.block.size(); ++axis) {
    if (shape.block[axis] > 1 && BuiltinUses(tree, kernel, "blockDim", axis).empty()) return std::nullopt;
    const std::string grid = axis < shape.launch->grid.size() ? shape.launch->grid[axis].text() : "1";
    const bool mentions = Mentions(grid, shape.block[axis]) && shape.block[axis] > 1;
    if (mentions && !grid.starts_with("ceil_div(")) return std::nullopt;
    shape.covers.push_back(mentions);
    // If the grid does not follow the block, threads must reach all elements with strides of the block or of the grid.
    if (mentions || !BuiltinUses(tree, kernel, "gridDim", axis).empty()) continue;
    for (const int use : BuiltinUses(tree, kernel, "blockDim", axis)) {
      const int parent = tree.node(use).parent;
      if (tree.Operator(parent) == "*") return std::nullopt;
    }
  }
  return shape;
}

std::vector<std::vector<std::int64_t>> OtherShapes(const std::vector<std::int64_t>& block) {
  std::vector<std::vector<std::int64_t>> shapes;
  if (block.size() == 1) {
    for (std::int64_t size = kWarp; size <= kMostThreads; size *= 2) {
      if (size != block[0]) shapes.push_back({size});
    }
    return shapes;
  }
  for (const auto& [x, y] : {std::pair(2, 1), std::pair(1, 2), std::pair(-2, 1), std::pair(1, -2), std::pair(2, -2),
                             std::pair(-2, 2), std::pair(-4, 4), std::pair(4, -4)}) {
    const auto scaled = [](std::int64_t size, int factor) {
      return factor > 0 ? size * factor : size % -factor == 0 ? size / -factor : 0;
    };
    const std::vector<std::int64_t> other{scaled(block[0], x), scaled(block[1], y)};
    const std::int64_t threads = Product(other);
    if (threads >= kWarp && threads % kWarp == 0 && threads <= kMostThreads) shapes.push_back(other);
  }
  return shapes;
}

class BlockShape : public SourceMutator {
 public:
  std::string_view name() const override { return "block_shape"; }
  // That a number in the code does not stand for the size of the block is likely, and not proven.
  Promise promise() const override { return Promise::kUnproven; }
  std::string_view description() const override {
    return "changes the block of a kernel that asks blockDim for its size, and the grid to match";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    std::vector<Proposal> proposals;
    for (const int kernel : Functions(context.tree)) {
      if (!IsKernel(context.tree, kernel)) continue;
      const auto shape = ShapeOf(context, kernel);
      if (!shape) continue;
      const std::string dynamic = shape->launch->shared.text();
      for (const auto& other : OtherShapes(shape->block)) {
        Proposal proposal;
        proposal.launch.push_back({shape->launch->kernel, "block", fmt::format("{}", fmt::join(other, ", "))});
        std::vector<std::string> grid;
        for (std::size_t axis = 0; axis < shape->launch->grid.size(); ++axis) {
          const std::string& text = shape->launch->grid[axis].text();
          const bool follows = axis < shape->covers.size() && shape->covers[axis];
          grid.push_back(follows ? With(text, shape->block[axis], other[axis]) : text);
        }
        proposal.launch.push_back({shape->launch->kernel, "grid", fmt::format("{}", fmt::join(grid, ", "))});
        const std::int64_t threads = Product(shape->block);
        if (Mentions(dynamic, threads))
          proposal.launch.push_back({shape->launch->kernel, "shared", With(dynamic, threads, Product(other))});
        // The edit belongs to the code that asks blockDim, so it applies only while the kernel's body is unchanged.
        proposal.also_anchored.push_back(context.tree.node(kernel).children.back());
        proposals.push_back(std::move(proposal));
      }
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeBlockShape() { return std::make_unique<BlockShape>(); }

}  // namespace evo
