// Which neighbours the expressions of a stencil read, what its variables are, and the launches that check both.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/stencil_finder.h"

namespace evo {
namespace {

// Threads of a launch with larger sizes that are run, how many are tried for each, and how large a size may be.
constexpr std::size_t kLargeThreads = 24, kTriesOfLarge = 16;
constexpr std::int64_t kMostLargeSize = 1100;
// A variable may be a coordinate plus or minus this.
constexpr std::int64_t kMostShift = 8;

}  // namespace

bool StencilFinder::IsInner(const Launch& launch, const Thread& thread) const {
  const Place place = PlaceOf(launch, thread.element);
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    if (place[axis] - kFurthestNeighbour < launch.low[axis] || place[axis] + kFurthestNeighbour >= launch.end[axis]) return false;
  }
  return true;
}

std::vector<StencilFinder::Seen> StencilFinder::SeenAt(int node, bool inner) const {
  std::vector<Seen> seen;
  for (const Launch& launch : launches_) {
    for (const Thread& thread : launch.threads) {
      if (inner && !IsInner(launch, thread)) continue;
      const Place own = PlaceOf(launch, thread.element);
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (touch.node != node) continue;
        Place away = PlaceOf(launch, touch.index);
        for (std::size_t axis = 0; axis < 3; ++axis) away[axis] -= own[axis];
        seen.push_back({&touch, away});
      }
    }
  }
  return seen;
}

// The offset along an axis as a number plus multiples of the counters of the loops around the expression.
std::optional<Stencil::Offset> StencilFinder::Fit(int node, const std::vector<Seen>& seen, std::size_t axis) const {
  Stencil::Offset offset;
  const Seen& first = seen.front();
  offset.constant = first.away[axis];
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    const int loop = tree_.node(tree_.node(counters_[i]).parent).parent;
    if (!IsWithin(tree_, node, loop)) continue;
    // Another turn that differs in this counter only.
    const auto other = std::find_if(seen.begin(), seen.end(), [&](const Seen& one) {
      for (std::size_t j = 0; j < counters_.size(); ++j) {
        const bool same = one.touch->counters[j] == first.touch->counters[j];
        if (same == (i == j) && IsWithin(tree_, node, tree_.node(tree_.node(counters_[j]).parent).parent)) return false;
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

StencilFinder::Place StencilFinder::OffsetsIn(const Stencil::Site& site, const ThreadTrace::Touch& touch) const {
  Place away{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    away[axis] = site.offsets[axis].constant;
    for (const auto& [counter, factor] : site.offsets[axis].factors) {
      const auto at = std::find(counters_.begin(), counters_.end(), counter) - counters_.begin();
      away[axis] += factor * touch.counters[static_cast<std::size_t>(at)];
    }
  }
  return away;
}

// Whether an expression read what the offsets say; past an edge the nearest element.
bool StencilFinder::Explains(const Launch& launch, const Thread& thread, const ThreadTrace::Touch& touch,
                             const Stencil::Site& site) const {
  const Place own = PlaceOf(launch, thread.element), away = OffsetsIn(site, touch), read = PlaceOf(launch, touch.index);
  if (touch.memory != site.buffer || touch.index < 0) return false;
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    if (read[axis] != std::clamp(own[axis] + away[axis], launch.low[axis], launch.end[axis] - 1)) return false;
  }
  return true;
}

bool StencilFinder::FindSite(int node) {
  const auto inner = SeenAt(node, true), all = SeenAt(node, false);
  Stencil::Site site{node, all.front().touch->memory, {}};
  const std::vector<Seen>& seen = inner.empty() ? all : inner;
  const auto understood = [&] {
    for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
      const auto offset = Fit(node, seen, axis);
      if (!offset) return false;
      site.offsets[axis] = *offset;
    }
    for (const Seen& one : seen) {
      if (OffsetsIn(site, *one.touch) != one.away || one.touch->memory != site.buffer) return false;
    }
    return true;
  };
  const std::string text(tree_.Text(node));
  // What only threads at edges read may stay as it is.
  if (!understood()) return inner.empty() || Refuse(fmt::format("which neighbour `{}` is does not follow from its loops", text));
  for (const Launch& launch : launches_) {
    for (const Thread& thread : launch.threads) {
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (touch.node != node || Explains(launch, thread, touch, site)) continue;
        return inner.empty() || Refuse(fmt::format("past an edge, `{}` reads another element than the nearest one", text));
      }
    }
  }
  for (const Seen& one : all) {
    const Place away = OffsetsIn(site, *one.touch);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      found_.lowest[axis] = std::min(found_.lowest[axis], away[axis]);
      found_.highest[axis] = std::max(found_.highest[axis], away[axis]);
    }
  }
  found_.sites.push_back(std::move(site));
  return true;
}

// Expressions of functions that the kernel calls stay as they are.
bool StencilFinder::FindSites() {
  std::set<int> nodes;
  for (const Thread& thread : launches_[0].threads) {
    for (const ThreadTrace::Touch& touch : thread.touches) {
      const bool near = std::find(found_.buffers.begin(), found_.buffers.end(), touch.memory) != found_.buffers.end();
      if (near && tree_.node(touch.node).function == found_.kernel) nodes.insert(touch.node);
    }
  }
  for (const int node : nodes) {
    if (!FindSite(node)) return false;
  }
  const std::size_t last = found_.dimensions - 1;
  return found_.lowest[last] < found_.highest[last] || Refuse("none of its own expressions reads neighbours");
}

