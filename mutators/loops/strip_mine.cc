#include <fmt/format.h>

#include <array>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::array<int, 4> kStrips{2, 4, 8, 16};
// The longest strip for a body that contains a loop, since unrolled nests soon exceed the instruction cache.
constexpr int kMostOfNest = 4;

// Whole strips, whose known length lets the compiler unroll them, then the remaining iterations.
std::string StripMined(const SyntaxTree& tree, const CountedLoop& loop, int strip) {
  const std::string outer = IndentOf(tree, loop.parts.statement);
  const std::string indent = outer + "  ";
  const std::string begin = FreshName(tree, "strip");
  const std::string item = FreshName(tree, "item");
  const std::string forward = loop.step == "1" ? item : fmt::format("{} * {}", item, loop.step);
  std::string text = fmt::format("{{\n{}{} {} = {};\n", indent, tree.node(loop.counter).type, begin, tree.Text(loop.start));
  text += fmt::format("{}for (; {} + {} {} {}; {} += {}) {{\n", indent, begin, Times(strip - 1, loop.step), loop.comparison,
                      tree.Text(loop.bound), begin, Times(strip, loop.step));
  text += fmt::format("#pragma unroll\n{}  for (int {} = 0; {} < {}; ++{}) {{\n", indent, item, item, strip, item);
  text += fmt::format("{}    const {} = {} + {};\n", indent, CounterDeclaration(tree, loop), begin, forward);
  text += Lines(tree, loop.parts.body, indent + "    ");
  text += fmt::format("{}  }}\n{}}}\n", indent, indent);
  text += fmt::format("{}{} {{\n", indent, Header(tree, loop, fmt::format("{} = {}", CounterDeclaration(tree, loop), begin)));
  return text + Lines(tree, loop.parts.body, indent + "  ") + fmt::format("{}}}\n{}}}", indent, outer);
}

class StripMine : public SourceMutator {
 public:
  std::string_view name() const override { return "strip_mine"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "runs a counted loop in unrolled strips of 2, 4, 8 or 16 iterations, and the remainder one by one";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(tree, "ForStmt")) {
      const auto loop = AsCountedLoop(tree, node);
      if (!loop || IsWrittenOut(tree, *loop) || IsShort(tree, *loop)) continue;
      const bool nest = ContainsLoop(tree, loop->parts.body);
      for (const int strip : kStrips) {
        if (nest && strip > kMostOfNest) continue;
        proposals.push_back(ReplaceLoop(*loop, StripMined(tree, *loop, strip)));
      }
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeStripMine() { return std::make_unique<StripMine>(); }

}  // namespace evo
