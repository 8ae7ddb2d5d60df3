#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/global_memory.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

constexpr std::array<int, 5> kKept{2, 4, 8, 16, 32};

// The loops of one block that count over the same values and make the same load.
struct Reread {
  std::vector<CountedLoop> loops;
  int load = -1;  // in the first loop that makes it
};

// Whether an expression has the same value before the first loop and in each loop, for equal counters.
bool IsSteady(const SyntaxTree& tree, int expression, const std::vector<CountedLoop>& loops) {
  if (!IsPure(tree, expression)) return false;
  const int block = tree.node(loops.front().parts.statement).parent;
  std::set<int> changed;
  for (const int statement : tree.node(block).children) {
    const std::uint32_t begin = tree.node(statement).range.begin;
    if (begin < tree.node(loops.front().parts.statement).range.begin) continue;
    if (begin > tree.node(loops.back().parts.statement).range.begin) break;
    changed.merge(WrittenIn(tree, statement));
  }
  for (const CountedLoop& loop : loops) changed.erase(loop.counter);
  const std::set<int> named = NamedIn(tree, expression);
  return std::none_of(named.begin(), named.end(), [&](int declaration) {
    const bool counter = std::any_of(loops.begin(), loops.end(), [&](const CountedLoop& l) { return l.counter == declaration; });
    if (counter) return false;
    if (changed.contains(declaration) || IsMemoryName(tree, declaration)) return true;
    // Variables declared after the beginning of the first loop are not available there.
    return tree.node(declaration).range.begin > tree.node(loops.front().parts.statement).range.begin;
  });
}

// The reads of a loop from memory that no thread writes, at an address that depends on the counter.
std::vector<int> SteadyLoads(const MutationContext& context, const CountedLoop& loop, const std::vector<CountedLoop>& loops) {
  const SyntaxTree& tree = context.tree;
  std::vector<int> loads;
  for (const int node : Subtree(tree, loop.parts.body)) {
    const SyntaxNode& read = tree.node(node);
    if (read.kind_name != "ArraySubscriptExpr" || !read.converted || !IsLoadable(WithoutConst(read.type))) continue;
    if (LoadsIn(tree, read.children[1]) || !NamedIn(tree, node).contains(loop.counter) || !IsSteady(tree, node, loops)) continue;
    if (IsReadOnlyGlobal(tree, context.rendered, read.children.front())) loads.push_back(node);
  }
  return loads;
}

std::vector<int> Named(const SyntaxTree& tree, const std::vector<int>& loads, std::string_view text) {
  std::vector<int> same;
  for (const int load : loads) {
    if (tree.Text(load) == text) same.push_back(load);
  }
  return same;
}

// A loop over the kept items that executes `lines` with the counter of each item that is within the loop's bounds.
std::string ItemLoop(const SyntaxTree& tree, const CountedLoop& loop, int kept, const std::string& item,
                     const std::string& lines) {
  const std::string indent = IndentOf(tree, loop.parts.statement);
  std::string forward = loop.step == "1" ? item : fmt::format("{} * {}", item, loop.step);
  if (tree.Text(loop.start) != "0") forward = fmt::format("{} + {}", Parenthesised(tree, loop.start), forward);
  return fmt::format(
      "#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n{0}  const {3} = {4};\n{0}  if ({5}) {{\n{6}{0}  }}\n{0}}}\n",
      indent, item, kept, CounterDeclaration(tree, loop), forward, tree.Text(loop.parts.condition), lines);
}

