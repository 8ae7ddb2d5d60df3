#include "mutators/analysis/numbers/access_order.h"

#include "mutators/analysis/numbers/lane_mask.h"

namespace evo {
namespace {

constexpr int kSeveral = -2;
// Several lanes of the first warp; of the next ones it is less.
constexpr int kSeveralOfWarp = -3;

// -1 for lanes of several warps.
int WarpOf(int lane) {
  if (lane >= 0) return lane / static_cast<int>(kWarpLanes);
  return lane <= kSeveralOfWarp ? kSeveralOfWarp - lane : -1;
}

}  // namespace

void AccessOrder::StartBlock(std::size_t lanes) {
  ++block_;
  ++phase_;
  warp_phases_.assign((lanes + kWarpLanes - 1) / kWarpLanes, 0);
}

LaneAccess AccessOrder::Now(std::size_t lane) const {
  return {launch_, block_, phase_, warp_phases_[lane / kWarpLanes], static_cast<int>(lane)};
}

// Whether nothing orders another thread's access and one of this lane now.
bool AccessOrder::Conflicts(const LaneAccess& other, std::size_t lane) const {
  const int own = static_cast<int>(lane);
  if (other.launch != launch_) return false;
  if (other.block != block_) return true;
  if (other.phase != phase_ || other.lane == own) return false;
  const bool same_warp = WarpOf(other.lane) == WarpOf(own);
  return !same_warp || other.warp_phase == warp_phases_[lane / kWarpLanes];
}

bool AccessOrder::Read(ElementAccesses& element, std::size_t lane) const {
  if (Conflicts(element.write, lane)) return false;
  NoteRead(element, lane);
  return true;
}

void AccessOrder::NoteRead(ElementAccesses& element, std::size_t lane) const {
  LaneAccess now = Now(lane);
  const LaneAccess& old = element.read;
  if (old.launch == launch_ && old.block != block_) now.block = kSeveral;
  const int warp = WarpOf(now.lane);
  if (old.launch == launch_ && old.block == block_ && Conflicts(old, lane))
    now.lane = WarpOf(old.lane) == warp ? kSeveralOfWarp - warp : kSeveral;
  element.read = now;
}

bool AccessOrder::Write(ElementAccesses& element, std::size_t lane) const {
  if (Conflicts(element.write, lane) || Conflicts(element.read, lane)) return false;
  element.write = Now(lane);
  return true;
}

bool AccessOrder::WriteAtomically(ElementAccesses& element, std::size_t lane) const {
  if ((Conflicts(element.write, lane) && !element.write.atomic) || Conflicts(element.read, lane)) return false;
  const LaneAccess now = Now(lane);
  const LaneAccess& old = element.write;
  const bool own = old.launch == now.launch && old.block == now.block && old.phase == now.phase && old.lane == now.lane;
  element.write = now;
  if (own) return true;           // it has written without an atomic before, which other lanes' atomics are not ordered with
  element.write.lane = kSeveral;  // even for this lane, other accesses are not ordered with it
  element.write.atomic = true;
  return true;
}

}  // namespace evo
