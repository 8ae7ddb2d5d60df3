#include "mutators/parallelism/rows/row_combining.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/rows/shared_loop.h"
#include "mutators/analysis/source/indentation.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

bool IsInALoop(const SyntaxTree& tree, int statement) {
  for (int at = tree.node(statement).parent; at >= 0; at = tree.node(at).parent) {
    const std::string& kind = tree.node(at).kind_name;
    if (kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt") return true;
  }
  return false;
}

// A value, named `name`, and its place if it has one, as `combine` keeps the better of two.
struct Accumulated {
  std::string combine, type, name;
  std::string place_type, place;  // empty without a place

  // A statement that accumulates another one. Of equal values the one at the smaller place counts.
  std::string With(const std::string& other, const std::string& other_place, const std::string& indent) const {
    if (place.empty()) return Combined(combine, name, other);
    const std::string better =
        fmt::format("if ({0} {1} {2} || ({0} == {2} && {3} < {4}))", other, combine, name, other_place, place);
    return Block(better, fmt::format("{} = {};\n{}  {} = {};", name, other, indent, place, other_place), indent);
  }
};

Accumulated AccumulatedIn(const SyntaxTree& tree, const Accumulation& accumulation) {
  const SyntaxNode& variable = tree.node(accumulation.declaration);
  Accumulated accumulated{accumulation.combine, variable.type, variable.name, "", ""};
  if (accumulation.place < 0) return accumulated;
  accumulated.place_type = tree.node(accumulation.place).type;
  accumulated.place = tree.node(accumulation.place).name;
  return accumulated;
}

// The loop over distances in which the lanes of a warp exchange what they have; its head stands at `indent`.
std::string OverLanes(const SyntaxTree& tree, const Accumulated& accumulated, const std::string& indent) {
  const std::string offset = FreshName(tree, "offset");
  const std::string head = fmt::format("for (int {0} = 16; {0} > 0; {0} /= 2)", offset);
  const auto from = [&](const std::string& name) { return fmt::format("__shfl_xor_sync(0xffffffffu, {}, {})", name, offset); };
  if (accumulated.place.empty()) return Block(head, accumulated.With(from(accumulated.name), "", indent), indent);
  const std::string other = FreshName(tree, "other_" + accumulated.name), place = FreshName(tree, "other_" + accumulated.place);
  const std::string inner = indent + "  ";
  return Block(head,
               fmt::format("const {} {} = {};\n{}const {} {} = {};\n{}{}", accumulated.type, other, from(accumulated.name), inner,
                           accumulated.place_type, place, from(accumulated.place), inner, accumulated.With(other, place, inner)),
               indent);
}

// Lines that each begin with a line break.
std::string OnLines(const std::vector<std::string>& lines, const std::string& indent) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("\n{}{}", indent, line);
  return text;
}

std::string Combine(const SyntaxTree& tree, const Accumulation& accumulation, int loop, const RowThreads& threads) {
  const std::string outer = IndentOf(tree, loop);
  const std::string indent = outer + "  ";
  const Accumulated accumulated = AccumulatedIn(tree, accumulation);
  const std::string& name = accumulated.name;
  const std::string partials = FreshName(tree, "warp_partials"), places = FreshName(tree, "warp_places");
  const std::string warp = FreshName(tree, "warp");
  const bool placed = !accumulated.place.empty();
  const AroundCombining around = AroundCombiningOf(tree, accumulation, threads);
  // A line for the value, and one for the place.
  const auto both = [&](const std::string& deeper, fmt::format_string<const std::string&, const std::string&> line_of) {
    std::string text = deeper + fmt::format(line_of, partials, name) + "\n";
    if (placed) text += deeper + fmt::format(line_of, places, accumulated.place) + "\n";
    return text;
  };
  std::string text =
      OnLines(around.before, outer) + fmt::format("\n{}{{\n{}__shared__ {} {}[32];\n", outer, indent, accumulated.type, partials);
  if (placed) text += fmt::format("{}__shared__ {} {}[32];\n", indent, accumulated.place_type, places);
  text += fmt::format("{}{}\n", indent, OverLanes(tree, accumulated, indent));
  if (placed) {
    text += fmt::format("{0}if ({1} % 32 == 0) {{\n{0}  {2}[{1} / 32] = {3};\n{0}  {4}[{1} / 32] = {5};\n{0}}}\n", indent,
                        threads.name, partials, name, places, accumulated.place);
  } else {
    text += fmt::format("{}if ({} % 32 == 0) {}[{} / 32] = {};\n", indent, threads.name, partials, threads.name, name);
  }
  text += fmt::format("{}__syncthreads();\n", indent) + both(indent, "{1} = {0}[0];");
  text += fmt::format(
      "{}{}\n", indent,
      Block(fmt::format("for (int {0} = 1; {0} < {1} / 32; ++{0})", warp, threads.count),
            accumulated.With(fmt::format("{}[{}]", partials, warp), fmt::format("{}[{}]", places, warp), indent + "  "), indent));
  // In a loop, the next iteration writes what this one still reads.
  if (IsInALoop(tree, loop)) text += fmt::format("{}__syncthreads();\n", indent);
  return text + outer + "}" + OnLines(around.after, outer);
}

}  // namespace

