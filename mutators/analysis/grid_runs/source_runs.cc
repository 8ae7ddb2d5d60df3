#include "mutators/analysis/grid_runs/source_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "core/error.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// A block has no more threads on any GPU. A launch line may have a size for them.
constexpr std::int64_t kMostThreadsTogether = 1024;
// Threads of a launch: more take too long.
constexpr std::int64_t kMostLaunchedThreads = 1 << 17;
// Of a launch of which only some units are run.
constexpr std::int64_t kMostSampledTurns = 700'000;
// Units that are tried for each element that is wanted, and elements for which there is a unit at least.
constexpr std::int64_t kMostSpreadTries = 24, kSpreadOfUnit = 8;
constexpr std::int64_t kBlocksThatTell = 2, kFarTooMany = 4;  // by whose turns those of a launch are reckoned
// In place of a unit.
constexpr std::int64_t kSeveralUnits = -1;

// What four equal bytes are as a float.
double FloatOfBytes(int byte) {
  const auto bits = static_cast<std::uint32_t>(byte & 0xff) * 0x01010101u;
  return static_cast<double>(std::bit_cast<float>(bits));
}

}  // namespace

struct SourceRuns::Accesses {
  struct Store {
    double value = 0;
    std::int64_t unit = 0, moment = 0;
  };
  std::map<std::string, std::map<std::int64_t, Store>> stored;
  std::map<std::string, std::map<std::int64_t, std::int64_t>> readers;  // units
  std::map<std::string, std::set<std::int64_t>> updated;                // by atomic operations
  // Of a kernel with fences: the last unit, which an atomic operation may tell that it may read what all others have stored.
  std::int64_t last = kSeveralUnits - 1;
};

SourceRuns::SourceRuns(const MutationContext& context) : context_(context), tree_(context.tree) {}

bool SourceRuns::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

bool SourceRuns::Run(const LaunchTrial& trial, LaunchedRun& run) {
  refused_ = {};
  for (Link& link : links_) {
    for (const auto& [declaration, buffer] : link.buffers) {
      if (buffer.starts_with(kDeviceVariable)) run.filled[buffer] = 0;
    }
  }
  for (Link& link : links_) {
    if (link.launch != nullptr) {
      if (!RunLaunch(link, trial, (trial.samples || trial.spread > 0) && &link == &links_.back(), run)) return false;
      continue;
    }
    // Elements that no launch stores have this number.
    run.stored[link.memset->buffer].clear();
    run.filled[link.memset->buffer] = FloatOfBytes(link.memset->value);
  }
  return KeepsDeviceVariables(run);
}

// What its threads find in buffers and parameters.
void SourceRuns::Give(Link& link, const LaunchTrial& trial, const LaunchRuns::Setting& setting, LaunchedRun& run) {
  std::map<int, const BufferContents*> contents;
  ThreadSetting& given = link.runs->given();
  given.elements.clear(), given.drawn.clear(), given.same.clear(), given.chosen.clear(), given.updated.clear();
  std::map<std::string, int> parameters;
  for (const auto& [parameter, buffer] : link.buffers) {
    const auto [first, fresh] = parameters.try_emplace(buffer, parameter);
    if (!fresh) given.same[parameter] = first->second;
    if (changed_.contains(buffer)) contents[parameter] = given.updated[parameter] = &run.stored[buffer];
    if (const auto chosen = trial.chosen.find(buffer); chosen != trial.chosen.end())
      given.chosen[parameter] = std::make_shared<BufferContents>(chosen->second);
    const auto times = trial.times.find(buffer);
    if (const auto filled = run.filled.find(buffer); filled != run.filled.end())
      given.elements[parameter] = filled->second;
    else if (const auto all = trial.elements.find(buffer); all != trial.elements.end())
      given.elements[parameter] = all->second;
    else if (modes_.alone || !IsWorkspace(buffer))
      given.drawn[parameter] = {NumberOf(buffer), times == trial.times.end() ? 1.0 : times->second};
  }
  for (const auto& [parameter, expression] : link.reals) {
    if (const auto known = trial.reals.find(expression.text()); known != trial.reals.end()) {
      given.reals[parameter] = known->second;
      continue;
    }
    try {
      given.reals[parameter] = expression.Evaluate(setting.values).AsReal();
    } catch (const Error&) {
      continue;  // an argument of the task, which is any number
    }
  }
  for (const auto& [parameter, value] : given.reals) {
    const SyntaxNode& node = tree_.node(parameter);
    const std::string type = WithoutConst(node.type);
    if (type == "float" || type == "double") run.knowledge.factors.try_emplace(node.name, value);
  }
  link.runs->Provide(std::move(contents));
}

