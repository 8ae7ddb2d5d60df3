#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mutators/analysis/block_runs/lane_values.h"
#include "mutators/analysis/numbers/access_order.h"
#include "mutators/analysis/numbers/published_writes.h"
#include "mutators/analysis/numbers/refusal.h"

namespace evo {

// An element of a memory, and who read and wrote it last.
struct GridCell : ElementAccesses {
  std::int64_t number = 0;
  Knowledge known = Knowledge::kUnknown;
  TimedWrite written;      // last
  bool flag = false;       // by an atomic or as `volatile`
  PublishedSet published;  // with it
};

// How memory is read or written: as any variable; by an atomic or as `volatile`; so, in the condition of a loop that waits.
enum class MemoryAccess { kPlain, kStrong, kWaiting };

// What an atomic does.
enum class AtomicChange { kAdd, kIncrement, kExchange };

// Elements of a memory that a run follows.
inline constexpr std::int64_t kMostGridCells = 1 << 18;

// A buffer, an array in shared memory or an array of each thread.
struct GridMemory {
  std::string name;
  std::string type;                // of its elements; empty until a kernel gets it
  bool workspace = false;          // scratch, or no buffer at all
  bool local = false;              // each thread has its own
  std::int64_t elements = -1;      // how many it has; -1 if that is not known
  std::int64_t fingerprints = -1;  // of an argument of the task: which random numbers are its elements at the start
  std::vector<GridCell> cells;     // of an argument perhaps one more than its elements, if it was read or written
  bool filled = false;             // an argument with zeros in the place of random numbers
  // Whether the one behind the elements was written, or read before that.
  bool HasOneMore(bool written) const {
    const auto place = static_cast<std::size_t>(elements);
    return cells.size() > place && (written ? cells[place].write.launch : cells[place].read.launch) >= 0;
  }
};

// All memories of a run: buffers, and the arrays of the block that runs. Each has a number. Refused are a race, an access outside
// of a memory and what it is not made for.
class GridMemories {
 public:
  // The refusal outlives the object.
  explicit GridMemories(Refusal& refusal) : refusal_(refusal) {}

  void AddWorkspace(const std::string& name, std::int64_t elements);
  // A `__device__` variable, or an array of them, all of which begin with this value.
  int AddDeviceVariable(const std::string& name, const std::string& type, std::int64_t elements, std::int64_t initial);
  // Whether an element of a memory has another value than this.
  bool HasOther(int memory, std::int64_t number) const;
  // A workspace, or an argument of the task: that has random numbers as its elements.
  int Buffer(const std::string& name, const std::string& type, std::int64_t elements);
  // Fills a buffer with bytes; an argument of so many elements.
  void Fill(const std::string& buffer, std::int64_t value, std::int64_t elements);
  // The buffers as they are in the end.
  std::vector<GridMemory> TakeBuffers() { return std::move(memories_); }

  void StartLaunch();
  void StartBlock(std::size_t lanes);
  // Its arrays are gone.
  void EndBlock() { memories_.resize(buffers_); }
  int AddArray(GridMemory array);
  // Nothing is stored in it any more.
  void Empty(int array) { memories_[static_cast<std::size_t>(array)].cells.clear(); }

  // One element for each lane of a mask.
  LaneValues Load(int memory, const std::vector<std::int64_t>& index, const LaneMask& mask,
                  MemoryAccess access = MemoryAccess::kPlain);
  void Store(int memory, const std::vector<std::int64_t>& index, const LaneValues& values, const LaneMask& mask,
             MemoryAccess access = MemoryAccess::kPlain);
  // Gives what was there; not known where several lanes of the mask change the same element.
  LaneValues Change(AtomicChange change, int memory, const std::vector<std::int64_t>& index, const LaneValues& values,
                    const LaneMask& mask);
  // All threads of the block are at a barrier; all lanes of a warp at one of the warp; lanes at a `__threadfence`.
  void PassBarrier();
  void PassWarpBarrier(std::size_t warp) { order_.PassWarpBarrier(warp); }
  void PassFence(const LaneMask& mask) { published_.PassFence(mask); }
  // Whether the result of an atomic may depend on the order in which blocks run.
  bool has_tickets() const { return has_tickets_; }

 private:
  GridCell* CellAt(GridMemory& memory, std::int64_t index, std::size_t lane);
  bool MayRead(const GridMemory& memory, GridCell& cell, std::size_t lane, MemoryAccess access);
  // The lanes of a warp go together through what they do with `volatile` memory, as code that unrolls its last warp expects.
  void GoTogether(const GridMemory& memory, MemoryAccess access);
  bool IsBuffer(int memory) const { return static_cast<std::size_t>(memory) < buffers_; }

  Refusal& refusal_;
  AccessOrder order_;
  PublishedWrites published_;
  bool has_tickets_ = false;
  std::vector<GridMemory> memories_;  // buffers first
  std::size_t buffers_ = 0;
  std::size_t lanes_ = 0;
};

}  // namespace evo
