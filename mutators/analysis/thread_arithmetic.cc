#include "mutators/analysis/thread_arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <utility>

#include "mutators/analysis/integer_arithmetic.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/thread_functions.h"
#include "mutators/analysis/thread_memory.h"

namespace evo {
namespace {

using ValueKind = ThreadValue::Kind;

FormPointer Shared(AffineForm form) { return std::make_shared<const AffineForm>(std::move(form)); }
TextPointer Shared(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

bool IsAnyOf(std::string_view callee, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), callee) != names.end();
}

SumPointer AsSum(const ThreadValue& value) {
  if ((value.sum && !value.sum->rounded) || value.real == 0) return value.sum;
  ThreadSum sum;
  sum.value = value.real;
  if (value.element) sum.a = value.memory, sum.at_a = value.integer;
  return std::make_shared<const ThreadSum>(sum);
}

// Of the sum of two real numbers.
SumPointer SumOf(const ThreadValue& left, const ThreadValue& right) {
  SumPointer a = AsSum(left), b = AsSum(right);
  if (!a || !b) return a ? a : b;
  // A product is added to what is none, whatever the order in which they are written.
  if (a->IsTerm() && (!b->IsTerm() || (a->b >= 0 && b->b < 0))) std::swap(a, b);
  ThreadSum sum = b->IsTerm() ? *b : ThreadSum{};
  sum.value = left.real + right.real;
  sum.before = a;
  if (!b->IsTerm()) sum.added = b;
  return std::make_shared<const ThreadSum>(std::move(sum));
}

// The sum of products in what a number is computed from.
SumPointer InnerOf(const ThreadValue& value) { return value.inner ? value.inner : value.sum; }
SumPointer InnerOf(const ThreadValue& left, const ThreadValue& right) {
  const SumPointer inner = InnerOf(left);
  return inner && !inner->IsTerm() ? inner : InnerOf(right);
}

SumPointer Rounded(const SumPointer& sum) {
  if (!sum) return sum;
  ThreadSum rounded = *sum;
  rounded.rounded = true;
  return std::make_shared<const ThreadSum>(std::move(rounded));
}

SumPointer ProductOf(const ThreadValue& left, const ThreadValue& right) {
  if (!left.element || !right.element) return nullptr;
  return std::make_shared<const ThreadSum>(
      ThreadSum{left.real * right.real, left.memory, right.memory, left.integer, right.integer, nullptr, nullptr});
}

}  // namespace

