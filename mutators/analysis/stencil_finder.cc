#include "mutators/analysis/stencil_finder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// What the sizes of the launch line are in the two small launches. Their differences differ, so that no size is another one plus
// a number in both.
constexpr std::int64_t kSizesOfStencil[2][8] = {{11, 13, 12, 16, 18, 21, 23, 26}, {14, 12, 17, 13, 20, 16, 27, 19}};
// The small launches have elements all neighbours of which exist.
constexpr std::int64_t kFurthest = StencilFinder::kFurthestNeighbour;
// Numbers of the kernel may be a parameter plus or minus this.
constexpr std::int64_t kMostAway = 2 * kFurthest;
constexpr std::int64_t kMostThreadsOfStencil = 100'000;
constexpr std::size_t kMostTouches = 400'000;
// Threads that are run to see whether a kernel may be a stencil, how many are tried for each, and what one may read.
constexpr std::size_t kFirstThreads = 12, kTriesOfFirst = 8, kMostReads = 250;

}  // namespace

StencilFinder::StencilFinder(const MutationContext& context, Stencil found, std::vector<int> candidates,
                             std::vector<int> counters)
    : context_(context),
      tree_(context.tree),
      found_(std::move(found)),
      candidates_(std::move(candidates)),
      counters_(std::move(counters)),
      runs_(context, *found_.launch, found_.kernel, context.tree.node(found_.kernel).children.back(),
            std::set<int>(candidates_.begin(), candidates_.end())),
      written_(WrittenIn(context.tree, found_.kernel)) {
  runs_.KeepTouches(counters_);
}

std::variant<Stencil, std::string> StencilFinder::Find() {
  if (!runs_.refusal().empty()) return runs_.refusal();
  if (runs_.names().size() > std::size(kSizesOfStencil[0])) return "its launch line names too many sizes";
  if (!IsPlausible() || !RunAll(0) || !RunAll(1) || !FindLengths() || !FindStores() || !FindReads() || !FindSites() ||
      !FindRoles() || !RunLarge() || !IsDecidedBySizes())
    return why_;
  found_.stored.assign(stored_.begin(), stored_.end());
  return found_;
}

// Adds a thread if it stores an element.
bool StencilFinder::AddThread(Launch& launch, std::int64_t thread) {
  ThreadTrace trace = runs_.Run(launch.setting, thread);
  if (!trace.refusal.empty()) return Refuse(trace.refusal);
  largest_number_ = std::max(largest_number_, trace.largest_number);
  names_.merge(trace.names);
  Thread one;
  std::optional<std::int64_t> element;
  for (const ThreadTrace::Touch& touch : trace.touches) {
    if (!touch.store) continue;
    if (element && *element != touch.index) return Refuse("a thread stores more than one element");
    element = touch.index;
    stored_.insert(touch.memory);
  }
  if (!element) return true;
  one.element = *element;
  one.touches = std::move(trace.touches);
  touched_ += one.touches.size();
  if (touched_ > kMostTouches) return Refuse("its threads read too many elements where sizes are 11 to 27");
  for (const auto& [variable, value] : trace.after.values) {
    if (value.kind == ThreadValue::Kind::kInteger) one.values[variable] = value.integer;
  }
  launch.threads.push_back(std::move(one));
  return true;
}

// Whether some threads read elements as far away as each other. If not, nobody would take it for a stencil.
bool StencilFinder::IsPlausible() {
  LaunchRuns::Sizes sizes;
  for (std::size_t i = 0; i < runs_.names().size(); ++i) sizes[runs_.names()[i]] = kSizesOfStencil[0][i];
  const auto setting = runs_.SettingOf(sizes);
  if (!setting) return false;
  Launch launch;
  launch.setting = *setting;
  std::uint64_t random = 1;
  std::size_t tries = 0;
  for (; launch.threads.size() < kFirstThreads && tries < kTriesOfFirst * kFirstThreads; ++tries) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    if (AddThread(launch, static_cast<std::int64_t>((random >> 16) % static_cast<std::uint64_t>(setting->Threads())))) continue;
    return false;
  }
  std::map<int, std::set<std::int64_t>> away;
  std::map<int, std::size_t> most;
  for (const Thread& thread : launch.threads) {
    std::map<int, std::set<std::int64_t>> own;
    for (const ThreadTrace::Touch& touch : thread.touches) {
      if (!touch.store) own[touch.memory].insert(touch.index - thread.element);
    }
    for (auto& [buffer, distances] : own) {
      most[buffer] = std::max(most[buffer], distances.size());
      away[buffer].merge(distances);
    }
  }
  plausible_ = std::any_of(away.begin(), away.end(), [&](const auto& one) {
    return most[one.first] >= 3 && most[one.first] <= kMostReads && one.second.size() <= 2 * most[one.first];
  });
  const double each = static_cast<double>(touched_) / static_cast<double>(tries);
  touched_ = 0;
  if (plausible_ && each * static_cast<double>(setting->Threads()) > kMostTouches / 2)
    return Refuse("its threads read too many elements where sizes are 11 to 27");
  return plausible_;
}

