#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/thread_runs/thread_formula.h"

namespace evo {

// What values share and never change. A value belongs to one thread of evo, so that counting needs no atomic operations.
template <typename Shared>
using ValuePart = boost::intrusive_ref_counter<Shared, boost::thread_unsafe_counter>;

// A real number as a sum, if the setting wants to know: a term, and what was there before it.
struct ThreadSum : ValuePart<ThreadSum> {
  ThreadSum() = default;
  ThreadSum(const ThreadSum&) = default;
  ThreadSum& operator=(const ThreadSum&) = delete;
  ~ThreadSum();

  double value = 0;  // with the term
  // The term is a product of two elements, an element (`b` is -1), or something else (both are -1): parameters and elements.
  int a = -1, b = -1;
  std::int64_t at_a = 0, at_b = 0;
  // What refers to a sum takes these out of it when it ends.
  mutable boost::intrusive_ptr<const ThreadSum> before;
  mutable boost::intrusive_ptr<const ThreadSum> added;  // the term is a sum itself
  bool rounded = false;                                 // to half or bfloat16, at its end
  bool IsTerm() const { return !before && !added; }
};
using SumPointer = boost::intrusive_ptr<const ThreadSum>;

struct ThreadForm : AffineForm, ValuePart<ThreadForm> {
  explicit ThreadForm(AffineForm form) : AffineForm(std::move(form)) {}
};
using FormPointer = boost::intrusive_ptr<const ThreadForm>;
FormPointer SharedForm(AffineForm form);
// A form, or that of a constant if there is none.
AffineForm FormOr(const FormPointer& form, std::int64_t constant);

struct ThreadText : std::string, ValuePart<ThreadText> {
  explicit ThreadText(std::string text) : std::string(std::move(text)) {}
};
using TextPointer = boost::intrusive_ptr<const ThreadText>;
TextPointer SharedText(std::string text);
struct ThreadValue;
// That of two real numbers which are combined; null if it would be too long, which is taken for what depends on data.
TextPointer CombinedText(std::string_view spelled, const ThreadValue& left, const ThreadValue& right);

// A number, an address, or several numbers at once that a thread computes.
struct ThreadValue {
  enum class Kind : std::uint8_t { kNone, kInteger, kReal, kPointer, kVector };

  static ThreadValue Integer(std::int64_t value) {
    ThreadValue result;
    result.kind = Kind::kInteger;
    result.integer = value;
    return result;
  }
  static ThreadValue Integer(std::int64_t value, FormPointer form);
  static ThreadValue Real(double value) {
    ThreadValue result;
    result.kind = Kind::kReal;
    result.real = value;
    return result;
  }
  static ThreadValue Real(double value, TextPointer text);
  // An element of a buffer of real numbers.
  static ThreadValue Element(double value, int memory, std::int64_t index);
  static ThreadValue Pointer(int memory, std::int64_t offset = 0, FormPointer form = nullptr);
  static ThreadValue Vector(std::vector<ThreadValue> parts);
  bool IsNumber() const { return kind == Kind::kInteger || kind == Kind::kReal; }
  // Of an integer or a pointer: the form, or that of a constant.
  FormPointer FormOrConstant() const;

  Kind kind = Kind::kNone;
  // A real number that is an element of a buffer, as it is there: `integer` and `form` are its index, `memory` the buffer.
  bool element = false;
  // A real number that stands for an integer of a buffer, or for a sum of products of such.
  bool whole = false;
  int memory = -1;           // what a pointer points into: the declaration of a kernel's parameter or of a local array
  std::int64_t integer = 0;  // of a pointer, the offset in elements
  double real = 0;
  // What `integer` is computed from; null for constants, among which are the counters of loops.
  FormPointer form;
  SumPointer sum;    // of a real number
  SumPointer inner;  // a sum of products that it was computed from, if it is more than that sum
  // A real number as an expression that has the same value in all threads; null if it depends on data or on the thread.
  TextPointer text;
  FormulaPointer formula;  // of a real number, or one that stands for an integer, if the setting wants to know
  std::shared_ptr<const std::vector<ThreadValue>> parts;  // of a vector; those without a value are of no kind
};

// Visits the terms of a sum, also of sums that are its terms; ends, and is false, where a visit is.
bool EachTerm(const ThreadSum* sum, const std::function<bool(const ThreadSum&)>& visit);
// The bits of a float as an integer, and what is a float of such bits. What is no such number stays as it is.
ThreadValue BitsOfFloat(const ThreadValue& value, bool is_signed);
ThreadValue FloatOfBits(const ThreadValue& value);

}  // namespace evo
