#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/refusal.h"
#include "mutators/analysis/thread_arithmetic.h"
#include "mutators/analysis/thread_code.h"
#include "mutators/analysis/thread_memory.h"
#include "mutators/analysis/thread_trace.h"

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

// Computes the expressions of a kernel and of its functions for one thread.
class ThreadExpressions {
 public:
  // The arguments outlive the object.
  ThreadExpressions(const SyntaxTree& tree, ThreadCode& code, const ThreadSetting& setting, ThreadArithmetic& arithmetic,
                    ThreadMemory& memory, FunctionBodies& bodies, ThreadTrace& trace, Refusal& refusal);

  ThreadValue Evaluate(int expression);
  // Converted to a type as for a variable that gets it.
  ThreadValue EvaluateAs(std::string_view type, int expression) { return arithmetic_.Converted(Evaluate(expression), type); }
  bool IsTrue(int condition) { return arithmetic_.IsTrue(Evaluate(condition)); }

 private:
  ThreadValue Refuse(std::string why);
  ThreadValue NotUnderstood(int expression);
  ThreadValue Row(int expression);
  std::optional<ThreadValue> CallTogether(std::string_view callee, const std::vector<int>& arguments);
  ThreadValue Literal(int expression);
  ThreadValue Named(int expression);
  ThreadValue Builtin(int expression);
  ThreadValue Unary(int expression);
  ThreadValue Count(int expression);
  ThreadValue Binary(int expression);
  ThreadValue Assign(int expression);
  ThreadValue Call(int expression);
  ThreadValue CallDefined(int function, const std::vector<int>& arguments);
  ThreadValue CallKnown(std::string_view callee, const std::vector<int>& arguments, int call);
  ThreadPlace PlaceOf(int named);

  const SyntaxTree& tree_;
  ThreadCode& code_;
  const ThreadSetting& setting_;
  ThreadArithmetic& arithmetic_;
  ThreadMemory& memory_;
  FunctionBodies& bodies_;
  ThreadTrace& trace_;
  Refusal& refusal_;
  int depth_ = 0;  // of calls
};

}  // namespace evo
