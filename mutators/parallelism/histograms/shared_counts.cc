#include "mutators/parallelism/histograms/shared_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
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
#include "mutators/parallelism/histograms/block_ranges.h"
#include "mutators/parallelism/histograms/count_addition.h"

namespace evo {
namespace {

// Counts that a block has in shared memory, of each perhaps several copies.
struct BlockCounts {
  int array = -1;      // its declaration
  std::string copies;  // the first extent of two, as spelled; empty if there is one copy
  BlockRange zeroed;   // the numbers that are set to zero; with copies those of all together, unless `each_zeroed`
  bool each_zeroed = false;
  BlockRange flushed;     // the numbers that are added to global memory
  std::string to;         // where, with `{}` for the number
  std::string buffer;     // the name of the parameter
  bool positive = false;  // whether only those above 0 are
};

class SharedCountsReader {
 public:
  SharedCountsReader(const MutationContext& context, int kernel, const LaunchDirective& launch)
      : tree_(context.tree), kernel_(kernel), ranges_(context, kernel, launch) {}

  // The body that counts in global memory; nullopt if the kernel is not understood.
  std::optional<std::string> Body() {
    const int body = tree_.node(kernel_).children.back();
    if (!FindParts(tree_.node(body).children) || !Understand()) return std::nullopt;
    return TextWith(tree_, body, replaced_);
  }

 private:
  // The arrays, the statements that set their elements to zero, and those behind the second barrier.
  bool FindParts(const std::vector<int>& statements) {
    std::size_t barriers = 0;
    for (const int statement : statements) {
      if (IsBlockBarrier(tree_, statement)) {
        ++barriers;
        replaced_.emplace_back(statement, "");
      } else if (AddArrays(statement)) {
        replaced_.emplace_back(statement, "");
      } else if (barriers == 0 && NamesArray(statement)) {
        zero_.push_back(statement);
      } else if (barriers == 2) {
        flush_.push_back(statement);
      }
    }
    int all = 0;
    for (const int node : Subtree(tree_, kernel_)) {
      all += IsBlockBarrier(tree_, node);
      if (tree_.node(node).kind_name == "ReturnStmt") return false;  // before a barrier
    }
    for (const auto* removed : {&zero_, &flush_}) {
      for (const int statement : *removed) replaced_.emplace_back(statement, "");
    }
    return barriers == 2 && all == 2 && !counts_.empty() && !zero_.empty() && !flush_.empty();
  }

  // Whether a statement declares arrays of counts in shared memory, and nothing else.
  bool AddArrays(int statement) {
    const SyntaxNode& node = tree_.node(statement);
    if (node.kind_name != "DeclStmt" || node.children.empty()) return false;
    for (const int variable : node.children) {
      const std::string& type = tree_.node(variable).type;
      const bool counts = type.starts_with("int[") || type.starts_with("int [") || type.starts_with("unsigned int[") ||
                          type.starts_with("unsigned int [");
      if (!IsLocalArray(tree_, variable) || !IsShared(tree_, variable) || !counts) return false;
      if (std::count(type.begin(), type.end(), '[') > 2) return false;
    }
    for (const int variable : node.children) {
      BlockCounts& one = counts_.emplace_back();
      one.array = variable;
      const std::string& type = tree_.node(variable).type;
      if (type.find('[') == type.rfind('[')) continue;
      const std::size_t open = type.find('[') + 1;
      one.copies = type.substr(open, type.find(']') - open);
    }
    return true;
  }

  BlockCounts* CountsOf(int array) {
    const auto found = std::find_if(counts_.begin(), counts_.end(), [&](const BlockCounts& one) { return one.array == array; });
    return array < 0 || found == counts_.end() ? nullptr : &*found;
  }

  bool NamesArray(int statement) {
    const auto named = NamedIn(tree_, statement);
    return std::any_of(named.begin(), named.end(), [&](int name) { return CountsOf(name) != nullptr; });
  }

