#include "mutators/parallelism/shared_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/counted_loop.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/memory_traffic.h"
#include "mutators/analysis/shared_array.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"
#include "mutators/parallelism/count_addition.h"

namespace evo {
namespace {

// What the threads of a block do for each number below `count`.
struct BlockRange {
  std::string count;
  int statement = -1;  // what is done
  int index = -1;      // the declaration of the number; -1: threadIdx.x itself
};

// Also with a suffix, `0u`.
std::optional<std::int64_t> WholeNumber(const SyntaxTree& tree, int expression) {
  std::string_view text = tree.Text(expression);
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return ConstantValue(tree, text);
}

// Of numbers below a bound, those that a thread has each.
std::string BelowBlock(std::string_view bound) { return fmt::format("min((int)blockDim.x, (int)({}))", bound); }

// Whether a text is blockDim.x, or names a variable of the kernel that is and is not written.
bool IsBlockSize(const SyntaxTree& tree, int kernel, std::string_view text) {
  if (text == "blockDim.x") return true;
  const std::set<int> written = WrittenIn(tree, kernel);
  const auto nodes = Subtree(tree, kernel);
  return std::any_of(nodes.begin(), nodes.end(), [&](int node) {
    const SyntaxNode& variable = tree.node(node);
    return variable.kind_name == "VarDecl" && variable.name == text && !variable.children.empty() && !written.contains(node) &&
           tree.Text(variable.children.back()) == "blockDim.x";
  });
}

class SharedCountsReader {
 public:
  SharedCountsReader(const MutationContext& context, int kernel)
      : context_(context), tree_(context.tree), kernel_(kernel), written_(WrittenIn(tree_, kernel)) {}

  // The body that counts in global memory; nullopt if the kernel is not understood.
  std::optional<std::string> Body() {
    const int body = tree_.node(kernel_).children.back();
    launch_ = OnlyLaunch(context_.rendered, tree_.node(kernel_).name);
    if (launch_ == nullptr || launch_->block.size() != 1 || !FindParts(tree_.node(body).children) || !Understand())
      return std::nullopt;
    return TextWith(tree_, body, replaced_);
  }

 private:
  // The array, the statement that sets its elements to zero, and the one behind the second barrier.
  bool FindParts(const std::vector<int>& statements) {
    std::size_t barriers = 0;
    for (const int statement : statements) {
      const bool barrier = IsBlockBarrier(tree_, statement);
      const int array = barrier ? -1 : SharedIn(statement);
      if (barrier) {
        ++barriers;
        replaced_.emplace_back(statement, "");
      } else if (array >= 0) {
        if (array_ >= 0) return false;
        array_ = array;
        replaced_.emplace_back(statement, "");
      } else if (barriers == 0 && Names(statement)) {
        if (zero_ >= 0) return false;
        zero_ = statement;
      } else if (barriers == 2) {
        if (flush_ >= 0) return false;
        flush_ = statement;
      }
    }
    int all = 0;
    for (const int node : Subtree(tree_, kernel_)) {
      all += IsBlockBarrier(tree_, node);
      if (tree_.node(node).kind_name == "ReturnStmt") return false;  // before a barrier
    }
    replaced_.emplace_back(zero_, "");
    replaced_.emplace_back(flush_, "");
    return barriers == 2 && all == 2 && array_ >= 0 && zero_ >= 0 && flush_ >= 0;
  }

  // The array in shared memory that a statement declares; -1 for others.
  int SharedIn(int statement) const {
    const SyntaxNode& node = tree_.node(statement);
    if (node.kind_name != "DeclStmt" || node.children.size() != 1 || !IsLocalArray(tree_, node.children[0])) return -1;
    const std::string type = tree_.node(node.children[0]).type;
    const bool counts = type.starts_with("int[") || type.starts_with("int [") || type.starts_with("unsigned int[") ||
                        type.starts_with("unsigned int [");
    return IsShared(tree_, node.children[0]) && counts && type.find('[') == type.rfind('[') ? node.children[0] : -1;
  }

  bool Names(int statement) const { return array_ >= 0 && NamedIn(tree_, statement).contains(array_); }

  // Whether an expression is threadIdx.x, or a variable that is.
  bool IsThreadNumber(int expression) const {
    if (tree_.Text(WithoutParentheses(tree_, expression)) == "threadIdx.x") return true;
    const int name = NamedDeclaration(tree_, expression);
    return name >= 0 && tree_.node(name).kind_name == "VarDecl" && !tree_.node(name).children.empty() &&
           !written_.contains(name) && tree_.Text(tree_.node(name).children.back()) == "threadIdx.x";
  }

