#include "mutators/analysis/thread_runs/thread_value.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evo {

FormPointer SharedForm(AffineForm form) { return FormPointer(new ThreadForm(std::move(form))); }
AffineForm FormOr(const FormPointer& form, std::int64_t constant) {
  return form ? AffineForm(*form) : AffineForm::Constant(constant);
}
TextPointer SharedText(std::string text) { return TextPointer(new ThreadText(std::move(text))); }

namespace {

constexpr std::size_t kLongestText = 300;

bool IsSpelledZero(const ThreadValue& value) {
  return value.real == 0 && value.text->find_first_not_of("0123456789.f()+* ") == std::string::npos;
}

}  // namespace

// What is added to zeros, and zeros that are multiplied, do not become longer, as sums of padded tiles would.
TextPointer CombinedText(std::string_view spelled, const ThreadValue& left, const ThreadValue& right) {
  const bool adds = spelled == "+", multiplies = spelled == "*";
  if ((adds && IsSpelledZero(right)) || (multiplies && IsSpelledZero(left))) return left.text;
  if ((adds && IsSpelledZero(left)) || (multiplies && IsSpelledZero(right))) return right.text;
  if (left.text->size() + right.text->size() >= kLongestText) return {};
  const std::string &first = *left.text, &second = *right.text;
  return SharedText(fmt::format("({} {} {})", first, spelled, second));
}

// One part after another. If each ended the part before it, long sums would take more than the small stack of a thread.
ThreadSum::~ThreadSum() {
  const auto is_last = [](const SumPointer& part) { return part && part->use_count() == 1; };
  if (!is_last(before) && !is_last(added)) return;
  std::vector<SumPointer> parts{std::move(before), std::move(added)};
  while (!parts.empty()) {
    const SumPointer part = std::move(parts.back());
    parts.pop_back();
    if (!is_last(part)) continue;
    parts.push_back(std::move(part->before));
    parts.push_back(std::move(part->added));
  }
}

bool EachTerm(const ThreadSum* sum, const std::function<bool(const ThreadSum&)>& visit) {
  std::vector<const ThreadSum*> left{sum};
  while (!left.empty()) {
    const ThreadSum* const at = left.back();
    left.pop_back();
    if (at == nullptr) continue;
    left.push_back(at->before.get());
    left.push_back(at->added.get());
    if (!at->added && !visit(*at)) return false;
  }
  return true;
}

ThreadValue ThreadValue::Integer(std::int64_t value, FormPointer form) {
  ThreadValue result;
  result.kind = Kind::kInteger;
  result.integer = value;
  result.form = std::move(form);
  return result;
}

ThreadValue ThreadValue::Element(double value, int memory, std::int64_t index) {
  ThreadValue result = Real(value);
  result.element = true;
  result.memory = memory;
  result.integer = index;
  return result;
}

ThreadValue ThreadValue::Real(double value, TextPointer text) {
  ThreadValue result;
  result.kind = Kind::kReal;
  result.real = value;
  result.text = std::move(text);
  return result;
}

ThreadValue ThreadValue::Pointer(int memory, std::int64_t offset, FormPointer form) {
  ThreadValue result;
  result.kind = Kind::kPointer;
  result.memory = memory;
  result.integer = offset;
  result.form = std::move(form);
  return result;
}

ThreadValue ThreadValue::Vector(std::vector<ThreadValue> parts) {
  ThreadValue result;
  result.kind = Kind::kVector;
  result.parts = std::make_shared<const std::vector<ThreadValue>>(std::move(parts));
  return result;
}

FormPointer ThreadValue::FormOrConstant() const { return form ? form : SharedForm(AffineForm::Constant(integer)); }

}  // namespace evo
