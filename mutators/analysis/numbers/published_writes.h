#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mutators/analysis/numbers/lane_mask.h"

namespace evo {

// What a thread has published with a flag: its writes before its last fence, those of its block before the barrier before that,
// and what it had seen by then of other blocks.
struct Published {
  std::int64_t block = -1;
  int lane = -1;
  std::int64_t fence = -1;    // when it was at the fence
  std::int64_t barrier = -1;  // when its block was at the barrier before it
};
using PublishedSet = std::shared_ptr<const std::vector<Published>>;

// When, and by whom, an element was written.
struct TimedWrite {
  std::int64_t block = -1;
  int lane = -1;
  std::int64_t time = -1;
};

// Tells which writes of other blocks of a launch a thread may rely on. A block publishes them by `__threadfence` and a flag that
// it then writes by an atomic or as `volatile`. A thread that waits for the flag, by such reads in the condition of a loop
// without a body, may read them in the same way from then on, and in any way once it has passed a `__threadfence`; so may the
// other threads of its block behind the next barrier. An atomic that takes a ticket needs no fence after it: those of the other
// blocks come before their tickets.
class PublishedWrites {
 public:
  void StartLaunch();
  void StartBlock(std::size_t lanes);
  void PassBarrier();
  void PassFence(const LaneMask& mask);

  // A write of this lane now.
  TimedWrite Write(std::size_t lane) { return {block_, static_cast<int>(lane), ++time_}; }
  // What a flag publishes that this lane writes now; null for nothing.
  PublishedSet Publish(std::size_t lane) const;
  // This lane has waited for a flag.
  void See(std::size_t lane, PublishedSet published);
  // This lane changes a flag by an atomic that gives it what was there, such as a ticket: with it come the writes that all
  // changes before have published, which this one publishes, too.
  PublishedSet PublishAfter(std::size_t lane, const PublishedSet& before);
  // Whether it may rely on a write of another block; `strongly`: reading by an atomic or as `volatile`.
  bool Knows(std::size_t lane, const TimedWrite& write, bool strongly) const;

 private:
  struct Seen {
    PublishedSet published;
    std::int64_t time = 0;
  };
  struct Lane {
    std::vector<Seen> seen;
    std::int64_t fence = -1, barrier = -1;
  };

  std::int64_t block_ = -1, time_ = 0, barrier_ = -1;
  std::vector<Lane> lanes_;
  std::vector<PublishedSet> seen_by_all_;
};

}  // namespace evo
