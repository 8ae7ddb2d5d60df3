#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/counted_loop.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/early_return.h"
#include "mutators/analysis/indentation.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::array<int, 3> kFactors{2, 4, 8};
constexpr std::string_view kGridAxes = "xyz";

// The only launch of a kernel; null if there are more, or if the launch is cooperative or has clusters.
const LaunchDirective* OnlyLaunch(const KernelTemplate& rendered, const std::string& kernel) {
  const LaunchDirective* only = nullptr;
  for (const Step& step : rendered.steps) {
    if (!step.launch || step.launch->kernel != kernel) continue;
    if (only || step.launch->cooperative || !step.launch->cluster.empty()) return nullptr;
    only = &*step.launch;
  }
  return only;
}

// The uses of a member of a built-in variable within `scope`, by their text.
std::vector<int> Spelled(const SyntaxTree& tree, int scope, std::string_view text) {
  std::vector<int> places;
  for (const int at : Subtree(tree, scope)) {
    if (tree.node(at).kind_name == "MemberRefExpr" && tree.Text(at) == text) places.push_back(at);
  }
  return places;
}

// How often a word occurs in the whole text, macros included.
std::size_t CountWord(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

bool HasSharedMemory(const SyntaxTree& tree) { return !NodesOfKind(tree, "attribute(shared)").empty(); }

// The `return`s of a kernel's body, which become `continue`. nullopt if one of them cannot, because it is in a loop, or because
// some threads would go on to the next block while those that they work with are still at this one.
std::optional<std::vector<int>> Returns(const SyntaxTree& tree, int body) {
  std::vector<int> returns;
  const Cooperation cooperation = CooperationIn(tree);
  for (const int at : Subtree(tree, body)) {
    const std::string& kind = tree.node(at).kind_name;
    if (kind == "LambdaExpr" || kind == "GotoStmt" || kind == "LabelStmt") return std::nullopt;
    if (kind != "ReturnStmt") continue;
    for (int outer = tree.node(at).parent; outer != body; outer = tree.node(outer).parent) {
      const std::string& around = tree.node(outer).kind_name;
      if (around != "CompoundStmt" && around != "IfStmt") return std::nullopt;
      if (around == "IfStmt" && !ReturnsTogether(tree, tree.node(outer).children.front(), cooperation)) return std::nullopt;
    }
    returns.push_back(at);
  }
  return returns;
}

class GridStride : public SourceMutator {
 public:
  std::string_view name() const override { return "grid_stride"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "launches a half, a quarter or an eighth of a grid's blocks, each of which does the work of several one after another";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int function : Functions(tree)) {
      if (!IsKernel(tree, function) || tree.node(tree.node(function).children.back()).kind_name != "CompoundStmt") continue;
      const LaunchDirective* launch = OnlyLaunch(context.rendered, tree.node(function).name);
      for (std::size_t axis = 0; launch && axis < launch->grid.size(); ++axis) {
        for (const int factor : kFactors) {
          if (auto proposal = Stride(tree, function, *launch, axis, factor)) proposals.push_back(std::move(*proposal));
        }
      }
    }
    return proposals;
  }

 private:
  static std::optional<Proposal> Stride(const SyntaxTree& tree, int function, const LaunchDirective& launch, std::size_t axis,
                                        int factor) {
    const int body = tree.node(function).children.back();
    const std::string index = fmt::format("blockIdx.{}", kGridAxes[axis]);
    const std::string extent = fmt::format("gridDim.{}", kGridAxes[axis]);
    const auto uses = Spelled(tree, body, index);
    // All uses must be in this kernel's body: functions and macros would still see the real block.
    if (uses.empty() || uses.size() != CountWord(tree.text(), index) || CountWord(tree.text(), extent) > 0) return std::nullopt;
    const auto returns = Returns(tree, body);
    const int last_parameter = LastParameter(tree, function);
    if (!returns || last_parameter < 0 || launch.grid[axis].text() == "1" || ChangesAParameter(tree, body)) return std::nullopt;

    const std::string block = FreshName(tree, "block");
    const std::string blocks = FreshName(tree, "blocks");
    const auto& statements = tree.node(body).children;
    Proposal proposal;
    proposal.changes.push_back({last_parameter, Placement::kAfter, fmt::format(", unsigned int {}", blocks)});
    std::string before =
        fmt::format("for (unsigned int {0} = blockIdx.{1}; {0} < {2}; {0} += gridDim.{1}) {{", block, kGridAxes[axis], blocks);
    const std::string indent = IndentOf(tree, statements.front());
    before += kIndentFrom;
    if (HasSharedMemory(tree)) before += fmt::format("\n{}__syncthreads();   // shared memory is reused from here on", indent);
    proposal.changes.push_back(
        {FirstNode(tree, statements.front()), Placement::kBefore, LineBefore(tree, statements.front(), before)});
    for (const int use : uses) proposal.changes.push_back({use, Placement::kReplace, block});
    for (const int at : *returns) proposal.changes.push_back({at, Placement::kReplace, "continue;"});
    proposal.changes.push_back({statements.back(), Placement::kAfter, fmt::format("{}\n{}}}", kIndentTo, indent)});

    std::vector<std::string> grid;
    for (const Expression& extent_of : launch.grid) grid.push_back(extent_of.text());
    const std::string whole = grid[axis];
    grid[axis] = fmt::format("ceil_div({}, {})", whole, factor);
    proposal.launch.push_back({launch.kernel, "grid", fmt::format("{}", fmt::join(grid, ", "))});
    proposal.launch.push_back({launch.kernel, "arguments", fmt::format("{}, {}", fmt::join(launch.arguments, ", "), whole)});
    return proposal;
  }

  // A parameter that the body changes would not have its first value when the next block's work begins.
  static bool ChangesAParameter(const SyntaxTree& tree, int body) {
    const auto written = WrittenIn(tree, body);
    return std::any_of(written.begin(), written.end(), [&](int d) { return tree.node(d).kind_name == "ParmDecl"; });
  }

  static int LastParameter(const SyntaxTree& tree, int function) {
    int last = -1;
    for (const int child : tree.node(function).children) {
      if (tree.node(child).kind_name == "ParmDecl") last = child;
    }
    return last;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeGridStride() { return std::make_unique<GridStride>(); }

}  // namespace evo
