#include <fmt/format.h>

#include <utility>

#include "mutators/analysis/source_query.h"
#include "mutators/analysis/thread_expressions.h"

namespace evo {

// What is at a place, of the node's type: several elements for a vector.
ThreadValue ThreadExpressions::LoadAt(const ThreadPlace& place, const ThreadNode& node) {
  if (!node.vector || setting_.addresses || place.memory < 0) return memory_.Load(place);
  const int each = code_.variable(place.memory).bytes;
  if (each == 0 || node.bytes % each != 0) return Refuse(fmt::format("elements of {} as others", tree_.node(place.memory).name));
  return memory_.LoadSeveral(place, node.bytes / each);
}

// Whether a vector has as many elements as what it is stored to.
bool ThreadExpressions::FitsAt(const ThreadPlace& place, const ThreadNode& node, const ThreadValue& vector) {
  const int each = code_.variable(place.memory).bytes;
  if (each > 0 && node.bytes == each * static_cast<int>(vector.parts->size())) return true;
  refusal_.Add(fmt::format("elements of {} as others", tree_.node(place.memory).name));
  return false;
}

// How many elements of what it points into a pointer moves, by the type of a node that points to vectors.
ThreadValue ThreadExpressions::Scaled(const ThreadNode& node, const ThreadValue& pointer, ThreadValue by) {
  if (!node.to_vectors || setting_.addresses || pointer.kind != ThreadValue::Kind::kPointer) return by;
  const int each = code_.variable(pointer.memory).bytes;
  if (each == 0 || node.bytes % each != 0)
    return Refuse(fmt::format("elements of {} as others", tree_.node(pointer.memory).name));
  return arithmetic_.Combined(IntegerOperator("*"), by, ThreadValue::Integer(node.bytes / each));
}

ThreadValue ThreadExpressions::Cast(const ThreadNode& node, int expression) {
  ThreadValue value = EvaluateAs(node.type, node.parts[0]);
  if (value.kind == ThreadValue::Kind::kPointer && node.bytes > 0 && !setting_.addresses) {
    const ThreadVariable& memory = code_.variable(value.memory);
    const int each = memory.bytes;
    // Arrays of bytes hold what the kernel takes them for. Their elements are counted as such, so that they are not looked at as
    // vectors, too.
    const bool fits = node.to_vectors ? each > 0 && node.bytes % each == 0 && (each > 1 || node.bytes <= 4)
                                      : !memory.parameter || each == 0 || node.bytes == each;
    if (!fits) return NotUnderstood(expression);
  }
  if (value.whole && !value.element && node.bytes > 0 && node.bytes < 4) return NotUnderstood(expression);
  return value;
}

// `v.x`, also of what a function returns.
ThreadValue ThreadExpressions::Component(const ThreadNode& node, int expression) {
  if (setting_.addresses) return NotUnderstood(expression);
  const ThreadValue vector = Evaluate(node.parts[0]);
  if (refusal_.given()) return {};
  const auto part = static_cast<std::size_t>(node.detail);
  const ThreadNode& of = code_.At(node.parts[0]);
  const bool has = vector.kind == ThreadValue::Kind::kVector && part < vector.parts->size() && of.bytes > 0 &&
                   (*vector.parts)[part].kind != ThreadValue::Kind::kNone &&
                   of.bytes == node.bytes * static_cast<int>(vector.parts->size());
  return has ? (*vector.parts)[part] : NotUnderstood(expression);
}

// Where it is stored.
ThreadPlace ThreadExpressions::ComponentOf(const ThreadNode& node) {
  ThreadPlace place = PlaceOf(node.parts[0]);
  if (refusal_.given()) return {};
  if (place.variable >= 0) {
    place.component = node.detail;
    return place;
  }
  if (setting_.addresses || place.memory < 0 || code_.variable(place.memory).bytes != node.bytes) {
    NotUnderstood(node.parts[0]);
    return {};
  }
  place.index += node.detail;
  if (place.form) place.form = SharedForm(place.form->Plus(AffineForm::Constant(node.detail)));
  return place;
}

}  // namespace evo
