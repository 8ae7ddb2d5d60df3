#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "mutators/analysis/thread_runs/thread_code.h"
#include "mutators/analysis/thread_runs/thread_symbols.h"
#include "mutators/analysis/thread_runs/thread_trace.h"
#include "mutators/mutator.h"

namespace evo {

// Runs one thread of a kernel on numbers: integers as they are, elements of buffers as random numbers that their place decides,
// real arithmetic without rounding. Beside their values it follows how integers are computed, so that indices can be written for
// other rows. A thread that waits for others, or does what a table of known functions lacks, is refused.
class ThreadRun {
 public:
  // The variable `row` has the setting's value; -1 for none. The context must outlive the object.
  ThreadRun(const MutationContext& context, int kernel, int row)
      : tree_(context.tree), kernel_(kernel), code_(context.tree), symbols_(context.tree, kernel, row) {}
  ThreadTrace Run(const ThreadSetting& setting);
  // Turns of loops of threads that were run together so far.
  std::int64_t turns_together() const { return turns_together_; }
  void AddTurnsTogether(std::int64_t turns) { turns_together_ += turns; }
  // Expressions that all threads have computed so far.
  std::int64_t steps() const { return code_.steps(); }
  void LimitSteps() { code_.Limit(); }

  // An index as an expression of the kernel's parameters, of built-in variables and of constants of the block.
  // With `wide`, products are of 64 bits.
  std::string TextOf(const AffineForm& form, bool wide = false) const { return symbols_.TextOf(form, wide); }
  // Whether a symbol is the row, or computed from it or from a thread's number.
  bool OfThread(int symbol) const { return symbols_.OfThread(symbol); }
  // The symbols that a form is computed from, also those of results of operators that it has. An element that was loaded is one.
  std::set<int> PlainSymbols(const AffineForm& form) const { return symbols_.PlainSymbols(form); }
  // Variables of the kernel that are the same for all threads of a block and never change: symbols of forms.
  const std::set<int>& block_constants() const { return symbols_.block_constants(); }

 private:
  const SyntaxTree& tree_;
  int kernel_;
  ThreadCode code_;
  ThreadSymbols symbols_;
  std::int64_t turns_together_ = 0;
};

}  // namespace evo
