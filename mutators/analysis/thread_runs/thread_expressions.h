#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mutators/analysis/numbers/refusal.h"
#include "mutators/analysis/thread_runs/thread_arithmetic.h"
#include "mutators/analysis/thread_runs/thread_code.h"
#include "mutators/analysis/thread_runs/thread_formulas.h"
#include "mutators/analysis/thread_runs/thread_integers.h"
#include "mutators/analysis/thread_runs/thread_memory.h"
#include "mutators/analysis/thread_runs/thread_trace.h"
#include "mutators/analysis/thread_runs/thread_vector_expressions.h"

namespace evo {

// Runs the bodies of functions that a thread calls.
class FunctionBodies {
 public:
  FunctionBodies() = default;
  FunctionBodies(const FunctionBodies&) = delete;  // others refer to it
  FunctionBodies& operator=(const FunctionBodies&) = delete;
  virtual ~FunctionBodies() = default;
  // What the function returns.
  virtual ThreadValue RunBody(int body) = 0;
};

// What stands for a real number that does not count.
inline constexpr double kSomeNumber = 0.37;

// Computes the expressions of a kernel and of its functions for one thread.
class ThreadExpressions {
 public:
  // The arguments outlive the object.
  ThreadExpressions(const SyntaxTree& tree, ThreadCode& code, const ThreadSetting& setting, ThreadArithmetic& arithmetic,
                    ThreadMemory& memory, FunctionBodies& bodies, ThreadTrace& trace, Refusal& refusal);

  ThreadValue Evaluate(int expression);
  // The same for what it does alone.
  void Perform(int expression);
  // Converted to a type as for a variable that gets it.
  // `spelled`: the type as formulas have it.
  ThreadValue EvaluateAs(ThreadType type, int expression, const std::string& spelled) {
    if (!setting_.formulas) return arithmetic_.Converted(Evaluate(expression), type);
    const ThreadValue value = Evaluate(expression);
    return Converted(value, type, spelled, expression);
  }
  // The value of an expression, converted likewise.
  ThreadValue Converted(const ThreadValue& value, ThreadType type, const std::string& spelled, int expression);
  bool IsTrue(int condition) {
    ThreadAddress plain;
    if (!refusal_.given() && integers_.Evaluate(code_.At(condition), plain)) return plain.memory >= 0 || plain.integer != 0;
    return IsTrue(Evaluate(condition));
  }
  bool IsTrue(const ThreadValue& value) {
    if (setting_.formulas && ThreadFormulas::IsOpen(value)) Refuse("elements decide what it does");
    return arithmetic_.IsTrue(value);
  }
  ThreadFormulas formulas() const { return {tree_, refusal_}; }
  // What an expression names.
  ThreadPlace PlaceOf(int named);

 private:
  ThreadValue Refuse(std::string why);
  ThreadValue Choose(const ThreadNode& node, int expression);
  ThreadValue NotUnderstood(int expression);
  ThreadValue Element(const ThreadNode& node, int expression);
  ThreadValue Literal(const ThreadNode& node, int expression);
  ThreadValue Named(const ThreadNode& node, int expression);
  ThreadValue Unary(const ThreadNode& node, int expression);
  ThreadValue Count(const ThreadNode& node);
  ThreadValue Binary(const ThreadNode& node, int expression);
  void Assign(const ThreadNode& node, int expression, ThreadValue* result);
  const ThreadValue& Operand(int expression, ThreadValue& own);
  ThreadValue Call(const ThreadNode& node, int expression);
  std::optional<ThreadValue> CallTogether(const ThreadCallee& callee, std::span<const int> arguments);
  ThreadValue CallDefined(const ThreadCall& call);
  ThreadValue CallKnown(const ThreadCall& call, int expression);

  const SyntaxTree& tree_;
  ThreadCode& code_;
  const ThreadSetting& setting_;
  ThreadArithmetic& arithmetic_;
  ThreadMemory& memory_;
  FunctionBodies& bodies_;
  ThreadTrace& trace_;
  Refusal& refusal_;
  int depth_ = 0;  // of calls
  ThreadIntegers integers_;
  ThreadVectors vectors_;
};

}  // namespace evo