  // The counts of which an expression is the element with the range's number, in the copy with the number `copy` if there are
  // several.
  BlockCounts* OwnCount(int expression, const BlockRange& range, int copy = -1) {
    expression = WithoutParentheses(tree_, expression);
    if (const int name = NamedDeclaration(tree_, expression); name >= 0 && own_.contains(name)) return CountsOf(own_.at(name));
    const SyntaxNode& node = tree_.node(expression);
    if (node.kind_name != "ArraySubscriptExpr" || !ranges_.IsIndex(node.children[1], range)) return nullptr;
    const int of = WithoutParentheses(tree_, node.children[0]);
    if (tree_.node(of).kind_name != "ArraySubscriptExpr") {
      BlockCounts* const counts = CountsOf(NamedDeclaration(tree_, of));
      return counts != nullptr && counts->copies.empty() ? counts : nullptr;
    }
    if (copy < 0 || NamedDeclaration(tree_, tree_.node(of).children[1]) != copy) return nullptr;
    BlockCounts* const counts = CountsOf(NamedDeclaration(tree_, tree_.node(of).children[0]));
    return counts != nullptr && !counts->copies.empty() ? counts : nullptr;
  }

  bool IsCopies(const BlockCounts& counts, int bound) const {
    const auto number = WholeNumber(tree_, bound);
    return number && std::to_string(*number) == counts.copies;
  }

  // `counts[i] = 0`, also of all copies as one array, `((int*)counts)[i]` or `counts[i / BINS][i % BINS]`.
  bool SetToZero(int statement, const BlockRange& range) {
    int copy = -1, bound = -1;
    if (const auto loop = AsRepeated(tree_, statement)) {
      copy = loop->counter;
      bound = loop->bound;
      statement = loop->statement;
    }
    const auto& sides = tree_.node(statement).children;
    if (tree_.Operator(statement) != "=" || sides.size() != 2) return false;
    // `r[i] = g[i] = 0`
    const bool chained = tree_.Operator(WithoutParentheses(tree_, sides[1])) == "=";
    if (chained ? copy >= 0 || !SetToZero(sides[1], range) : WholeNumber(tree_, sides[1]) != 0) return false;
    const int target = WithoutParentheses(tree_, sides[0]);
    if (BlockCounts* const counts = OwnCount(target, range, copy)) {
      if (counts->zeroed.given() || (copy >= 0 && !IsCopies(*counts, bound))) return false;
      counts->zeroed = range;
      counts->each_zeroed = copy >= 0;
      return true;
    }
    BlockCounts* const all = copy < 0 ? AllCopies(target, range) : nullptr;
    if (all == nullptr || all->zeroed.given()) return false;
    all->zeroed = range;
    return true;
  }

  BlockCounts* AllCopies(int element, const BlockRange& range) {
    const SyntaxNode& node = tree_.node(element);
    if (node.kind_name != "ArraySubscriptExpr") return nullptr;
    if (ranges_.IsIndex(node.children[1], range)) return CountsOf(ArrayBehind(tree_, node.children[0]));
    const int row = WithoutParentheses(tree_, node.children[0]);
    if (tree_.node(row).kind_name != "ArraySubscriptExpr") return nullptr;
    BlockCounts* const counts = CountsOf(NamedDeclaration(tree_, tree_.node(row).children[0]));
    if (counts == nullptr) return nullptr;
    const std::int64_t bins = BinsOf(*counts).value_or(0);
    const bool divided = bins > 0 && ranges_.IsDivided(tree_.node(row).children[1], "/", bins, range) &&
                         ranges_.IsDivided(node.children[1], "%", bins, range);
    return divided ? counts : nullptr;
  }

  // Of one copy, if there are several.
  std::optional<std::int64_t> BinsOf(const BlockCounts& counts) const {
    const std::string& type = tree_.node(counts.array).type;
    const std::size_t open = type.rfind('[') + 1;
    return ConstantValue(tree_, type.substr(open, type.rfind(']') - open));
  }

