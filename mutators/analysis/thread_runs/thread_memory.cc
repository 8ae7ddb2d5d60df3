#include "mutators/analysis/thread_runs/thread_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Which number an element of a buffer is, if the setting says it.
std::optional<double> ChosenElement(const ThreadSetting& setting, const ThreadPlace& place) {
  if (const auto buffer = setting.chosen.find(place.memory); buffer != setting.chosen.end()) {
    if (const auto element = buffer->second->find(place.index); element != buffer->second->end()) return element->second;
  }
  const auto all = setting.elements.find(place.memory);
  return all == setting.elements.end() ? std::nullopt : std::optional(all->second);
}

// Else it is drawn.
double DrawnElement(const ThreadSetting& setting, const ThreadPlace& place) {
  const auto drawn = setting.drawn.find(place.memory);
  if (drawn == setting.drawn.end()) return RandomElement(place.memory, place.index);
  return drawn->second.times * RandomElement(drawn->second.buffer, place.index);
}

}  // namespace

ThreadMemory::ThreadMemory(const SyntaxTree& tree, const ThreadCode& code, ThreadSymbols& symbols, const ThreadSetting& setting,
                           ThreadTrace& trace, Refusal& refusal)
    : tree_(tree),
      code_(code),
      symbols_(symbols),
      setting_(setting),
      trace_(trace),
      refusal_(refusal),
      locals_{std::vector<ThreadValue>(code.variables()), std::vector<std::vector<ThreadValue>>(code.variables())} {}

ThreadValue ThreadMemory::Refuse(std::string why) {
  refusal_.Add(std::move(why));
  return {};
}

std::vector<ThreadValue>& ThreadMemory::AddArray(int variable, std::size_t elements) {
  Variable(variable) = ThreadValue::Pointer(variable);
  std::vector<ThreadValue>& array = locals_.arrays[code_.SlotOf(variable)];
  array.assign(elements, {});
  return array;
}

ThreadValue* ThreadMemory::ElementOf(std::vector<ThreadValue>& array, const ThreadPlace& place) {
  if (place.index >= 0 && place.index < static_cast<std::int64_t>(array.size()))
    return &array[static_cast<std::size_t>(place.index)];
  Refuse(fmt::format("element {} of the array {}", place.index, tree_.node(place.memory).name));
  return nullptr;
}

ThreadValue ThreadMemory::Load(const ThreadPlace& place) {
  if (refusal_.given()) return {};
  if (place.variable >= 0) {
    const ThreadValue* const value = place.component < 0 ? &Variable(place.variable) : ValueAt(place);
    return value != nullptr ? *value : Refuse(fmt::format("a part of {} has no value", tree_.node(place.variable).name));
  }
  if (IsOfBlock(place.memory)) return LoadShared(place);
  std::vector<ThreadValue>& array = locals_.arrays[code_.SlotOf(place.memory)];
  if (array.empty()) return LoadFromBuffer(place);
  const ThreadValue* const value = ElementOf(array, place);
  if (value == nullptr) return {};
  if (value->kind == ThreadValue::Kind::kNone)
    return Refuse(fmt::format("an element of {} is read and has no value", tree_.node(place.memory).name));
  return *value;
}

const ThreadValue* ThreadMemory::ValueAt(const ThreadPlace& place) const {
  const ThreadValue* value = nullptr;
  if (place.variable >= 0) {
    value = &Variable(place.variable);
    if (place.component >= 0) {
      const bool has = value->parts && place.component < static_cast<int>(value->parts->size());
      value = has ? &(*value->parts)[static_cast<std::size_t>(place.component)] : nullptr;
    }
  } else if (!IsOfBlock(place.memory)) {
    const std::vector<ThreadValue>& array = locals_.arrays[code_.SlotOf(place.memory)];
    if (place.index >= 0 && place.index < static_cast<std::int64_t>(array.size()))
      value = &array[static_cast<std::size_t>(place.index)];
  }
  return value == nullptr || value->kind == ThreadValue::Kind::kNone ? nullptr : value;
}

void ThreadMemory::PassBarrier() {
  if (!setting_.exchange->meeting->MeetBlock(setting_.thread)) refusal_.Add("it waits for other threads");
}

void ThreadMemory::MeetWarp(std::uint32_t mask) {
  if (!setting_.exchange->meeting->MeetWarp(setting_.thread, mask)) refusal_.Add("it waits for other threads");
}

ThreadValue ThreadMemory::Shuffle(ThreadValue value, std::size_t from, std::uint32_t mask) {
  auto& given = setting_.exchange->given;
  const std::size_t number = given[setting_.thread].size();
  given[setting_.thread].push_back(std::move(value));
  MeetWarp(mask);
  if (refusal_.given()) return {};
  if (from >= given.size() || number >= given[from].size()) return Refuse("a lane reads what another does not give");
  return given[from][number];
}

