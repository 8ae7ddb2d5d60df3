#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/thread_symbols.h"
#include "mutators/analysis/thread_trace.h"

namespace evo {

// What operators, conversions and functions make of the values of one thread, with forms of integers and texts of real numbers.
// What may tell a kernel's purpose is noted in the trace: what was compared, multiplied and rounded. A result of no kind is one
// that is not understood.
class ThreadArithmetic {
 public:
  // The arguments outlive the object.
  ThreadArithmetic(ThreadSymbols& symbols, const ThreadSetting& setting, ThreadTrace& trace)
      : symbols_(symbols), setting_(setting), trace_(trace) {}

  // A binary operator, as spelled.
  ThreadValue Combined(std::string_view spelled, const ThreadValue& left, const ThreadValue& right);
  // `-`, `+` or `!`.
  ThreadValue Unary(std::string_view spelled, const ThreadValue& value);
  ThreadValue Converted(ThreadValue value, std::string_view type);
  // A function of numbers.
  ThreadValue Called(std::string_view callee, const std::vector<ThreadValue>& arguments);
  // Whether a condition holds.
  bool IsTrue(const ThreadValue& value);

 private:
  ThreadValue CombinedIntegers(std::string_view spelled, const ThreadValue& left, const ThreadValue& right);
  ThreadValue CombinedReals(std::string_view spelled, const ThreadValue& left, const ThreadValue& right);
  ThreadValue Moved(const ThreadValue& pointer, const ThreadValue& by, int sign) const;
  ThreadValue Extreme(bool largest, const ThreadValue& a, const ThreadValue& b);
  ThreadValue CalledFunction(std::string_view callee, const ThreadValue& argument);
  ThreadValue AsReal(const ThreadValue& value) { return Converted(value, "float"); }
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
