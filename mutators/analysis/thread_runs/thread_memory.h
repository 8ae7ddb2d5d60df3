#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/numbers/refusal.h"
#include "mutators/analysis/thread_runs/thread_code.h"
#include "mutators/analysis/thread_runs/thread_symbols.h"
#include "mutators/analysis/thread_runs/thread_trace.h"
#include "syntax/syntax_tree.h"

namespace evo {

// A variable, or an element of a local array or of a buffer.
struct ThreadPlace {
  int variable = -1;  // or
  int memory = -1;
  std::int64_t index = 0;
  FormPointer form;
  int node = -1;       // the expression that names it, or the call that loads it
  int component = -1;  // of a vector that the variable is
};

// What a thread reads and writes: variables, local arrays, and buffers, whose elements are random numbers. What it reads and
// stores of buffers is noted in the trace. Refused is what other threads might change.
class ThreadMemory {
 public:
  // The arguments outlive the object.
  ThreadMemory(const SyntaxTree& tree, const ThreadCode& code, ThreadSymbols& symbols, const ThreadSetting& setting,
               ThreadTrace& trace, Refusal& refusal);

  // By its declaration; of no kind if it has no value.
  ThreadValue& Variable(int declaration) { return locals_.variables[code_.SlotOf(declaration)]; }
  const ThreadValue& Variable(int declaration) const { return locals_.variables[code_.SlotOf(declaration)]; }
  // The elements of a local array, at least one, none of which has a value yet; the variable points to it.
  std::vector<ThreadValue>& AddArray(int variable, std::size_t elements);

  bool HasArray(int variable) const { return !locals_.arrays[code_.SlotOf(variable)].empty(); }

  // Waits for the other threads of the block, or for some of the warp.
  void PassBarrier();
  void MeetWarp(std::uint32_t mask);
  // What another thread of the block gives in a shuffle in which this one gives `value`.
  ThreadValue Shuffle(ThreadValue value, std::size_t from, std::uint32_t mask);

  // Whether a thread sees what threads before it have made of elements there: in shared memory, and in what is `updated`.
  bool Follows(int memory) const;
  bool HoldsFloats(int memory) const { return code_.variable(memory).reals && code_.variable(memory).bytes == 4; }
  // Whether what is read from now on may change at once, since an atomicCAS looks at it again. Returns what was set before.
  bool SetCompared(bool compared) { return std::exchange(compared_, compared); }
  // Changes an element at once, as an atomic operation does, and returns what it was.
  ThreadValue Update(const ThreadPlace& place, const std::function<ThreadValue(const ThreadValue&)>& change);

  ThreadValue Load(const ThreadPlace& place);
  // What is in a variable or a local array, until it is stored to; null if it is elsewhere or has no value.
  const ThreadValue* ValueAt(const ThreadPlace& place) const;
  void Store(const ThreadPlace& place, ThreadValue value);
  // Several neighbouring elements at once as a vector. They begin where their number divides the index.
  ThreadValue LoadSeveral(const ThreadPlace& place, int count);
  // All variables and local arrays.
  struct Locals {
    std::vector<ThreadValue> variables;
    std::vector<std::vector<ThreadValue>> arrays;
  };
  Locals& locals() { return locals_; }
  // To what may be stored from now on: anything, or nothing that other threads read, or only locals.
  enum class Limit : std::uint8_t { kNone, kOwn, kLocals };
  Limit limit() const { return limit_; }
  // The limit before.
  Limit SetLimit(Limit limit) { return std::exchange(limit_, limit); }
  // At the end: refuses a thread that has read what it does not store of a buffer to which it stores.
  void CheckBuffers();

 private:
  // Null, and refused, for an element that an array does not have.
  ThreadValue* ElementOf(std::vector<ThreadValue>& array, const ThreadPlace& place);
  ThreadValue LoadFormula(const ThreadPlace& place);
  ThreadValue LoadFromBuffer(const ThreadPlace& place);
  ThreadValue LoadSomething(const ThreadPlace& place);
  void Touch(const ThreadPlace& place, bool store);
  ThreadValue TouchCopy(const ThreadPlace& place, ThreadValue value);
  void StoreToBuffer(const ThreadPlace& place, const ThreadValue& value);
  ThreadValue LoadInteger(const ThreadPlace& place);
  ThreadValue LoadShared(const ThreadPlace& place);
  ThreadValue InShared(const ThreadPlace& place);
  bool IsOfBlock(int memory) const;
  bool IsAligned(const ThreadPlace& place, std::size_t count);
  void StoreComponent(const ThreadPlace& place, ThreadValue value);
  void StoreShared(const ThreadPlace& place, ThreadValue value);
  ThreadValue Refuse(std::string why);

  const SyntaxTree& tree_;
  const ThreadCode& code_;
  ThreadSymbols& symbols_;
  const ThreadSetting& setting_;
  ThreadTrace& trace_;
  Refusal& refusal_;
  Locals locals_;  // by slot
  Limit limit_ = Limit::kNone;
  bool compared_ = false;
  StoredValues own_scratch_;  // of a thread that runs alone
};

// What is in memory that others have written, before it is written; nullopt if it has no value.
std::optional<double> BegunElement(const ThreadSetting& setting, const ThreadPlace& place);
// What a number in a buffer is to a thread: an integer, or a real number, which is an element if its place is given.
ThreadValue HeldIn(const ThreadVariable& buffer, double number, const ThreadPlace* place = nullptr);
// Notes that a thread reads an element of a buffer.
// Where formulas count, a number that nobody has stored: a thread that stores nothing may compute with it. Of no kind if its type
// is none that formulas know.
ThreadValue UnsetNumber(const SyntaxTree& tree, int declaration);
void NoteRead(ThreadTrace& trace, const ThreadValue& element, bool symbolic);

}  // namespace evo