// Whether the block's threads share a memory of which nobody else changes what they see: arrays in shared memory, and scratch.
bool ThreadMemory::IsOfBlock(int memory) const {
  if (setting_.exchange != nullptr && code_.variable(memory).shared) return true;
  return (!setting_.scratch.empty() && setting_.scratch.contains(memory)) ||
         (!setting_.contents.empty() && setting_.contents.contains(memory));
}

ThreadValue ThreadMemory::LoadShared(const ThreadPlace& place) {
  ThreadValue value = InShared(place);
  if (setting_.addresses) return TouchCopy(place, std::move(value));
  if (value.kind == ThreadValue::Kind::kNone && setting_.formulas) value = UnsetNumber(tree_, place.memory);
  if (value.kind == ThreadValue::Kind::kNone)
    return Refuse(fmt::format("an element of {} is read and has no value", tree_.node(place.memory).name));
  return value;
}

// A thread that stores nothing may read what nobody has stored.
ThreadValue ThreadMemory::TouchCopy(const ThreadPlace& place, ThreadValue value) {
  const bool copied = value.kind == ThreadValue::Kind::kReal && value.element;
  Touch({-1, copied ? value.memory : -1, copied ? value.integer : -1, nullptr, place.node}, false);
  if (value.kind != ThreadValue::Kind::kNone) return value;
  return code_.variable(place.memory).reals ? ThreadValue::Real(0.5) : ThreadValue::Integer(0);
}

// Of no kind if there is nothing.
ThreadValue ThreadMemory::InShared(const ThreadPlace& place) {
  const std::size_t slot = code_.SlotOf(place.memory);
  BlockElement* const seen = setting_.exchange == nullptr ? nullptr : &setting_.exchange->shared.At(slot, place.index);
  if (seen != nullptr && !compared_ && !setting_.exchange->shared.NoteRead(*seen, setting_.thread))
    setting_.exchange->race = place.memory;
  if (seen == nullptr || seen->writers > 0) {
    const StoredValues& stored = seen == nullptr ? own_scratch_ : setting_.exchange->stored[setting_.thread];
    if (const auto own = stored.find({slot, place.index}); own != stored.end()) return own->second;
  }
  if (seen != nullptr && seen->value.kind != ThreadValue::Kind::kNone) return seen->value;
  if (const auto contents = setting_.contents.find(place.memory); contents != setting_.contents.end()) {
    const auto element = contents->second->find(place.index);
    if (const auto held = element != contents->second->end() ? std::optional(element->second) : BegunElement(setting_, place)) {
      if (!compared_) trace_.reads[place.memory][place.index].value = *held;
      if (code_.structs().IsIntegerAt(code_.variable(place.memory).structure, place.index))
        return ThreadValue::Integer(static_cast<std::int64_t>(*held));
      if (!setting_.words || !code_.variable(place.memory).integers)
        return HeldIn(code_.variable(place.memory), *held, setting_.sums ? &place : nullptr);
      ThreadValue word = ThreadValue::Element(*held, place.memory, place.index);
      word.whole = true;
      return word;
    }
  }
  return {};
}

std::optional<double> BegunElement(const ThreadSetting& setting, const ThreadPlace& place) {
  const auto chosen = ChosenElement(setting, place);
  return chosen || !setting.drawn.contains(place.memory) ? chosen : DrawnElement(setting, place);
}

void ThreadMemory::StoreShared(const ThreadPlace& place, ThreadValue value) {
  const std::size_t slot = code_.SlotOf(place.memory);
  if (setting_.contents.contains(place.memory)) {
    const bool integer = value.kind == ThreadValue::Kind::kInteger &&
                         (code_.variable(place.memory).integers ||
                          code_.structs().IsIntegerAt(code_.variable(place.memory).structure, place.index));
    if (value.kind != ThreadValue::Kind::kReal && !integer)
      return refusal_.Add(fmt::format("it stores to {} what is not understood", tree_.node(place.memory).name));
    ThreadTrace::Access& access = trace_.stores[place.memory][place.index];
    access.value = integer ? static_cast<double>(value.integer) : value.real;
    access.sum = value.sum, access.inner = value.inner;
    access.moment = setting_.exchange == nullptr ? 0 : setting_.exchange->shared.merged();
  }
  StoredValues& stored = setting_.exchange == nullptr ? own_scratch_ : setting_.exchange->stored[setting_.thread];
  const auto [known, fresh] = stored.insert_or_assign({slot, place.index}, std::move(value));
  if (setting_.exchange == nullptr) return;
  BlockElement& element = setting_.exchange->shared.At(slot, place.index);
  if (fresh) ++element.writers;
  if (!setting_.exchange->shared.NoteStore(element, setting_.thread)) setting_.exchange->race = place.memory;
}

