#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "cli/command_context.h"
#include "db/damage.h"
#include "db/history.h"
#include "kernel_templates/task.h"
#include "story/rendering.h"

namespace evo {

// The options that every command on the history takes: --db, --run and --json.
struct HistoryOptions {
  std::string database;
  std::optional<RunId> run;  // else the latest
  bool json = false;
};
void AddHistoryOptions(CLI::App& command, const CommandContext& context, HistoryOptions& options);

// Says on context.messages what is damaged and therefore left out.
OnDamage RemarkOn(const CommandContext& context, const std::string& database);

// The history for a command that shows it. What is damaged is left out, said on context.messages, and makes the exit status 1:
// what was shown is not all.
History OpenForShowing(CommandContext& context, const HistoryOptions& options);

// The run that the options ask for. Says on context.messages if its options cannot be read; what depends on them is left out
// then.
RunSummary FindShownRun(CommandContext& context, const History& history, const HistoryOptions& options);

// The baseline of a run at its default parameters, rendered. Precondition: the run has its templates.
std::string BaselineSource(const RunRecord& run);

// The task of the folder with the shapes of the run as its search cases. Throws UsageError.
Task LoadTaskOfRun(const std::filesystem::path& folder, const RunRecord& run);

// The task of the run, from the folder that it had then or from the folders of the context; unset if none has it unchanged.
std::optional<Task> FindStoredTask(const CommandContext& context, const RunRecord& run);

}  // namespace evo
