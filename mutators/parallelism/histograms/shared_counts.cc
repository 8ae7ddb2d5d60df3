#include "mutators/parallelism/histograms/shared_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"
#include "mutators/parallelism/histograms/block_counts.h"
#include "mutators/parallelism/histograms/block_ranges.h"
#include "mutators/parallelism/histograms/count_addition.h"

namespace evo {
namespace {

class SharedCountsReader {
 public:
  SharedCountsReader(const MutationContext& context, int kernel, const LaunchDirective& launch)
      : tree_(context.tree), kernel_(kernel), ranges_(context, kernel, launch), arrays_(context.tree, ranges_) {}

  // The body that counts in global memory; nullopt if the kernel is not understood.
  std::optional<std::string> Body() {
    const int body = tree_.node(kernel_).children.back();
    if (!FindParts(tree_.node(body).children) || !Understand()) return std::nullopt;
    if (OfBlocks() != nullptr && arrays_.all().size() > 1) return std::nullopt;
    return TextWith(tree_, body, replaced_);
  }

  // After this, the counts that each block stores for itself; null if there are none.
  const BlockCounts* OfBlocks() const {
    const auto& all = arrays_.all();
    const auto found = std::find_if(all.begin(), all.end(), [](const BlockCounts& one) { return one.of_block > 0; });
    return found == all.end() ? nullptr : &*found;
  }

 private:
  // The arrays, the statements that set their elements to zero, and those behind the second barrier.
  bool FindParts(std::vector<int> statements) {
    // Behind the last barrier of all nothing happens.
    std::size_t at_end = 0;
    for (; !statements.empty() && IsBlockBarrier(tree_, statements.back()); statements.pop_back()) ++at_end;
    std::size_t barriers = 0;
    for (const int statement : statements) {
      if (tree_.node(statement).kind_name == kPragmaKind) continue;  // goes with its loop
      if (IsBlockBarrier(tree_, statement)) {
        ++barriers;
        replaced_.emplace_back(statement, "");
      } else if (arrays_.Add(statement)) {
        replaced_.emplace_back(statement, "");
      } else if (barriers == 0 && arrays_.IsNamedIn(statement) && tree_.node(statement).kind_name != "DeclStmt") {
        zero_.push_back(statement);
      } else if (barriers == 2) {
        flush_.push_back(statement);
      }
    }
    std::size_t all = 0;
    for (const int node : Subtree(tree_, kernel_)) {
      all += IsBlockBarrier(tree_, node) ? 1 : 0;
      if (tree_.node(node).kind_name == "ReturnStmt") return false;  // before a barrier
    }
    const auto& whole = tree_.node(tree_.node(kernel_).children.back()).children;
    for (std::size_t i = statements.size(); i < whole.size(); ++i) replaced_.emplace_back(whole[i], "");
    for (const auto* removed : {&zero_, &flush_}) {
      for (const int statement : *removed) {
        replaced_.emplace_back(statement, "");
        if (const int pragma = PragmaOf(tree_, statement); pragma >= 0) replaced_.emplace_back(pragma, "");
      }
    }
    return barriers == 2 && all == 2 + at_end && !arrays_.all().empty() && !zero_.empty() && !flush_.empty();
  }

  // The counts of which an expression is the element with the range's number.
  BlockArrays::Own OwnCount(int expression, const BlockRange& range, int copy = -1) {
    const int name = NamedDeclaration(tree_, WithoutParentheses(tree_, expression));
    if (name >= 0 && own_.contains(name)) return {arrays_.Of(own_.at(name).first), own_.at(name).second};
    return arrays_.OwnCount(expression, range, copy);
  }

