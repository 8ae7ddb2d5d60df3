#include "mutators/analysis/stencils/stencil_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

namespace evo {
namespace {

constexpr std::int64_t kFurthest = StencilLaunch::kFurthestNeighbour;
// A length may be a parameter plus or minus this.
constexpr std::int64_t kMostPadding = 2;
// Elements of a buffer that all elements of a line may read: weights.
constexpr std::size_t kMostWeightsOfLine = 9;

// Lengths of rows and planes that may be the right ones.
struct LengthsOfStencil {
  std::pair<std::size_t, std::size_t> distances;
  std::size_t dimensions = 2;
  LaunchNumber row, plane;
};

}  // namespace

bool StencilShape::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

bool StencilShape::AddTo(Stencil& found) {
  for (StencilLaunch& launch : launches_) launch.line = false;
  return FindLengths(found) && FindStores(found) && FindReads(found);
}

std::vector<StencilShape::Reading> StencilShape::Readings() const {
  std::map<int, std::size_t> reads;
  for (const StencilLaunch& launch : launches_) {
    for (const StencilThread& thread : launch.threads) {
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (!touch.store && !stored_.contains(touch.memory)) ++reads[touch.memory];
      }
    }
  }
  std::vector<Reading> readings;
  for (const auto& [buffer, count] : reads) readings.push_back({buffer, count});
  return readings;
}

// The buffers of which threads read elements near their own, always or mostly, some of them in other rows and, in three
// dimensions, planes. Most lengths are no such ones, which the first threads tell.
std::set<int> StencilShape::Neighbouring(bool always) const {
  std::vector<Reading> readings = readings_;
  std::size_t left = readings.size();
  for (const StencilLaunch& launch : launches_) {
    const std::size_t last = launch.dimensions - 1;
    for (const StencilThread& thread : launch.threads) {
      if (left == 0) return {};
      const StencilPlace own = launch.PlaceOf(thread.element);
      for (const ThreadTrace::Touch& touch : thread.touches) {
        const auto reading =
            std::find_if(readings.begin(), readings.end(), [&](const Reading& one) { return one.buffer == touch.memory; });
        if (touch.store || reading == readings.end() || reading->dropped) continue;
        const StencilPlace read = launch.PlaceOf(touch.index);
        bool far = touch.index < 0;
        for (std::size_t axis = 0; axis < 3; ++axis) far |= std::abs(read[axis] - own[axis]) > kFurthest;
        reading->far += far;
        reading->moved |= !far && (any_axis_ ? read != own : read[last] != own[last]);
        reading->dropped = reading->far > (always ? 0 : reading->reads / 4);
        left -= reading->dropped;
      }
    }
  }
  std::set<int> near;
  for (const Reading& reading : readings) {
    if (!reading.dropped && reading.moved) near.insert(reading.buffer);
  }
  return near;
}

// How many different distances threads read `buffers` at, and how often one that is far.
std::pair<std::size_t, std::size_t> StencilShape::Distances(const Stencil& found) const {
  std::set<StencilPlace> distances;
  std::size_t far = 0;
  for (const StencilLaunch& launch : launches_) {
    for (const StencilThread& thread : launch.threads) {
      const StencilPlace own = launch.PlaceOf(thread.element);
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (std::find(found.buffers.begin(), found.buffers.end(), touch.memory) == found.buffers.end()) continue;
        StencilPlace away = launch.PlaceOf(touch.index);
        bool is_far = false;
        for (std::size_t axis = 0; axis < 3; ++axis) is_far |= std::abs(away[axis] -= own[axis]) > kFurthest;
        distances.insert(away);
        far += is_far;
      }
    }
  }
  return {distances.size(), far};
}

// Whether something is near what threads store if rows and planes have these lengths.
bool StencilShape::Fits(const LaunchNumber& row, const LaunchNumber& plane, bool always, Stencil& found) {
  for (std::size_t i = 0; i < 2; ++i) {
    launches_[i].dimensions = found.dimensions;
    launches_[i].lengths = {row.values[i], plane.values[i]};
  }
  const std::set<int> buffers = Neighbouring(always);
  found.buffers.assign(buffers.begin(), buffers.end());
  found.lengths = {Stencil::Number{row.kernel, row.launch}, Stencil::Number{plane.kernel, plane.launch}};
  return !buffers.empty();
}

