#include "mutators/analysis/stencils/stencil_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "mutators/analysis/source/source_query.h"

namespace evo {

bool StencilSites::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// With `inner`, only by threads all neighbours of which exist.
std::vector<StencilSites::Seen> StencilSites::SeenAt(int node, bool inner) const {
  std::vector<Seen> seen;
  for (const StencilLaunch& launch : launches_) {
    for (const StencilThread& thread : launch.threads) {
      if (inner && !launch.IsInner(thread)) continue;
      const StencilPlace own = launch.PlaceOf(thread.element);
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (touch.node != node) continue;
        StencilPlace away = launch.PlaceOf(touch.index);
        for (std::size_t axis = 0; axis < 3; ++axis) away[axis] -= own[axis];
        seen.push_back({&touch, away});
      }
    }
  }
  return seen;
}

bool StencilSites::IsInLoopOf(int node, int counter) const {
  return IsWithin(tree_, node, tree_.node(tree_.node(counter).parent).parent);
}

// The offset along an axis as a number plus multiples of the counters of the loops around the expression.
std::optional<Stencil::Offset> StencilSites::Fit(int node, const std::vector<Seen>& seen, std::size_t axis) const {
  Stencil::Offset offset;
  const Seen& first = seen.front();
  offset.constant = first.away[axis];
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (!IsInLoopOf(node, counters_[i])) continue;
    // Another turn that differs in this counter only.
    const auto other = std::find_if(seen.begin(), seen.end(), [&](const Seen& one) {
      for (std::size_t j = 0; j < counters_.size(); ++j) {
        const bool same = one.touch->counters[j] == first.touch->counters[j];
        if (same == (i == j) && IsInLoopOf(node, counters_[j])) return false;
      }
      return true;
    });
    if (other == seen.end()) continue;
    const std::int64_t turns = other->touch->counters[i] - first.touch->counters[i];
    const std::int64_t distance = other->away[axis] - first.away[axis];
    if (distance % turns != 0) return std::nullopt;
    if (distance == 0) continue;
    offset.factors.emplace_back(counters_[i], distance / turns);
    offset.constant -= distance / turns * first.touch->counters[i];
  }
  return offset;
}

// Sets the offsets of an expression. False if they do not explain all that was seen.
bool StencilSites::FitAll(const std::vector<Seen>& seen, Stencil::Site& site) const {
  for (std::size_t axis = 0; axis < launches_[0].dimensions; ++axis) {
    const auto offset = Fit(site.node, seen, axis);
    if (!offset) return false;
    site.offsets[axis] = *offset;
  }
  return std::all_of(seen.begin(), seen.end(), [&](const Seen& one) {
    return OffsetsIn(site, *one.touch) == one.away && one.touch->memory == site.buffer;
  });
}

StencilPlace StencilSites::OffsetsIn(const Stencil::Site& site, const ThreadTrace::Touch& touch) const {
  StencilPlace away{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    away[axis] = site.offsets[axis].constant;
    for (const auto& [counter, factor] : site.offsets[axis].factors) {
      const auto at = std::find(counters_.begin(), counters_.end(), counter) - counters_.begin();
      away[axis] += factor * touch.counters[static_cast<std::size_t>(at)];
    }
  }
  return away;
}

bool StencilSites::Explains(const StencilLaunch& launch, const StencilThread& thread, const ThreadTrace::Touch& touch,
                            const Stencil::Site& site) const {
  const StencilPlace own = launch.PlaceOf(thread.element), away = OffsetsIn(site, touch), read = launch.PlaceOf(touch.index);
  if (touch.memory != site.buffer || touch.index < 0) return false;
  for (std::size_t axis = 0; axis < launch.dimensions; ++axis) {
    if (read[axis] != launch.Existing(own[axis] + away[axis], axis)) return false;
  }
  return true;
}

// The axes along which the expression reads, past an edge, the element at the other edge.
void StencilSites::FindPeriodic(const Stencil::Site& site) {
  for (StencilLaunch& launch : launches_) {
    for (const StencilThread& thread : launch.threads) {
      const StencilPlace own = launch.PlaceOf(thread.element);
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (touch.node != site.node || touch.memory != site.buffer) continue;
        const StencilPlace away = OffsetsIn(site, touch), read = launch.PlaceOf(touch.index);
        for (std::size_t axis = 0; axis < launch.dimensions; ++axis) {
          if (launch.periodic[axis] || read[axis] == launch.Existing(own[axis] + away[axis], axis)) continue;
          launch.periodic[axis] = true;
          launch.periodic[axis] = read[axis] == launch.Existing(own[axis] + away[axis], axis);
        }
      }
    }
  }
}

// `is_inner`: threads all neighbours of which exist use it. What only threads at edges read may stay as it is.
bool StencilSites::AddSite(const Stencil::Site& site, bool is_inner, Stencil& found) {
  StencilPlace lowest = found.lowest, highest = found.highest;
  for (const StencilLaunch& launch : launches_) {
    for (const StencilThread& thread : launch.threads) {
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (touch.node != site.node) continue;
        if (!Explains(launch, thread, touch, site))
          return !is_inner || Refuse(fmt::format("past an edge, `{}` reads another element than the nearest one, and not that at "
                                                 "the other edge",
                                                 tree_.Text(site.node)));
        const StencilPlace away = OffsetsIn(site, touch);
        for (std::size_t axis = 0; axis < 3; ++axis) {
          lowest[axis] = std::min(lowest[axis], away[axis]);
          highest[axis] = std::max(highest[axis], away[axis]);
        }
      }
    }
  }
  found.lowest = lowest;
  found.highest = highest;
  found.sites.push_back(site);
  return true;
}

// Expressions of functions that the kernel calls stay as they are.
bool StencilSites::AddTo(Stencil& found) {
  std::set<int> nodes;
  for (const StencilThread& thread : launches_[0].threads) {
    for (const ThreadTrace::Touch& touch : thread.touches) {
      const bool near = std::find(found.buffers.begin(), found.buffers.end(), touch.memory) != found.buffers.end();
      if (near && tree_.node(touch.node).function == found.kernel) nodes.insert(touch.node);
    }
  }
  std::vector<std::pair<Stencil::Site, bool>> sites;
  for (const int node : nodes) {
    const auto inner = SeenAt(node, true), all = SeenAt(node, false);
    const auto& seen = inner.empty() ? all : inner;
    Stencil::Site site{node, seen.front().touch->memory, {}};
    if (FitAll(seen, site)) {
      if (!inner.empty()) FindPeriodic(site);
      sites.emplace_back(std::move(site), !inner.empty());
    } else if (!inner.empty()) {
      return Refuse(fmt::format("which neighbour `{}` is does not follow from its loops", tree_.Text(node)));
    }
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    found.periodic[axis] = launches_[0].periodic[axis] || launches_[1].periodic[axis];
    for (StencilLaunch& launch : launches_) launch.periodic[axis] = found.periodic[axis];
  }
  for (const auto& [site, is_inner] : sites) {
    if (!AddSite(site, is_inner, found)) return false;
  }
  return found.lowest != found.highest || Refuse("none of its own expressions reads neighbours");
}

}  // namespace evo
