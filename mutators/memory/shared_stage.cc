#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/edge_guard.h"
#include "mutators/analysis/source/reused_read.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/mutator.h"

namespace evo {
namespace {

// Numbers of iterations that are staged at once.
constexpr std::array<int, 4> kLengths{8, 16, 32, 64};
// The most shared memory that one loop takes, so that there is room for several blocks and several loops.
constexpr std::int64_t kMostStagedBytes = 20 * 1024;
constexpr std::size_t kMostReads = 3;

// One dimension of the array that a read is staged in. While the array is filled, a variable counts along the dimension.
struct Dimension {
  std::string extent;
  std::string type;   // of that variable
  std::string name;   // of that variable
  std::string first;  // prefix that makes the variable's value from its position: "stage + "
  std::string index;  // subscript with which the loop reads its own element
};

// Writes a loop that stages some of its reads in shared memory, `length` iterations at a time.
class Stage {
 public:
  // `guard` leaves the loop's stores to threads inside the bounds; null if all threads are.
  Stage(const MutationContext& context, const CountedLoop& loop, const LaunchDirective& launch, const EdgeGuard* guard,
        int length)
      : context_(context), tree_(context.tree), loop_(loop), launch_(launch), guard_(guard), length_(length) {
    counter_ = tree_.node(loop.counter).name;
    outer_ = IndentOf(tree_, loop.parts.statement);
    stage_ = FreshName(tree_, "stage");
    tile_ = FreshName(tree_, "kStage");
    const auto first = ConstantValue(tree_, tree_.Text(loop.start));
    const auto last = ConstantValue(tree_, tree_.Text(loop.bound));
    if (first && last) trips_ = *last - *first + (loop.comparison == "<=");
  }

  // Whether the loop has at least `length` iterations and the staged reads fit into shared memory.
  bool Fits(const std::vector<const ReusedRead*>& reads) const {
    if (trips_ && *trips_ < length_) return false;
    std::int64_t bytes = 0;
    for (const ReusedRead* read : reads) {
      std::int64_t items = length_;
      for (const CountedLoop& inner : read->inner)
        items *= ConstantValue(tree_, tree_.Text(inner.bound)).value_or(kMostStagedBytes);
      if (read->is_row) items *= ConstantValue(tree_, read->row_length).value_or(kMostStagedBytes);
      if (read->axis >= 0)
        items *=
            ConstantValue(tree_, BlockExtent(context_, launch_, static_cast<std::size_t>(read->axis))).value_or(kMostStagedBytes);
      bytes += items * SizeOf(read->type);
    }
    return bytes <= kMostStagedBytes;
  }

  // Whether the loop is known to consist of whole stages, so that the text has no check for the last one.
  bool IsWhole() const { return trips_ && *trips_ % length_ == 0; }

  // The staged loop.
  std::string Text(const std::vector<const ReusedRead*>& reads) const {
    const std::string indent = outer_ + "  ";
    const bool whole = IsWhole();
    std::string text = fmt::format("{{\n{}constexpr int {} = {};\n", indent, tile_, length_);
    std::string fill;
    Replacements replacements;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const std::string name = FreshName(tree_, reads.size() > 1 ? fmt::format("staged_{}", i) : "staged");
      const auto dimensions = DimensionsOf(*reads[i]);
      text += fmt::format("{}__shared__ {} {}{};\n", indent, reads[i]->type, name, Subscripts(dimensions, &Dimension::extent));
      fill += Fill(*reads[i], name, dimensions, whole, indent + "  ");
      auto own = dimensions;
      if (reads[i]->is_row) own.pop_back();
      for (const int place : reads[i]->places) replacements.emplace_back(place, name + Subscripts(own, &Dimension::index));
    }
    text += fmt::format("{}for ({} {} = {}; {} {} {}; {} += {}) {{\n", indent, tree_.node(loop_.counter).type, stage_,
                        tree_.Text(loop_.start), stage_, loop_.comparison, tree_.Text(loop_.bound), stage_, tile_);
    text += fill + indent + "  __syncthreads();\n" + Compute(whole, replacements, indent + "  ");
    return text + fmt::format("{0}  __syncthreads();\n{0}}}\n{1}}}", indent, outer_);
  }

