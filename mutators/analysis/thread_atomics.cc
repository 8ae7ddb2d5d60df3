#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "mutators/analysis/thread_expressions.h"
#include "mutators/analysis/thread_vectors.h"

namespace evo {
namespace {

using AtomicKind = ThreadCallee::Kind;

std::uint32_t BitsOfFloat(double number) { return std::bit_cast<std::uint32_t>(static_cast<float>(number)); }

}  // namespace

ThreadValue BitsOfFloat(const ThreadValue& value, bool is_signed) {
  if (value.kind != ThreadValue::Kind::kReal) return value;
  const std::uint32_t bits = BitsOfFloat(value.real);
  return ThreadValue::Integer(is_signed ? static_cast<std::int64_t>(static_cast<std::int32_t>(bits)) : std::int64_t{bits});
}

ThreadValue FloatOfBits(const ThreadValue& value) {
  if (value.kind != ThreadValue::Kind::kInteger) return value;
  return ThreadValue::Real(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value.integer))));
}

bool ThreadMemory::Follows(int memory) const {
  return (setting_.exchange != nullptr && code_.variable(memory).shared) || setting_.updated.contains(memory);
}

ThreadValue ThreadMemory::Update(const ThreadPlace& place, const std::function<ThreadValue(const ThreadValue&)>& change) {
  if (refusal_.given()) return {};
  const auto updated = setting_.updated.find(place.memory);
  if (updated == setting_.updated.end()) return UpdateShared(place, change);
  BufferContents& contents = *updated->second;
  const auto known = contents.find(place.index);
  const auto number = known != contents.end() ? std::optional(known->second) : Begun(place);
  if (!number) return Refuse(fmt::format("an element of {} is updated and has no value", tree_.node(place.memory).name));
  ThreadValue old = HeldIn(place.memory, *number);
  const ThreadValue changed = change(old);
  if (!changed.IsNumber()) return {};
  contents[place.index] = changed.kind == ThreadValue::Kind::kReal ? changed.real : static_cast<double>(changed.integer);
  trace_.updates[place.memory].insert(place.index);
  return old;
}

ThreadValue ThreadMemory::UpdateShared(const ThreadPlace& place, const std::function<ThreadValue(const ThreadValue&)>& change) {
  ThreadExchange& exchange = *setting_.exchange;
  const std::size_t slot = code_.SlotOf(place.memory);
  BlockElement& element = exchange.shared.At(slot, place.index);
  StoredValues& stored = exchange.stored[setting_.thread];
  if (const auto own = stored.find({slot, place.index}); own != stored.end()) {
    element.value = std::move(own->second);
    stored.erase(own);
    --element.writers;
  }
  if (!exchange.shared.NoteUpdate(element, setting_.thread)) exchange.race = place.memory;
  if (element.value.kind == ThreadValue::Kind::kNone)
    return Refuse(fmt::format("an element of {} is updated and has no value", tree_.node(place.memory).name));
  ThreadValue old = element.value;
  ThreadValue changed = change(old);
  if (!changed.IsNumber()) return {};
  element.value = std::move(changed);
  return old;
}

// nullopt if it is not followed what others make of the memory.
std::optional<ThreadValue> ThreadExpressions::CallAtomic(const ThreadCall& call) {
  const AtomicKind kind = call.callee.kind;
  if (setting_.addresses || call.arguments.size() != (kind == AtomicKind::kAtomicCompare ? 3u : 2u)) return std::nullopt;
  const ThreadValue pointer = Evaluate(call.arguments[0]);
  if (pointer.kind != ThreadValue::Kind::kPointer || !memory_.Follows(pointer.memory)) return std::nullopt;
  const ThreadType type = ThreadTypeOf(PointedThreadType(tree_.node(call.arguments[0]).type));
  const ThreadValue first = EvaluateAs(type, call.arguments[1]);
  const ThreadValue second = call.arguments.size() > 2 ? EvaluateAs(type, call.arguments[2]) : ThreadValue{};
  if (refusal_.given() || !first.IsNumber()) return std::nullopt;
  const ThreadVariable& memory = code_.variable(pointer.memory);
  const bool integers = type == ThreadType::kInteger || type == ThreadType::kUnsigned;
  const bool bits = integers && memory.reals && memory.bytes == 4;
  const auto seen = [&](const ThreadValue& held) { return bits ? BitsOfFloat(held, type == ThreadType::kInteger) : held; };
  const auto larger = [&](const ThreadValue& a, const ThreadValue& b) {
    return integers ? a.integer > b.integer : a.real > b.real;
  };
  const auto change = [&](const ThreadValue& held) {
    const ThreadValue old = seen(held);
    if (integers != (old.kind == ThreadValue::Kind::kInteger)) return ThreadValue{};
    ThreadValue changed = first;
    if (kind == AtomicKind::kAtomicAdd) changed = arithmetic_.Combined(IntegerOperator("+"), old, first);
    if (kind == AtomicKind::kAtomicSubtract) changed = arithmetic_.Combined(IntegerOperator("-"), old, first);
    if (kind == AtomicKind::kAtomicMax) changed = larger(first, old) ? first : old;
    if (kind == AtomicKind::kAtomicMin) changed = larger(old, first) ? first : old;
    if (kind == AtomicKind::kAtomicCompare) {
      const bool same = integers ? old.integer == first.integer : old.real == first.real;
      changed = same ? second : old;
    }
    return bits ? FloatOfBits(changed) : changed;
  };
  ThreadValue old = memory_.Update({-1, pointer.memory, pointer.integer, pointer.form, call.arguments[0]}, change);
  if (!old.IsNumber()) return std::nullopt;
  return seen(old);
}

}  // namespace evo