// The lengths of rows and planes with which what is read is near.
bool StencilShape::FindLengths(Stencil& found) {
  readings_ = Readings();
  std::vector<LaunchNumber> candidates = numbers_.Near(kMostPadding);
  std::erase_if(candidates,
                [](const LaunchNumber& one) { return one.values[0] <= 2 * kFurthest || one.values[1] <= 2 * kFurthest; });
  // Where elements past an edge are those at the other one, several lengths may do; with the right one, neighbours are few.
  std::optional<LengthsOfStencil> best;
  const auto fits = [&](const LaunchNumber& row, const LaunchNumber& plane, bool always) {
    if (!Fits(row, plane, always, found)) return false;
    if (always) return true;
    const auto distances = Distances(found);
    if (!best || distances < best->distances) best = {distances, found.dimensions, row, plane};
    return false;
  };
  for (const bool always : {true, false}) {
    found.dimensions = 2;
    for (const LaunchNumber& row : candidates) {
      if (fits(row, row, always)) return true;
    }
    found.dimensions = 3;
    for (const LaunchNumber& row : candidates) {
      for (const LaunchNumber& plane : candidates) {
        if (fits(row, plane, always)) return true;
      }
    }
  }
  if (best) {
    found.dimensions = best->dimensions;
    return Fits(best->row, best->plane, false, found);
  }
  for (const StencilThread& thread : launches_[0].threads) {
    if (!ReadsOnlyItsOwn(thread)) return false;
  }
  // Rows, or planes, each for itself; or one line of elements.
  any_axis_ = true;
  for (found.dimensions = 2; found.dimensions <= 3; ++found.dimensions) {
    for (const LaunchNumber& row : candidates) {
      for (const LaunchNumber& plane : candidates) {
        if (found.dimensions == 2 && &plane != &row) continue;
        if (Fits(row, plane, true, found) && FindStores(found)) return true;
      }
    }
  }
  found.dimensions = 2;
  for (const LaunchNumber& length : numbers_.Near(2 * StencilLaunch::kFurthestInLine)) {
    if (FitsLine(length, found) && FindStores(found)) return true;
    for (StencilLaunch& launch : launches_) launch.line = false;
  }
  return Refuse(fmt::format("{}, the lengths of which are its parameters, at most {} away", kNoNeighboursOfStencil, kFurthest));
}

// Whether all that is read is near what threads store, in one line of elements. A few elements may be weights.
bool StencilShape::FitsLine(const LaunchNumber& length, Stencil& found) {
  std::set<int> moved, beyond;
  std::map<int, std::set<std::int64_t>> read;
  for (std::size_t i = 0; i < 2; ++i) {
    launches_[i].dimensions = 2;
    launches_[i].lengths = {length.values[i], 1};
    for (const StencilThread& thread : launches_[i].threads) {
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (touch.index < 0 || touch.index >= length.values[i]) beyond.insert(touch.memory);
        if (touch.store || stored_.contains(touch.memory)) {
          if (beyond.contains(touch.memory)) return false;
          continue;
        }
        // The other edge may follow an edge.
        const std::int64_t away = std::abs(touch.index - thread.element), distance = std::min(away, length.values[i] - away);
        if (distance > StencilLaunch::kFurthestInLine) beyond.insert(touch.memory);
        if (distance > 0) moved.insert(touch.memory);
        // Most lengths are no such ones, which the first threads tell.
        auto& elements = read[touch.memory];
        if (elements.size() <= kMostWeightsOfLine) elements.insert(touch.index);
        if (elements.size() > kMostWeightsOfLine && beyond.contains(touch.memory)) return false;
      }
    }
  }
  for (const int buffer : beyond) moved.erase(buffer);
  for (StencilLaunch& launch : launches_) launch.line = !moved.empty();
  found.buffers.assign(moved.begin(), moved.end());
  found.lengths = {Stencil::Number{length.kernel, length.launch}, Stencil::Number{"1", "1"}};
  return !moved.empty();
}

std::optional<Stencil::Range> StencilShape::RangeOf(const std::array<StencilBox, 2>& boxes, std::size_t axis) const {
  if (axis == 1 && launches_[0].line) return Stencil::Range{0, {"1", "1"}};
  return StencilRangeOf(numbers_, boxes, axis, launches_[0].line);
}

