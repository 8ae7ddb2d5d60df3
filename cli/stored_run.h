#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>

#include "cli/command_context.h"
#include "db/damage.h"
#include "db/history.h"
#include "kernel_templates/task.h"

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

// The source of a stored candidate, rendered again from its genome. Throws Error if its template is not stored, or if the digest
// of the source is not that of the evaluated source.
std::string RenderStored(const SourceRenderer& render, const RunRecord& run, const CandidateRecord& record);

// The baseline of a run at its default parameters, rendered. Precondition: the run has its templates.
std::string BaselineSource(const RunRecord& run);

// The task of the folder with the shapes of the run as its search cases. Throws UsageError.
Task LoadTaskOfRun(const std::filesystem::path& folder, const RunRecord& run);

// The task of the run, from the folder that it had then or from the folders of the context; unset if none has it unchanged.
std::optional<Task> FindStoredTask(const CommandContext& context, const RunRecord& run);

// Writes the text to a new file in the folder of `file` and renames it, so that `file` is never seen half written. Throws Error.
void WriteWhole(const std::string& file, const std::string& text);

}  // namespace evo