bool IsNameOnly(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

ThreadValue ThreadArithmetic::Combined(std::string_view spelled, const ThreadValue& left, const ThreadValue& right) {
  if (left.kind == ValueKind::kPointer && right.kind == ValueKind::kInteger && (spelled == "+" || spelled == "-"))
    return Moved(left, right, spelled == "+" ? 1 : -1);
  if (right.kind == ValueKind::kPointer && left.kind == ValueKind::kInteger && spelled == "+") return Moved(right, left, 1);
  if (left.kind == ValueKind::kInteger && right.kind == ValueKind::kInteger) return CombinedIntegers(spelled, left, right);
  if (!left.IsNumber() || !right.IsNumber()) return {};
  return CombinedReals(spelled, AsReal(left), AsReal(right));
}

ThreadValue ThreadArithmetic::Moved(const ThreadValue& pointer, const ThreadValue& by, int sign) const {
  ThreadValue moved = pointer;
  moved.integer += sign * by.integer;
  if (pointer.form || by.form) moved.form = Shared(pointer.FormOrConstant()->Plus(*by.FormOrConstant(), sign));
  return moved;
}

// Of `outer * length + row`, with row below length, divided by the length or a multiple of it. Null for others.
FormPointer ThreadArithmetic::FlatResult(std::string_view spelled, const AffineForm& left, const AffineForm& right) {
  const AffineForm &length = *setting_.flat_length, outer = AffineForm::Symbol(setting_.flat_outer),
                   row = AffineForm::Symbol(setting_.flat_row);
  if (!(left == outer.TimesForm(length).Plus(row))) return nullptr;
  const auto times = right.DividedBy(length);
  if (!times) return nullptr;
  if (times->IsConstant(1)) return spelled == "/" ? Shared(outer) : spelled == "%" ? Shared(row) : nullptr;
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

ThreadValue ThreadArithmetic::CombinedIntegers(std::string_view spelled, const ThreadValue& left, const ThreadValue& right) {
  const bool symbolic = left.form || right.form;
  const IntegerOperator computed(spelled);
  if (computed.compares()) {
    NoteCompared(left), NoteCompared(right);
    return ThreadValue::Integer(*computed.Result(left.integer, right.integer));
  }
  if (spelled == "<<") {
    if (right.form || right.integer < 0 || right.integer >= 31) return {};
    return CombinedIntegers("*", left, ThreadValue::Integer(std::int64_t{1} << right.integer));
  }
  const auto value = computed.Result(left.integer, right.integer);
  if (!value) return {};
  if (!symbolic) return ThreadValue::Integer(*value);
  const FormPointer a = left.FormOrConstant(), b = right.FormOrConstant();
  if (spelled == "+") return ThreadValue::Integer(*value, Shared(a->Plus(*b)));
  if (spelled == "-") return ThreadValue::Integer(*value, Shared(a->Plus(*b, -1)));
  if (spelled == "*") return ThreadValue::Integer(*value, Shared(a->TimesForm(*b)));
  return ThreadValue::Integer(*value, ResultOf(spelled, left, right));
}

ThreadValue ThreadArithmetic::CombinedReals(std::string_view spelled, const ThreadValue& left, const ThreadValue& right) {
  Consume(left), Consume(right);
  if (const IntegerOperator comparison(spelled); comparison.compares()) {
    NoteLimit(left, right);
    return ThreadValue::Integer(comparison.Holds(left.real, right.real));
  }
  const TextPointer text =
      left.text && right.text ? Shared(fmt::format("({} {} {})", *left.text, spelled, *right.text)) : nullptr;
  if (spelled == "+") {
    ThreadValue value = ThreadValue::Real(left.real + right.real, text);
    if (setting_.sums) {
      value.sum = SumOf(left, right);
      const bool products = value.sum && (value.sum->b >= 0 || value.sum->added);
      if (!products || left.inner || right.inner) value.inner = InnerOf(left, right);
    }
    return value;
  }
  if (spelled == "-") {
    ThreadValue value = ThreadValue::Real(left.real - right.real, text);
    value.inner = InnerOf(left, right);
    return value;
  }
  if (spelled == "*") {
    if (left.text && !right.text) trace_.factors.try_emplace(*left.text, left.real);
    if (right.text && !left.text) trace_.factors.try_emplace(*right.text, right.real);
    ThreadValue value = ThreadValue::Real(left.real * right.real, text);
    if (setting_.sums) value.sum = ProductOf(left, right);
    if (!value.sum) value.inner = InnerOf(left, right);
    return value;
  }
  if (spelled == "/") {
    if (right.text && !left.text) trace_.factors.try_emplace(fmt::format("(1.0f / {})", *right.text), 1 / right.real);
    return ThreadValue::Real(left.real / right.real, text);
  }
  return {};
}

ThreadValue ThreadArithmetic::Unary(std::string_view spelled, const ThreadValue& value) {
  if (spelled == "+") return value;
  if (spelled == "!") return ThreadValue::Integer(IsTrue(value) ? 0 : 1);
  if (spelled == "-" && value.kind == ValueKind::kInteger) return CombinedIntegers("-", ThreadValue::Integer(0), value);
  if (spelled == "~" && value.kind == ValueKind::kInteger) return CombinedIntegers("-", ThreadValue::Integer(-1), value);
  if (spelled == "-" && value.kind == ValueKind::kReal)
    return ThreadValue::Real(-value.real, value.text ? Shared(fmt::format("(-{})", *value.text)) : nullptr);
  return {};
}

ThreadValue ThreadArithmetic::Converted(ThreadValue value, std::string_view type) {
  const std::string plain = WithoutConst(std::string(type));
  const bool short_real = plain == "__half" || plain == "__nv_bfloat16";
  const bool real = plain == "float" || plain == "double" || short_real;
  if (short_real && value.kind == ValueKind::kReal && !value.element && !value.text) {
    trace_.rounded = true;
    value.sum = Rounded(value.sum);
  }
  // The usual way to compare with both ends of a range: negative numbers become large ones.
  if (plain == "unsigned int" && value.kind == ValueKind::kInteger && value.integer < 0) {
    value.integer &= 0xffffffff;
    if (value.form)
      value.form = symbols_.ResultOf(fmt::format("unsigned({})", symbols_.TextOf(*value.form)), *value.form, *value.form);
  }
  if (real && value.kind == ValueKind::kInteger) {
    TextPointer text;
    if (!value.form || symbols_.IsUniform(*value.form))
      text = Shared(value.form ? fmt::format("float({})", symbols_.TextOf(*value.form)) : fmt::format("{}.0f", value.integer));
    return ThreadValue::Real(static_cast<double>(value.integer), text);
  }
  if (!real && value.kind == ValueKind::kReal && (IsArithmetic(plain) || plain == "bool"))
    return ThreadValue::Integer(static_cast<std::int64_t>(value.real));  // of data: what depends on it is found by its values
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

ThreadValue ThreadArithmetic::Called(std::string_view callee, const std::vector<ThreadValue>& arguments) {
  if (!std::all_of(arguments.begin(), arguments.end(), [](const ThreadValue& value) { return value.IsNumber(); })) return {};
  if (callee == "abs" && arguments.size() == 1 && arguments.front().kind == ValueKind::kInteger) {
    const ThreadValue& of = arguments.front();
    if (!of.form) return ThreadValue::Integer(std::abs(of.integer));
    const std::string text = fmt::format("abs({})", symbols_.TextOf(*of.form));
    return ThreadValue::Integer(std::abs(of.integer), symbols_.ResultOf(text, *of.form, *of.form));
  }
  if (arguments.size() == 1) return CalledFunction(callee, arguments.front());
  if (arguments.size() == 2) {
    const ThreadValue &a = arguments[0], &b = arguments[1];
    if (IsAnyOf(callee, {"fmaxf", "fmax", "max"})) return Extreme(true, a, b);
    if (IsAnyOf(callee, {"fminf", "fmin", "min"})) return Extreme(false, a, b);
    if (callee == "__fdividef") return CombinedReals("/", AsReal(a), AsReal(b));
    if (callee == "__fmul_rn") return CombinedReals("*", AsReal(a), AsReal(b));
    if (callee == "__fadd_rn") return CombinedReals("+", AsReal(a), AsReal(b));
  }
  if (arguments.size() == 3 && IsAnyOf(callee, {"fmaf", "fma", "__fmaf_rn"})) {
    const ThreadValue product = CombinedReals("*", AsReal(arguments[0]), AsReal(arguments[1]));
    return CombinedReals("+", product, AsReal(arguments[2]));
  }
  return {};
}

ThreadValue ThreadArithmetic::CalledFunction(std::string_view callee, const ThreadValue& argument) {
  const ThreadFunction* const function = ThreadFunctionNamed(callee);
  if (function == nullptr) return {};
  const ThreadValue of = AsReal(argument);
  if (function->converts && of.element) return of;
  Consume(of);
  trace_.base_two |= function->base_two;
  trace_.exponential |= function->exponential;
  trace_.rounded |= function->rounds && !of.text;
  ThreadValue value =
      ThreadValue::Real(function->compute(of.real), of.text ? Shared(fmt::format("{}({})", callee, *of.text)) : nullptr);
  if (function->converts) value.sum = of.sum;
  if (function->rounds) value.sum = Rounded(of.sum);
  value.inner = function->rounds || function->converts ? of.inner : InnerOf(of);
  return value;
}

}  // namespace evo