 private:
  std::vector<Dimension> DimensionsOf(const ReusedRead& read) const {
    std::vector<Dimension> dimensions;
    const std::string type = tree_.node(loop_.counter).type;
    dimensions.push_back({tile_, type, counter_, stage_ + " + ", fmt::format("{} - {}", counter_, stage_)});
    if (read.axis >= 0) {
      const std::string extent = Parenthesised(BlockExtent(context_, launch_, static_cast<std::size_t>(read.axis)));
      dimensions.push_back({extent, "unsigned int", Across(), "", fmt::format("threadIdx.{}", "xyz"[read.axis])});
    }
    for (const CountedLoop& inner : read.inner) {
      const SyntaxNode& counter = tree_.node(inner.counter);
      dimensions.push_back({Parenthesised(std::string(tree_.Text(inner.bound))), counter.type, counter.name, "", counter.name});
    }
    // Elements that are neighbours in global memory become neighbours in shared memory.
    std::size_t fastest = static_cast<std::size_t>(read.fastest);
    if (read.axis < 0 && fastest > 0) --fastest;
    std::rotate(dimensions.begin() + static_cast<std::ptrdiff_t>(fastest),
                dimensions.begin() + static_cast<std::ptrdiff_t>(fastest) + 1, dimensions.end());
    if (read.is_row) dimensions.push_back({Parenthesised(read.row_length), "int", FreshName(tree_, "place"), "", ""});
    return dimensions;
  }

  std::string Across() const { return FreshName(tree_, "across"); }

  static std::string Subscripts(const std::vector<Dimension>& dimensions, std::string Dimension::*field) {
    std::string text;
    for (const Dimension& dimension : dimensions) text += fmt::format("[{}]", dimension.*field);
    return text;
  }

  // The loop in which all threads of the block together load what the iterations of a stage will read.
  std::string Fill(const ReusedRead& read, const std::string& name, const std::vector<Dimension>& dimensions, bool whole,
                   const std::string& indent) const {
    const BlockThreads threads = ThreadsOf(context_, launch_);
    const std::string item = FreshName(tree_, "item");
    std::vector<std::string> extents;
    std::vector<std::string> subscripts;
    for (const Dimension& dimension : dimensions) {
      extents.push_back(dimension.extent);
      subscripts.push_back(
          fmt::format("[{}]", dimension.name == counter_ ? fmt::format("{} - {}", counter_, stage_) : dimension.name));
    }
    std::string text = fmt::format("{0}for (int {1} = {2}; {1} < {3}; {1} += {4}) {{\n", indent, item, threads.number,
                                   fmt::join(extents, " * "), threads.count);
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      std::string part = item;
      const std::vector<std::string> behind(extents.begin() + static_cast<std::ptrdiff_t>(i) + 1, extents.end());
      if (behind.size() == 1) part += " / " + behind.front();
      if (behind.size() > 1) part += fmt::format(" / ({})", fmt::join(behind, " * "));
      if (i > 0) part += " % " + extents[i];
      text += fmt::format("{}  const {} {} = {}{};\n", indent, dimensions[i].type, dimensions[i].name, dimensions[i].first, part);
    }
    std::string inner = indent + "  ";
    const bool block = !whole && !read.variables.empty();
    const std::string exists = fmt::format("if ({} {} {}) ", counter_, loop_.comparison, tree_.Text(loop_.bound));
    if (block) text += fmt::format("{}{}{{\n", inner, exists);
    if (block) inner += "  ";
    for (const int variable : read.variables)
      text += fmt::format("{}{}\n", inner, Elsewhere(tree_.node(variable).parent, read, inner));
    std::string value = Elsewhere(read.places.front(), read, inner);
    if (read.is_row) value = fmt::format("{}[{}]", Parenthesised(value), dimensions.back().name);
    text += fmt::format("{}{}{}{} = {};\n", inner, whole || block ? "" : exists, name, fmt::join(subscripts, ""), value);
    if (block) text += indent + "  }\n";
    return text + indent + "}\n";
  }

  // The text of a node, for the element that is being filled instead of the thread's own.
  std::string Elsewhere(int node, const ReusedRead& read, const std::string& indent) const {
    std::string text(tree_.Text(node));
    if (guard_) {
      for (const auto& [changed, guarded] : guard_->changes) {
        if (changed == node) text = guarded;
      }
    }
    const std::string present = "\n" + IndentOf(tree_, node);
    for (std::size_t at = text.find(present); at != std::string::npos; at = text.find(present, at + indent.size()))
      text.replace(at, present.size(), "\n" + indent);
    return read.axis < 0 ? text : WithThread(std::move(text), read);
  }

  std::string WithThread(std::string text, const ReusedRead& read) const {
    const std::string thread = fmt::format("threadIdx.{}", "xyz"[read.axis]);
    for (std::size_t at = text.find(thread); at != std::string::npos; at = text.find(thread, at))
      text.replace(at, thread.size(), Across());
    return text;
  }

