#pragma once

#include <boost/container/small_vector.hpp>
#include <string_view>

#include "mutators/analysis/numbers/integer_arithmetic.h"
#include "mutators/analysis/thread_runs/thread_code.h"
#include "mutators/analysis/thread_runs/thread_functions.h"
#include "mutators/analysis/thread_runs/thread_symbols.h"
#include "mutators/analysis/thread_runs/thread_trace.h"

namespace evo {

// What a function gets; few have more than three arguments.
using ThreadArguments = boost::container::small_vector<ThreadValue, 3>;

// What operators, conversions and functions make of the values of one thread, with forms of integers and texts of real numbers.
// What may tell a kernel's purpose is noted in the trace: what was compared, multiplied and rounded. A result of no kind is one
// that is not understood.
class ThreadArithmetic {
 public:
  // The arguments outlive the object.
  ThreadArithmetic(ThreadSymbols& symbols, const ThreadSetting& setting, ThreadTrace& trace)
      : symbols_(symbols), setting_(setting), trace_(trace) {}

  ThreadValue Combined(IntegerOperator computed, const ThreadValue& left, const ThreadValue& right);
  // `-`, `+`, `!` or `~`.
  ThreadValue Unary(char spelled, const ThreadValue& value);
  ThreadValue Converted(ThreadValue value, ThreadType type);
  // A function of numbers.
  ThreadValue Called(const ThreadCallee& callee, const ThreadArguments& arguments);
  // Whether a condition holds.
  bool IsTrue(const ThreadValue& value);

 private:
  ThreadValue CombinedIntegers(IntegerOperator computed, const ThreadValue& left, const ThreadValue& right);
  ThreadValue CombinedForms(IntegerOperator computed, std::int64_t value, const ThreadValue& left, const ThreadValue& right);
  ThreadValue CombinedReals(IntegerOperator computed, const ThreadValue& left, const ThreadValue& right);
  ThreadValue Sum(const ThreadValue& left, const ThreadValue& right);
  ThreadValue Product(const ThreadValue& left, const ThreadValue& right);
  ThreadValue Moved(const ThreadValue& pointer, const ThreadValue& by, int sign) const;
  ThreadValue Extreme(bool largest, const ThreadValue& a, const ThreadValue& b);
  ThreadValue CalledFunction(const ThreadCallee& callee, const ThreadValue& argument);
  ThreadValue AsReal(const ThreadValue& value);
  FormPointer ResultOf(std::string_view spelled, const ThreadValue& left, const ThreadValue& right);
  FormPointer FlatResult(std::string_view spelled, const AffineForm& left, const AffineForm& right);
  void Consume(const ThreadValue& value);
  void NoteCompared(const ThreadValue& value);
  void NoteLimit(const ThreadValue& a, const ThreadValue& b);

  ThreadSymbols& symbols_;
  const ThreadSetting& setting_;
  ThreadTrace& trace_;
};

// Whether a text is a name.
bool IsNameOnly(std::string_view text);

}  // namespace evo