  // `unsigned count = counts[i];`, or 0 to which a loop behind it adds all copies.
  bool IsOwnVariable(const BlockRange& range, std::size_t& at) {
    const int statement = range.statements[at];
    if (tree_.node(statement).kind_name != "DeclStmt" || tree_.node(statement).children.size() != 1) return false;
    const int variable = tree_.node(statement).children[0];
    const auto& parts = tree_.node(variable).children;
    const std::string type = WithoutConst(tree_.node(variable).type);
    if (parts.empty() || !IsTypeOfCounts(type)) return false;
    if (const auto own = OwnCount(parts.back(), range); own.counts != nullptr && !ranges_.written().contains(variable)) {
      own_[variable] = {own.counts->array, own.flat};
      return true;
    }
    const auto loop = at + 1 < range.statements.size() ? AsRepeated(tree_, range.statements[at + 1]) : std::nullopt;
    if (!loop || !IsZeroNumber(tree_, parts.back())) return false;
    const auto& sides = tree_.node(loop->statement).children;
    if (tree_.Operator(loop->statement) != "+=" || sides.size() != 2 || NamedDeclaration(tree_, sides[0]) != variable)
      return false;
    const auto [counts, flat, stride] = OwnCount(sides[1], range, loop->counter);
    const auto& uses = tree_.UsesOf(variable);
    const auto is_changed = [&](int use) { return IsWithin(tree_, use, loop->statement); };
    const auto outside = [&](int use) { return !is_changed(use) && !IsWithin(tree_, use, range.statements.back()); };
    if (counts == nullptr || flat || std::any_of(uses.begin(), uses.end(), outside)) return false;
    if (stride == 0 && !arrays_.IsCopies(*counts, loop->bound)) return false;
    if (stride > 0) {
      const auto copies = WholeNumber(tree_, loop->bound);
      if (!copies || *copies < 1 || counts->has_parts()) return false;
      counts->stride = stride;
      counts->in_row = *copies;
    }
    own_[variable] = {counts->array, false};
    ++at;
    return true;
  }

  bool Understand() {
    for (const int statement : zero_) {
      if (arrays_.SetToZeroInSteps(statement)) continue;
      auto range = ranges_.WholeRangeOf(statement);
      if (!range) range = ranges_.RangeOf(statement);
      const auto is_zeroed = [&](int one) { return arrays_.SetToZero(one, *range); };
      if (!range || !std::all_of(range->statements.begin(), range->statements.end(), is_zeroed)) return false;
    }
    for (const int statement : flush_) {
      const auto range = ranges_.RangeOf(statement);
      if (!range) return false;
      for (std::size_t at = 0; at < range->statements.size(); ++at) {
        if (!IsOwnVariable(*range, at) && !AddToGlobal(range->statements[at], *range)) return false;
      }
    }
    const auto& counts = arrays_.all();
    return std::all_of(counts.begin(), counts.end(),
                       [&](const BlockCounts& one) { return IsZeroed(one) && RewriteAdditions(one); });
  }

  // All that is added to global memory is set to zero before.
  bool IsZeroed(const BlockCounts& counts) const {
    if (!counts.zeroed.given() || !counts.flushed.given()) return false;
    if (counts.has_parts()) return ranges_.Covers(counts.zeroed, counts.stride * counts.in_row);
    if (counts.copies.empty() || counts.each_zeroed) return !counts.flat && ranges_.Covers(counts.zeroed, counts.flushed);
    const auto bins = arrays_.BinsOf(counts);
    const auto copies = ConstantValue(tree_, counts.copies);
    return bins && copies && ranges_.Covers(counts.zeroed, *bins * *copies);
  }

  bool AddToGlobal(int statement, const BlockRange& range) {
    bool positive = false;
    BlockCounts* compared = nullptr;
    // `if (counts[i] > 0)`
    if (const SyntaxNode& branch = tree_.node(statement); branch.kind_name == "IfStmt" && branch.children.size() == 2) {
      const int condition = WithoutParentheses(tree_, branch.children[0]);
      const auto& sides = tree_.node(condition).children;
      const std::string_view spelled = tree_.Operator(condition);
      compared = OwnCount(condition, range).counts;
      if (sides.size() == 2 && (spelled == ">" || spelled == "!=") && IsZeroNumber(tree_, sides[1]))
        compared = OwnCount(sides[0], range).counts;
      if (compared == nullptr) return false;
      // Of numbers without a sign it leaves out nothing but 0.
      positive = spelled == ">" && !tree_.node(compared->array).type.starts_with("unsigned");
      statement = OnlyStatement(tree_, branch.children[1]);
      if (statement < 0) statement = branch.children[1];
    }
    if (compared == nullptr && StoreForBlock(statement, range)) return true;
    const auto total = AsCountAddition(tree_, statement);
    const auto [counts, flat, stride] = total ? OwnCount(WithoutCountCast(tree_, total->amount), range) : BlockArrays::Own{};
    if (counts == nullptr || counts->flushed.given() || (compared != nullptr && compared != counts)) return false;
    if (total->bins.size() != 1 || !AddsAsWell(tree_, *counts, total->use)) return false;
    counts->to = ranges_.PlaceOf(total->bins[0], range);
    if (counts->to.empty()) return false;
    counts->buffer = tree_.Text(total->use);
    counts->flushed = range;
    counts->flat = flat;
    counts->positive = positive;
    return true;
  }

