#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "evaluator/device/cpu/include/evo_cpu/abi.h"

namespace evo {

// The lanes of one warp: which have not exited, and which wait for each other. Lanes are bits of a mask.
class SimtWarp {
 public:
  static constexpr unsigned kLanes = 32;
  static constexpr std::size_t kExchangeBytes = kLanes * evo_cpu_warp_slot_bytes;

  void Begin(unsigned lanes) {
    live_ = lanes == kLanes ? ~0u : (1u << lanes) - 1;
    barriers_.clear();
  }
  unsigned live() const { return live_; }
  void Exit(unsigned lane) { live_ &= ~(1u << lane); }
  // Where lanes hand each other values.
  char* exchange() { return exchange_.data(); }

  // The lane arrives at the barrier of `mask`. True for the last lane; the barrier still stands then. Lanes of a collective
  // barrier wait for the last lane's work, not only for its arrival.
  bool Arrive(unsigned lane, unsigned mask, bool collective) {
    auto barrier = Find(mask);
    if (barrier == barriers_.end()) barrier = barriers_.insert(barriers_.end(), {mask, 0, collective});
    barrier->arrived |= 1u << lane;
    return IsComplete(*barrier);
  }
  // Removes the barrier. The lanes that had arrived.
  unsigned Dissolve(unsigned mask) {
    const auto barrier = Find(mask);
    const unsigned lanes = barrier->arrived;
    barriers_.erase(barrier);
    return lanes;
  }
  // The mask of a barrier that waits for no lane any more, because those that were missing have exited.
  std::optional<unsigned> CompleteBarrier() const {
    const auto found = std::find_if(barriers_.begin(), barriers_.end(),
                                    [&](const Barrier& barrier) { return !barrier.collective && IsComplete(barrier); });
    return found == barriers_.end() ? std::nullopt : std::optional(found->mask);
  }

 private:
  struct Barrier {
    unsigned mask;
    unsigned arrived;
    bool collective;
  };
  bool IsComplete(const Barrier& barrier) const { return (barrier.arrived & live_) == (barrier.mask & live_); }
  std::vector<Barrier>::iterator Find(unsigned mask) {
    return std::find_if(barriers_.begin(), barriers_.end(), [&](const Barrier& barrier) { return barrier.mask == mask; });
  }

  unsigned live_ = 0;
  std::vector<Barrier> barriers_;
  alignas(16) std::array<char, kExchangeBytes> exchange_;
};

}  // namespace evo
