#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_context.h"
#include "cli/device_choice.h"
#include "cli/run_options.h"
#include "cli/stored_options.h"
#include "db/history.h"
#include "db/sqlite_store.h"
#include "engine/child_ranker.h"
#include "engine/operator_selection.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"
#include "mutators/breeding/sweep_breeder.h"

namespace evo {

// A run that is ready to begin or to go on.
struct RunSetup {
  Task task;
  std::vector<KernelTemplate> templates;     // the baseline first
  std::vector<Genome> seeds;                 // every template at its defaults
  RunRecord record;                          // without its options, and without what only the device can say
  StoredOptions options;                     // become part of the record when the run is stored
  std::optional<StoredGenerations> resumed;  // the generations so far of a run that goes on
  std::unique_ptr<SweepBreeder> sweep;       // null unless the run is a sweep
  std::unique_ptr<ChildRanker> ranker;       // null unless a surrogate chooses among children
};

// The task that the options name. Throws UsageError.
Task LoadAskedTask(const RunOptions& options, const CommandContext& context);
// Loads and checks everything that a new run needs. Throws UsageError.
RunSetup PrepareRun(const RunOptions& options, const CommandContext& context, const DeviceChoice& device);
// What --device says of a run that goes on: the flag's word if it was given, else the GPUs that it had, or the first where they
// were elsewhere. Throws UsageError if the flag names another kind of device.
std::string DeviceOfResumed(const RunOptions& options, const RunSetup& setup);
// The same for a stored run, with its own templates and options. Throws UsageError if it cannot go on, and Error if what is
// stored of it is damaged (cli/resumable_run.h).
RunSetup PrepareResume(const RunOptions& options);

// Whether a template can only fail on that kind of device: it is made for another architecture, or has what the device does not
// know. `arch`: what is compiled for; empty: the device's own.
bool CanOnlyFail(const KernelTemplate& one, const std::string& device, const std::string& arch);

// Gives a new run the rewards of operators in earlier runs. They are stored with its options, so that they are the same when the
// run is resumed. No effect unless the run adapts its operators.
void AddRewards(RunSetup& setup, const std::map<std::string, OperatorReward>& rewards, const RewardsByBottleneck& by_class = {});
// The same with those of a store: of the same task or, if there are none, of kernels of the same kind.
void AddRewards(RunSetup& setup, SqliteStore& store);
// What draws the operators of a run; null if their weights are fixed.
std::unique_ptr<OperatorSelection> MakeSelection(const RunSetup& setup);

}  // namespace evo