std::string CombineInWarp(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads) {
  const std::string indent = IndentOf(tree, loop.counted.parts.statement);
  std::string text;
  for (const Accumulation& accumulation : loop.accumulations) {
    Accumulated accumulated = AccumulatedIn(tree, accumulation);
    std::string inner = indent;
    if (!accumulation.length.empty()) {
      const std::string index = FreshName(tree, "i");
      text += fmt::format("\n#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{", indent, index,
                          Parenthesised(accumulation.length));
      accumulated.name += fmt::format("[{}]", index);
      inner += "  ";
    }
    const AroundCombining around = AroundCombiningOf(tree, accumulation, threads);
    text += OnLines(around.before, indent);
    text += "\n" + inner + OverLanes(tree, accumulated, inner);
    if (!accumulation.length.empty()) text += fmt::format("\n{}}}", indent);
    text += OnLines(around.after, indent);
  }
  return text;
}

std::string CombineInBlock(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads) {
  std::string text;
  for (const Accumulation& accumulation : loop.accumulations)
    text += Combine(tree, accumulation, loop.counted.parts.statement, threads);
  return text;
}

void DivideLoop(const SyntaxTree& tree, const SharedLoop& loop, const RowThreads& threads, const std::string& combine,
                const std::string& barrier, Proposal& proposal) {
  const int statement = loop.counted.parts.statement;
  for (auto& change : ShareLoop(tree, loop, threads)) proposal.changes.push_back(std::move(change));
  std::string after = combine;
  if (!barrier.empty()) after += fmt::format("\n{}{}", IndentOf(tree, statement), barrier);
  if (!after.empty()) proposal.changes.push_back({statement, Placement::kAfter, std::move(after)});
  proposal.also_anchored.push_back(loop.counted.parts.body);
}

void ReplaceByTiles(const SyntaxTree& tree, const SharedLoop& loop, const std::string& text, const std::string& barrier,
                    Proposal& proposal) {
  const std::string after = barrier.empty() ? "" : fmt::format("\n{}{}", IndentOf(tree, loop.counted.parts.statement), barrier);
  const Proposal replaced = ReplaceLoop(loop.counted, text + after);
  proposal.changes.insert(proposal.changes.end(), replaced.changes.begin(), replaced.changes.end());
  proposal.also_anchored.insert(proposal.also_anchored.end(), replaced.also_anchored.begin(), replaced.also_anchored.end());
}

std::string BringItems(const SyntaxTree& tree, const RowKernel& kernel, Proposal& proposal) {
  const bool none =
      std::none_of(kernel.loops.begin(), kernel.loops.end(), [](const SharedLoop& l) { return l.running.has_value(); });
  if (none) return "";
  proposal.brings.push_back({UnusedName(tree.text(), "ITEMS"), {1, 2, 4, 8}, 4});
  return proposal.brings.back().name;
}

}  // namespace evo
