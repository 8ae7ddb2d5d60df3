#include "mutators/analysis/stencils/stencil_small_runs.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace evo {
namespace {

// What the sizes of the launch line are in the two small launches. Their differences differ, so that no size is another one plus
// a number in both.
constexpr std::int64_t kSizesOfStencil[2][8] = {{11, 13, 12, 16, 18, 21, 23, 26}, {14, 12, 17, 13, 20, 16, 27, 19}};
// The only size, where it is that of a line of elements: there are so few threads.
constexpr std::int64_t kSizesOfLine[2] = {61, 74};
constexpr std::int64_t kMostThreadsOfLine = 1100;
constexpr std::int64_t kCountsOfStencil[2][2] = {{2, 1}, {1, 3}};
// How many blocks there are along sizes of which the grid has whole blocks only; with so many elements for each at least.
constexpr std::int64_t kBlocksOfStencil[2][8] = {{2, 3, 4, 5, 6, 7, 8, 9}, {3, 4, 2, 6, 5, 8, 7, 9}};
constexpr std::int64_t kLeastOfBlocks = 6;
// The small launches have elements all neighbours of which exist.
static_assert(kSizesOfStencil[0][0] > 2 * StencilLaunch::kFurthestNeighbour);
constexpr std::int64_t kMostThreadsOfStencil = 200'000;
// Threads that are run to see whether a kernel may be a stencil, how many are tried for each, and what one may read.
constexpr std::size_t kFirstThreads = 12, kTriesOfFirst = 100, kMostReadsOfThread = 250;

}  // namespace

bool ReadAlike(const StencilLaunch& launch, std::size_t halves) {
  std::map<int, std::set<std::int64_t>> away;
  std::map<int, std::size_t> most;
  for (const StencilThread& thread : launch.threads) {
    std::map<int, std::set<std::int64_t>> own;
    for (const ThreadTrace::Touch& touch : thread.touches) {
      if (!touch.store) own[touch.memory].insert(touch.index - thread.element);
    }
    for (auto& [buffer, distances] : own) {
      most[buffer] = std::max(most[buffer], distances.size());
      away[buffer].merge(distances);
    }
  }
  // Differences read two elements of several buffers each.
  int differences = 0;
  for (const auto& [buffer, distances] : away) {
    const std::size_t own = most[buffer];
    if (own > kMostReadsOfThread || 2 * distances.size() > halves * own) continue;
    if (own >= 3 || (own == 2 && ++differences >= 2)) return true;
  }
  return false;
}

bool StencilSmallRuns::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

LaunchRuns::Sizes SmallSizesOfStencil(const LaunchRuns& runs, std::size_t launch, const std::set<std::string>& counts) {
  LaunchRuns::Sizes sizes;
  std::size_t count = 0;
  if (runs.names().size() == 1 && runs.whole_blocks().empty()) {
    const LaunchRuns::Sizes line{{runs.names().front(), kSizesOfLine[launch]}};
    const auto setting = runs.SettingOf(line);
    if (setting && setting->Threads() <= kMostThreadsOfLine) return line;
  }
  for (std::size_t i = 0; i < std::min(runs.names().size(), std::size(kSizesOfStencil[0])); ++i) {
    const std::string& name = runs.names()[i];
    sizes[name] = counts.contains(name) ? kCountsOfStencil[launch][count++] : kSizesOfStencil[launch][i];
    if (const auto whole = runs.whole_blocks().find(name); whole != runs.whole_blocks().end()) {
      const std::int64_t threads = whole->second.threads;
      sizes[name] = kBlocksOfStencil[launch][i] * threads * ((kLeastOfBlocks + threads - 1) / threads);
    }
  }
  return sizes;
}

std::vector<std::set<std::string>> CountsOfStencil(const LaunchRuns& runs) {
  std::vector<std::set<std::string>> choices{{}};
  const auto& names = runs.names();
  for (const std::string& name : names) choices.push_back({name});
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = i + 1; j < names.size(); ++j) choices.push_back({names[i], names[j]});
  }
  return choices;
}

std::optional<LaunchRuns::Setting> StencilSmallRuns::SettingOf(std::size_t launch) const {
  return runs_.SettingOf(SmallSizesOfStencil(runs_, launch, counts_));
}

bool StencilSmallRuns::Run() {
  if (runs_.names().size() > std::size(kSizesOfStencil[0])) return Refuse("its launch line names too many sizes");
  return IsPlausible() && RunAll(0) && RunAll(1);
}

// If not, nobody would take the kernel for a stencil.
bool StencilSmallRuns::IsPlausible() {
  for (std::set<std::string>& counts : CountsOfStencil(runs_)) {
    counts_ = std::move(counts);
    const auto setting = SettingOf(0);
    bool stores = false;
    if (setting && IsPlausibleIn(*setting, stores)) return true;
    if (stores || !why_.empty()) return false;
  }
  return Refuse("its threads store nothing where sizes are 11 to 27");
}

bool StencilSmallRuns::IsPlausibleIn(const LaunchRuns::Setting& setting, bool& stores) {
  StencilLaunch launch;
  launch.setting = setting;
  StencilSampler sampler(runs_);
  const auto tries = sampler.AddSome(launch, kFirstThreads, kTriesOfFirst * kFirstThreads);
  if (!tries) return Refuse(sampler.why());
  stores = !launch.threads.empty();
  plausible_ = ReadAlike(launch);
  const double each = static_cast<double>(sampler.touched()) / static_cast<double>(*tries);
  if (plausible_ && each * static_cast<double>(setting.Threads()) > 0.5 * static_cast<double>(StencilSampler::kMostTouches))
    return Refuse("its threads read too many elements where sizes are 11 to 27");
  return plausible_;
}

bool StencilSmallRuns::RunAll(std::size_t launch) {
  const auto setting = SettingOf(launch);
  if (!setting) return Refuse("its launch line has no threads for sizes of 11 to 27");
  if (setting->Threads() > kMostThreadsOfStencil) return Refuse("it has too many threads for sizes of 11 to 27");
  launches_[launch].setting = *setting;
  if (!sampler_.AddAll(launches_[launch])) return Refuse(sampler_.why());
  return !launches_[launch].threads.empty() || Refuse("its threads store nothing where sizes are 11 to 27");
}

}  // namespace evo
