#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "mutators/analysis/attention/attention.h"
#include "mutators/analysis/attention/attention_check.h"
#include "mutators/analysis/attention/attention_runs.h"

namespace evo {

// Of two rows in each of two settings, what their threads did.
using AttentionTraces = std::array<std::array<ThreadTrace, 2>, 2>;

// Finds expressions for the numbers of rows, of keys and, if all heads have one index of rows, of heads.
class AttentionBounds {
 public:
  // The arguments must outlive the object.
  AttentionBounds(const SyntaxTree& tree, const RowIndex& index, AttentionRuns& runs, const AttentionTraces& traces)
      : tree_(tree), index_(index), runs_(runs), traces_(traces) {}

  // Sets rows, keys and what a flat index needs. False if they are not known.
  bool Find(const AttentionRoles& roles, Attention& found);
  const std::string& why() const { return why_; }
  // The first row without work in the first setting.
  std::int64_t rows() const { return rows_; }
  // What bounds name.
  const std::set<int>& allowed() const { return allowed_; }
  void Allow(int symbol) { allowed_.insert(symbol); }
  // Whether all threads of a block compute the same, and blocks of other rows, too.
  bool IsOfBlock(const AffineForm& form) const;
  // Whether only the row and what is the same for all rows decides it.
  bool IsOfRow(const AffineForm& form) const;
  // The number of rows as the launch line says it; nullopt if it does not.
  std::optional<std::string> LaunchedRows(const Attention& found) const;

 private:
  bool Refuse(std::string why);
  std::string NameOfRow() const;
  std::optional<std::string> BoundOf(std::int64_t first, std::int64_t second);
  std::optional<std::string> FlatRows(const AttentionRoles& roles, Attention& found);
  std::optional<std::string> RowsOfGrid(const Attention& found) const;
  bool NamesRowBlock(int variable) const;

  const SyntaxTree& tree_;
  const RowIndex& index_;
  AttentionRuns& runs_;
  const AttentionTraces& traces_;
  std::set<int> allowed_;
  std::int64_t rows_ = 0;
  std::string why_;
};

}  // namespace evo