bool SourceRuns::RunLaunch(Link& link, const LaunchTrial& trial, bool samples, LaunchedRun& run) {
  const auto setting = link.runs->SettingOf(trial.sizes);
  const std::int64_t of_block = setting ? setting->block[0] * setting->block[1] * setting->block[2] : 0;
  if (!setting || setting->Threads() > kMostLaunchedThreads || of_block > kMostThreadsTogether) {
    refused_.is_too_large = setting && of_block <= kMostThreadsTogether;
    return Refuse(fmt::format("{} has {} with sizes that are tried", link.launch->kernel, setting ? "too many threads" : "none"));
  }
  Give(link, trial, *setting, run);
  Accesses accesses;
  if (!RunUnits(link, trial, *setting, samples, accesses, run)) return false;
  for (const auto& [buffer, elements] : accesses.updated) {
    run.updated[buffer].insert(elements.begin(), elements.end());
    const auto is_accessed = [&](std::int64_t index) {
      const auto store = accesses.stored[buffer].find(index);
      // A ticket that the last one sets back.
      const bool stored = store != accesses.stored[buffer].end() && store->second.unit != accesses.last;
      return stored || accesses.readers[buffer].contains(index);
    };
    if (std::any_of(elements.begin(), elements.end(), is_accessed))
      return Refuse(fmt::format("{}: threads access of {} what others update", link.launch->kernel, buffer));
  }
  for (const auto& [buffer, elements] : accesses.stored) {
    for (const auto& [index, store] : elements) {
      const auto& readers = accesses.readers[buffer];
      const auto reader = readers.find(index);
      const bool handed_on = reader != readers.end() && reader->second == accesses.last && !accesses.updated.empty();
      if (reader != readers.end() && reader->second != store.unit && !handed_on)
        return Refuse(fmt::format("{}: threads read of {} what others store", link.launch->kernel, buffer));
      run.stored[buffer][index] = store.value;
    }
  }
  return true;
}

bool SourceRuns::RunUnits(Link& link, const LaunchTrial& trial, const LaunchRuns::Setting& setting, bool samples,
                          Accesses& accesses, LaunchedRun& run) {
  const std::int64_t each = link.runs->together() ? setting.block[0] * setting.block[1] * setting.block[2] : 1;
  const std::int64_t units = setting.Threads() / each;
  if (CodeOf(tree_).find("__threadfence()") != std::string::npos) accesses.last = units - 1;
  if (!samples) {
    const std::int64_t of_block = setting.block[0] * setting.block[1] * setting.block[2] / each;
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max(), before = turns_;
    for (std::int64_t unit = 0; unit < units; ++unit) {
      if (!RunUnit(link, trial, setting, unit, accesses, run)) return false;
      // Whole blocks tell: where threads run alone, most of a block may have nothing to do.
      const std::int64_t blocks = (unit + 1) / of_block;
      if ((unit + 1) % of_block != 0 || blocks > kBlocksThatTell) continue;
      fewest = std::min(fewest, turns_ - std::exchange(before, turns_));
      const std::int64_t times = blocks < kBlocksThatTell ? kFarTooMany : 1;
      if (turns_ + fewest * (units / of_block - blocks) <= times * kMostLaunchedTurns) continue;
      refused_.is_final = refused_.is_too_large = true;
      return Refuse(fmt::format("{}: its loops have too many turns to try", link.launch->kernel));
    }
    return true;
  }
  // The first one, and so many of the last ones as may be tried, or of all.
  const std::int64_t most = turns_ + kMostSampledTurns;
  if (!RunUnit(link, trial, setting, 0, accesses, run)) return false;
  const auto stored = [&] {
    std::size_t count = 0;
    for (const auto& [buffer, elements] : accesses.stored) count += elements.size();
    return static_cast<std::int64_t>(count);
  };
  std::set<std::int64_t> seen{0};
  for (const auto& [name, size] : trial.sizes) {  // a grid that takes rows in rounds has the last one anywhere
    const bool fresh = trial.spread == 0 && size > units && seen.insert((size - 1) % units).second;
    if (fresh && !RunUnit(link, trial, setting, (size - 1) % units, accesses, run)) return false;
  }
  std::uint64_t random = 1;
  for (std::int64_t turn = 1; turn < units && turns_ < most; ++turn) {
    std::int64_t unit = units - turn;
    if (trial.spread > 0) {
      const bool enough = stored() >= trial.spread && static_cast<std::int64_t>(seen.size()) >= trial.spread / kSpreadOfUnit;
      if (enough || turn > kMostSpreadTries * trial.spread) break;
      random = random * 6364136223846793005u + 1442695040888963407u;
      if (turn > 1) unit = static_cast<std::int64_t>((random >> 16) % static_cast<std::uint64_t>(units));
    }
    if (!seen.insert(unit).second) continue;
    if (!RunUnit(link, trial, setting, unit, accesses, run)) return false;
  }
  return true;
}

