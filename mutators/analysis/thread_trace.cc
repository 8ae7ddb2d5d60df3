#include "mutators/analysis/thread_trace.h"

namespace evo {

ThreadValue ThreadValue::Integer(std::int64_t value, FormPointer form) {
  ThreadValue result;
  result.kind = Kind::kInteger;
  result.integer = value;
  result.form = std::move(form);
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

FormPointer ThreadValue::FormOrConstant() const {
  return form ? form : std::make_shared<const AffineForm>(AffineForm::Constant(integer));
}

}  // namespace evo
