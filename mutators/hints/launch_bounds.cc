#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// The largest minimum number of blocks per multiprocessor that is tried; 0 leaves the number out. More blocks would leave a
// thread with fewer than 64 registers in most cases.
constexpr int kMostBlocks = 4;

// The number of threads in a kernel's blocks as a C expression. nullopt if it depends on more than parameters and constants, is
// no plain C, or differs between launches.
std::optional<std::string> ThreadsOf(const KernelTemplate& rendered, std::string_view kernel) {
  std::optional<std::string> threads;
  for (const Step& step : rendered.steps) {
    if (!step.launch || step.launch->kernel != kernel) continue;
    std::string product;
    for (const Expression& dimension : step.launch->block) {
      for (const std::string& name : dimension.Names()) {
        const auto& parameters = rendered.space.parameters;
        if (std::none_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; }))
          return std::nullopt;
      }
      for (const char* call : {"ceil_div", "ceil_log", "min", "max", "power", "sqrt", "trunc"}) {
        if (dimension.text().find(call) != std::string::npos) return std::nullopt;
      }
      if (dimension.text() == "1") continue;
      const bool alone = step.launch->block.size() == 1;
      product += (product.empty() ? "" : " * ") + (alone ? dimension.text() : Parenthesised(dimension.text()));
    }
    if (product.empty()) product.push_back('1');
    if (threads && *threads != product) return std::nullopt;
    threads = product;
  }
  return threads;
}

class LaunchBounds : public SourceMutator {
 public:
  std::string_view name() const override { return "launch_bounds"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override { return "adds, changes or removes a kernel's `__launch_bounds__`"; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int function : Functions(tree)) {
      if (!IsKernel(tree, function)) continue;
      int global = -1;
      int bounds = -1;
      for (const int child : tree.node(function).children) {
        if (tree.node(child).kind_name == "attribute(global)") global = child;
        if (tree.Text(child).starts_with("__launch_bounds__")) bounds = child;
      }
      const auto threads = ThreadsOf(context.rendered, tree.node(function).name);
      if (bounds >= 0) proposals.push_back({{{bounds, Placement::kReplace, ""}}, {}, {}});
      for (int blocks = 0; threads && blocks <= kMostBlocks; ++blocks) {
        const std::string text = blocks == 0 ? fmt::format("__launch_bounds__({})", *threads)
                                             : fmt::format("__launch_bounds__({}, {})", *threads, blocks);
        if (bounds < 0) {
          proposals.push_back({{{global, Placement::kAfter, fmt::format(" {}", text)}}, {}, {}});
        } else if (tree.Text(bounds) != text) {
          proposals.push_back({{{bounds, Placement::kReplace, text}}, {}, {}});
        }
      }
    }
    return proposals;
  }

 private:
  bool rests_on_code() const override { return false; }
};

}  // namespace

std::unique_ptr<Mutator> MakeLaunchBounds() { return std::make_unique<LaunchBounds>(); }

}  // namespace evo