bool SourceRuns::RunUnit(Link& link, const LaunchTrial& trial, const LaunchRuns::Setting& setting, std::int64_t unit,
                         Accesses& accesses, LaunchedRun& run) {
  const std::int64_t each = link.runs->together() ? setting.block[0] * setting.block[1] * setting.block[2] : 1;
  for (std::int64_t thread = unit * each; thread < (unit + 1) * each; ++thread) {
    const ThreadTrace trace = link.runs->Run(setting, thread);
    turns_ += trace.turns;
    refused_.misaligned = trace.misaligned;
    refused_.is_too_large = turns_ > kMostLaunchedTurns;
    if (!trace.refusal.empty()) {
      AddKnowledge(trace, run);
      return Refuse(fmt::format("{}: {}", link.launch->kernel, trace.refusal));
    }
    refused_.is_final = turns_ > kMostLaunchedTurns || trace.race >= 0 ||
                        (!trace.loaded.empty() && trial.chosen.empty() && trial.elements.empty());
    if (turns_ > kMostLaunchedTurns) return Refuse(fmt::format("{}: its loops have too many turns to try", link.launch->kernel));
    if (trace.race >= 0)
      return Refuse(fmt::format("{}: a thread stores in {} what another reads or stores, and no barrier is between them",
                                link.launch->kernel, tree_.node(trace.race).name));
    for (const auto& [parameter, elements] : trace.loaded) {
      const std::string& buffer = link.buffers.at(parameter);
      if (trial.chosen.contains(buffer) || trial.elements.contains(buffer)) {
        for (const auto& [index, element] : elements) run.integers[buffer].insert(index);
        continue;
      }
      refused_.integers = buffer;
      return Refuse(fmt::format("{}: integers of {} decide what it computes", link.launch->kernel, tree_.node(parameter).name));
    }
    if (!Add(link, trace, unit, accesses, run)) return false;
  }
  return true;
}

bool SourceRuns::Add(const Link& link, const ThreadTrace& trace, std::int64_t unit, Accesses& accesses, LaunchedRun& run) {
  // Memory of the kernel's own, such as a table in constant memory that no line fills.
  for (const auto* accessed : {&trace.stores, &trace.reads}) {
    for (const auto& [declaration, elements] : *accessed) {
      if (!link.buffers.contains(declaration))
        return Refuse(fmt::format("{}: what {} holds is not known", link.launch->kernel, tree_.node(declaration).name));
    }
  }
  for (const auto& [parameter, elements] : trace.stores) {
    const std::string& name = link.buffers.at(parameter);
    auto& stored = accesses.stored[name];
    for (const auto& [index, access] : elements) {
      if (modes_.sums)
        run.sums[name][index] = access.sum && !access.sum->IsTerm() ? access.sum : access.inner ? access.inner : access.sum;
      const auto [known, fresh] = stored.try_emplace(index, Accesses::Store{access.value, unit, access.moment});
      if (fresh) continue;
      Accesses::Store& other = known->second;
      if (other.unit != unit || !link.runs->together() || (other.moment == access.moment && other.value != access.value))
        return Refuse(fmt::format("{}: two threads store the same element of {}", link.launch->kernel, name));
      if (other.moment < access.moment) other = {access.value, unit, access.moment};
    }
    for (const auto& [index, access] : elements) {
      if (accesses.last >= 0) run.stored[name][index] = stored.at(index).value;
    }
  }
  for (const auto& [parameter, elements] : trace.updates)
    accesses.updated[link.buffers.at(parameter)].insert(elements.begin(), elements.end());
  for (const auto& [parameter, elements] : trace.reads) {
    const std::string& name = link.buffers.at(parameter);
    const bool changes = changed_.contains(name);
    const auto stored = run.stored.find(name);
    for (const auto& [index, access] : elements) {
      if (changes) {
        const auto [reader, fresh] = accesses.readers[name].try_emplace(index, unit);
        if (reader->second != unit) reader->second = kSeveralUnits;
      }
      if (stored == run.stored.end() || !stored->second.contains(index)) run.read[name].try_emplace(index, access.value);
    }
  }
  AddKnowledge(trace, run);
  return true;
}

void SourceRuns::AddKnowledge(const ThreadTrace& trace, LaunchedRun& run) {
  run.knowledge.factors.insert(trace.factors.begin(), trace.factors.end());
  run.knowledge.names.insert(trace.names.begin(), trace.names.end());
  for (const auto& limit : trace.limits) {
    if ((!modes_.alone && IsLimitVoid(limit)) || std::isnan(limit.first)) continue;
    auto& [less, more] = run.compared[limit.second];
    less = less || limit.first < limit.second;
    more = more || limit.first > limit.second;
  }
  run.knowledge.largest_number = std::max(run.knowledge.largest_number, trace.largest_number);
  run.knowledge.base_two |= trace.base_two;
  run.knowledge.exponential |= trace.exponential;
  run.knowledge.rounded |= trace.rounded;
}

}  // namespace evo