  // `unsigned count = counts[i];`, or 0 to which a loop behind it adds all copies.
  bool IsOwnVariable(const BlockRange& range, std::size_t& at) {
    const int statement = range.statements[at];
    if (tree_.node(statement).kind_name != "DeclStmt" || tree_.node(statement).children.size() != 1) return false;
    const int variable = tree_.node(statement).children[0];
    const auto& parts = tree_.node(variable).children;
    const std::string type = WithoutConst(tree_.node(variable).type);
    if (parts.empty() || (type != "int" && type != "unsigned int")) return false;
    if (BlockCounts* const counts = OwnCount(parts.back(), range); counts != nullptr && !ranges_.written().contains(variable)) {
      own_[variable] = counts->array;
      return true;
    }
    const auto loop = at + 1 < range.statements.size() ? AsRepeated(tree_, range.statements[at + 1]) : std::nullopt;
    if (!loop || WholeNumber(tree_, parts.back()) != 0) return false;
    const auto& sides = tree_.node(loop->statement).children;
    if (tree_.Operator(loop->statement) != "+=" || sides.size() != 2 || NamedDeclaration(tree_, sides[0]) != variable)
      return false;
    BlockCounts* const counts = OwnCount(sides[1], range, loop->counter);
    const auto& uses = tree_.UsesOf(variable);
    const auto is_changed = [&](int use) { return IsWithin(tree_, use, loop->statement); };
    const auto outside = [&](int use) { return !is_changed(use) && !IsWithin(tree_, use, range.statements.back()); };
    if (counts == nullptr || !IsCopies(*counts, loop->bound) || std::any_of(uses.begin(), uses.end(), outside)) return false;
    own_[variable] = counts->array;
    ++at;
    return true;
  }

  bool Understand() {
    for (const int statement : zero_) {
      const auto range = ranges_.RangeOf(statement);
      const auto is_zeroed = [&](int one) { return SetToZero(one, *range); };
      if (!range || !std::all_of(range->statements.begin(), range->statements.end(), is_zeroed)) return false;
    }
    for (const int statement : flush_) {
      const auto range = ranges_.RangeOf(statement);
      if (!range) return false;
      for (std::size_t at = 0; at < range->statements.size(); ++at) {
        if (!IsOwnVariable(*range, at) && !AddToGlobal(range->statements[at], *range)) return false;
      }
    }
    return std::all_of(counts_.begin(), counts_.end(),
                       [&](const BlockCounts& one) { return IsZeroed(one) && RewriteAdditions(one); });
  }

  // All that is added to global memory is set to zero before.
  bool IsZeroed(const BlockCounts& counts) const {
    if (!counts.zeroed.given() || !counts.flushed.given()) return false;
    if (counts.copies.empty() || counts.each_zeroed) return ranges_.Covers(counts.zeroed, counts.flushed);
    const auto bins = BinsOf(counts);
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
      compared = OwnCount(condition, range);
      if (sides.size() == 2 && (spelled == ">" || spelled == "!=") && WholeNumber(tree_, sides[1]) == 0)
        compared = OwnCount(sides[0], range);
      if (compared == nullptr) return false;
      // Of numbers without a sign it leaves out nothing but 0.
      positive = spelled == ">" && !tree_.node(compared->array).type.starts_with("unsigned");
      statement = OnlyStatement(tree_, branch.children[1]);
      if (statement < 0) statement = branch.children[1];
    }
    const auto total = AsCountAddition(tree_, statement);
    BlockCounts* const counts = total ? OwnCount(total->amount, range) : nullptr;
    if (counts == nullptr || counts->flushed.given() || (compared != nullptr && compared != counts)) return false;
    if (total->bins.size() != 1) return false;
    std::string type = tree_.node(total->use).type;
    if (const std::size_t restricted = type.find("__restrict"); restricted != std::string::npos) type.resize(restricted);
    while (type.ends_with(' ')) type.pop_back();
    if (tree_.node(NamedDeclaration(tree_, total->use)).kind_name != "ParmDecl" || (type != "int *" && type != "unsigned int *"))
      return false;
    counts->to = ranges_.PlaceOf(total->bins[0], range);
    if (counts->to.empty()) return false;
    counts->buffer = tree_.Text(total->use);
    counts->flushed = range;
    counts->positive = positive;
    return true;
  }