  std::string Compute(bool whole, Replacements replacements, const std::string& indent) const {
    const std::string type = tree_.node(loop_.counter).type;
    const std::string bound(tree_.Text(loop_.bound));
    const std::string last = FreshName(tree_, "stage_end");
    const std::string next = fmt::format("{} + {}{}", stage_, tile_, loop_.comparison == "<=" ? " - 1" : "");
    std::string text;
    if (!whole)
      text += fmt::format("{0}const {1} {2} = {3} < {4} ? {3} : {4};\n", indent, type, last, next, Parenthesised(bound));
    if (loop_.parts.pragma >= 0) text += std::string(tree_.Text(loop_.parts.pragma)) + "\n";
    text += fmt::format("{}for ({} = {}; {} {} {}; {}) {{\n", indent, CounterDeclaration(tree_, loop_), stage_, counter_,
                        loop_.comparison, whole ? next : last, tree_.Text(loop_.parts.increment));
    if (guard_) {
      Replacements stores;
      for (const int store : guard_->stores) {
        if (IsWithin(tree_, store, loop_.parts.body))
          stores.emplace_back(store, GuardedStore(tree_, *guard_, store, replacements));
      }
      replacements.insert(replacements.begin(), stores.begin(), stores.end());
    }
    return text + Lines(tree_, loop_.parts.body, indent + "  ", replacements) + indent + "}\n";
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const CountedLoop& loop_;
  const LaunchDirective& launch_;
  const EdgeGuard* guard_;
  int length_;
  std::optional<std::int64_t> trips_;  // iterations of the loop, if known
  std::string counter_;
  std::string outer_;
  std::string stage_;
  std::string tile_;
};

class SharedStage : public SourceMutator {
 public:
  std::string_view name() const override { return "shared_stage"; }
  Promise promise() const override { return Promise::kExact; }
  std::string_view description() const override {
    return "stages what several threads of a block read in a loop in shared memory, 8 to 64 iterations at a time";
  }
  double weight() const override { return 2; }

  std::vector<Proposal> Proposals(const MutationContext& context) const override {
    const SyntaxTree& tree = context.tree;
    std::vector<Proposal> proposals;
    for (const int kernel : Functions(tree)) {
      if (!IsKernel(tree, kernel)) continue;
      const LaunchDirective* launch = OnlyLaunch(context.rendered, tree.node(kernel).name);
      if (!launch) continue;
      const BlockUniform uniform(context, kernel);
      for (const int node : Subtree(tree, kernel)) {
        const auto loop = AsCountedLoop(tree, node);
        if (loop && loop->step == "1") Add(context, uniform, *loop, *launch, proposals);
      }
    }
    return proposals;
  }

 private:
  static void Add(const MutationContext& context, const BlockUniform& uniform, const CountedLoop& loop,
                  const LaunchDirective& launch, std::vector<Proposal>& proposals) {
    const int statement = loop.parts.statement;
    if (JumpsOut(context.tree, loop.parts.body)) return;
    const auto reads = ReusedReads(context, uniform, loop, launch);
    if (reads.empty()) return;
    std::optional<EdgeGuard> guard;
    if (!IsReached(uniform, loop, -1)) {
      guard = EdgeGuardOf(context, uniform, context.tree.node(statement).function, statement);
      if (!guard || !IsReached(uniform, loop, guard->statement)) return;
    }
    std::vector<std::vector<const ReusedRead*>> choices;
    for (const ReusedRead& read : reads) choices.push_back({&read});
    if (reads.size() > 1 && reads.size() <= kMostReads) {
      choices.emplace_back();
      for (const ReusedRead& read : reads) choices.back().push_back(&read);
    }
    for (const auto& choice : choices) {
      for (const int length : kLengths) {
        const Stage stage(context, loop, launch, guard ? &*guard : nullptr, length);
        if (!stage.Fits(choice)) continue;
        Proposal proposal = ReplaceLoop(loop, stage.Text(choice));
        for (const int end : stage.IsWhole() ? std::vector<int>{loop.start, loop.bound} : std::vector<int>{})
          proposal.parameters.merge(ParametersBehind(context, context.tree.Text(end)));
        if (guard) Guard(context.tree, *guard, loop, proposal);
        proposals.push_back(std::move(proposal));
      }
    }
  }

  // Whether all threads of the block execute the loop with the same number of iterations.
  static bool IsReached(const BlockUniform& uniform, const CountedLoop& loop, int ignored) {
    return uniform.IsReachedByAll(loop.parts.body, ignored);
  }

  static void Guard(const SyntaxTree& tree, const EdgeGuard& guard, const CountedLoop& loop, Proposal& proposal) {
    if (!guard.before.empty()) proposal.changes.push_back({FirstNode(tree, guard.statement), Placement::kBefore, guard.before});
    for (const auto& [node, text] : guard.changes) proposal.changes.push_back({node, Placement::kReplace, text});
    for (const int store : guard.stores) {
      if (IsWithin(tree, store, loop.parts.body)) continue;
      proposal.changes.push_back({store, Placement::kReplace, GuardedStore(tree, guard, store)});
    }
  }
};

}  // namespace

std::unique_ptr<Mutator> MakeSharedStage() { return std::make_unique<SharedStage>(); }

}  // namespace evo
