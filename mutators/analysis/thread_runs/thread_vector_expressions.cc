#include "mutators/analysis/thread_runs/thread_vector_expressions.h"

#include <fmt/format.h>

#include <utility>

#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

ThreadValue ThreadVectors::Refuse(std::string why) {
  refusal_.Add(std::move(why));
  return {};
}

ThreadValue ThreadVectors::LoadAt(const ThreadPlace& place, const ThreadNode& node) {
  if (IsOfBits(place, node)) {
    // For an atomicCAS.
    const bool compared = memory_.SetCompared(true);
    ThreadValue value = memory_.Load(place);
    memory_.SetCompared(compared);
    return BitsOfFloat(value, node.type == ThreadType::kInteger);
  }
  if (!node.vector || setting_.addresses || place.memory < 0) return memory_.Load(place);
  const int each = code_.variable(place.memory).bytes;
  const bool alike = node.structure == code_.variable(place.memory).structure;
  if (!alike || each == 0 || node.bytes % each != 0)
    return Refuse(fmt::format("elements of {} as others", tree_.node(place.memory).name));
  return memory_.LoadSeveral(place, node.bytes / each);
}

bool ThreadVectors::IsOfBits(const ThreadPlace& place, const ThreadNode& node) const {
  if (place.memory < 0 || setting_.addresses || (node.type != ThreadType::kInteger && node.type != ThreadType::kUnsigned))
    return false;
  const ThreadVariable& memory = code_.variable(place.memory);
  return memory.reals && memory.bytes == 4 && node.bytes == 4;
}

bool ThreadVectors::FitsAt(const ThreadPlace& place, const ThreadNode& node, const ThreadValue& vector) {
  const int each = code_.variable(place.memory).bytes;
  const bool alike = node.structure == code_.variable(place.memory).structure;
  if (alike && each > 0 && node.bytes == each * static_cast<int>(vector.parts->size())) return true;
  refusal_.Add(fmt::format("elements of {} as others", tree_.node(place.memory).name));
  return false;
}

ThreadValue ThreadVectors::Scaled(const ThreadNode& node, const ThreadValue& pointer, ThreadValue by) {
  if (!node.to_vectors || setting_.addresses || pointer.kind != ThreadValue::Kind::kPointer) return by;
  const int each = code_.variable(pointer.memory).bytes;
  if (node.structure != code_.variable(pointer.memory).structure || each == 0 || node.bytes % each != 0)
    return Refuse(fmt::format("elements of {} as others", tree_.node(pointer.memory).name));
  return arithmetic_.Combined(IntegerOperator("*"), by, ThreadValue::Integer(node.bytes / each));
}

bool ThreadVectors::MayBeCast(const ThreadNode& node, const ThreadValue& value) const {
  if (value.kind == ThreadValue::Kind::kPointer && node.bytes > 0 && !setting_.addresses) {
    const ThreadVariable& memory = code_.variable(value.memory);
    const int each = memory.bytes;
    if (node.structure != memory.structure) return false;
    // Arrays of bytes hold what the kernel takes them for. Their elements are counted as such, so that they are not looked at as
    // vectors, too.
    const bool fits = node.to_vectors ? each > 0 && node.bytes % each == 0 && (each > 1 || node.bytes <= 4)
                                      : !memory.parameter || each == 0 || node.bytes == each;
    if (!fits) return false;
  }
  return !value.whole || value.element || node.bytes == 0 || node.bytes >= 4;
}

ThreadValue ThreadVectors::PartOf(const ThreadNode& node, const ThreadNode& of, const ThreadValue& vector, int expression) const {
  if (setting_.addresses) return SomePart(node, vector);
  if (setting_.formulas && vector.kind == ThreadValue::Kind::kPointer) return ConstantField(node, vector, expression);
  const auto part = static_cast<std::size_t>(node.detail);
  const bool has = vector.kind == ThreadValue::Kind::kVector && part < vector.parts->size() && of.bytes > 0 &&
                   (of.structure >= 0 || of.bytes == node.bytes * static_cast<int>(vector.parts->size()));
  return has ? (*vector.parts)[part] : ThreadValue{};
}

// Where only addresses count: some number, of its kind if the vector is not in constant memory.
ThreadValue ThreadVectors::SomePart(const ThreadNode& node, const ThreadValue& vector) const {
  if (vector.kind == ThreadValue::Kind::kVector) {
    const auto part = static_cast<std::size_t>(node.detail);
    if (part < vector.parts->size() && (*vector.parts)[part].IsNumber()) return (*vector.parts)[part];
    return part < vector.parts->size() ? ThreadValue::Real(0.5) : ThreadValue{};
  }
  if (vector.kind == ThreadValue::Kind::kPointer)
    return code_.variable(vector.memory).constant ? ThreadValue::Real(0.5) : ThreadValue{};
  if (!vector.IsNumber()) return {};
  const double number = vector.kind == ThreadValue::Kind::kReal ? vector.real : static_cast<double>(vector.integer);
  const bool whole = node.type == ThreadType::kInteger || node.type == ThreadType::kUnsigned || node.bytes == 1;
  if (whole) return ThreadValue::Integer(static_cast<std::int64_t>(4 * number) + (setting_.element ? 0 : node.detail));
  const bool real = node.type == ThreadType::kReal || node.type == ThreadType::kShortReal;
  return real ? ThreadValue::Real(number) : ThreadValue{};
}

// With formulas, a field of a struct in constant memory: a real number that is the same for all threads.
ThreadValue ThreadVectors::ConstantField(const ThreadNode& node, const ThreadValue& constant, int expression) const {
  const ThreadVariable& of = code_.variable(constant.memory);
  if (!of.constant || of.array || node.type != ThreadType::kReal) return {};
  ThreadValue field = ThreadValue::Real(RandomElement(constant.memory, node.detail));
  field.formula = FormulaLeaf(WithoutConst(tree_.node(expression).type), std::string(tree_.Text(expression)), false);
  return field;
}

ThreadPlace ThreadVectors::PlaceOfPart(const ThreadNode& node, ThreadPlace place) const {
  if (place.variable >= 0) {
    place.component = node.detail;
    return place;
  }
  if (place.memory < 0) return {};
  if (setting_.addresses) return place;
  const ThreadVariable& memory = code_.variable(place.memory);
  if (memory.structure < 0 && memory.bytes != node.bytes) return {};
  place.index += node.detail;
  if (place.form) place.form = SharedForm(place.form->Plus(AffineForm::Constant(node.detail)));
  return place;
}

}  // namespace evo
