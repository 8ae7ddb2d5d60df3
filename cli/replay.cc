#include "cli/replay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "cli/describe.h"
#include "cli/operator_choice.h"
#include "cli/run_setup.h"
#include "core/error.h"
#include "db/history.h"
#include "engine/trial_runner.h"
#include "evo_version.h"

namespace evo {
namespace {

std::string Conditions(const RunRecord& run) {
  return fmt::format("{} ({}, {}), L2 {}", run.device_name, run.device, run.arch, run.l2);
}

bool Meets(const RunRecord& run, const RunOptions& options) {
  const bool device = options.device == "auto" || options.device.rfind(run.device, 0) == 0;
  return device && (!options.l2_given || options.l2 == run.l2) && (options.arch.empty() || options.arch == run.arch);
}

UsageError Cannot(const std::string& file, const std::string& why) {
  return UsageError(fmt::format("--replay {}: {}", file, why));
}

// Keeps the runs for which `wanted` is true. Throws with the reason `why` if there are none.
template <typename Wanted>
void Keep(std::vector<RunRecord>& runs, const std::string& file, Wanted wanted, const std::string& why) {
  std::erase_if(runs, [&](const RunRecord& run) { return !wanted(run); });
  if (runs.empty()) throw Cannot(file, why);
}

std::vector<RunRecord> Recorded(const History& history, const std::string& file, const std::vector<RunId>& wanted) {
  std::vector<RunRecord> runs;
  for (RunSummary& run : history.Runs()) {
    if (!OptionsOf(run.record).replay) runs.push_back(std::move(run.record));
  }
  if (wanted.empty()) return runs;
  for (const RunId id : wanted) {
    if (std::none_of(runs.begin(), runs.end(), [&](const RunRecord& run) { return run.id == id; }))
      throw Cannot(file, fmt::format("there is no recorded run {}", id));
  }
  std::erase_if(runs, [&](const RunRecord& run) { return std::find(wanted.begin(), wanted.end(), run.id) == wanted.end(); });
  return runs;
}

void RequireTask(std::vector<RunRecord>& runs, const std::string& file, const std::string& task, const std::string& digest) {
  std::set<std::string> names;
  for (const RunRecord& run : runs) names.insert(run.task);
  const std::string others = names.empty() ? "no recorded run at all" : fmt::format("runs of {}", fmt::join(names, ", "));
  Keep(
      runs, file, [&](const RunRecord& run) { return run.task == task || run.task_digest == digest; },
      fmt::format("it has no run of task {}, but {}", task, others));
  const std::string directory = runs.back().task_directory;
  Keep(
      runs, file, [&](const RunRecord& run) { return run.task_digest == digest; },
      fmt::format("task {} was recorded with another task.json or reference (in {}); replay with those", task, directory));
}

void Load(const History& history, const std::string& file, std::vector<RunRecord> runs, Replay& replay) {
  for (RunRecord& run : runs) {
    std::vector<CandidateRecord> candidates = history.Candidates(run.id, {});
    std::set<int> trials;  // generations that the replay does not have
    for (const CandidateRecord& one : candidates) {
      if (one.candidate.op == kMinimise) trials.insert(one.candidate.generation);
    }
    for (CandidateRecord& one : candidates) {
      const bool trial = one.candidate.op == kMinimise;
      if (one.count) {
        one.evaluation.bottleneck = one.count->before.bottleneck;
        one.evaluation.evidence = one.count->before.evidence;
        const auto before = std::distance(trials.begin(), trials.lower_bound(one.count->generation));
        replay.recorded.AddCounted(one.evaluation.source_digest, one.count->generation - static_cast<int>(before),
                                   std::move(one.count->elite));
      }
      const auto add = trial ? &RecordedEvaluations::AddTrial : &RecordedEvaluations::Add;
      (replay.recorded.*add)(std::move(one.evaluation), std::move(one.check));
    }
    replay.runs.push_back(run.id);
  }
  replay.conditions = std::move(runs.back());
  if (replay.recorded.size() == 0) {
    throw Cannot(file, fmt::format("run{} {}: no evaluations yet; record some with `evo run`", runs.size() == 1 ? "" : "s",
                                   fmt::join(replay.runs, ", ")));
  }
}

// As the command line spells it.
}  // namespace

Replay LoadReplay(const RunOptions& options, const std::string& task, const std::string& task_digest) {
  const std::string& file = options.replay;
  const History history(file);
  std::vector<RunRecord> runs = Recorded(history, file, options.replay_runs);
  RequireTask(runs, file, task, task_digest);
  const std::string version = runs.back().tool_version;
  Keep(
      runs, file, [](const RunRecord& run) { return run.tool_version == kEvoVersion; },
      fmt::format("recorded by evo {}, and this is {}: sources and measurements may differ; use the evo of the recording",
                  version, kEvoVersion));
  const std::string latest = Conditions(runs.back());
  Keep(
      runs, file, [&](const RunRecord& run) { return Meets(run, options); },
      fmt::format("recorded on {}; leave out --device, --arch and --l2, or ask for those", latest));
  const std::string conditions = Conditions(runs.back());
  if (options.replay_runs.empty()) {
    std::erase_if(runs, [&](const RunRecord& run) { return Conditions(run) != conditions; });
  } else {
    for (const RunRecord& run : runs) {
      if (Conditions(run) != conditions) {
        throw Cannot(file, fmt::format("run {} was measured on {}, run {} on {}; replay runs of the same conditions", run.id,
                                       Conditions(run), runs.back().id, conditions));
      }
    }
  }
  Replay replay;
  Load(history, file, std::move(runs), replay);
  return replay;
}

Replay LoadReplayOf(const StoredReplay& stored) {
  const History history(stored.database);
  Replay replay;
  Load(history, stored.database, Recorded(history, stored.database, stored.runs), replay);
  return replay;
}

void MarkReplay(RunSetup& setup, const RunOptions& options, const Replay& replay) {
  setup.record.arch = replay.conditions.arch;
  LeaveOutForeign(setup.record.operators, setup.record.arch);
  setup.record.device_name = replay.conditions.device_name;
  setup.options.replay = {std::filesystem::absolute(options.replay).lexically_normal().string(), replay.runs,
                          options.replay_missing};
  // A replay of one run starts with the rewards that the run started with; several runs have no start in common.
  if (replay.runs.size() == 1 && !options.no_reuse && setup.options.operators == kAdaptive) {
    const StoredOptions recorded = OptionsOf(replay.conditions);
    setup.options.rewards = recorded.rewards;
    if (setup.options.rewards_by_bottleneck && recorded.rewards_by_bottleneck)
      setup.options.rewards_by_bottleneck = recorded.rewards_by_bottleneck;
  }
}

MissingChild ToMissing(const std::string& word) {
  return word == "stop" ? MissingChild::kEndRun : word == "skip" ? MissingChild::kLeaveOut : MissingChild::kReplace;
}

MissingChild MissingOf(const StoredOptions& options) {
  const MissingChild missing = ToMissing(options.replay.value().missing);
  return missing == MissingChild::kReplace && options.sweep ? MissingChild::kLeaveOut : missing;
}

}  // namespace evo
