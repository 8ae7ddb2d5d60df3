#include <fmt/format.h>

#include <array>

#include "mutators/source_mutators.h"
#include "mutators/source_query.h"

namespace evo {
namespace {

constexpr std::array<std::string_view, 2> kHints{"__forceinline__", "__noinline__"};

class InlineHint : public SourceMutator {
 public:
  std::string_view name() const override { return "inline_hint"; }
  std::string_view description() const override {
    return "puts, exchanges or removes `__forceinline__` or `__noinline__` of a device function";
  }
  double weight() const override { return 0.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int function : Functions(tree)) {
      int device = -1;
      int hint = -1;
      for (const int child : tree.node(function).children) {
        if (tree.node(child).kind_name == "attribute(device)") device = child;
        for (const std::string_view text : kHints) {
          if (tree.Text(child) == text) hint = child;
        }
      }
      if (device < 0 || IsKernel(tree, function)) continue;
      if (hint >= 0) proposals.push_back({{{hint, Placement::kReplace, ""}}, {}, {}});
      for (const std::string_view text : kHints) {
        if (hint < 0) proposals.push_back({{{device, Placement::kAfter, fmt::format(" {}", text)}}, {}, {}});
        if (hint >= 0 && tree.Text(hint) != text) proposals.push_back({{{hint, Placement::kReplace, std::string(text)}}, {}, {}});
      }
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeInlineHint() { return std::make_unique<InlineHint>(); }

}  // namespace evo
