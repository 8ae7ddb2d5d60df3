#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mutators/analysis/block_runs/lane_values.h"
#include "mutators/analysis/grid_runs/grid_memory.h"
#include "mutators/analysis/numbers/refusal.h"
#include "syntax/syntax_tree.h"

namespace evo {

// A variable, or an element of memory for each lane.
struct LanePlace {
  int variable = -1;
  int memory = -1;
  std::vector<std::int64_t> index;
  MemoryAccess access = MemoryAccess::kPlain;
  int width = 1;  // neighbouring elements that are one vector
  int part = -1;  // of a variable that is a vector
};

// Values of a kernel's parameters, which are the same for all threads, by declaration.
using GridArguments = std::unordered_map<int, LaneValues>;

// What the names of a kernel stand for in the block that runs: values of variables, references, and the memories of arrays and
// shared variables.
class GridVariables {
 public:
  // The arguments outlive the object. Extents of arrays are only known if the parameters have the values of the text.
  GridVariables(const SyntaxTree& tree, GridMemories& memories, bool extents_known, Refusal& refusal);

  // `dynamic_bytes`: of shared memory, as the launch line says.
  void StartBlock(std::size_t lanes, std::int64_t dynamic_bytes, const GridArguments& arguments);

  // A `__device__` variable is this memory, for all blocks.
  void AddDeviceVariable(int variable, int memory) { of_device_[variable] = memory; }
  bool IsOfDevice(int variable) const { return of_device_.contains(variable); }

  // Lanes that the mask lacks keep what they have.
  void Declare(int variable, const LaneValues& values, const LaneMask& mask);
  void Pass(int parameter, LaneValues values);
  // A reference to a place.
  void Refer(int variable, LanePlace place) { references_[variable] = std::move(place); }
  // What a variable refers to; null if it is no reference.
  const LanePlace* ReferenceOf(int variable) const;
  // Where a variable is from now on, whose address somebody takes: in memory.
  LanePlace InMemory(int variable);

  // The memory of an array, or of a variable that is shared or of the device; nullopt if it has not been declared.
  std::optional<int> ArrayOf(int variable) const;
  // How many elements its initialiser has to fill: none if the block has the shared array already.
  std::int64_t DeclareArray(int variable);

  LaneValues Load(const LanePlace& place, const LaneMask& mask);
  void Store(const LanePlace& place, const LaneValues& values, const LaneMask& mask);

 private:
  LaneValues* Held(int variable);
  // The place behind a reference to a variable.
  const LanePlace& Behind(const LanePlace& place) const;
  bool IsAligned(const LanePlace& place, const LaneMask& mask);

  const SyntaxTree& tree_;
  GridMemories& memories_;
  bool extents_known_;
  Refusal& refusal_;
  std::size_t lanes_ = 0;
  std::int64_t dynamic_bytes_ = 0;
  std::unordered_map<int, LaneValues> values_;
  std::unordered_map<int, LanePlace> references_;
  std::unordered_map<int, int> arrays_, of_device_;
};

}  // namespace evo
