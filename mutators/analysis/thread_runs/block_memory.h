#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "mutators/analysis/thread_runs/thread_value.h"

namespace evo {

// What one thread has stored in memory of the block, by the slot of the array or variable (ThreadCode::SlotOf) and by element.
using StoredValues = std::map<std::pair<std::size_t, std::int64_t>, ThreadValue>;

// When a thread accessed an element: between which barriers of the block, and of its warp.
struct BlockAccess {
  std::int32_t thread = -1;
  std::uint32_t barriers = 0, meetings = 0;
};

struct BlockElement {
  ThreadValue value;       // of no kind if none was stored
  std::int64_t times = 0;  // of Merge, in which it was stored last
  int writers = 0;         // threads that have stored in it since they last met
  BlockAccess stored, read;
  BlockAccess updated;                                // by an atomic operation
  bool several_updated = false;                       // threads have done so since the barrier
  bool several_warps = false, several_lanes = false;  // that have read it since the barrier, or since their warp met
};

// What the threads of a block see in shared memory: its elements as they were when threads last met.
class BlockMemory {
 public:
  BlockElement& At(std::size_t slot, std::int64_t index);
  // Lets the others see what threads have stored. False if two of them race to store different values in an element.
  bool Merge(std::vector<StoredValues>& stored, const std::vector<std::size_t>& threads);
  std::int64_t merged() const { return merged_; }
  // Notes an access. False if another thread may store there at the same time, or if this one does and another accesses it.
  bool NoteRead(BlockElement& element, std::size_t thread);
  bool NoteStore(BlockElement& element, std::size_t thread);
  // An atomic operation, of which several may be at the same time.
  bool NoteUpdate(BlockElement& element, std::size_t thread);

 private:
  static constexpr std::size_t kLanes = 32;
  BlockAccess Now(std::size_t thread);
  bool AtTheSameTime(const BlockAccess& access, std::size_t thread);
  bool ReadByOthers(const BlockElement& element, std::size_t thread);
  bool UpdatedByOthers(const BlockElement& element, std::size_t thread);

  // Elements from here on are unusual, and so are those in front of an array.
  static constexpr std::int64_t kMostDense = 1 << 18;
  // A block accesses few elements of a buffer, which may lie far behind its first one.
  static constexpr std::size_t kPageElements = 32;
  using Page = std::array<BlockElement, kPageElements>;

  std::vector<std::vector<std::unique_ptr<Page>>> dense_;
  std::map<std::pair<std::size_t, std::int64_t>, BlockElement> others_;
  std::int64_t merged_ = 0;
  std::uint32_t barriers_ = 0;
  std::vector<std::uint32_t> meetings_;  // of each warp
};

}  // namespace evo
