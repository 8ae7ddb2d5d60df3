#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/thread_runs/thread_value.h"
#include "syntax/syntax_tree.h"

namespace evo {

// The symbols of the forms that a kernel's threads compute: parameters, members of built-in variables, the row, variables that
// are constants of the block, and results of operators that no polynomial has. Tells which are the same for all threads, and
// writes forms.
class ThreadSymbols {
 public:
  // The tree outlives the object. `row` is the declaration of the thread's row; -1 for none.
  ThreadSymbols(const SyntaxTree& tree, int kernel, int row);

  int row() const { return row_; }
  // Variables of the kernel that are the same for all threads of a block and never change.
  const std::set<int>& block_constants() const { return block_constants_; }

  // Whether a symbol is the row, or computed from it or from a thread's number.
  bool OfThread(int symbol) const;
  // Whether a form has no such symbols.
  bool IsUniform(const AffineForm& form) const;
  // The symbols of a form, with those that results of operators are computed from in the place of these.
  std::set<int> PlainSymbols(const AffineForm& form) const;
  // A form as an expression of the kernel. With `wide`, products are of 64 bits.
  std::string TextOf(const AffineForm& form, bool wide = false) const;

  // The symbol of an operator's result, spelled so; the same text is the same symbol.
  FormPointer ResultOf(const std::string& text, const AffineForm& left, const AffineForm& right);
  // The symbol of an element of a buffer of integers, which is computed from nothing else.
  FormPointer LoadedAt(const std::string& buffer, const AffineForm& index);

 private:
  static constexpr int kFirstResult = 1 << 24;  // symbols of results; smaller ones are declarations and built-in variables
  struct Result {
    std::string text;
    bool of_thread = false;
    std::set<int> symbols;  // none is computed from others
  };
  void FindBlockConstants();
  bool IsBlockConstant(int variable) const;
  bool IsConstantName(int name) const;
  std::string NameOf(int symbol) const;
  const Result* AsResult(int symbol) const;

  const SyntaxTree& tree_;
  int kernel_;
  int row_;
  std::set<int> written_;
  std::set<int> block_constants_;
  std::vector<Result> results_;
  std::map<std::string, int, std::less<>> numbers_;  // of results, by their texts
};

}  // namespace evo
