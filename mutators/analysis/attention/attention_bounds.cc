#include "mutators/analysis/attention/attention_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/plain_source/thread_loops.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// Where no row is the last: more than are looked at, and few enough for loops over all keys up to the row.
constexpr std::int64_t kManyRows = 200;

}  // namespace

bool AttentionBounds::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

std::string AttentionBounds::NameOfRow() const {
  return index_.declaration < 0 ? "blockIdx" : tree_.node(index_.declaration).name;
}

// The expression that was compared and had these values in the two settings; of parameters alone if there is such a one.
std::optional<std::string> AttentionBounds::BoundOf(std::int64_t first, std::int64_t second) {
  std::optional<std::string> bound;
  bool plain = false;
  for (const std::int64_t more : {0, 1}) {
    for (const auto& [text, compared] : traces_[0][0].compared) {
      const auto other = traces_[1][0].compared.find(text);
      if (other == traces_[1][0].compared.end() || compared.first + more != first || other->second.first + more != second)
        continue;
      if (!IsOfBlock(compared.second)) continue;
      const auto symbols = compared.second.Symbols();
      allowed_.insert(symbols.begin(), symbols.end());
      if (plain) continue;
      plain = std::none_of(symbols.begin(), symbols.end(),
                           [&](int symbol) { return runs_.threads().block_constants().contains(symbol); });
      if (plain || !bound) bound = more == 0 ? text : fmt::format("{} + 1", text);
    }
  }
  return bound;
}

// Of rows with a flat index: the length, if the heads are as many as a bound of the index says, and each computes its own.
std::optional<std::string> AttentionBounds::FlatRows(const AttentionRoles& roles, Attention& found) {
  const auto none = [&] { return Refuse("no bound is known for its heads"), std::nullopt; };
  std::int64_t heads[2] = {};
  for (const std::size_t number : {0u, 1u}) {
    const auto known = runs_.HeadsOf(number);
    if (!known || *known == 0) return none();
    heads[number] = *known;
    for (std::int64_t head = 0; head < *known; ++head) {
      if (!Computes(runs_.RunHead(number, head, 1), roles, 1))
        return Refuse("its heads do not all compute the same"), std::nullopt;
    }
  }
  for (const auto& [text, compared] : traces_[0][0].compared) {
    const auto other = traces_[1][0].compared.find(text);
    if (other == traces_[1][0].compared.end() || compared.first != heads[0] * runs_.LengthOf(0) ||
        other->second.first != heads[1] * runs_.LengthOf(1))
      continue;
    const auto quotient = compared.second.DividedBy(*index_.flat_length);
    const auto of_launch = [&](const AffineForm& form) { return LaunchTextOf(tree_, *found.launch, found.kernel, form); };
    const auto launched = quotient ? of_launch(*quotient) : std::nullopt, length = of_launch(*index_.flat_length);
    if (!launched || !length) continue;
    found.flat_heads = *launched;
    found.flat_rows = *length;
    for (const AffineForm& form : {compared.second, FormOr(index_.flat_length, 0)}) {
      const auto symbols = form.Symbols();
      allowed_.insert(symbols.begin(), symbols.end());
    }
    allowed_.insert(BuiltinSymbol("blockIdx", 1));
    return runs_.threads().TextOf(*index_.flat_length);
  }
  return none();
}

// Without a bound in the kernel: the parameter for which the launch line passes what it has blocks of one row each.
std::optional<std::string> AttentionBounds::RowsOfGrid(const Attention& found) const {
  if (index_.extent != 1) return std::nullopt;
  std::size_t place = 0;
  for (const int child : tree_.node(found.kernel).children) {
    if (tree_.node(child).kind_name != "ParmDecl") continue;
    const std::size_t at = place++;
    if (at < found.launch->arguments.size() && !WrittenIn(tree_, found.kernel).contains(child) &&
        SameTokens(found.launch->arguments[at], found.launch->grid[found.axis].text()) &&
        IsArithmetic(WithoutConst(tree_.node(child).type)))
      return tree_.node(child).name;
  }
  return std::nullopt;
}

