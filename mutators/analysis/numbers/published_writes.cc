#include "mutators/analysis/numbers/published_writes.h"

#include <algorithm>
#include <utility>

namespace evo {
namespace {

bool Covers(const PublishedSet& set, const TimedWrite& write) {
  return std::any_of(set->begin(), set->end(), [&](const Published& one) {
    return one.block == write.block && (write.time < one.barrier || (one.lane == write.lane && write.time < one.fence));
  });
}

}  // namespace

void PublishedWrites::StartLaunch() { block_ = -1; }

void PublishedWrites::StartBlock(std::size_t lanes) {
  ++block_;
  barrier_ = -1;
  lanes_.assign(lanes, {});
  seen_by_all_.clear();
}

void PublishedWrites::PassBarrier() {
  barrier_ = ++time_;
  for (Lane& lane : lanes_) {
    for (const Seen& seen : lane.seen) {
      if (lane.fence > seen.time) seen_by_all_.push_back(seen.published);
    }
    std::erase_if(lane.seen, [&](const Seen& seen) { return lane.fence > seen.time; });
  }
}

void PublishedWrites::PassFence(const LaneMask& mask) {
  ++time_;
  for (std::size_t lane = 0; lane < mask.size(); ++lane) {
    if (!mask[lane]) continue;
    lanes_[lane].fence = time_;
    lanes_[lane].barrier = barrier_;
  }
}

PublishedSet PublishedWrites::Publish(std::size_t lane) const {
  const Lane& own = lanes_[lane];
  if (own.fence < 0) return nullptr;
  std::vector<Published> all{{block_, static_cast<int>(lane), own.fence, own.barrier}};
  const auto add = [&](const PublishedSet& set) { all.insert(all.end(), set->begin(), set->end()); };
  for (const Seen& seen : own.seen) {
    if (seen.time < own.fence) add(seen.published);
  }
  for (const PublishedSet& set : seen_by_all_) add(set);
  return std::make_shared<const std::vector<Published>>(std::move(all));
}

void PublishedWrites::See(std::size_t lane, PublishedSet published) {
  if (published) lanes_[lane].seen.push_back({std::move(published), ++time_});
}

PublishedSet PublishedWrites::PublishAfter(std::size_t lane, const PublishedSet& before) {
  const PublishedSet own = Publish(lane);
  if (!before) return own;
  lanes_[lane].seen.push_back({before, 0});
  if (!own) return before;
  std::vector<Published> all(*before);
  all.insert(all.end(), own->begin(), own->end());
  return std::make_shared<const std::vector<Published>>(std::move(all));
}

bool PublishedWrites::Knows(std::size_t lane, const TimedWrite& write, bool strongly) const {
  const Lane& own = lanes_[lane];
  const auto covers = [&](const Seen& seen) { return (strongly || own.fence > seen.time) && Covers(seen.published, write); };
  return std::any_of(own.seen.begin(), own.seen.end(), covers) ||
         std::any_of(seen_by_all_.begin(), seen_by_all_.end(), [&](const PublishedSet& set) { return Covers(set, write); });
}

}  // namespace evo
