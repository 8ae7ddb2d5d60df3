#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mutators/analysis/access_order.h"
#include "mutators/analysis/lane_values.h"
#include "mutators/analysis/refusal.h"

namespace evo {

// An element of a memory, and who read and wrote it last.
struct GridCell : ElementAccesses {
  std::int64_t number = 0;
  Knowledge known = Knowledge::kUnknown;
};

// Elements of a memory that a run follows.
inline constexpr std::int64_t kMostGridCells = 1 << 17;

// A buffer, an array in shared memory or an array of each thread.
struct GridMemory {
  std::string name;
  std::string type;                // of its elements; empty until a kernel gets it
  bool workspace = false;          // scratch, or no buffer at all
  bool local = false;              // each thread has its own
  std::int64_t elements = -1;      // how many it has; -1 if that is not known
  std::int64_t fingerprints = -1;  // of an argument of the task: which random numbers are its elements at the start
  std::vector<GridCell> cells;
};

// All memories of a run: buffers, and the arrays of the block that runs. Each has a number. Refused are a race, an access outside
// of a memory and what it is not made for.
class GridMemories {
 public:
  // The refusal outlives the object.
  explicit GridMemories(Refusal& refusal) : refusal_(refusal) {}

  void AddWorkspace(const std::string& name, std::int64_t elements);
  // A workspace, or an argument of the task: that has random numbers as its elements.
  int Buffer(const std::string& name, const std::string& type, std::int64_t elements);
  // Fills a workspace with bytes.
  void Fill(const std::string& workspace, std::int64_t value);
  // The buffers as they are in the end.
  std::vector<GridMemory> TakeBuffers() { return std::move(memories_); }

  void StartLaunch() { order_.StartLaunch(); }
  void StartBlock(std::size_t lanes);
  // Its arrays are gone.
  void EndBlock() { memories_.resize(buffers_); }
  int AddArray(GridMemory array);
  // Nothing is stored in it any more.
  void Empty(int array) { memories_[static_cast<std::size_t>(array)].cells.clear(); }

  // One element for each lane of a mask.
  LaneValues Load(int memory, const std::vector<std::int64_t>& index, const LaneMask& mask);
  void Store(int memory, const std::vector<std::int64_t>& index, const LaneValues& values, const LaneMask& mask);
  // Barriers that the threads of a block or of a warp have reached together.
  AccessOrder& order() { return order_; }

 private:
  GridCell* CellAt(GridMemory& memory, std::int64_t index, std::size_t lane);

  Refusal& refusal_;
  AccessOrder order_;
  std::vector<GridMemory> memories_;  // buffers first
  std::size_t buffers_ = 0;
  std::size_t lanes_ = 0;
};

}  // namespace evo
