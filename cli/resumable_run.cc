#include "cli/resumable_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/digest.h"
#include "db/damage.h"
#include "db/history.h"
#include "db/sqlite_store.h"
#include "engine/population_kinds.h"
#include "evaluator/device/device_policy.h"

namespace evo {
namespace {

// No flag of evo run allows more.
constexpr int kMostGenerations = kUnlimitedGenerations;
constexpr int kMostMembers = 1'000'000;

template <typename List>
bool Holds(const List& list, const std::string& wanted) {
  return std::find(std::begin(list), std::end(list), wanted) != std::end(list);
}

std::string WrongNumbers(const RunRecord& run) {
  const auto outside = [](const char* name, int value, int least, int most) {
    return value >= least && value <= most ? "" : fmt::format("its {} is {}, which no run can have", name, value);
  };
  for (std::string wrong :
       {outside("number of generations", run.generations, 0, kMostGenerations),
        outside("population", run.population, 1, kMostMembers), outside("number of children", run.children, 1, kMostMembers)}) {
    if (!wrong.empty()) return wrong;
  }
  double sum = 0;
  for (const auto& [name, weight] : run.operators) {
    if (!std::isfinite(weight) || weight < 0) return fmt::format("the weight of its operator {} is {}", name, weight);
    sum += weight;
  }
  return sum > 0 ? "" : "it has no operators";
}

std::string WrongNames(const RunRecord& run) {
  const auto unknown = [](const char* name, const std::string& value, const auto& known) {
    return Holds(known, value) ? "" : fmt::format("its {} is '{}'; it can be {}", name, value, fmt::join(known, ", "));
  };
  std::vector<std::string> devices;
  for (const DevicePolicy& policy : DevicePolicies()) devices.emplace_back(policy.kind);
  for (std::string wrong :
       {unknown("population kind", run.population_kind, PopulationKinds()), unknown("device", run.device, devices),
        unknown("L2 state", run.l2, std::vector<std::string>{"hot", "cold"})}) {
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string WrongTemplates(const RunRecord& run) {
  for (const TemplateText& text : run.templates) {
    if (Digest(text.text) != text.digest)
      return fmt::format("the text of its template {} is not the one that was stored", text.name);
  }
  const bool has_baseline = std::any_of(run.templates.begin(), run.templates.end(),
                                        [&](const TemplateText& text) { return text.name == run.baseline; });
  return has_baseline ? "" : fmt::format("the template {} of its baseline is missing", run.baseline);
}

std::string WrongOptions(const StoredOptions& options) {
  if (options.operators != "fixed" && options.operators != kAdaptive)
    return fmt::format("its option operators is '{}'; it can be fixed or {}", options.operators, kAdaptive);
  if (options.evaluations < 0) return fmt::format("its option evaluations is {}", options.evaluations);
  if (options.ordinals.empty() || std::any_of(options.ordinals.begin(), options.ordinals.end(), [](int n) { return n < 0; }))
    return fmt::format("its option ordinals is [{}], which names no GPU", fmt::join(options.ordinals, ", "));
  if (options.sweep && options.sweep->empty()) return "it sweeps no template";
  RewardsByBottleneck rewards = options.rewards_by_bottleneck.value_or(RewardsByBottleneck());
  if (options.rewards) rewards[""] = *options.rewards;
  for (const auto& [bottleneck, of_class] : rewards) {
    for (const auto& [name, reward] : of_class) {
      for (const double number : {reward.tries, reward.fresh, reward.log_gain}) {
        if (!std::isfinite(number) || number < 0) return fmt::format("its option rewards has the number {} for {}", number, name);
      }
    }
  }
  const std::vector<std::string> missing = {"replace", "skip", "stop"};
  if (options.replay && !Holds(missing, options.replay->missing))
    return fmt::format("its option replay.missing is '{}'; it can be {}", options.replay->missing, fmt::join(missing, ", "));
  return "";
}

std::optional<Damage> WrongGenome(const RunRecord& run, const std::vector<GenerationRecord>& generations) {
  std::set<std::string> digests;
  for (const TemplateText& text : run.templates) digests.insert(text.digest);
  for (const GenerationRecord& generation : generations) {
    for (const Candidate& candidate : generation.candidates) {
      if (!digests.contains(candidate.genome.template_digest))
        return Damage{run.id, candidate.id, fmt::format("its template {} is missing", candidate.genome.template_name)};
    }
  }
  return std::nullopt;
}

StoredOptions CheckedOptions(const std::string& database, const RunRecord& run) {
  try {
    return OptionsOf(run);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", database, error.what()));
  }
}

}  // namespace

ResumableRun LoadResumableRun(const std::string& database, std::optional<RunId> run) {
  ResumableRun loaded;
  loaded.record = History(database).FindRun(run).record;
  const RunRecord& record = loaded.record;
  const auto require = [&](const std::string& wrong) {
    if (!wrong.empty()) throw Damaged(database, {record.id, {}, wrong});
  };
  require(WrongNumbers(record));
  require(WrongNames(record));
  require(WrongTemplates(record));
  loaded.options = CheckedOptions(database, record);
  require(WrongOptions(loaded.options));
  loaded.generations = SqliteStore(database).LoadParts(record.id);
  if (const std::optional<Damage> damage = WrongGenome(record, loaded.generations.outlines())) throw Damaged(database, *damage);
  return loaded;
}

}  // namespace evo