std::int64_t StencilFinder::ValueIn(const Stencil::Role& role, const Launch& launch, const Thread& thread) const {
  if (role.axis == Stencil::kElement) return thread.element + role.shift;
  return PlaceOf(launch, thread.element)[role.axis] + role.shift;
}

// The variables that are a coordinate or the element's index in all threads.
bool StencilFinder::FindRoles() {
  for (const int variable : candidates_) {
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}, std::size_t{2}, Stencil::kElement}) {
      if (axis >= found_.dimensions && axis != Stencil::kElement) continue;
      std::optional<Stencil::Role> role;
      bool always = true;
      for (const Launch& launch : launches_) {
        for (const Thread& thread : launch.threads) {
          const auto value = thread.values.find(variable);
          if (value == thread.values.end()) continue;
          if (!role) role = Stencil::Role{axis, value->second - ValueIn({axis, 0}, launch, thread)};
          always &= value->second == ValueIn(*role, launch, thread);
        }
      }
      if (!role || !always || std::abs(role->shift) > kMostShift) continue;
      found_.roles[variable] = *role;
      break;
    }
  }
  return true;
}

// Some threads of a launch whose sizes are beyond all numbers of the code do what was found.
bool StencilFinder::RunLarge() {
  FindTables();
  if (largest_number_ > kMostLargeSize)
    return Refuse(fmt::format("it has the number {}, and so large sizes are not tried", largest_number_));
  LaunchRuns::Sizes sizes;
  std::int64_t next = std::max<std::int64_t>(largest_number_, 30);
  for (const std::string& name : runs_.names()) sizes[name] = next += 3;
  const auto setting = runs_.SettingOf(sizes);
  if (!setting) return Refuse(fmt::format("its launch line has no threads where sizes are beyond {}", largest_number_));
  Launch large;
  large.setting = *setting;
  for (std::size_t i = 0; i < 2; ++i) large.lengths[i] = ValueOf(found_.lengths[i], *setting);
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    large.low[axis] = found_.reads[axis].low;
    large.end[axis] = ValueOf(found_.reads[axis].end, *setting);
  }
  std::uint64_t random = 1;
  for (std::size_t tries = 0; large.threads.size() < kLargeThreads && tries < kTriesOfLarge * kLargeThreads; ++tries) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    if (!AddThread(large, static_cast<std::int64_t>((random >> 16) % static_cast<std::uint64_t>(setting->Threads()))))
      return false;
  }
  const auto refuse = [&] { return Refuse(fmt::format("it does something else where sizes are beyond {}", largest_number_)); };
  for (const Thread& thread : large.threads) {
    for (const auto& [variable, role] : found_.roles) {
      const auto value = thread.values.find(variable);
      if (value != thread.values.end() && value->second != ValueIn(role, large, thread)) return refuse();
    }
    for (const ThreadTrace::Touch& touch : thread.touches) {
      for (const Stencil::Site& site : found_.sites) {
        if (site.node == touch.node && !Explains(large, thread, touch, site)) return refuse();
      }
    }
    const Place place = PlaceOf(large, thread.element);
    for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
      if (place[axis] < found_.stores[axis].low || place[axis] >= ValueOf(found_.stores[axis].end, *setting)) return refuse();
    }
  }
  std::erase_if(found_.tables, [&](const Stencil::Table& table) { return !Agrees(large, table); });
  return !large.threads.empty() || refuse();
}

// Nothing but the thread and the sizes decides what is read.
bool StencilFinder::IsDecidedBySizes() {
  std::set<int> sizes;
  for (const auto& [parameter, expression] : runs_.arguments()) {
    const std::string& name = NameOf(parameter);
    bool used = expression.Names().empty();
    for (const Stencil::Number& number : found_.lengths) used |= ContainsName(number.kernel, name);
    for (std::size_t axis = 0; axis < found_.dimensions; ++axis)
      used |= ContainsName(found_.stores[axis].end.kernel, name) || ContainsName(found_.reads[axis].end.kernel, name);
    if (used) sizes.insert(parameter);
  }
  const auto is_allowed = [&](auto& self, int symbol) -> bool {
    if (symbol < -1 || sizes.contains(symbol)) return true;
    if (!runs_.threads().block_constants().contains(symbol)) return false;
    const auto named = NamedIn(tree_, tree_.node(symbol).children.back());
    return std::all_of(named.begin(), named.end(), [&](int name) { return tree_.node(name).function < 0 || self(self, name); });
  };
  const std::size_t count = threads_.size();
  for (const std::size_t one : {std::size_t{0}, count / 3, count / 2, count - 1}) {
    const ThreadTrace trace = runs_.Run(launches_[0].setting, threads_[one], true);
    if (!trace.refusal.empty()) return Refuse(trace.refusal);
    for (const int symbol : trace.deciding) {
      if (!is_allowed(is_allowed, symbol))
        return Refuse(fmt::format("{} decides what it does", runs_.threads().TextOf(AffineForm::Symbol(symbol))));
    }
  }
  found_.parameters = ParametersBehind(context_, fmt::format("{}", fmt::join(names_, " ")));
  return true;
}

}  // namespace evo
