#pragma once

#include <span>
#include <string>
#include <string_view>

#include "mutators/analysis/numbers/refusal.h"
#include "mutators/analysis/thread_runs/thread_arithmetic.h"
#include "mutators/analysis/thread_runs/thread_formula.h"
#include "mutators/analysis/thread_runs/thread_value.h"
#include "syntax/syntax_tree.h"

namespace evo {

// What operators and functions make of values of which a thread keeps formulas (ThreadSetting::formulas).
class ThreadFormulas {
 public:
  // The arguments outlive the object.
  ThreadFormulas(const SyntaxTree& tree, Refusal& refusal) : tree_(tree), refusal_(refusal) {}

  // Whether a value depends on elements, or on parameters that are real numbers.
  static bool IsOpen(const ThreadValue& value) { return value.formula && !value.formula->known; }
  // What the expression with this value is; null if it is no number.
  FormulaPointer Of(const ThreadValue& value, int expression) const;
  // The number with this formula; refused if there is none.
  ThreadValue Value(FormulaPointer formula, int expression);

  // `computed`: what arithmetic makes of values that are not open.
  ThreadValue Binary(std::string_view spelled, const ThreadValue& left, int left_node, const ThreadValue& right, int right_node,
                     int expression);
  void AddBinary(ThreadValue& computed, std::string_view spelled, const ThreadValue& left, int left_node,
                 const ThreadValue& right, int right_node) const;
  ThreadValue Unary(char spelled, const ThreadValue& value, int expression);
  ThreadValue Choice(const ThreadValue& condition, int condition_node, const ThreadValue& holds, int holds_node,
                     const ThreadValue& fails, int fails_node, int expression);
  // A function of a header; refused if it is none of numbers that is known.
  ThreadValue Called(const ThreadCallee& callee, const ThreadArguments& arguments, std::span<const int> nodes, int expression);
  // `value` of the expression, which arithmetic converted to `converted`, as one of this type.
  void Convert(ThreadValue& converted, const ThreadValue& value, const std::string& type, int expression);

 private:
  const SyntaxTree& tree_;
  Refusal& refusal_;
};

}  // namespace evo
