#include "mutators/parallelism/histograms/block_counts.h"

#include <algorithm>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/histograms/count_addition.h"

namespace evo {

bool IsTypeOfCounts(const std::string& type) {
  return type == "int" || type == "unsigned int" || type == "float" || type == "double";
}

int WithoutCountCast(const SyntaxTree& tree, int expression) {
  const SyntaxNode& node = tree.node(WithoutParentheses(tree, expression));
  const bool cast = node.kind_name == "CStyleCastExpr" || node.kind_name == "CXXFunctionalCastExpr";
  return cast && !node.children.empty() ? node.children.back() : expression;
}

bool AddsAsWell(const SyntaxTree& tree, BlockCounts& counts, int use) {
  if (!IsParameterOfCounts(tree, use)) return false;
  const std::string& own = tree.node(counts.array).type;
  const std::string& global = tree.node(use).type;
  counts.longer = global.starts_with("unsigned long");
  if (own.starts_with("double")) return global.starts_with("double");
  if (own.starts_with("float")) return global.starts_with("float") || global.starts_with("double");
  return counts.longer ? own.starts_with("unsigned") : !global.starts_with("float") && !global.starts_with("double");
}

bool BlockArrays::Add(int statement) {
  const SyntaxNode& node = tree_.node(statement);
  if (node.kind_name != "DeclStmt" || node.children.empty()) return false;
  for (const int variable : node.children) {
    const std::string& type = tree_.node(variable).type;
    const bool counts = IsTypeOfCounts(type.substr(0, type.find_last_not_of(' ', type.find('[') - 1) + 1));
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

BlockCounts* BlockArrays::Of(int array) {
  const auto found = std::find_if(counts_.begin(), counts_.end(), [&](const BlockCounts& one) { return one.array == array; });
  return array < 0 || found == counts_.end() ? nullptr : &*found;
}

bool BlockArrays::IsNamedIn(int statement) {
  const auto named = NamedIn(tree_, statement);
  return std::any_of(named.begin(), named.end(), [&](int name) { return Of(name) != nullptr; });
}

BlockArrays::Own BlockArrays::OwnCount(int expression, const BlockRange& range, int copy) {
  expression = WithoutParentheses(tree_, expression);
  const SyntaxNode& node = tree_.node(expression);
  if (node.kind_name != "ArraySubscriptExpr") return {};
  if (copy < 0) {
    BlockCounts* const all = AllCopies(expression, range);
    return {all, all != nullptr && !all->copies.empty()};
  }
  if (const auto step = ranges_.StepOf(node.children[1], range, copy)) {
    BlockCounts* const counts = Of(NamedDeclaration(tree_, node.children[0]));
    return counts != nullptr && counts->copies.empty() ? Own{counts, false, *step} : Own{};
  }
  const int row = WithoutParentheses(tree_, node.children[0]);
  if (!ranges_.IsIndex(node.children[1], range) || tree_.node(row).kind_name != "ArraySubscriptExpr") return {};
  if (NamedDeclaration(tree_, tree_.node(row).children[1]) != copy) return {};
  BlockCounts* const counts = Of(NamedDeclaration(tree_, tree_.node(row).children[0]));
  return counts != nullptr && !counts->copies.empty() ? Own{counts} : Own{};
}

bool BlockArrays::SetToZeroInSteps(int statement) {
  const auto loop = AsRepeated(tree_, statement);
  const auto& sides = loop ? tree_.node(loop->statement).children : tree_.node(statement).children;
  if (!loop || tree_.Operator(loop->statement) != "=" || sides.size() != 2 || !IsZeroNumber(tree_, sides[1])) return false;
  const int target = WithoutParentheses(tree_, sides[0]);
  if (tree_.node(target).kind_name != "ArraySubscriptExpr") return false;
  BlockCounts* const counts = Of(NamedDeclaration(tree_, tree_.node(target).children[0]));
  const auto step = ranges_.StepOf(tree_.node(target).children[1], BlockRange{}, loop->counter);
  const auto turns = WholeNumber(tree_, loop->bound);
  if (counts == nullptr || !counts->copies.empty() || counts->zeroed.given() || !step || !turns) return false;
  if (ranges_.Threads() != step) return false;
  const std::string all = std::to_string(*step * *turns);
  counts->zeroed = BlockRange{all, {}, loop->counter, all};
  return true;
}

bool BlockArrays::IsCopies(const BlockCounts& counts, int bound) const {
  const auto number = WholeNumber(tree_, bound);
  return number && std::to_string(*number) == counts.copies;
}

bool BlockArrays::SetToZero(int statement, const BlockRange& range) {
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
  if (chained ? copy >= 0 || !SetToZero(sides[1], range) : !IsZeroNumber(tree_, sides[1])) return false;
  const int target = WithoutParentheses(tree_, sides[0]);
  if (const auto [counts, flat, stride] = OwnCount(target, range, copy); counts != nullptr && !flat && stride == 0) {
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

BlockCounts* BlockArrays::AllCopies(int element, const BlockRange& range) {
  const SyntaxNode& node = tree_.node(element);
  // Not a row, nor a part of an element or several.
  const std::string type = WithoutConst(node.type);
  if (node.kind_name != "ArraySubscriptExpr" || !IsTypeOfCounts(type)) return nullptr;
  if (ranges_.IsIndex(node.children[1], range)) return Of(ArrayBehind(tree_, node.children[0]));
  const int row = WithoutParentheses(tree_, node.children[0]);
  if (tree_.node(row).kind_name != "ArraySubscriptExpr") return nullptr;
  BlockCounts* const counts = Of(NamedDeclaration(tree_, tree_.node(row).children[0]));
  if (counts == nullptr) return nullptr;
  const std::int64_t bins = BinsOf(*counts).value_or(0);
  const bool divided = bins > 0 && ranges_.IsDivided(tree_.node(row).children[1], "/", bins, range) &&
                       ranges_.IsDivided(node.children[1], "%", bins, range);
  return divided ? counts : nullptr;
}

std::optional<std::int64_t> BlockArrays::BinsOf(const BlockCounts& counts) const {
  const std::string& type = tree_.node(counts.array).type;
  const std::size_t open = type.rfind('[') + 1;
  return ConstantValue(tree_, type.substr(open, type.rfind(']') - open));
}

}  // namespace evo