  // Whether a bound is the same for all threads, and known where they count.
  bool IsBound(int expression) const {
    const auto named = NamedIn(tree_, expression);
    return IsPure(tree_, expression) && !LoadsIn(tree_, expression) &&
           tree_.Text(expression).find("threadIdx") == std::string_view::npos &&
           std::all_of(named.begin(), named.end(), [&](int name) {
             return tree_.node(name).function < 0 || (tree_.node(name).kind_name == "ParmDecl" && !written_.contains(name));
           });
  }

  std::optional<BlockRange> RangeOf(int statement) {
    const SyntaxNode& node = tree_.node(statement);
    if (node.kind_name == "ForStmt") {
      const auto loop = AsCountedLoop(tree_, statement);
      const int only = loop ? OnlyOf(loop->parts.body, {"", -1, loop->counter}) : -1;
      const bool strided = loop && (IsBlockSize(tree_, kernel_, loop->step) || SameTokens(loop->step, launch_->block[0].text()));
      if (only < 0 || !strided || loop->comparison != "<" || !IsThreadNumber(loop->start) || !IsBound(loop->bound))
        return std::nullopt;
      return BlockRange{std::string(tree_.Text(loop->bound)), only, loop->counter};
    }
    // `if (threadIdx.x < n)`
    const int condition =
        node.kind_name == "IfStmt" && node.children.size() == 2 ? WithoutParentheses(tree_, node.children[0]) : -1;
    if (condition >= 0 && tree_.Operator(condition) == "<") {
      const auto& sides = tree_.node(condition).children;
      const int only = sides.size() == 2 ? OnlyOf(node.children[1], {"", -1, -1}) : -1;
      if (only >= 0 && IsThreadNumber(sides[0]) && IsBound(sides[1]))
        return BlockRange{BelowBlock(tree_.Text(sides[1])), only, -1};
    }
    return BlockRange{"blockDim.x", statement, -1};
  }

  // The only statement of a body but for `unsigned count = counts[i];`; -1 if there are more.
  int OnlyOf(int body, const BlockRange& range) {
    const auto& statements = tree_.node(body).children;
    const bool two = tree_.node(body).kind_name == "CompoundStmt" && statements.size() == 2;
    if (!two || tree_.node(statements[0]).kind_name != "DeclStmt" || tree_.node(statements[0]).children.size() != 1)
      return OnlyStatement(tree_, body);
    const int variable = tree_.node(statements[0]).children[0];
    const auto& parts = tree_.node(variable).children;
    const std::string type = WithoutConst(tree_.node(variable).type);
    if (parts.empty() || written_.contains(variable) || (type != "int" && type != "unsigned int")) return -1;
    if (!IsOwnCount(parts.back(), range)) return -1;
    own_ = variable;
    return statements[1];
  }

  // Whether an expression is the number of a range.
  bool IsIndex(int expression, const BlockRange& range) const {
    return range.index < 0 ? IsThreadNumber(expression) : NamedDeclaration(tree_, expression) == range.index;
  }

  // Whether an expression is the element of the array with the range's number.
  bool IsOwnCount(int expression, const BlockRange& range) const {
    expression = WithoutParentheses(tree_, expression);
    const SyntaxNode& node = tree_.node(expression);
    if (own_ >= 0 && NamedDeclaration(tree_, expression) == own_) return true;
    return node.kind_name == "ArraySubscriptExpr" && NamedDeclaration(tree_, node.children[0]) == array_ &&
           IsIndex(node.children[1], range);
  }

  bool SetsToZero(const BlockRange& range) const {
    const SyntaxNode& node = tree_.node(range.statement);
    return tree_.Operator(range.statement) == "=" && node.children.size() == 2 && IsOwnCount(node.children[0], range) &&
           WholeNumber(tree_, node.children[1]) == 0;
  }

  // Whether all counts below the second number are below the first one.
  bool Covers(const std::string& zero, const std::string& flush) const {
    const auto number = [&](const std::string& text) {
      return ConstantValue(tree_, text == "blockDim.x" ? launch_->block[0].text() : text);
    };
    if (SameTokens(zero, flush) || SameTokens(BelowBlock(zero), flush)) return true;
    const auto a = number(zero), b = number(flush);
    return a && b && *a >= *b;
  }