bool StencilFinder::RunAll(std::size_t number) {
  LaunchRuns::Sizes sizes;
  for (std::size_t i = 0; i < runs_.names().size(); ++i) sizes[runs_.names()[i]] = kSizesOfStencil[number][i];
  const auto setting = runs_.SettingOf(sizes);
  if (!setting) return Refuse("its launch line has no threads for sizes of 11 to 27");
  if (setting->Threads() > kMostThreadsOfStencil) return Refuse("it has too many threads for sizes of 11 to 27");
  Launch& launch = launches_[number];
  launch.setting = *setting;
  for (std::int64_t thread = 0; thread < setting->Threads(); ++thread) {
    const std::size_t before = launch.threads.size();
    if (!AddThread(launch, thread)) return false;
    if (number == 0 && launch.threads.size() > before) threads_.push_back(thread);
  }
  return !launch.threads.empty() || Refuse("its threads store nothing where sizes are 11 to 27");
}

// The kernel's integers, and these plus or minus a number up to `furthest`; the nearest first.
std::vector<StencilFinder::Candidate> StencilFinder::CandidatesOf(std::int64_t furthest) const {
  std::vector<Candidate> all;
  for (std::int64_t away = 0; away <= furthest; ++away) {
    for (const std::int64_t shift : {-away, away}) {
      if (away == 0 && !all.empty()) continue;
      for (const auto& [parameter, expression] : runs_.arguments()) {
        if (written_.contains(parameter)) continue;
        const bool plain = WithoutConst(tree_.node(parameter).type) == "int";
        const std::string name = plain ? NameOf(parameter) : fmt::format("int({})", NameOf(parameter));
        const std::string text = Parenthesised(expression.text());
        const std::string more = shift == 0 ? "" : fmt::format(" {} {}", shift < 0 ? "-" : "+", away);
        const auto with = [&](const std::string& of) { return shift == 0 ? of : fmt::format("({}{})", of, more); };
        all.push_back(
            {{with(name), with(text)},
             {launches_[0].setting.integers.at(parameter) + shift, launches_[1].setting.integers.at(parameter) + shift}});
      }
    }
  }
  return all;
}

std::optional<Stencil::Number> StencilFinder::NumberOf(std::int64_t first, std::int64_t second) const {
  for (const Candidate& candidate : CandidatesOf(kMostAway)) {
    if (candidate.values[0] == first && candidate.values[1] == second) return candidate.number;
  }
  return std::nullopt;
}

std::int64_t StencilFinder::ValueOf(const Stencil::Number& number, const Setting& setting) const {
  return Expression::Parse(number.launch).EvaluateInteger(setting.values);
}

StencilFinder::Place StencilFinder::PlaceOf(const Launch& launch, std::int64_t element) const {
  const std::int64_t row = element / launch.lengths[0];
  if (found_.dimensions == 2) return {element % launch.lengths[0], row, 0};
  return {element % launch.lengths[0], row % launch.lengths[1], row / launch.lengths[1]};
}

// The buffers of which threads read elements near their own, always or mostly, some of them in other rows and, in three
// dimensions, planes.
std::set<int> StencilFinder::Neighbouring(bool always) const {
  std::set<int> near, moved;
  std::map<int, std::pair<std::size_t, std::size_t>> counts;  // of reads, and of those that are far away
  for (const Launch& launch : launches_) {
    for (const Thread& thread : launch.threads) {
      const Place own = PlaceOf(launch, thread.element);
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (touch.store || stored_.contains(touch.memory)) continue;
        const Place read = PlaceOf(launch, touch.index);
        near.insert(touch.memory);
        bool far = touch.index < 0;
        for (std::size_t axis = 0; axis < 3; ++axis) far |= std::abs(read[axis] - own[axis]) > kFurthest;
        auto& [reads, far_reads] = counts[touch.memory];
        ++reads;
        far_reads += far;
        if (!far && read[found_.dimensions - 1] != own[found_.dimensions - 1]) moved.insert(touch.memory);
      }
    }
  }
  std::erase_if(near, [&](int buffer) {
    const auto& [reads, far] = counts[buffer];
    return far > (always ? 0 : reads / 4) || !moved.contains(buffer);
  });
  return near;
}