Proposal Keep(const MutationContext& context, const Reread& reread, int kept) {
  const SyntaxTree& tree = context.tree;
  const std::string text(tree.Text(reread.load));
  const std::string cached = FreshName(tree, "cached");
  const std::string item = FreshName(tree, "item");
  Proposal proposal;
  for (const CountedLoop& loop : reread.loops) {
    const std::string indent = IndentOf(tree, loop.parts.statement);
    const std::string element = fmt::format("{}[{}]", cached, item);
    Replacements replacements;
    for (const int load : Named(tree, SteadyLoads(context, loop, reread.loops), text)) replacements.emplace_back(load, element);
    std::string replaced;
    if (&loop == &reread.loops.front()) {
      replaced = fmt::format("{} {}[{}];\n", WithoutConst(tree.node(reread.load).type), cached, kept);
      replaced += ItemLoop(tree, loop, kept, item, fmt::format("{}    {} = {};\n", indent, element, text));
    }
    replaced += ItemLoop(tree, loop, kept, item, Lines(tree, loop.parts.body, indent + "    ", replacements));
    if (loop.parts.pragma >= 0) replaced += std::string(tree.Text(loop.parts.pragma)) + "\n";
    std::string behind = Times(kept, loop.step);
    if (tree.Text(loop.start) != "0") behind = fmt::format("{} + {}", Parenthesised(tree, loop.start), behind);
    const std::string init = fmt::format("{} = {}", CounterDeclaration(tree, loop), behind);
    replaced +=
        fmt::format("{}{} {{\n{}{}}}", indent, Header(tree, loop, init), Lines(tree, loop.parts.body, indent + "  "), indent);
    const Proposal one = ReplaceLoop(loop, replaced);
    proposal.changes.insert(proposal.changes.end(), one.changes.begin(), one.changes.end());
    proposal.also_anchored.insert(proposal.also_anchored.end(), one.also_anchored.begin(), one.also_anchored.end());
  }
  return proposal;
}

class RegisterCache : public SourceMutator {
 public:
  std::string_view name() const override { return "register_cache"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "keeps what several loops read from global memory in registers, for their first 2 to 32 iterations";
  }
  double weight() const override { return 1.5; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    std::vector<Proposal> proposals;
    for (const int block : NodesOfKind(context.tree, "CompoundStmt")) {
      for (const Reread& reread : RereadIn(context, block)) {
        for (const int kept : kKept) proposals.push_back(Keep(context, reread, kept));
      }
    }
    return proposals;
  }

 private:
  static std::vector<Reread> RereadIn(const MutationContext& context, int block) {
    const SyntaxTree& tree = context.tree;
    std::vector<std::vector<CountedLoop>> groups;
    for (const int statement : tree.node(block).children) {
      const auto loop = AsCountedLoop(tree, statement);
      if (!loop) continue;
      const auto same = std::find_if(groups.begin(), groups.end(), [&](const std::vector<CountedLoop>& group) {
        return HaveSameHeader(tree, group.front(), *loop);
      });
      if (same == groups.end()) {
        groups.push_back({*loop});
      } else {
        same->push_back(*loop);
      }
    }
    std::vector<Reread> found;
    for (const auto& group : groups) {
      const CountedLoop& first = group.front();
      if (group.size() < 2 || !IsSteady(tree, first.start, group) || !IsSteady(tree, first.bound, group)) continue;
      AppendRereads(context, group, found);
    }
    return found;
  }

  static void AppendRereads(const MutationContext& context, const std::vector<CountedLoop>& group, std::vector<Reread>& found) {
    const SyntaxTree& tree = context.tree;
    std::vector<std::string_view> seen;
    for (const CountedLoop& loop : group) {
      for (const int load : SteadyLoads(context, loop, group)) {
        const std::string_view text = tree.Text(load);
        if (std::find(seen.begin(), seen.end(), text) != seen.end()) continue;
        seen.push_back(text);
        Reread reread;
        reread.load = load;
        bool always = false;
        for (const CountedLoop& reader : group) {
          const auto loads = Named(tree, SteadyLoads(context, reader, group), text);
          if (loads.empty()) continue;
          reread.loops.push_back(reader);
          // Only a load that some loop makes in every iteration may be made before the first loop.
          always = always || (!JumpsOut(tree, reader.parts.body) && std::any_of(loads.begin(), loads.end(), [&](int at) {
                     return IsUnconditional(tree, at, reader.parts.body);
                   }));
        }
        if (always && reread.loops.size() > 1) found.push_back(std::move(reread));
      }
    }
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeRegisterCache() { return std::make_unique<RegisterCache>(); }

}  // namespace evo
