#include <fmt/format.h>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

std::string FirstPeeled(const SyntaxTree& tree, const CountedLoop& loop) {
  const std::string outer = IndentOf(tree, loop.parts.statement);
  const std::string indent = outer + "  ";
  const std::string& counter = tree.node(loop.counter).name;
  const std::string first = FreshName(tree, "first");
  std::string text = fmt::format("{{\n{}const {} {} = {};\n", indent, tree.node(loop.counter).type, first, tree.Text(loop.start));
  text += fmt::format("{}if ({} {} {}) {{\n", indent, first, loop.comparison, tree.Text(loop.bound));
  text += fmt::format("{}  const {} = {};\n", indent, CounterDeclaration(tree, loop), first);
  text += Lines(tree, loop.parts.body, indent + "  ") + indent + "}\n";
  if (loop.parts.pragma >= 0) text += std::string(tree.Text(loop.parts.pragma)) + "\n";
  text +=
      fmt::format("{}{} {{\n", indent,
                  Header(tree, loop, fmt::format("{} {} = {} + {}", tree.node(loop.counter).type, counter, first, loop.step)));
  return text + Lines(tree, loop.parts.body, indent + "  ") + fmt::format("{}}}\n{}}}", indent, outer);
}

// The last iteration is the one after which the condition fails.
std::string LastPeeled(const SyntaxTree& tree, const CountedLoop& loop) {
  const std::string outer = IndentOf(tree, loop.parts.statement);
  const std::string indent = outer + "  ";
  const std::string& counter = tree.node(loop.counter).name;
  std::string text = fmt::format("{{\n{}{} = {};\n", indent, CounterDeclaration(tree, loop), tree.Text(loop.start));
  if (loop.parts.pragma >= 0) text += std::string(tree.Text(loop.parts.pragma)) + "\n";
  text += fmt::format("{}for (; {} + {} {} {}; {}) {{\n", indent, counter, loop.step, loop.comparison, tree.Text(loop.bound),
                      tree.Text(loop.parts.increment));
  text += Lines(tree, loop.parts.body, indent + "  ") + indent + "}\n";
  text += fmt::format("{}if ({}) {{\n", indent, tree.Text(loop.parts.condition));
  return text + Lines(tree, loop.parts.body, indent + "  ") + fmt::format("{}}}\n{}}}", indent, outer);
}

class LoopPeel : public SourceMutator {
 public:
  std::string_view name() const override { return "loop_peel"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override { return "peels the first or the last iteration off a counted loop"; }
  double weight() const override { return 0.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(tree, "ForStmt")) {
      const auto loop = AsCountedLoop(tree, node);
      if (!loop || IsWrittenOut(tree, *loop) || IsShort(tree, *loop) || HasOwnContinue(tree, loop->parts.body)) continue;
      proposals.push_back(ReplaceLoop(*loop, FirstPeeled(tree, *loop)));
      proposals.push_back(ReplaceLoop(*loop, LastPeeled(tree, *loop)));
    }
    return proposals;
  }

 private:
  // Whether a body contains `continue`, which would refer to another loop in the peeled iteration.
  static bool HasOwnContinue(const SyntaxTree& tree, int body) {
    for (const int at : Subtree(tree, body)) {
      if (tree.node(at).kind_name == "ContinueStmt") return true;
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeLoopPeel() { return std::make_unique<LoopPeel>(); }

}  // namespace evo