bool AttentionBounds::Find(const AttentionRoles& roles, Attention& found) {
  const auto first = index_.flat_length ? std::optional(runs_.LengthOf(0)) : runs_.RowsOf(0);
  const auto second = index_.flat_length ? std::optional(runs_.LengthOf(1)) : runs_.RowsOf(1);
  auto rows = index_.flat_length ? FlatRows(roles, found) : first && second ? BoundOf(*first, *second) : std::nullopt;
  if (!rows && !first && !second && index_.together()) rows = RowsOfGrid(found);
  if (!why_.empty()) return false;
  // Blocks of one row may stay as they are launched.
  const bool launched = !rows && !first && !second && index_.together() && index_.extent == 1;
  if (launched) rows = "";
  if (!rows)
    return Refuse(fmt::format("no bound is known for {}: `if ({} >= ..) return;` or `if (.. < ..)` around the work", NameOfRow(),
                              NameOfRow()));
  found.rows = found.keys = *rows;
  rows_ = first ? *first : kManyRows;
  if (KeysRead(traces_[0][0], roles) != KeysRead(traces_[0][1], roles))
    return !launched || Refuse(fmt::format("no bound is known for {}", NameOfRow()));
  const auto keys = BoundOf(KeysRead(traces_[0][0], roles), KeysRead(traces_[1][0], roles));
  if (!keys) return Refuse("no bound is known for its keys");
  found.keys = *keys;
  return true;
}

// Whether a constant of the block is computed from the number of the block along the rows' axis.
bool AttentionBounds::NamesRowBlock(int variable) const {
  for (const int node : Subtree(tree_, tree_.node(variable).children.back())) {
    const SyntaxNode& at = tree_.node(node);
    const char axis = "xyz"[index_.axis];
    if (at.kind_name == "MemberRefExpr" && tree_.Text(node) == fmt::format("blockIdx.{}", axis)) return true;
    if (at.kind_name == "MemberRefExpr" && tree_.Text(node) == fmt::format("gridDim.{}", axis)) return true;
    if (at.kind_name == "DeclRefExpr" && runs_.threads().block_constants().contains(at.refers_to) && NamesRowBlock(at.refers_to))
      return true;
  }
  return false;
}

bool AttentionBounds::IsOfRow(const AffineForm& form) const {
  const ThreadRun& threads = runs_.threads();
  const auto plain = threads.PlainSymbols(form);
  return std::none_of(plain.begin(), plain.end(), [&](int symbol) {
    if (symbol == runs_.row_symbol()) return false;
    if (threads.OfThread(symbol)) return true;
    // With threads that have rows of their own, blocks get other ones.
    return !index_.together() &&
           (symbol == BuiltinSymbol("blockIdx", index_.axis) || symbol == BuiltinSymbol("gridDim", index_.axis) ||
            (threads.block_constants().contains(symbol) && NamesRowBlock(symbol)));
  });
}

std::optional<std::string> AttentionBounds::LaunchedRows(const Attention& found) const {
  const auto bound = traces_[0][0].compared.find(found.rows);
  if (bound == traces_[0][0].compared.end()) return std::nullopt;
  return LaunchTextOf(tree_, *found.launch, found.kernel, bound->second.second);
}

bool AttentionBounds::IsOfBlock(const AffineForm& form) const {
  const auto symbols = form.Symbols();
  return std::none_of(symbols.begin(), symbols.end(), [&](int symbol) {
    if (runs_.threads().block_constants().contains(symbol) && NamesRowBlock(symbol)) return true;
    return symbol == runs_.row_symbol() || runs_.threads().OfThread(symbol) || symbol == BuiltinSymbol("blockIdx", index_.axis) ||
           symbol == BuiltinSymbol("gridDim", index_.axis);
  });
}

}  // namespace evo
