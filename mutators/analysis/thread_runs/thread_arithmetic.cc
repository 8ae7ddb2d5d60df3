#include "mutators/analysis/thread_runs/thread_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "mutators/analysis/thread_runs/thread_memory.h"

namespace evo {
namespace {

using ValueKind = ThreadValue::Kind;

using Operator = IntegerOperator::Kind;

SumPointer AsSum(const ThreadValue& value) {
  if ((value.sum && !value.sum->rounded) || value.real == 0) return value.sum;
  auto* const sum = new ThreadSum;
  SumPointer result(sum);
  sum->value = value.real;
  if (value.element) sum->a = value.memory, sum->at_a = value.integer;
  return result;
}

// Of the sum of two real numbers. GCC 12 warns of a use after the end of a sum where it is inlined, and there is none.
[[gnu::noinline]] SumPointer SumOf(const ThreadValue& left, const ThreadValue& right) {
  SumPointer a = AsSum(left), b = AsSum(right);
  if (!a || !b) return a ? a : b;
  // A product is added to what is none, whatever the order in which they are written.
  if (a->IsTerm() && (!b->IsTerm() || (a->b >= 0 && b->b < 0))) std::swap(a, b);
  auto* const sum = b->IsTerm() ? new ThreadSum(*b) : new ThreadSum;
  SumPointer result(sum);
  sum->value = left.real + right.real;
  sum->before = std::move(a);
  if (!b->IsTerm()) sum->added = std::move(b);
  return result;
}

// The sum of products in what a number is computed from.
SumPointer InnerOf(const ThreadValue& value) { return value.inner ? value.inner : value.sum; }
SumPointer InnerOf(const ThreadValue& left, const ThreadValue& right) {
  const SumPointer inner = InnerOf(left);
  return inner && !inner->IsTerm() ? inner : InnerOf(right);
}

SumPointer Rounded(const SumPointer& sum) {
  if (!sum) return sum;
  auto* const rounded = new ThreadSum(*sum);
  rounded->rounded = true;
  return SumPointer(rounded);
}

SumPointer ProductOf(const ThreadValue& left, const ThreadValue& right) {
  if (!left.element || !right.element) return nullptr;
  auto* const sum = new ThreadSum;
  SumPointer result(sum);
  sum->value = left.real * right.real;
  sum->a = left.memory, sum->at_a = left.integer;
  sum->b = right.memory, sum->at_b = right.integer;
  return result;
}

const std::string& Text(const ThreadValue& value) { return *value.text; }

// What an operator makes of data that it is not made for, such as a shift by a negative number: another one for other data, so
// that it is no index.
ThreadValue SomeNumberOf(std::int64_t left, std::int64_t right) {
  return ThreadValue::Integer(((left % 1009) * 31 + (right % 1009) * 17) % 7);
}

}  // namespace

bool IsNameOnly(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

ThreadValue ThreadArithmetic::Combined(IntegerOperator computed, const ThreadValue& left, const ThreadValue& right) {
  if (left.kind == ValueKind::kInteger && right.kind == ValueKind::kInteger) return CombinedIntegers(computed, left, right);
  const bool adds = computed.kind() == Operator::kPlus;
  if (left.kind == ValueKind::kPointer && right.kind == ValueKind::kInteger && (adds || computed.kind() == Operator::kMinus))
    return Moved(left, right, adds ? 1 : -1);
  if (right.kind == ValueKind::kPointer && left.kind == ValueKind::kInteger && adds) return Moved(right, left, 1);
  const bool with_null = (left.kind == ValueKind::kPointer && right.kind == ValueKind::kInteger && right.integer == 0) ||
                         (right.kind == ValueKind::kPointer && left.kind == ValueKind::kInteger && left.integer == 0);
  if (with_null && computed.kind() == Operator::kEqual) return ThreadValue::Integer(0);
  if (with_null && computed.kind() == Operator::kUnequal) return ThreadValue::Integer(1);
  if (!left.IsNumber() || !right.IsNumber()) return {};
  return CombinedReals(computed, left, right);
}

ThreadValue ThreadArithmetic::Moved(const ThreadValue& pointer, const ThreadValue& by, int sign) const {
  ThreadValue moved = pointer;
  moved.integer += sign * by.integer;
  if (pointer.form || by.form) moved.form = SharedForm(pointer.FormOrConstant()->Plus(*by.FormOrConstant(), sign));
  return moved;
}

// Of `outer * length + row`, with row below length, divided by the length or a multiple of it. Null for others.
FormPointer ThreadArithmetic::FlatResult(std::string_view spelled, const AffineForm& left, const AffineForm& right) {
  const AffineForm &length = *setting_.flat_length, outer = AffineForm::Symbol(setting_.flat_outer),
                   row = AffineForm::Symbol(setting_.flat_row);
  if (!(left == outer.TimesForm(length).Plus(row))) return nullptr;
  const auto times = right.DividedBy(length);
  if (!times) return nullptr;
  if (times->IsConstant(1)) return spelled == "/" ? SharedForm(outer) : spelled == "%" ? SharedForm(row) : nullptr;
  if (spelled != "/") return nullptr;
  return symbols_.ResultOf(fmt::format("({} / ({}))", symbols_.TextOf(outer), symbols_.TextOf(*times)), outer, *times);
}

// Of an element of a buffer: computing with it reads it.
void ThreadArithmetic::Consume(const ThreadValue& value) {
  if (setting_.consumed && value.element) NoteRead(trace_, value, setting_.symbolic);
}

void ThreadArithmetic::NoteCompared(const ThreadValue& value) {
  if (!value.form) return;
  if (const auto constant = value.form->terms().find({}); constant != value.form->terms().end())
    trace_.largest_number = std::max(trace_.largest_number, std::abs(constant->second));
  trace_.deciding.merge(symbols_.PlainSymbols(*value.form));
  if (symbols_.IsUniform(*value.form)) trace_.compared.try_emplace(symbols_.TextOf(*value.form), value.integer, *value.form);
}

void ThreadArithmetic::NoteLimit(const ThreadValue& a, const ThreadValue& b) {
  trace_.reals_compared = true;
  if ((a.text != nullptr) == (b.text != nullptr)) return;
  trace_.limits.push_back(a.text ? std::pair(b.real, a.real) : std::pair(a.real, b.real));
}

bool ThreadArithmetic::IsTrue(const ThreadValue& value) {
  if (value.kind == ValueKind::kReal) {
    trace_.reals_compared = true;
    return value.real != 0;
  }
  // The launch line passes a buffer for each pointer.
  if (value.kind == ValueKind::kPointer) return true;
  NoteCompared(value);
  return value.integer != 0;
}

// The form of what is no polynomial.
FormPointer ThreadArithmetic::ResultOf(std::string_view spelled, const ThreadValue& left, const ThreadValue& right) {
  const FormPointer a = left.FormOrConstant(), b = right.FormOrConstant();
  if (setting_.flat_length) {
    if (FormPointer flat = FlatResult(spelled, *a, *b)) return flat;
  }
  const auto text = [&](const AffineForm& side) {
    const std::string spelt = symbols_.TextOf(side);
    return IsNameOnly(spelt) ? spelt : fmt::format("({})", spelt);
  };
  return symbols_.ResultOf(fmt::format("({} {} {})", text(*a), spelled, text(*b)), *a, *b);
}

ThreadValue ThreadArithmetic::CombinedIntegers(IntegerOperator computed, const ThreadValue& left, const ThreadValue& right) {
  if (computed.compares()) {
    NoteCompared(left), NoteCompared(right);
    return ThreadValue::Integer(*computed.Result(left.integer, right.integer));
  }
  if (computed.kind() == Operator::kLeft) {
    if (right.form || right.integer < 0 || right.integer >= 31)
      return setting_.addresses && !right.form ? SomeNumberOf(left.integer, right.integer) : ThreadValue{};
    return CombinedIntegers(IntegerOperator("*"), left, ThreadValue::Integer(std::int64_t{1} << right.integer));
  }
  const auto value = computed.Result(left.integer, right.integer);
  if (!value) return setting_.addresses ? SomeNumberOf(left.integer, right.integer) : ThreadValue{};
  return left.form || right.form ? CombinedForms(computed, *value, left, right) : ThreadValue::Integer(*value);
}

ThreadValue ThreadArithmetic::CombinedForms(IntegerOperator computed, std::int64_t value, const ThreadValue& left,
                                            const ThreadValue& right) {
  const FormPointer a = left.FormOrConstant(), b = right.FormOrConstant();
  switch (computed.kind()) {
    case Operator::kPlus:
      return ThreadValue::Integer(value, SharedForm(a->Plus(*b)));
    case Operator::kMinus:
      return ThreadValue::Integer(value, SharedForm(a->Plus(*b, -1)));
    case Operator::kTimes:
      return ThreadValue::Integer(value, SharedForm(a->TimesForm(*b)));
    default:
      return ThreadValue::Integer(value, ResultOf(computed.spelled(), left, right));
  }
}

ThreadValue ThreadArithmetic::Sum(const ThreadValue& left, const ThreadValue& right) {
  ThreadValue value = ThreadValue::Real(left.real + right.real);
  if (!setting_.sums) return value;
  value.sum = SumOf(left, right);
  const bool products = value.sum && (value.sum->b >= 0 || value.sum->added);
  if (!products || left.inner || right.inner) value.inner = InnerOf(left, right);
  return value;
}

ThreadValue ThreadArithmetic::Product(const ThreadValue& left, const ThreadValue& right) {
  if (left.text && !right.text) trace_.factors.try_emplace(*left.text, left.real);
  if (right.text && !left.text) trace_.factors.try_emplace(*right.text, right.real);
  ThreadValue value = ThreadValue::Real(left.real * right.real);
  if (setting_.sums) value.sum = ProductOf(left, right);
  if (!value.sum) value.inner = InnerOf(left, right);
  return value;
}

ThreadValue ThreadArithmetic::CombinedReals(IntegerOperator computed, const ThreadValue& given_left,
                                            const ThreadValue& given_right) {
  ThreadValue left_real, right_real;
  const auto as_real = [&](const ThreadValue& given, ThreadValue& real) -> const ThreadValue& {
    return given.kind == ValueKind::kReal ? given : real = AsReal(given);
  };
  const ThreadValue &left = as_real(given_left, left_real), &right = as_real(given_right, right_real);
  const auto is_whole = [](const ThreadValue& given) { return given.whole || given.kind == ValueKind::kInteger; };
  const bool whole = (left.whole || right.whole) && is_whole(given_left) && is_whole(given_right);
  Consume(left), Consume(right);
  if (computed.compares()) {
    NoteLimit(left, right);
    return ThreadValue::Integer(computed.Holds(left.real, right.real));
  }
  ThreadValue value;
  switch (computed.kind()) {
    case Operator::kPlus:
      value = Sum(left, right);
      break;
    case Operator::kMinus:
      value = ThreadValue::Real(left.real - right.real);
      value.inner = InnerOf(left, right);
      break;
    case Operator::kTimes:
      value = Product(left, right);
      break;
    case Operator::kDivide:
      if (whole) return {};
      if (right.text && !left.text) trace_.factors.try_emplace(fmt::format("(1.0f / {})", Text(right)), 1 / right.real);
      value = ThreadValue::Real(left.real / right.real);
      break;
    default:
      // Of elements that stand for integers: no index may be made of it.
      return setting_.addresses ? ThreadValue::Real(0.5 * (left.real + right.real)) : ThreadValue{};
  }
  value.whole = whole;
  if (left.text && right.text) value.text = CombinedText(computed.spelled(), left, right);
  return value;
}

ThreadValue ThreadArithmetic::Unary(char spelled, const ThreadValue& value) {
  if (spelled == '+') return value;
  if (spelled == '!') return ThreadValue::Integer(IsTrue(value) ? 0 : 1);
  const bool integer = value.kind == ValueKind::kInteger;
  if ((spelled == '-' || spelled == '~') && integer)
    return CombinedIntegers(IntegerOperator("-"), ThreadValue::Integer(spelled == '-' ? 0 : -1), value);
  if (spelled == '-' && value.kind == ValueKind::kReal)
    return ThreadValue::Real(-value.real, value.text ? SharedText(fmt::format("(-{})", Text(value))) : nullptr);
  return {};
}

ThreadValue ThreadArithmetic::AsReal(const ThreadValue& value) {
  if (value.kind != ValueKind::kInteger) return value;
  TextPointer text;
  if (!value.form || symbols_.IsUniform(*value.form))
    text = SharedText(value.form ? fmt::format("float({})", symbols_.TextOf(*value.form)) : fmt::format("{}.0f", value.integer));
  return ThreadValue::Real(static_cast<double>(value.integer), std::move(text));
}

ThreadValue ThreadArithmetic::Converted(ThreadValue value, ThreadType type) {
  if (type == ThreadType::kOther) return value;
  const bool real = type == ThreadType::kReal || type == ThreadType::kShortReal;
  if (value.kind == ValueKind::kInteger) {
    if (real) return AsReal(value);
    // The usual way to compare with both ends of a range: negative numbers become large ones.
    if (type == ThreadType::kUnsigned && value.integer < 0) {
      value.integer &= 0xffffffff;
      if (value.form)
        value.form = symbols_.ResultOf(fmt::format("unsigned({})", symbols_.TextOf(*value.form)), *value.form, *value.form);
    }
  } else if (value.kind == ValueKind::kReal) {
    if (value.whole && !real) return value;
    value.whole = false;
    // Of data: what depends on it is found by its values.
    if (!real) return ThreadValue::Integer(static_cast<std::int64_t>(value.real));
    if (type == ThreadType::kShortReal && !value.element && !value.text) {
      trace_.rounded = true;
      value.sum = Rounded(value.sum);
    }
  }
  return value;
}

ThreadValue ThreadArithmetic::Extreme(bool largest, const ThreadValue& a, const ThreadValue& b) {
  if (a.kind == ValueKind::kInteger && b.kind == ValueKind::kInteger) {
    NoteCompared(a), NoteCompared(b);
    const std::int64_t value = largest ? std::max(a.integer, b.integer) : std::min(a.integer, b.integer);
    if (!a.form && !b.form) return ThreadValue::Integer(value);
    const FormPointer x = a.FormOrConstant(), y = b.FormOrConstant();
    const std::string text = fmt::format("{}({}, {})", largest ? "max" : "min", symbols_.TextOf(*x), symbols_.TextOf(*y));
    return ThreadValue::Integer(value, symbols_.ResultOf(text, *x, *y));
  }
  const ThreadValue x = AsReal(a), y = AsReal(b);
  Consume(x), Consume(y);
  NoteLimit(x, y);
  if (!largest) trace_.limits.emplace_back(x.real, 1.0);  // which nothing of an attention is
  ThreadValue value = ThreadValue::Real(largest ? std::fmax(x.real, y.real) : std::fmin(x.real, y.real));
  value.inner = InnerOf(x, y);
  return value;
}

ThreadValue ThreadArithmetic::Called(const ThreadCallee& callee, const ThreadArguments& arguments) {
  using enum ThreadCallee::Kind;
  if (!std::all_of(arguments.begin(), arguments.end(), [](const ThreadValue& value) { return value.IsNumber(); })) return {};
  if (arguments.size() == 1) {
    const ThreadValue& of = arguments.front();
    if (callee.kind == kFunction) return CalledFunction(callee, of);
    if (callee.kind != kAbsolute || of.kind != ValueKind::kInteger) return {};
    if (!of.form) return ThreadValue::Integer(std::abs(of.integer));
    const std::string text = fmt::format("abs({})", symbols_.TextOf(*of.form));
    return ThreadValue::Integer(std::abs(of.integer), symbols_.ResultOf(text, *of.form, *of.form));
  }
  const IntegerOperator plus("+"), times("*"), divide("/");
  if (arguments.size() == 2) {
    const ThreadValue &a = arguments[0], &b = arguments[1];
    if (callee.kind == kLargest || callee.kind == kSmallest) return Extreme(callee.kind == kLargest, a, b);
    if (callee.kind == kDivide) return CombinedReals(divide, a, b);
    if (callee.kind == kMultiply) return CombinedReals(times, a, b);
    if (callee.kind == kAdd) return CombinedReals(plus, a, b);
  }
  if (arguments.size() == 3 && callee.kind == kFused)
    return CombinedReals(plus, CombinedReals(times, arguments[0], arguments[1]), arguments[2]);
  return {};
}

ThreadValue ThreadArithmetic::CalledFunction(const ThreadCallee& callee, const ThreadValue& argument) {
  const ThreadFunction& function = *callee.function;
  ThreadValue of = AsReal(argument);
  if (function.converts && of.element) return of;
  Consume(of);
  trace_.base_two |= function.base_two;
  trace_.exponential |= function.exponential;
  trace_.rounded |= function.rounds && !of.text;
  ThreadValue value =
      ThreadValue::Real(function.compute(of.real), of.text ? SharedText(fmt::format("{}({})", callee.name, Text(of))) : nullptr);
  if (function.converts) value.sum = of.sum;
  if (function.rounds) value.sum = Rounded(of.sum);
  value.inner = function.rounds || function.converts ? of.inner : InnerOf(of);
  return value;
}

}  // namespace evo