  // `if (amount > 0) atomicAdd(.., amount);`
  bool IsPositiveThere(int addition, int amount) const {
    int branch = tree_.node(addition).parent;
    while (tree_.node(branch).kind_name == "CompoundStmt") branch = tree_.node(branch).parent;
    const auto& parts = tree_.node(branch).children;
    if (tree_.node(branch).kind_name != "IfStmt" || OnlyStatement(tree_, parts[1]) != addition) return false;
    const int condition = WithoutParentheses(tree_, parts[0]);
    const auto& sides = tree_.node(condition).children;
    return tree_.Operator(condition) == ">" && SameTokens(tree_.Text(sides[0]), tree_.Text(amount)) &&
           WholeNumber(tree_, sides[1]) == 0;
  }

  bool RewriteAdditions(const BlockCounts& counts) {
    const std::string bin = UnusedName(tree_.text(), "bin");
    std::string to = counts.to;
    to.replace(to.find("{}"), 2, bin);
    std::size_t additions = 0;
    for (const int node : Subtree(tree_, kernel_)) {
      const auto addition = AsCountAddition(tree_, node);
      if (!addition) continue;
      int of = addition->use;
      if (!counts.copies.empty()) {
        // Any copy, as long as there is one.
        if (tree_.node(of).kind_name != "ArraySubscriptExpr" || !IsPure(tree_, tree_.node(of).children[1])) continue;
        of = tree_.node(of).children[0];
      }
      if (NamedDeclaration(tree_, of) != counts.array) continue;
      const auto amount = WholeNumber(tree_, addition->amount);
      if (counts.positive && (!amount || *amount <= 0) && !IsPositiveThere(node, addition->amount)) return false;
      std::string index;
      for (const int part : addition->bins)
        index += fmt::format("{}{}", index.empty() ? "" : " + ",
                             addition->bins.size() > 1 ? Parenthesised(tree_, part) : std::string(tree_.Text(part)));
      replaced_.emplace_back(node,
                             fmt::format("{{\n  const long long {0} = {1};\n  if ({0} >= 0 && {0} < {2}) "
                                         "atomicAdd(&{3}[{4}], {5});\n}}",
                                         bin, index, counts.flushed.spelled, counts.buffer, to, tree_.Text(addition->amount)));
      ++additions;
    }
    // Nothing else names the array.
    const auto& uses = tree_.UsesOf(counts.array);
    const auto main_uses = std::count_if(uses.begin(), uses.end(), [&](int use) {
      const auto around = [&](int statement) { return IsWithin(tree_, use, statement); };
      return std::none_of(zero_.begin(), zero_.end(), around) && std::none_of(flush_.begin(), flush_.end(), around);
    });
    return additions > 0 && static_cast<std::size_t>(main_uses) == additions;
  }

  const SyntaxTree& tree_;
  int kernel_;
  BlockRanges ranges_;
  std::vector<BlockCounts> counts_;
  std::vector<int> zero_, flush_;  // statements
  std::map<int, int> own_;         // variables that have a count of the range, and its array
  Replacements replaced_;
};

}  // namespace

std::optional<std::string> WithoutSharedCounts(const MutationContext& context) {
  const SyntaxTree& tree = context.tree;
  std::string text = tree.text();
  bool found = false;
  std::vector<int> kernels = Functions(tree);
  std::reverse(kernels.begin(), kernels.end());
  for (const int kernel : kernels) {
    const SyntaxNode& node = tree.node(kernel);
    if (node.kind_name != "FunctionDecl" || !IsKernel(tree, kernel) || node.children.empty()) continue;
    const SyntaxNode& body = tree.node(node.children.back());
    const LaunchDirective* const launch = OnlyLaunch(context.rendered, node.name);
    if (body.kind_name != "CompoundStmt" || launch == nullptr || launch->block.size() > 2) continue;
    const auto rewritten = SharedCountsReader(context, kernel, *launch).Body();
    if (!rewritten) continue;
    text.replace(body.range.begin, body.range.size(), *rewritten);
    found = true;
  }
  return found ? std::optional(text) : std::nullopt;
}

}  // namespace evo