  bool Understand() {
    const auto zero = RangeOf(zero_);
    auto flush = RangeOf(flush_);
    if (!zero || !flush || !SetsToZero(*zero) || !Covers(zero->count, flush->count)) return false;
    // `if (counts[i] > 0)`
    bool positive = false;
    if (const SyntaxNode& branch = tree_.node(flush->statement); branch.kind_name == "IfStmt" && branch.children.size() == 2) {
      const int condition = WithoutParentheses(tree_, branch.children[0]);
      const auto& sides = tree_.node(condition).children;
      const std::string_view spelled = tree_.Operator(condition);
      const bool compares = sides.size() == 2 && (spelled == ">" || spelled == "!=") && IsOwnCount(sides[0], *flush) &&
                            WholeNumber(tree_, sides[1]) == 0;
      if (!compares && !IsOwnCount(condition, *flush)) return false;
      // Of numbers without a sign it leaves out nothing but 0.
      positive = compares && spelled == ">" && !tree_.node(array_).type.starts_with("unsigned");
      flush->statement = OnlyStatement(tree_, branch.children[1]);
      if (flush->statement < 0) flush->statement = branch.children[1];
    }
    const auto total = AsCountAddition(tree_, flush->statement);
    if (!total || !IsOwnCount(total->amount, *flush) || total->bins.size() != 1 || !IsPlaceOf(*total, *flush)) return false;
    const std::string type = tree_.node(total->use).type;
    if (tree_.node(NamedDeclaration(tree_, total->use)).kind_name != "ParmDecl" || (type != "int *" && type != "unsigned int *"))
      return false;
    return RewriteAdditions(*total, *flush, positive);
  }

  // Whether a sum's place in global memory is the number itself, or it with a distance that is the same for the block.
  bool IsPlaceOf(const CountAddition& total, const BlockRange& range) const {
    const int place = WithoutParentheses(tree_, total.bins[0]);
    if (IsIndex(place, range)) return true;
    const auto& sides = tree_.node(place).children;
    return tree_.Operator(place) == "+" && sides.size() == 2 && IsIndex(sides[1], range) && IsBound(sides[0]);
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

  bool RewriteAdditions(const CountAddition& total, const BlockRange& range, bool positive) {
    const std::string bin = UnusedName(tree_.text(), "bin");
    const int place = WithoutParentheses(tree_, total.bins[0]);
    const std::string to = IsIndex(place, range) ? bin : fmt::format("{} + {}", tree_.Text(tree_.node(place).children[0]), bin);
    std::size_t additions = 0;
    for (const int node : Subtree(tree_, kernel_)) {
      const auto addition = AsCountAddition(tree_, node);
      if (!addition || NamedDeclaration(tree_, addition->use) != array_) continue;
      const auto amount = WholeNumber(tree_, addition->amount);
      if (positive && (!amount || *amount <= 0) && !IsPositiveThere(node, addition->amount)) return false;
      std::string index;
      for (const int part : addition->bins)
        index += fmt::format("{}{}", index.empty() ? "" : " + ",
                             addition->bins.size() > 1 ? Parenthesised(tree_, part) : std::string(tree_.Text(part)));
      replaced_.emplace_back(node,
                             fmt::format("{{\n  const long long {0} = {1};\n  if ({0} >= 0 && {0} < {2}) "
                                         "atomicAdd(&{3}[{4}], {5});\n}}",
                                         bin, index, range.count == "blockDim.x" ? "(int)blockDim.x" : Parenthesised(range.count),
                                         tree_.Text(total.use), to, tree_.Text(addition->amount)));
      ++additions;
    }
    // Nothing else names the array.
    const auto& uses = tree_.UsesOf(array_);
    const auto main_uses = std::count_if(uses.begin(), uses.end(),
                                         [&](int use) { return !IsWithin(tree_, use, zero_) && !IsWithin(tree_, use, flush_); });
    return additions > 0 && static_cast<std::size_t>(main_uses) == additions;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
  std::set<int> written_;
  const LaunchDirective* launch_ = nullptr;
  int array_ = -1, zero_ = -1, flush_ = -1;  // a declaration, and two statements
  int own_ = -1;                             // a variable that has a count of the range
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
    if (body.kind_name != "CompoundStmt") continue;
    const auto rewritten = SharedCountsReader(context, kernel).Body();
    if (!rewritten) continue;
    text.replace(body.range.begin, body.range.size(), *rewritten);
    found = true;
  }
  return found ? std::optional(text) : std::nullopt;
}

}  // namespace evo