  // `partial[blockIdx.x * BINS + i] = counts[i];` of all bins: as if all blocks added to the first ones.
  bool StoreForBlock(int statement, const BlockRange& range) {
    const auto& sides = tree_.node(statement).children;
    if (tree_.Operator(statement) != "=" || sides.size() != 2) return false;
    const int target = WithoutParentheses(tree_, sides[0]);
    if (tree_.node(target).kind_name != "ArraySubscriptExpr") return false;
    const int use = tree_.node(target).children[0];
    const auto [counts, flat, stride] = OwnCount(sides[1], range);
    const auto bins = ranges_.NumberOf(range);
    if (counts == nullptr || counts->flushed.given() || !bins || !AddsAsWell(tree_, *counts, use)) return false;
    const int parameter = NamedDeclaration(tree_, use);
    if (tree_.UsesOf(parameter).size() != 1 || !ranges_.IsOfBlock(tree_.node(target).children[1], *bins, range)) return false;
    counts->to = "{}";
    counts->buffer = tree_.Text(use);
    counts->flushed = range;
    counts->flat = flat;
    counts->of_block = *bins;
    return true;
  }

  // What an addition adds to, as an index of the array without its rows; empty if it is no addition to this array, or to a copy
  // of which it is not known that there is one.
  std::string PlaceOf(const CountAddition& addition, const BlockCounts& counts) {
    int of = addition.use;
    std::string before;
    if (!counts.copies.empty()) {
      if (tree_.node(of).kind_name != "ArraySubscriptExpr" || !IsPure(tree_, tree_.node(of).children[1])) return "";
      const auto bins = arrays_.BinsOf(counts);
      if (counts.flat && !bins) return "";
      // Any copy, as long as there is one.
      if (counts.flat) before = fmt::format("({}) * {}LL", tree_.Text(tree_.node(of).children[1]), *bins);
      of = tree_.node(of).children[0];
    }
    int named = NamedDeclaration(tree_, of);
    if (const int begin = BeginIn(named, counts); begin >= 0) {
      pointers_.insert(named);
      before = Parenthesised(tree_, begin);
      named = counts.array;
    }
    if (named != counts.array) return "";
    const bool alone = addition.bins.size() == 1 && before.empty() && !counts.has_parts();
    for (const int part : addition.bins)
      before +=
          fmt::format("{}{}", before.empty() ? "" : " + ", alone ? std::string(tree_.Text(part)) : Parenthesised(tree_, part));
    return before;
  }

  // Where in an array of copies a pointer begins, `unsigned* own = counts + warp * BINS;`, if it never changes; -1 for others.
  int BeginIn(int pointer, const BlockCounts& counts) const {
    if (pointer < 0 || !counts.has_parts() || tree_.node(pointer).kind_name != "VarDecl") return -1;
    const SyntaxNode& variable = tree_.node(pointer);
    const bool only = tree_.node(variable.parent).kind_name == "DeclStmt" && tree_.node(variable.parent).children.size() == 1;
    if (!only || variable.children.empty() || ranges_.written().contains(pointer)) return -1;
    const int sum = WithoutParentheses(tree_, variable.children.back());
    const auto& sides = tree_.node(sum).children;
    if (tree_.Operator(sum) != "+" || sides.size() != 2 || NamedDeclaration(tree_, sides[0]) != counts.array) return -1;
    const auto named = NamedIn(tree_, sides[1]);
    const auto changes = [&](int name) { return ranges_.written().contains(name); };
    const bool stays = IsPure(tree_, sides[1]) && !LoadsIn(tree_, sides[1]) && std::none_of(named.begin(), named.end(), changes);
    return stays ? sides[1] : -1;
  }