ThreadValue ThreadMemory::LoadFromBuffer(const ThreadPlace& place) {
  const ThreadVariable& buffer = code_.variable(place.memory);
  const bool is_known = buffer.parameter || (buffer.constant && (setting_.sums || setting_.formulas || setting_.addresses));
  if (!is_known) return Refuse("a pointer that is not understood");
  // What integers of constant memory are is not known, so that no index may be made of one.
  if (setting_.addresses) return buffer.constant ? ThreadValue::Real(0.5) : LoadSomething(place);
  if (const auto stored = trace_.stores.find(place.memory); stored != trace_.stores.end()) {
    const auto element = stored->second.find(place.index);
    if (element != stored->second.end()) {
      ThreadValue again = ThreadValue::Real(element->second.value);
      again.whole = element->second.whole;
      again.formula = element->second.formula;
      return again;
    }
  }
  if (setting_.formulas) return LoadFormula(place);
  const bool words = setting_.words && buffer.bytes == 4;
  if ((buffer.integers && !words) || code_.structs().IsIntegerAt(code_.variable(place.memory).structure, place.index) ||
      (!setting_.integer_bytes.empty() && setting_.integer_bytes.contains(place.memory)))
    return LoadInteger(place);
  const auto chosen = ChosenElement(setting_, place);
  ThreadValue value = ThreadValue::Element(chosen ? *chosen : DrawnElement(setting_, place), place.memory, place.index);
  value.form = place.form;
  value.whole = setting_.sums && (buffer.bytes == 1 || words) && !buffer.reals;
  if (!setting_.consumed) NoteRead(trace_, value, setting_.symbolic);
  return value;
}

// An element of a buffer of integers, as a symbol: all threads of a block have the same if they have the same index.
ThreadValue ThreadMemory::LoadInteger(const ThreadPlace& place) {
  const auto chosen = ChosenElement(setting_, place);
  ThreadTrace::Loaded& loaded = trace_.loaded[place.memory][place.index];
  loaded.value = chosen ? static_cast<std::int64_t>(*chosen) : setting_.loaded;
  if (!setting_.symbolic) return ThreadValue::Integer(loaded.value);
  loaded.index = FormOr(place.form, place.index);
  FormPointer form = symbols_.LoadedAt(tree_.node(place.memory).name, loaded.index);
  loaded.symbol = *form->Symbols().begin();
  return ThreadValue::Integer(loaded.value, std::move(form));
}

// An element of a buffer that the thread may also have stored to.
ThreadValue ThreadMemory::LoadSomething(const ThreadPlace& place) {
  Touch(place, false);
  const double element = setting_.element ? *setting_.element : RandomElement(place.memory, place.index);
  const ThreadVariable& buffer = code_.variable(place.memory);
  const bool real = buffer.reals || buffer.components > 0 || buffer.structure >= 0;
  if (real) return ThreadValue::Element(element, place.memory, place.index);
  return ThreadValue::Integer(static_cast<std::int64_t>(setting_.element ? element : 4 * element));
}

void ThreadMemory::Touch(const ThreadPlace& place, bool store) {
  ThreadTrace::Touch touch{place.node, place.memory, place.index, store, {}};
  for (const int counter : setting_.counters) touch.counters.push_back(Variable(counter).integer);
  trace_.touches.push_back(std::move(touch));
}

void ThreadMemory::Store(const ThreadPlace& place, ThreadValue value) {
  if (refusal_.given()) return;
  if (value.kind == ThreadValue::Kind::kVector && place.variable < 0 && !setting_.addresses) {
    const auto parts = value.parts;
    if (!IsAligned(place, parts->size())) return;
    ThreadPlace next = place;
    for (const ThreadValue& part : *parts) {
      Store(next, part);
      ++next.index;
      if (next.form) next.form = SharedForm(next.form->Plus(AffineForm::Constant(1)));
    }
    return;
  }
  if (limit_ != Limit::kNone && place.variable < 0 && (IsOfBlock(place.memory) || limit_ == Limit::kLocals) &&
      !HasArray(place.memory))
    return refusal_.Add("elements decide whether it stores");
  if (place.component >= 0) return StoreComponent(place, std::move(value));
  if (place.variable >= 0) {
    // A sum of integers that wraps is not what it is where it does not.
    if (value.whole && !value.element && code_.variable(place.variable).bytes < 4)
      return refusal_.Add(fmt::format("{} is shorter than 32 bits", tree_.node(place.variable).name));
    if (place.variable == setting_.followed) trace_.history.push_back(value.real);
    Variable(place.variable) = std::move(value);
    return;
  }
  if (IsOfBlock(place.memory)) return StoreShared(place, std::move(value));
  std::vector<ThreadValue>& array = locals_.arrays[code_.SlotOf(place.memory)];
  if (array.empty()) return StoreToBuffer(place, value);
  if (ThreadValue* const element = ElementOf(array, place)) *element = std::move(value);
}

