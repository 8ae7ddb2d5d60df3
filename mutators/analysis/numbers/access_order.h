#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evo {

// Who read or wrote an element last, and when.
struct LaneAccess {
  std::int64_t launch = -1, block = -1, phase = -1, warp_phase = -1;  // a block of -2: several
  int lane = -1;                                                      // -2: several
  bool atomic = false;
};

struct ElementAccesses {
  LaneAccess write, read;
};

// Tells which accesses to memory nothing orders, where the threads of one block after another go through a kernel together. A
// launch orders what came before it and what comes after, `__syncthreads` does so for a block, `__syncwarp` for a warp. Blocks of
// one launch may run in any order.
class AccessOrder {
 public:
  void StartLaunch() { ++launch_; }
  void StartBlock(std::size_t lanes);
  // `__syncthreads` by all threads of the block.
  void PassBarrier() { ++phase_; }
  // `__syncwarp` by all lanes of a warp.
  void PassWarpBarrier(std::size_t warp) { ++warp_phases_[warp]; }

  // Notes that a lane reads an element. False if nothing orders that and what another thread has written; then it is not noted.
  bool Read(ElementAccesses& element, std::size_t lane) const;
  // Notes it though another thread has written the element: what orders them is known elsewhere.
  void NoteRead(ElementAccesses& element, std::size_t lane) const;
  // The same as Read() for writes and what another thread has read or written.
  bool Write(ElementAccesses& element, std::size_t lane) const;
  // The same for atomics, of which the order among themselves does not matter.
  bool WriteAtomically(ElementAccesses& element, std::size_t lane) const;

  // Whether another block of this launch has written an element last.
  bool IsOfAnotherBlock(const ElementAccesses& element) const {
    return element.write.launch == launch_ && element.write.block != block_;
  }

 private:
  LaneAccess Now(std::size_t lane) const;
  bool Conflicts(const LaneAccess& other, std::size_t lane) const;

  std::int64_t launch_ = 0, block_ = 0, phase_ = 0;
  std::vector<std::int64_t> warp_phases_;
};

}  // namespace evo
