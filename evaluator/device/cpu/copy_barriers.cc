#include "evaluator/device/cpu/copy_barriers.h"

#include <utility>

namespace evo {
namespace {

constexpr std::uintptr_t kBarrierBytes = 8;

}  // namespace

CopyBarriers::Barrier* CopyBarriers::Find(std::uintptr_t address, Result& result) {
  const auto found = barriers_.find(address);
  if (found != barriers_.end()) return &found->second;
  result.fault = "mbarrier: the barrier was not initialised";
  return nullptr;
}

void CopyBarriers::EndPhase(Barrier& barrier, Result& result) {
  if (barrier.missing > 0 || barrier.bytes != 0) return;
  barrier.missing = barrier.arrivals;
  barrier.parity ^= 1;
  barrier.ended = true;
  result.released = std::exchange(barrier.waiting, {});
}

CopyBarriers::Result CopyBarriers::Make(std::uintptr_t address, unsigned arrivals) {
  Result result;
  if (address % kBarrierBytes != 0) result.fault = "mbarrier: an address is no multiple of 8";
  if (arrivals == 0) result.fault = "mbarrier: a barrier for no arrivals";
  if (result.fault.empty()) barriers_[address] = {arrivals, arrivals, 0, 0, false, {}};
  return result;
}

CopyBarriers::Result CopyBarriers::Arrive(std::uintptr_t address, unsigned bytes) {
  Result result;
  Barrier* const barrier = Find(address, result);
  if (barrier == nullptr) return result;
  if (barrier->missing == 0) {
    result.fault = "mbarrier: more arrivals than the barrier was initialised for";
    return result;
  }
  barrier->bytes += bytes;
  --barrier->missing;
  EndPhase(*barrier, result);
  return result;
}

CopyBarriers::Result CopyBarriers::Complete(std::uintptr_t address, unsigned bytes) {
  Result result;
  Barrier* const barrier = Find(address, result);
  if (barrier == nullptr) return result;
  barrier->bytes -= bytes;
  EndPhase(*barrier, result);
  return result;
}

bool CopyBarriers::IsComplete(std::uintptr_t address, unsigned parity, int thread, Result& result) {
  Barrier* const barrier = Find(address, result);
  if (barrier == nullptr) return true;
  result.ended = barrier->ended;
  if (barrier->parity != (parity & 1)) return true;
  result.ended = true;  // when the thread goes on
  barrier->waiting.push_back(thread);
  return false;
}

}  // namespace evo
