#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "mutators/analysis/numbers/refusal.h"
#include "mutators/analysis/source/affine_index.h"
#include "mutators/analysis/thread_runs/thread_code.h"
#include "mutators/analysis/thread_runs/thread_memory.h"
#include "mutators/analysis/thread_runs/thread_trace.h"

namespace evo {

// An integer or, with a memory, an address of a thread that runs without forms.
struct ThreadAddress {
  int memory = -1;
  std::int64_t integer = 0;  // of an address, the offset in elements
};

// Computes what of a thread's code is integers and addresses alone. Most expressions of kernels are, and as values with all that
// ThreadValue has they take several times as long.
class ThreadIntegers {
 public:
  // The arguments outlive the object.
  ThreadIntegers(ThreadCode& code, const ThreadSetting& setting, const ThreadMemory& memory, ThreadTrace& trace,
                 Refusal& refusal);

  // False if a node is not plain, or not as the thread runs; then nothing has happened.
  bool Evaluate(const ThreadNode& node, ThreadAddress& result);
  // The address of an element of an array; likewise.
  bool EvaluateElement(int array, int index, ThreadAddress& result);
  // What `threadIdx.x` and so on are.
  std::int64_t Builtin(int symbol) const { return builtins_[static_cast<std::size_t>(kFirstBuiltinSymbol - symbol)]; }
  // A number that the code spells, by the number of the constant; nullopt if it is no integer.
  std::optional<std::int64_t> Spelled(int number);

 private:
  bool Compute(const ThreadNode& node, ThreadAddress& result);
  bool ComputeVariable(int declaration, ThreadAddress& result) const;
  bool ComputeBinary(const ThreadNode& node, ThreadAddress& result);
  bool ComputeUnary(const ThreadNode& node, ThreadAddress& result);
  bool ComputeRow(const ThreadNode& node, ThreadAddress& result);
  bool ComputeChoice(const ThreadNode& node, ThreadAddress& result);
  bool ComputeExtreme(const ThreadNode& node, ThreadAddress& result);
  void NoteName(int number);

  ThreadCode& code_;
  const ThreadSetting& setting_;
  const ThreadMemory& memory_;
  ThreadTrace& trace_;
  Refusal& refusal_;
  std::array<std::int64_t, kBuiltinSymbols> builtins_{};
  std::vector<bool> named_;  // constants that the trace has the names of, by their numbers
};

}  // namespace evo
