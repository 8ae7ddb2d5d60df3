#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_context.h"
#include "cli/device_choice.h"
#include "core/store.h"
#include "db/history.h"
#include "engine/child_ranker.h"
#include "engine/operator_selection.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"
#include "mutators/breeding/sweep_breeder.h"

namespace evo {

// What the command line of `evo run` says.
struct RunOptions {
  std::string database;
  std::string task = "attention";
  std::vector<std::string> templates;  // empty: all
  int generations = 5;
  bool generations_given = false;  // then a resumed run goes on to that many
  int population = 16;
  int children = 0;  // 0: twice the population; on the cpu device as many
  std::string population_kind = "elitist";
  std::string operators;  // "adaptive", "fixed": drawn by the same weights throughout; empty: as the population kind wants it
  std::vector<std::string> only_mutators;  // names, "parameters" or "edits"; empty: all
  std::vector<std::string> without_mutators;
  std::string surrogate = "off";  // "on": many are bred, the most promising evaluated
  std::string minimise = "on";    // the champion is cut to the edits that it needs
  std::string device = "auto";
  std::string arch;
  std::string l2 = "hot";
  bool l2_given = false;  // else a replay takes it from what was recorded
  std::uint64_t seed = 1;
  std::optional<std::chrono::seconds> time_limit;
  int evaluations = 0;                     // 0: as many as the generations have
  std::optional<RunId> resume;             // 0: the latest run
  std::vector<std::string> task_folders;   // -I
  std::vector<std::string> definitions;    // -D NAME=VALUE: a parameter held fixed
  std::vector<std::string> shapes;         // B=4,S=512: the search cases, instead of the task's
  bool sweep = false;                      // every legal parameter setting instead of evolution
  std::string replay;                      // a database: nothing is evaluated, what it recorded is looked up
  std::vector<RunId> replay_runs;          // empty: all that were measured as the latest
  std::string replay_missing = "replace";  // or "skip", "stop"
  int compile_workers = 0;                 // 0: as many as cores
  bool no_reuse = false;
  bool no_check = false;
  bool no_tools = false;  // the champion is checked, but by compute-sanitizer only in `evo verify`
  bool json = false;
};

// A run that is ready to begin or to go on.
struct RunSetup {
  Task task;
  std::vector<KernelTemplate> templates;  // the baseline's first
  std::vector<Genome> seeds;              // every template at its defaults
  RunRecord record;                       // without what only the device can say
  std::optional<RunSummary> resumed;
  std::unique_ptr<SweepBreeder> sweep;  // null unless the run is a sweep
  std::unique_ptr<ChildRanker> ranker;  // null unless a surrogate chooses among children
  bool minimise = false;                // as the run began
  bool baseline_apart = false;          // likewise: it is measured, and not evolved
};

// The task that the options name. Throws UsageError.
Task LoadAskedTask(const RunOptions& options, const CommandContext& context);
// Loads and checks everything that a new run needs. Throws UsageError.
RunSetup PrepareRun(const RunOptions& options, const CommandContext& context, const DeviceChoice& device);
// The same from a stored run: its own templates, its own options. Throws UsageError when it cannot go on.
RunSetup PrepareResume(const RunOptions& options, const CommandContext& context);

// How many evaluations a stored run was to have.
std::optional<int> EvaluationsOf(const RunRecord& run);

// Before a new run is stored: the rewards of operators in earlier runs becomes part of its options, so that it is the same when
// the run is resumed.
void AddRewards(RunRecord& run, const std::map<std::string, OperatorReward>& rewards);
// What draws the operators of a stored run; null if its weights are fixed.
std::unique_ptr<OperatorSelection> MakeSelection(const RunRecord& run);

// "90", "90s", "10m", "2h" to seconds. Throws UsageError.
std::chrono::seconds ParseDuration(const std::string& text);

}  // namespace evo
