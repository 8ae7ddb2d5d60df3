#include "mutators/analysis/thread_memory.h"

#include <fmt/format.h>

#include <utility>

#include "mutators/analysis/fingerprint.h"
#include "mutators/analysis/shared_array.h"

namespace evo {

ThreadMemory::ThreadMemory(const SyntaxTree& tree, ThreadSymbols& symbols, const ThreadSetting& setting, ThreadTrace& trace,
                           Refusal& refusal)
    : tree_(tree), symbols_(symbols), setting_(setting), trace_(trace), refusal_(refusal), variables_(tree.nodes().size()) {}

ThreadValue ThreadMemory::Refuse(std::string why) {
  refusal_.Add(std::move(why));
  return {};
}

std::vector<ThreadValue>& ThreadMemory::AddArray(int variable, std::size_t elements) {
  Variable(variable) = ThreadValue::Pointer(variable);
  std::vector<ThreadValue>& array = arrays_[variable];
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
  if (place.variable >= 0) return Variable(place.variable);
  if (IsOfBlock(place.memory)) return LoadShared(place);
  const auto array = arrays_.find(place.memory);
  if (array == arrays_.end()) return LoadFromBuffer(place);
  const ThreadValue* const value = ElementOf(array->second, place);
  if (value == nullptr) return {};
  if (value->kind == ThreadValue::Kind::kNone)
    return Refuse(fmt::format("an element of {} is read and has no value", tree_.node(place.memory).name));
  return *value;
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

// Whether the block's threads share a memory that nobody else sees: arrays in shared memory, and scratch.
bool ThreadMemory::IsOfBlock(int memory) const {
  return setting_.scratch.contains(memory) || (setting_.exchange != nullptr && IsShared(tree_, memory));
}

ThreadValue ThreadMemory::LoadShared(const ThreadPlace& place) {
  const std::pair<int, std::int64_t> key(place.memory, place.index);
  const SharedValues& stored = StoredSince();
  if (const auto own = stored.find(key); own != stored.end()) return own->second;
  if (setting_.exchange != nullptr) {
    const SharedValues& before = setting_.exchange->shared;
    if (const auto value = before.find(key); value != before.end()) return value->second;
  }
  return Refuse(fmt::format("an element of {} is read and has no value", tree_.node(place.memory).name));
}

ThreadValue ThreadMemory::LoadFromBuffer(const ThreadPlace& place) {
  const SyntaxNode& buffer = tree_.node(place.memory);
  if (buffer.kind_name != "ParmDecl") return Refuse("a pointer that is not understood");
  if (setting_.addresses) return LoadSomething(place);
  if (const auto stored = trace_.stores.find(place.memory); stored != trace_.stores.end()) {
    const auto element = stored->second.find(place.index);
    if (element != stored->second.end()) return ThreadValue::Real(element->second.value);
  }
  if (const std::string type = tree_.node(place.memory).type.substr(0, tree_.node(place.memory).type.find('*'));
      type.find("int") != std::string::npos || type.find("long") != std::string::npos)
    return LoadInteger(place);
  const auto set = setting_.elements.find(place.memory);
  ThreadValue value = ThreadValue::Real(set != setting_.elements.end() ? set->second : RandomElement(place.memory, place.index));
  value.element = true;
  value.memory = place.memory;
  value.integer = place.index;
  value.form = place.form;
  if (!setting_.consumed) NoteRead(trace_, value, setting_.symbolic);
  return value;
}

// An element of a buffer of integers, as a symbol: all threads of a block have the same if they have the same index.
ThreadValue ThreadMemory::LoadInteger(const ThreadPlace& place) {
  if (!setting_.symbolic) return ThreadValue::Integer(setting_.loaded);
  const AffineForm index = place.form ? *place.form : AffineForm::Constant(place.index);
  return ThreadValue::Integer(setting_.loaded, symbols_.LoadedAt(tree_.node(place.memory).name, index));
}

// An element of a buffer that the thread may also have stored to.
ThreadValue ThreadMemory::LoadSomething(const ThreadPlace& place) {
  Touch(place, false);
  const double element = RandomElement(place.memory, place.index);
  const std::string& type = tree_.node(place.memory).type;
  for (const char* real : {"float", "double", "half", "bfloat16"}) {
    if (type.find(real) != std::string::npos) return ThreadValue::Real(element);
  }
  return ThreadValue::Integer(static_cast<std::int64_t>(4 * element));
}

void ThreadMemory::Touch(const ThreadPlace& place, bool store) {
  ThreadTrace::Touch touch{place.node, place.memory, place.index, store, {}};
  for (const int counter : setting_.counters) touch.counters.push_back(Variable(counter).integer);
  trace_.touches.push_back(std::move(touch));
}

void ThreadMemory::Store(const ThreadPlace& place, ThreadValue value) {
  if (refusal_.given()) return;
  if (place.variable >= 0) {
    if (place.variable == setting_.followed) trace_.history.push_back(value.real);
    Variable(place.variable) = std::move(value);
    return;
  }
  if (IsOfBlock(place.memory)) {
    StoredSince()[{place.memory, place.index}] = std::move(value);
    return;
  }
  const auto array = arrays_.find(place.memory);
  if (array == arrays_.end()) return StoreToBuffer(place, value);
  if (ThreadValue* const element = ElementOf(array->second, place)) *element = std::move(value);
}

void ThreadMemory::StoreToBuffer(const ThreadPlace& place, const ThreadValue& value) {
  const SyntaxNode& buffer = tree_.node(place.memory);
  if (setting_.addresses && buffer.kind_name == "ParmDecl") return Touch(place, true);
  if (value.kind != ThreadValue::Kind::kReal || buffer.kind_name != "ParmDecl")
    return refusal_.Add(fmt::format("it stores to {} what is not understood", buffer.name));
  auto& element = trace_.stores[place.memory][place.index];
  element.value = value.real;
  element.sum = value.sum;
  element.inner = value.inner;
  if (setting_.symbolic) element.index = place.form ? *place.form : AffineForm::Constant(place.index);
}

void ThreadMemory::CheckBuffers() {
  for (const auto& [buffer, elements] : trace_.stores) {
    const auto read = trace_.reads.find(buffer);
    if (read == trace_.reads.end() || setting_.addresses) continue;
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
  if (symbolic) known->second.index = element.form ? *element.form : AffineForm::Constant(element.integer);
}

}  // namespace evo
