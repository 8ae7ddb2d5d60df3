#include <fmt/format.h>

#include <algorithm>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// Each load costs a register during the whole loop.
constexpr std::size_t kMostLoads = 4;

// The loads of an iteration whose address depends only on the counter, so that the previous iteration can make them.
std::vector<int> LoadsAhead(const MutationContext& context, const CountedLoop& loop) {
  const SyntaxTree& tree = context.tree;
  std::vector<int> loads;
  const int body = loop.parts.body;
  for (const int node : Subtree(tree, body)) {
    const SyntaxNode& read = tree.node(node);
    if (read.kind_name != "ArraySubscriptExpr" || !read.converted || !IsLoadable(WithoutConst(read.type))) continue;
    if (!IsUnconditional(tree, node, body) || !IsPure(tree, read.children[1]) || LoadsIn(tree, read.children[1])) continue;
    if (!IsReadOnlyGlobal(tree, context.rendered, read.children.front())) continue;
    const auto named = NamedIn(tree, node);
    const auto written = WrittenIn(tree, body);
    const bool moves = std::any_of(named.begin(), named.end(), [&](int declaration) {
      return written.contains(declaration) || IsWithin(tree, declaration, body);
    });
    if (named.contains(loop.counter) && !moves) loads.push_back(node);
  }
  return loads;
}

// Groups loads with the same text, which are made once.
std::vector<std::vector<int>> ByText(const SyntaxTree& tree, const std::vector<int>& loads) {
  std::vector<std::vector<int>> groups;
  for (const int load : loads) {
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const std::vector<int>& group) { return tree.Text(group.front()) == tree.Text(load); });
    if (known == groups.end()) {
      groups.push_back({load});
    } else {
      known->push_back(load);
    }
  }
  return groups;
}

std::string Prefetched(const SyntaxTree& tree, const CountedLoop& loop, const std::vector<std::vector<int>>& groups) {
  const std::string outer = IndentOf(tree, loop.parts.statement);
  const std::string indent = outer + "  ";
  const std::string& counter = tree.node(loop.counter).name;
  std::string before = "{\n";
  std::string start(tree.Text(loop.start));
  if (tree.node(loop.start).kind_name != "IntegerLiteral") {
    start = FreshName(tree, "first");
    before += fmt::format("{}const {} {} = {};\n", indent, tree.node(loop.counter).type, start, tree.Text(loop.start));
  }
  std::string ahead;
  std::string now;
  Replacements replacements;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const int load = groups[i].front();
    const std::string type = WithoutConst(tree.node(load).type);
    const std::string number = groups.size() > 1 ? fmt::format("_{}", i) : "";
    const std::string next = FreshName(tree, "next" + number);
    const std::string loaded = FreshName(tree, "loaded" + number);
    before += fmt::format("{0}{1} {2}{{}};\n{0}if ({3} {4} {5}) {2} = {6};\n", indent, type, next, start, loop.comparison,
                          tree.Text(loop.bound), TextWith(tree, load, UsesAs(tree, loop.counter, load, start)));
    now += fmt::format("{}  const {} {} = {};\n", indent, type, loaded, next);
    ahead += fmt::format("{}    {} = {};\n", indent, next, TextWith(tree, load, CounterForward(tree, loop, load, loop.step)));
    for (const int place : groups[i]) replacements.emplace_back(place, loaded);
  }
  std::string text = before;
  if (loop.parts.pragma >= 0) text += std::string(tree.Text(loop.parts.pragma)) + "\n";
  const std::string init = fmt::format("{} = {}", CounterDeclaration(tree, loop), start);
  text += fmt::format("{}{} {{\n{}", indent, Header(tree, loop, init), now);
  text += fmt::format("{}  if ({} + {} {} {}) {{\n{}{}  }}\n", indent, counter, loop.step, loop.comparison, tree.Text(loop.bound),
                      ahead, indent);
  return text + Lines(tree, loop.parts.body, indent + "  ", replacements) + fmt::format("{}}}\n{}}}", indent, outer);
}

class PrefetchNext : public SourceMutator {
 public:
  std::string_view name() const override { return "prefetch_next"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "loads in each iteration of a loop what the next iteration needs from global memory";
  }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int node : NodesOfKind(tree, "ForStmt")) {
      const auto loop = AsCountedLoop(tree, node);
      if (!loop || JumpsOut(tree, loop->parts.body)) continue;
      const auto groups = ByText(tree, LoadsAhead(context, *loop));
      if (groups.empty()) continue;
      if (groups.size() > 1 && groups.size() <= kMostLoads)
        proposals.push_back(ReplaceLoop(*loop, Prefetched(tree, *loop, groups)));
      for (const auto& group : groups) proposals.push_back(ReplaceLoop(*loop, Prefetched(tree, *loop, {group})));
    }
    return proposals;
  }
};

}  // namespace

std::unique_ptr<Mutator> MakePrefetchNext() { return std::make_unique<PrefetchNext>(); }

}  // namespace evo