// Refuses a thread that reads an element that another one may have stored.
bool StencilShape::ReadsOnlyItsOwn(const StencilThread& thread) {
  for (const ThreadTrace::Touch& touch : thread.touches) {
    if (!touch.store && stored_.contains(touch.memory) && touch.index != thread.element)
      return Refuse(fmt::format("it reads of {} what other threads may have stored", tree_.node(touch.memory).name));
  }
  return true;
}

// Each element of a box is stored by one thread.
bool StencilShape::FindStores(Stencil& found) {
  std::array<StencilBox, 2> boxes;
  for (std::size_t i = 0; i < 2; ++i) {
    std::set<std::int64_t> elements;
    for (const StencilThread& thread : launches_[i].threads) {
      if (!elements.insert(thread.element).second) return Refuse("two threads store the same element");
      boxes[i].Add(launches_[i].PlaceOf(thread.element));
      if (!ReadsOnlyItsOwn(thread)) return false;
    }
    if (boxes[i].Volume() != static_cast<std::int64_t>(elements.size()))
      return Refuse("its threads do not store all elements of a box");
    launches_[i].stores = boxes[i];
  }
  for (std::size_t axis = 0; axis < found.dimensions; ++axis) {
    const auto range = RangeOf(boxes, axis);
    if (!range) return Refuse("which elements it stores does not follow from its parameters");
    found.stores[axis] = *range;
  }
  return true;
}

// Of buffers that are read within different bounds, as fields on staggered grids are, those that most are read with; others are
// read as before.
void StencilShape::KeepAlike(const std::map<int, StencilBox>& bounds, Stencil& found) const {
  const auto holds = [&](const StencilBox& of) {
    for (std::size_t axis = 0; axis < found.dimensions; ++axis) {
      if (of.low[axis] > launches_[0].stores.low[axis] || of.end[axis] < launches_[0].stores.end[axis]) return false;
    }
    return true;
  };
  std::vector<int> best;
  for (const auto& [buffer, of] : bounds) {
    std::vector<int> alike;
    for (const auto& [other, box] : bounds) {
      if (box == of) alike.push_back(other);
    }
    if (holds(of) && alike.size() > best.size()) best = std::move(alike);
  }
  if (!best.empty()) found.buffers = best;
}

// The bounds of what is read. They contain what is stored, so that a thread's own place is within the buffers.
bool StencilShape::FindReads(Stencil& found) {
  std::array<StencilBox, 2> boxes;
  for (std::size_t i = 0; i < 2; ++i) {
    std::map<int, StencilBox> bounds;
    for (const StencilThread& thread : launches_[i].threads) {
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (std::find(found.buffers.begin(), found.buffers.end(), touch.memory) == found.buffers.end()) continue;
        bounds[touch.memory].Add(launches_[i].PlaceOf(touch.index));
      }
    }
    if (i == 0) KeepAlike(bounds, found);
    for (const auto& [buffer, of] : bounds) {
      const bool kept = std::find(found.buffers.begin(), found.buffers.end(), buffer) != found.buffers.end();
      if (kept && of != bounds[found.buffers.front()]) return Refuse("it reads of two buffers within different bounds");
    }
    if (bounds.empty()) return Refuse("it reads neighbours with some sizes only");
    boxes[i] = bounds[found.buffers.front()];
  }
  for (std::size_t axis = 0; axis < found.dimensions; ++axis) {
    const auto range = RangeOf(boxes, axis);
    if (!range) return Refuse("which elements it reads does not follow from its parameters");
    found.reads[axis] = *range;
    const LaunchRuns::Setting& first = launches_[0].setting;
    const Stencil::Range& stores = found.stores[axis];
    if (range->LowIn(first) > stores.LowIn(first) || first.ValueOf(range->end.launch) < first.ValueOf(stores.end.launch))
      return Refuse("it stores elements beyond those that it reads");
    for (StencilLaunch& launch : launches_) {
      launch.reads.low[axis] = range->LowIn(launch.setting);
      launch.reads.end[axis] = launch.setting.ValueOf(range->end.launch);
    }
  }
  return true;
}

}  // namespace evo
