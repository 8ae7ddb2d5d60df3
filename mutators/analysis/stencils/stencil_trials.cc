#include "mutators/analysis/stencils/stencil_trials.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/stencils/stencil_tables.h"

namespace evo {
namespace {

// Threads of a launch with larger sizes that are run, how many are tried for each, and how large a size may be.
constexpr std::size_t kLargeThreads = 24, kTriesOfLarge = 16;
constexpr std::int64_t kMostLargeSize = 1100;
constexpr std::int64_t kLargeCount = 5;
// Where a grid that has the same number of blocks for all sizes is too small.
constexpr std::int64_t kSizeBeyondGrids = 4096;

}  // namespace

bool StencilTrials::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// Whether there are as many threads as elements, of which each stores one at most.
bool StencilTrials::HasThreadsForAll(const Stencil& found, const std::set<std::string>& counts) const {
  LaunchRuns::Sizes sizes;
  for (const std::string& name : runs_.names()) {
    const auto whole = runs_.whole_blocks().find(name);
    const std::int64_t unit = whole == runs_.whole_blocks().end() ? 1 : whole->second.threads;
    sizes[name] = counts.contains(name) ? kLargeCount : (kSizeBeyondGrids + unit - 1) / unit * unit;
  }
  const auto setting = runs_.SettingOf(sizes);
  if (!setting) return true;
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < found.dimensions; ++axis)
    elements *= std::max<std::int64_t>(setting->ValueOf(found.stores[axis].end.launch) - found.stores[axis].LowIn(*setting), 0);
  return elements <= 2 * setting->Threads();
}

bool StencilTrials::RunLarge(Stencil& found, const std::set<std::string>& counts) {
  const std::int64_t largest = sampler_.largest_number();
  if (largest > kMostLargeSize) return Refuse(fmt::format("it has the number {}, and so large sizes are not tried", largest));
  LaunchRuns::Sizes sizes;
  std::int64_t next = std::max<std::int64_t>(largest, 30);
  for (const std::string& name : runs_.names()) {
    next += 3;
    if (const auto whole = runs_.whole_blocks().find(name); whole != runs_.whole_blocks().end())
      next += (whole->second.threads - next % whole->second.threads) % whole->second.threads;
    sizes[name] = counts.contains(name) ? kLargeCount : next;
  }
  const auto setting = runs_.SettingOf(sizes);
  if (!setting) return Refuse(fmt::format("its launch line has no threads where sizes are beyond {}", largest));
  if (!HasThreadsForAll(found, counts)) return Refuse("with large sizes its grid has fewer threads than there are elements");
  StencilLaunch large;
  large.setting = *setting;
  large.dimensions = found.dimensions;
  large.periodic = found.periodic;
  large.line = found.IsLine();
  for (std::size_t i = 0; i < 2; ++i) large.lengths[i] = setting->ValueOf(found.lengths[i].launch);
  for (std::size_t axis = 0; axis < found.dimensions; ++axis) {
    large.reads.low[axis] = found.reads[axis].LowIn(*setting);
    large.reads.end[axis] = setting->ValueOf(found.reads[axis].end.launch);
    large.stores.low[axis] = found.stores[axis].LowIn(*setting);
    large.stores.end[axis] = setting->ValueOf(found.stores[axis].end.launch);
  }
  if (!sampler_.AddSome(large, kLargeThreads, kTriesOfLarge * kLargeThreads)) return Refuse(sampler_.why());
  // With several tiles, a place in a tile is no coordinate.
  if (!found.of_tile.empty()) {
    std::erase_if(found.roles, [&](const auto& role) {
      return std::any_of(large.threads.begin(), large.threads.end(), [&](const StencilThread& thread) {
        const auto value = thread.values.find(role.first);
        return value != thread.values.end() && value->second != large.ValueIn(role.second, thread);
      });
    });
  }
  const bool all = std::all_of(large.threads.begin(), large.threads.end(),
                               [&](const StencilThread& thread) { return DoesAsFound(large, thread, found); });
  if (large.threads.empty() || !all)
    return Refuse(fmt::format("it does something else where sizes are beyond {}", sampler_.largest_number()));
  std::erase_if(found.tables, [&](const Stencil::Table& table) { return !ReadAsTable(large, table); });
  return true;
}

bool StencilTrials::DoesAsFound(const StencilLaunch& launch, const StencilThread& thread, const Stencil& found) const {
  for (const auto& [variable, role] : found.roles) {
    const auto value = thread.values.find(variable);
    if (value != thread.values.end() && value->second != launch.ValueIn(role, thread)) return false;
  }
  for (const ThreadTrace::Touch& touch : thread.touches) {
    for (const Stencil::Site& site : found.sites) {
      if (site.node == touch.node && !sites_.Explains(launch, thread, touch, site)) return false;
    }
  }
  const StencilPlace place = launch.PlaceOf(thread.element);
  for (std::size_t axis = 0; axis < found.dimensions; ++axis) {
    const Stencil::Range& stores = found.stores[axis];
    if (place[axis] < stores.LowIn(launch.setting) || place[axis] >= launch.setting.ValueOf(stores.end.launch)) return false;
  }
  return true;
}

// The kernel's parameters that are sizes, numbers of the launch line, or the same there as a size.
std::set<int> StencilTrials::SizesOf(const Stencil& found) const {
  std::set<int> sizes;
  std::set<std::string> passed;
  for (const auto& [parameter, expression] : runs_.arguments()) {
    const std::string& name = context_.tree.node(parameter).name;
    bool used = expression.Names().empty();
    for (const Stencil::Number& number : found.lengths) used |= ContainsName(number.kernel, name);
    for (std::size_t axis = 0; axis < found.dimensions; ++axis) {
      for (const Stencil::Range* range : {&found.stores[axis], &found.reads[axis]})
        used |= ContainsName(range->end.kernel, name) || ContainsName(range->from.kernel, name);
    }
    if (!used) continue;
    sizes.insert(parameter);
    passed.insert(std::string(expression.text()));
  }
  for (const auto& [parameter, expression] : runs_.arguments()) {
    if (passed.contains(std::string(expression.text()))) sizes.insert(parameter);
  }
  return sizes;
}

// Whether a symbol may decide what is read: the thread, a size, or a variable of the block that is computed from such.
bool StencilTrials::IsAllowed(int symbol, const std::set<int>& sizes) const {
  if (symbol < -1 || sizes.contains(symbol)) return true;
  if (!runs_.threads().block_constants().contains(symbol)) return false;
  const auto named = NamedIn(context_.tree, context_.tree.node(symbol).children.back());
  return std::all_of(named.begin(), named.end(),
                     [&](int name) { return context_.tree.node(name).function < 0 || IsAllowed(name, sizes); });
}

bool StencilTrials::RunSymbolic(Stencil& found) {
  const std::set<int> sizes = SizesOf(found);
  const std::vector<StencilThread>& threads = launches_[0].threads;
  const std::size_t count = threads.size();
  for (const std::size_t one : {std::size_t{0}, count / 3, count / 2, count - 1}) {
    const ThreadTrace trace = runs_.Run(launches_[0].setting, threads[one].number, true);
    if (!trace.refusal.empty()) return Refuse(trace.refusal);
    for (const int symbol : trace.deciding) {
      if (!IsAllowed(symbol, sizes))
        return Refuse(fmt::format("{} decides what it does", runs_.threads().TextOf(AffineForm::Symbol(symbol))));
    }
  }
  found.parameters = ParametersBehind(context_, fmt::format("{}", fmt::join(sampler_.names(), " ")));
  return true;
}

}  // namespace evo