// The lengths of rows and planes with which what is read is near.
bool StencilFinder::FindLengths() {
  std::vector<Candidate> candidates = CandidatesOf(2);
  std::erase_if(candidates,
                [](const Candidate& one) { return one.values[0] <= 2 * kFurthest || one.values[1] <= 2 * kFurthest; });
  const auto fits = [&](const Candidate& row, const Candidate& plane, bool always) {
    for (std::size_t i = 0; i < 2; ++i) launches_[i].lengths = {row.values[i], plane.values[i]};
    const std::set<int> buffers = Neighbouring(always);
    found_.buffers.assign(buffers.begin(), buffers.end());
    found_.lengths = {row.number, plane.number};
    return !buffers.empty();
  };
  for (const bool always : {true, false}) {
    found_.dimensions = 2;
    for (const Candidate& row : candidates) {
      if (fits(row, row, always)) return true;
    }
    found_.dimensions = 3;
    for (const Candidate& row : candidates) {
      for (const Candidate& plane : candidates) {
        if (row.values != plane.values && fits(row, plane, always)) return true;
      }
    }
  }
  for (const Thread& thread : launches_[0].threads) {
    for (const ThreadTrace::Touch& touch : thread.touches) {
      if (!touch.store && stored_.contains(touch.memory) && touch.index != thread.element)
        return Refuse(fmt::format("it reads of {} what other threads may have stored", NameOf(touch.memory)));
    }
  }
  return Refuse("it reads no neighbours in other rows or planes, the lengths of which are its parameters");
}

// Each element of a box is stored by one thread.
bool StencilFinder::FindStores() {
  Place low[2], end[2];
  for (std::size_t i = 0; i < 2; ++i) {
    std::set<std::int64_t> elements;
    low[i] = end[i] = PlaceOf(launches_[i], launches_[i].threads.front().element);
    for (const Thread& thread : launches_[i].threads) {
      if (!elements.insert(thread.element).second) return Refuse("two threads store the same element");
      const Place place = PlaceOf(launches_[i], thread.element);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[i][axis] = std::min(low[i][axis], place[axis]);
        end[i][axis] = std::max(end[i][axis], place[axis] + 1);
      }
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (!touch.store && stored_.contains(touch.memory) && touch.index != thread.element)
          return Refuse(fmt::format("it reads of {} what other threads may have stored", NameOf(touch.memory)));
      }
    }
    std::int64_t volume = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) volume *= end[i][axis] - low[i][axis];
    if (volume != static_cast<std::int64_t>(elements.size())) return Refuse("its threads do not store all elements of a box");
  }
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    const auto number = NumberOf(end[0][axis], end[1][axis]);
    if (!number || low[0][axis] != low[1][axis]) return Refuse("which elements it stores does not follow from its parameters");
    found_.stores[axis] = {low[0][axis], *number};
  }
  return true;
}

// The bounds of what is read. They contain what is stored, so that a thread's own place is within the buffers.
bool StencilFinder::FindReads() {
  Place low[2], end[2];
  for (std::size_t i = 0; i < 2; ++i) {
    std::map<int, std::pair<Place, Place>> bounds;
    for (const Thread& thread : launches_[i].threads) {
      for (const ThreadTrace::Touch& touch : thread.touches) {
        if (std::find(found_.buffers.begin(), found_.buffers.end(), touch.memory) == found_.buffers.end()) continue;
        const Place place = PlaceOf(launches_[i], touch.index);
        auto& [least, most] = bounds.try_emplace(touch.memory, place, place).first->second;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          least[axis] = std::min(least[axis], place[axis]);
          most[axis] = std::max(most[axis], place[axis]);
        }
      }
    }
    for (const auto& [buffer, of] : bounds) {
      if (of != bounds.begin()->second) return Refuse("it reads of two buffers within different bounds");
    }
    std::tie(low[i], end[i]) = bounds.begin()->second;
  }
  for (std::size_t axis = 0; axis < found_.dimensions; ++axis) {
    const auto number = NumberOf(end[0][axis] + 1, end[1][axis] + 1);
    if (!number || low[0][axis] != low[1][axis]) return Refuse("which elements it reads does not follow from its parameters");
    found_.reads[axis] = {low[0][axis], *number};
    if (low[0][axis] > found_.stores[axis].low ||
        ValueOf(*number, launches_[0].setting) < ValueOf(found_.stores[axis].end, launches_[0].setting))
      return Refuse("it stores elements beyond those that it reads");
    for (Launch& launch : launches_) {
      launch.low[axis] = low[0][axis];
      launch.end[axis] = ValueOf(*number, launch.setting);
    }
  }
  return true;
}

}  // namespace evo
