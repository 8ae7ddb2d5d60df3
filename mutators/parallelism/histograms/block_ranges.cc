#include "mutators/parallelism/histograms/block_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// The number of a thread in a block of two dimensions.
constexpr std::array kFlatNumbers{"threadIdx.y * blockDim.x + threadIdx.x"sv, "threadIdx.x + threadIdx.y * blockDim.x"sv,
                                  "threadIdx.x + blockDim.x * threadIdx.y"sv, "blockDim.x * threadIdx.y + threadIdx.x"sv,
                                  "threadIdx.x * blockDim.y + threadIdx.y"sv, "threadIdx.y + threadIdx.x * blockDim.y"sv,
                                  "threadIdx.y + blockDim.y * threadIdx.x"sv, "blockDim.y * threadIdx.x + threadIdx.y"sv};

std::vector<int> StatementsUnder(const SyntaxTree& tree, int body) {
  std::vector<int> statements = tree.node(body).kind_name == "CompoundStmt" ? tree.node(body).children : std::vector<int>{body};
  std::erase_if(statements, [&](int statement) { return tree.node(statement).kind_name == kPragmaKind; });
  return statements;
}

}  // namespace

std::optional<std::int64_t> WholeNumber(const SyntaxTree& tree, int expression) {
  std::string_view text = tree.Text(expression);
  while (!text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return ConstantValue(tree, text);
}

bool IsZeroNumber(const SyntaxTree& tree, int expression) {
  const std::string_view text = tree.Text(expression);
  return WholeNumber(tree, expression) == 0 || text == "0.f" || text == "0.0f" || text == "0.F" || text == "0.0" || text == "0.";
}

BlockRanges::BlockRanges(const MutationContext& context, int kernel, const LaunchDirective& launch)
    : tree_(context.tree),
      kernel_(kernel),
      launch_(launch),
      written_(WrittenIn(context.tree, kernel)),
      flat_(launch.block.size() == 1) {}

bool BlockRanges::IsThreadNumber(int expression, int depth) const {
  const std::string_view text = tree_.Text(expression);
  const auto is_text = [&](std::string_view one) { return SameTokens(text, one); };
  if (flat_ ? is_text("threadIdx.x") : std::any_of(kFlatNumbers.begin(), kFlatNumbers.end(), is_text)) return true;
  const int name = NamedDeclaration(tree_, expression);
  return depth > 0 && name >= 0 && tree_.node(name).kind_name == "VarDecl" && !tree_.node(name).children.empty() &&
         !written_.contains(name) && IsThreadNumber(tree_.node(name).children.back(), depth - 1);
}

bool BlockRanges::IsBlockSize(std::string_view text) const {
  const auto is_size = [&](std::string_view spelled) {
    return SameTokens(spelled, Size()) || (!flat_ && SameTokens(spelled, "blockDim.y * blockDim.x"));
  };
  if (is_size(text) || (flat_ && SameTokens(text, launch_.block[0].text()))) return true;
  if (const auto number = ConstantValue(tree_, text); number && Threads() == number) return true;
  const auto nodes = Subtree(tree_, kernel_);
  return std::any_of(nodes.begin(), nodes.end(), [&](int node) {
    const SyntaxNode& variable = tree_.node(node);
    return variable.kind_name == "VarDecl" && variable.name == text && !variable.children.empty() && !written_.contains(node) &&
           is_size(tree_.Text(variable.children.back()));
  });
}

bool BlockRanges::IsBound(int expression) const {
  const auto named = NamedIn(tree_, expression);
  return IsPure(tree_, expression) && !LoadsIn(tree_, expression) &&
         tree_.Text(expression).find("threadIdx") == std::string_view::npos &&
         std::all_of(named.begin(), named.end(), [&](int name) {
           return tree_.node(name).function < 0 || (tree_.node(name).kind_name == "ParmDecl" && !written_.contains(name));
         });
}

std::optional<BlockRange> BlockRanges::RangeOf(int statement) const {
  const SyntaxNode& node = tree_.node(statement);
  const std::string size = flat_ ? "(int)blockDim.x" : fmt::format("(int)({})", Size());
  if (node.kind_name == "ForStmt") {
    const auto loop = AsCountedLoop(tree_, statement);
    if (!loop || !IsBlockSize(loop->step) || loop->comparison != "<" || !IsThreadNumber(loop->start) || !IsBound(loop->bound))
      return std::nullopt;
    const std::string bound(tree_.Text(loop->bound));
    return BlockRange{bound, StatementsUnder(tree_, loop->parts.body), loop->counter, Parenthesised(bound)};
  }
  // `if (threadIdx.x < n)`
  const int condition =
      node.kind_name == "IfStmt" && node.children.size() == 2 ? WithoutParentheses(tree_, node.children[0]) : -1;
  if (condition >= 0 && tree_.Operator(condition) == "<") {
    const auto& sides = tree_.node(condition).children;
    if (sides.size() == 2 && IsThreadNumber(sides[0]) && IsBound(sides[1])) {
      const std::string bound(tree_.Text(sides[1]));
      return BlockRange{bound, StatementsUnder(tree_, node.children[1]), -1, fmt::format("min({}, (int)({}))", size, bound)};
    }
  }
  return BlockRange{std::string(Size()), {statement}, -1, size};
}

std::optional<BlockRange> BlockRanges::WholeRangeOf(int statement) const {
  if (const SyntaxNode& node = tree_.node(statement); node.kind_name == "IfStmt" && node.children.size() == 2) {
    const int condition = WithoutParentheses(tree_, node.children[0]);
    const auto& sides = tree_.node(condition).children;
    const bool first = tree_.Operator(condition) == "==" && sides.size() == 2 && IsThreadNumber(sides[0]);
    if (!first || WholeNumber(tree_, sides[1]) != 0) return std::nullopt;
    statement = OnlyStatement(tree_, node.children[1]);
  }
  const auto loop =
      statement >= 0 && tree_.node(statement).kind_name == "ForStmt" ? AsCountedLoop(tree_, statement) : std::nullopt;
  if (!loop || loop->comparison != "<" || loop->step != "1" || WholeNumber(tree_, loop->start) != 0 || !IsBound(loop->bound))
    return std::nullopt;
  const std::string bound(tree_.Text(loop->bound));
  return BlockRange{bound, StatementsUnder(tree_, loop->parts.body), loop->counter, Parenthesised(bound)};
}

bool BlockRanges::IsIndex(int expression, const BlockRange& range) const {
  return range.index < 0 ? IsThreadNumber(expression) : NamedDeclaration(tree_, expression) == range.index;
}

std::optional<std::int64_t> BlockRanges::Threads() const {
  std::optional<std::int64_t> threads = 1;
  for (const Expression& extent : launch_.block) {
    const auto number = ConstantValue(tree_, extent.text());
    threads = threads && number ? std::optional(*threads * *number) : std::nullopt;
  }
  return threads;
}

// Whether an expression is a variable times a number.
bool BlockRanges::IsTimes(int expression, int variable, std::optional<std::int64_t>& by) const {
  const int product = WithoutParentheses(tree_, expression);
  const auto& sides = tree_.node(product).children;
  if (tree_.Operator(product) != "*" || sides.size() != 2) return false;
  for (const std::size_t side : {0, 1}) {
    if (NamedDeclaration(tree_, sides[side]) != variable) continue;
    by = WholeNumber(tree_, sides[1 - side]);
    return by && *by > 0;
  }
  return false;
}

std::optional<std::int64_t> BlockRanges::StepOf(int expression, const BlockRange& range, int variable) const {
  const int place = WithoutParentheses(tree_, expression);
  const auto& sides = tree_.node(place).children;
  std::optional<std::int64_t> step;
  if (variable < 0 || tree_.Operator(place) != "+" || sides.size() != 2) return std::nullopt;
  const bool is_step = (IsIndex(sides[0], range) && IsTimes(sides[1], variable, step)) ||
                       (IsIndex(sides[1], range) && IsTimes(sides[0], variable, step));
  return is_step ? step : std::nullopt;
}

bool BlockRanges::IsOfBlock(int expression, std::int64_t bins, const BlockRange& range) const {
  const int place = WithoutParentheses(tree_, expression);
  const auto& sides = tree_.node(place).children;
  if (tree_.Operator(place) != "+" || sides.size() != 2) return false;
  const auto is_begin = [&](int side) {
    const int product = WithoutParentheses(tree_, side);
    const auto& factors = tree_.node(product).children;
    if (tree_.Operator(product) != "*" || factors.size() != 2) return false;
    const bool first = SameTokens(tree_.Text(factors[0]), "blockIdx.x");
    return (first || SameTokens(tree_.Text(factors[1]), "blockIdx.x")) && WholeNumber(tree_, factors[first ? 1 : 0]) == bins;
  };
  return (is_begin(sides[0]) && IsIndex(sides[1], range)) || (is_begin(sides[1]) && IsIndex(sides[0], range));
}

// Of the numbers below the count, those below the number of threads if each thread has one.
std::optional<std::int64_t> BlockRanges::NumberOf(const BlockRange& range) const {
  const std::optional<std::int64_t> threads = Threads();
  if (range.count == Size()) return threads;
  const auto bound = ConstantValue(tree_, range.count);
  if (range.index >= 0) return bound;
  return bound && threads ? std::optional(std::min(*bound, *threads)) : std::nullopt;
}

bool BlockRanges::Covers(const BlockRange& first, const BlockRange& second) const {
  const bool same = SameTokens(first.count, second.count);
  if (same && (first.index >= 0 || second.index < 0)) return true;
  const auto a = NumberOf(first), b = NumberOf(second);
  return a && b && *a >= *b;
}

bool BlockRanges::Covers(const BlockRange& range, std::int64_t bound) const {
  const auto number = NumberOf(range);
  return number && *number >= bound;
}

std::string BlockRanges::PlaceOf(int expression, const BlockRange& range) const {
  const int place = WithoutParentheses(tree_, expression);
  if (IsIndex(place, range)) return "{}";
  const auto& sides = tree_.node(place).children;
  const bool moved = tree_.Operator(place) == "+" && sides.size() == 2 && IsIndex(sides[1], range) && IsBound(sides[0]);
  return moved ? fmt::format("{} + {{}}", tree_.Text(sides[0])) : "";
}

bool BlockRanges::IsDivided(int expression, std::string_view spelled, std::int64_t by, const BlockRange& range) const {
  const int division = WithoutParentheses(tree_, expression);
  const auto& sides = tree_.node(division).children;
  return tree_.Operator(division) == spelled && sides.size() == 2 && IsIndex(sides[0], range) &&
         WholeNumber(tree_, sides[1]) == by;
}

std::optional<Repeated> AsRepeated(const SyntaxTree& tree, int statement) {
  const auto loop = tree.node(statement).kind_name == "ForStmt" ? AsCountedLoop(tree, statement) : std::nullopt;
  if (!loop || loop->comparison != "<" || loop->step != "1" || WholeNumber(tree, loop->start) != 0) return std::nullopt;
  const int only = OnlyStatement(tree, loop->parts.body);
  return only < 0 ? std::nullopt : std::optional(Repeated{loop->counter, loop->bound, only});
}

int ArrayBehind(const SyntaxTree& tree, int expression) {
  expression = WithoutParentheses(tree, expression);
  const SyntaxNode& node = tree.node(expression);
  if ((node.kind_name == "CStyleCastExpr" || node.kind_name == "CXXReinterpretCastExpr") && !node.children.empty())
    return NamedDeclaration(tree, node.children.back());
  if (tree.Operator(expression) != "&" || node.children.size() != 1) return NamedDeclaration(tree, expression);
  int element = WithoutParentheses(tree, node.children[0]);
  for (; tree.node(element).kind_name == "ArraySubscriptExpr"; element = tree.node(element).children[0]) {
    if (WholeNumber(tree, tree.node(element).children[1]) != 0) return -1;
  }
  return NamedDeclaration(tree, element);
}

}  // namespace evo
