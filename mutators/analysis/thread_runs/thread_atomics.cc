#include "mutators/analysis/thread_runs/thread_atomics.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

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

ThreadValue HeldIn(const ThreadVariable& buffer, double number, const ThreadPlace* place) {
  if (buffer.integers) return ThreadValue::Integer(static_cast<std::int64_t>(number));
  return place != nullptr ? ThreadValue::Element(number, place->memory, place->index) : ThreadValue::Real(number);
}

bool ThreadMemory::Follows(int memory) const {
  return (setting_.exchange != nullptr && code_.variable(memory).shared) || setting_.updated.contains(memory);
}

ThreadValue ThreadMemory::Update(const ThreadPlace& place, const std::function<ThreadValue(const ThreadValue&)>& change) {
  if (refusal_.given()) return {};
  const std::string& name = tree_.node(place.memory).name;
  if (setting_.formulas) return Refuse(fmt::format("an atomic operation changes {}", name));
  if (code_.variable(place.memory).structure >= 0) return Refuse(fmt::format("an atomic operation changes a part of {}", name));
  const auto updated = setting_.updated.find(place.memory);
  if (updated != setting_.updated.end()) {
    BufferContents& contents = *updated->second;
    const auto known = contents.find(place.index);
    const auto number = known != contents.end() ? std::optional(known->second) : BegunElement(setting_, place);
    if (!number) return Refuse(fmt::format("an element of {} is updated and has no value", name));
    ThreadValue old = HeldIn(code_.variable(place.memory), *number);
    const ThreadValue changed = change(old);
    if (!changed.IsNumber()) return {};
    contents[place.index] = changed.kind == ThreadValue::Kind::kReal ? changed.real : static_cast<double>(changed.integer);
    trace_.updates[place.memory].insert(place.index);
    return old;
  }
  ThreadExchange& exchange = *setting_.exchange;
  const std::size_t slot = code_.SlotOf(place.memory);
  BlockElement& element = exchange.shared.At(slot, place.index);
  StoredValues& stored = exchange.stored[setting_.thread];
  if (const auto own = stored.find({slot, place.index}); own != stored.end()) {
    element.value = std::move(own->second);
    stored.erase(own);
    --element.writers;
  }
  if (!exchange.shared.NoteUpdate(element, setting_.thread))
    return Refuse(fmt::format("a thread stores in {} what another updates, and no barrier is between them", name));
  if (element.value.kind == ThreadValue::Kind::kNone)
    return Refuse(fmt::format("an element of {} is updated and has no value", name));
  ThreadValue old = element.value;
  ThreadValue changed = change(old);
  if (!changed.IsNumber()) return {};
  element.value = std::move(changed);
  return old;
}

std::optional<ThreadValue> AtomicCalled(ThreadArithmetic& arithmetic, ThreadMemory& memory, const ThreadAtomic& atomic,
                                        const ThreadArguments& values) {
  const AtomicKind kind = atomic.kind;
  if (values.size() != (kind == AtomicKind::kAtomicCompare ? 3u : 2u)) return std::nullopt;
  const ThreadValue& pointer = values[0];
  if (pointer.kind != ThreadValue::Kind::kPointer || !memory.Follows(pointer.memory)) return std::nullopt;
  const ThreadType type = atomic.type;
  const ThreadValue first = arithmetic.Converted(values[1], type);
  const ThreadValue second = values.size() > 2 ? arithmetic.Converted(values[2], type) : ThreadValue{};
  if (!first.IsNumber()) return std::nullopt;
  const bool integers = type == ThreadType::kInteger || type == ThreadType::kUnsigned;
  const bool bits = integers && memory.HoldsFloats(pointer.memory);
  const auto seen = [&](const ThreadValue& held) { return bits ? BitsOfFloat(held, type == ThreadType::kInteger) : held; };
  const auto larger = [&](const ThreadValue& a, const ThreadValue& b) {
    return integers ? a.integer > b.integer : a.real > b.real;
  };
  const auto change = [&](const ThreadValue& held) {
    const ThreadValue old = seen(held);
    if (integers != (old.kind == ThreadValue::Kind::kInteger)) return ThreadValue{};
    ThreadValue changed = first;
    if (kind == AtomicKind::kAtomicAdd) changed = arithmetic.Combined(IntegerOperator("+"), old, first);
    if (kind == AtomicKind::kAtomicSubtract) changed = arithmetic.Combined(IntegerOperator("-"), old, first);
    if (kind == AtomicKind::kAtomicMax) changed = larger(first, old) ? first : old;
    if (kind == AtomicKind::kAtomicMin) changed = larger(old, first) ? first : old;
    // Back to zero behind the largest.
    if (kind == AtomicKind::kAtomicIncrement)
      changed = old.integer >= first.integer ? ThreadValue::Integer(0) : ThreadValue::Integer(old.integer + 1);
    if (kind == AtomicKind::kAtomicCompare) {
      const bool same = integers ? old.integer == first.integer : old.real == first.real;
      changed = same ? second : old;
    }
    return bits ? FloatOfBits(changed) : changed;
  };
  ThreadValue old = memory.Update({-1, pointer.memory, pointer.integer, pointer.form, atomic.node}, change);
  if (!old.IsNumber()) return std::nullopt;
  return seen(old);
}

}  // namespace evo