  bool RewriteAdditions(const BlockCounts& counts) {
    const std::string bin = UnusedName(tree_.text(), "bin");
    std::string to = counts.to;
    to.replace(to.find("{}"), 2, bin);
    std::size_t additions = 0, by_pointers = 0;
    for (const int node : Subtree(tree_, kernel_)) {
      const auto addition = AsCountAddition(tree_, node);
      const std::string place = addition ? PlaceOf(*addition, counts) : "";
      if (place.empty()) continue;
      const auto amount = WholeNumber(tree_, addition->amount);
      const bool positive = amount && *amount > 0;
      if (counts.positive && !positive && !IsPositiveThere(tree_, node, addition->amount)) return false;
      // A negative one would wrap elsewhere.
      if (counts.longer && !positive) return false;
      std::string declared, index = place;
      if (counts.has_parts()) {
        const std::string whole = UnusedName(tree_.text(), "place");
        declared = fmt::format("  const long long {} = {};\n", whole, place);
        index = fmt::format("{0} < {1} ? {0} % {2} : -1", whole, counts.stride * counts.in_row, counts.stride);
      }
      replaced_.emplace_back(
          node, fmt::format("{{\n{6}  const long long {0} = {1};\n  if ({0} >= 0 && {0} < {2}) "
                            "atomicAdd(&{3}[{4}], {5});\n}}",
                            bin, index, counts.flushed.spelled, counts.buffer, to, tree_.Text(addition->amount), declared));
      (pointers_.contains(NamedDeclaration(tree_, addition->use)) ? by_pointers : additions) += 1;
    }
    // Nothing else names the array, or what points into it.
    std::size_t of_pointers = 0;
    for (const int pointer : pointers_) {
      of_pointers += tree_.UsesOf(pointer).size();
      replaced_.emplace_back(tree_.node(pointer).parent, "");
    }
    const auto& uses = tree_.UsesOf(counts.array);
    const auto main_uses = std::count_if(uses.begin(), uses.end(), [&](int use) {
      const auto around = [&](int statement) { return IsWithin(tree_, use, statement); };
      return std::none_of(zero_.begin(), zero_.end(), around) && std::none_of(flush_.begin(), flush_.end(), around);
    });
    const bool all = static_cast<std::size_t>(main_uses) == additions + pointers_.size() && of_pointers == by_pointers;
    pointers_.clear();
    return all && additions + by_pointers > 0;
  }

  const SyntaxTree& tree_;
  int kernel_;
  BlockRanges ranges_;
  BlockArrays arrays_;
  std::vector<int> zero_, flush_;            // statements
  std::map<int, std::pair<int, bool>> own_;  // variables that have a count of the range: its array, whether rows count as one
  std::set<int> pointers_;                   // variables that point into the array that is looked at
  Replacements replaced_;
};

// A body without the barriers behind which nothing happens; nullopt if it has none.
std::optional<std::string> WithoutLastBarriers(const SyntaxTree& tree, int body) {
  const auto& statements = tree.node(body).children;
  Replacements barriers;
  for (std::size_t i = statements.size(); i > 0 && IsBlockBarrier(tree, statements[i - 1]); --i)
    barriers.emplace_back(statements[i - 1], "");
  return barriers.empty() ? std::nullopt : std::optional(TextWith(tree, body, barriers));
}

}  // namespace

std::optional<PlainCounts> WithoutSharedCounts(const MutationContext& context) {
  const SyntaxTree& tree = context.tree;
  PlainCounts plain{tree.text(), {}};
  bool found = false;
  std::vector<int> kernels = Functions(tree);
  std::reverse(kernels.begin(), kernels.end());
  for (const int kernel : kernels) {
    const SyntaxNode& node = tree.node(kernel);
    if (node.kind_name != "FunctionDecl" || !IsKernel(tree, kernel) || node.children.empty()) continue;
    const SyntaxNode& body = tree.node(node.children.back());
    const LaunchDirective* const launch = OnlyLaunch(context.rendered, node.name);
    if (body.kind_name != "CompoundStmt" || launch == nullptr || launch->block.size() > 2) continue;
    SharedCountsReader reader(context, kernel, *launch);
    auto rewritten = reader.Body();
    if (const BlockCounts* const counts = rewritten ? reader.OfBlocks() : nullptr) {
      const auto partial = PartialCountsOf(context, *launch, kernel, counts->buffer, counts->of_block);
      if (!partial) continue;
      plain.partial.push_back(*partial);
    }
    if (!rewritten) rewritten = WithoutLastBarriers(tree, node.children.back());
    if (!rewritten) continue;
    plain.text.replace(body.range.begin, body.range.size(), *rewritten);
    found = true;
  }
  return found ? std::optional(plain) : std::nullopt;
}

}  // namespace evo
