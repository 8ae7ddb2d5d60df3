#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mutators/analysis/numbers/refusal.h"
#include "mutators/analysis/thread_runs/thread_arithmetic.h"
#include "mutators/analysis/thread_runs/thread_code.h"
#include "mutators/analysis/thread_runs/thread_expressions.h"
#include "mutators/analysis/thread_runs/thread_formula.h"
#include "mutators/analysis/thread_runs/thread_memory.h"
#include "mutators/analysis/thread_runs/thread_symbols.h"
#include "mutators/analysis/thread_runs/thread_trace.h"

namespace evo {

// Takes one thread through the statements of a kernel, once.
class ThreadStatements : private FunctionBodies {
 public:
  // The arguments outlive the object.
  ThreadStatements(const SyntaxTree& tree, ThreadCode& code, ThreadSymbols& symbols, const ThreadSetting& setting);
  ThreadTrace Run(int kernel);

 private:
  enum class Flow : std::uint8_t { kOn, kBreak, kContinue, kReturn };

  void Pass(int parameter);
  Flow Execute(int statement);
  Flow ExecuteStatement(int statement);
  Flow ExecuteIf(int statement);
  Flow ExecuteSwitch(int statement);
  Flow ExecuteLoop(ThreadLoop loop, bool body_first);
  Flow Refuse(std::string why);
  void Note(ThreadTrace::Moment& moment) const;
  void Declare(int node);
  void DeclareRow(int variable);
  void DeclareList(int node);
  void DeclareArray(int node);
  void Fill(std::vector<ThreadValue>& elements, ThreadType type, int list);
  ThreadValue RunBody(int body) override;
  // With formulas: an `if` that elements decide (thread_choices.cc).
  Flow ExecuteBoth(int statement, const ThreadValue& condition);

  const SyntaxTree& tree_;
  ThreadCode& code_;
  const ThreadSymbols& symbols_;
  const ThreadSetting& setting_;
  ThreadTrace trace_;
  Refusal refusal_;
  ThreadMemory memory_;
  ThreadArithmetic arithmetic_;
  ThreadExpressions expressions_;
  ThreadValue returned_;  // by the function that runs
  // What it returns if these hold, the first of them first.
  struct Returning {
    FormulaPointer condition, value;
  };
  struct Running {
    int functions = 0;  // that run
    std::vector<Returning> returning;
  };
  Running running_;
};

}  // namespace evo