void ThreadMemory::StoreComponent(const ThreadPlace& place, ThreadValue value) {
  ThreadValue& vector = Variable(place.variable);
  if (setting_.addresses && vector.IsNumber()) return;  // which stands for all of its parts
  std::vector<ThreadValue> parts(static_cast<std::size_t>(code_.variable(place.variable).components));
  if (vector.parts) parts = *vector.parts;
  if (place.component >= static_cast<int>(parts.size())) return refusal_.Add("a part of a vector that it does not have");
  parts[static_cast<std::size_t>(place.component)] = std::move(value);
  vector = ThreadValue::Vector(std::move(parts));
}

bool ThreadMemory::IsAligned(const ThreadPlace& place, std::size_t count) {
  const auto several = static_cast<std::int64_t>(count);
  trace_.widest = std::max(trace_.widest, several);
  if (place.index % several == 0) return true;
  trace_.misaligned = std::max(trace_.misaligned, several);
  refusal_.Add(fmt::format("it accesses {} elements of {} at once where they do not begin at a multiple of that", count,
                           tree_.node(place.memory).name));
  return false;
}

ThreadValue ThreadMemory::LoadSeveral(const ThreadPlace& place, int count) {
  if (count == 1) return Load(place);
  if (refusal_.given() || !IsAligned(place, static_cast<std::size_t>(count))) return {};
  std::vector<ThreadValue> parts;
  ThreadPlace next = place;
  for (int i = 0; i < count && !refusal_.given(); ++i) {
    parts.push_back(Load(next));
    ++next.index;
    if (next.form) next.form = SharedForm(next.form->Plus(AffineForm::Constant(1)));
  }
  return refusal_.given() ? ThreadValue{} : ThreadValue::Vector(std::move(parts));
}

void ThreadMemory::StoreToBuffer(const ThreadPlace& place, const ThreadValue& value) {
  const bool is_buffer = code_.variable(place.memory).parameter;
  if (setting_.addresses && is_buffer) return Touch(place, true);
  if (setting_.formulas && is_buffer) {
    FormulaPointer formula = value.formula;
    if (!formula && value.kind == ThreadValue::Kind::kInteger) formula = FormulaInteger("int", value.integer);
    if (formula) formula = FormulaCast(std::move(formula), PointedTo(tree_, place.memory));
    if (!formula) return refusal_.Add(fmt::format("it stores to {} what is not understood", tree_.node(place.memory).name));
    trace_.stores[place.memory][place.index].formula = std::move(formula);
    return;
  }
  if (value.kind != ThreadValue::Kind::kReal || !is_buffer)
    return refusal_.Add(fmt::format("it stores to {} what is not understood", tree_.node(place.memory).name));
  if (value.whole && !value.element && code_.variable(place.memory).bytes < 4)
    return refusal_.Add(fmt::format("{} is shorter than 32 bits", tree_.node(place.memory).name));
  auto& element = trace_.stores[place.memory][place.index];
  element.value = value.real;
  element.sum = value.sum;
  element.inner = value.inner;
  element.whole = value.whole;
  if (setting_.symbolic) element.index = FormOr(place.form, place.index);
}

void ThreadMemory::CheckBuffers() {
  for (const auto& [buffer, elements] : trace_.stores) {
    const auto read = trace_.reads.find(buffer);
    if (read == trace_.reads.end() || setting_.addresses || setting_.formulas || setting_.contents.contains(buffer)) continue;
    for (const auto& [index, access] : read->second) {
      if (!elements.contains(index))
        return refusal_.Add(fmt::format("it reads of {} what other threads may have stored", tree_.node(buffer).name));
    }
  }
}

void NoteRead(ThreadTrace& trace, const ThreadValue& element, bool symbolic) {
  const auto [known, fresh] = trace.reads[element.memory].try_emplace(element.integer);
  if (!fresh) return;
  known->second.value = element.real;
  if (symbolic) known->second.index = FormOr(element.form, element.integer);
}

}  // namespace evo
