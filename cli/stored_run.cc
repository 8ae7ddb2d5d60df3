#include "cli/stored_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/print.h"
#include "cli/stored_options.h"
#include "core/error.h"
#include "evaluator/device/device_policy.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task_shape.h"

namespace evo {
namespace {

constexpr int kFailure = 1;
// A damaged file may have thousands of damaged rows.
constexpr int kMostRemarks = 20;

}  // namespace

void AddHistoryOptions(CLI::App& command, const CommandContext& context, HistoryOptions& options) {
  options.database = context.database;
  command.add_option("--db", options.database, "Database file")->capture_default_str();
  command.add_option("--run", options.run, "Run (default: the latest)");
  command.add_flag("--json", options.json, "Print JSON");
}

OnDamage RemarkOn(const CommandContext& context, const std::string& database) {
  return [&context, database, said = 0](const Damage& damage) mutable {
    if (++said <= kMostRemarks)
      Print(context.messages, "evo: {}; left out\n", Describe(database, damage));
    else if (said == kMostRemarks + 1)
      Print(context.messages, "evo: {}: more is damaged and left out\n", database);
  };
}

History OpenForShowing(CommandContext& context, const HistoryOptions& options) {
  return History(options.database, [&context, remark = RemarkOn(context, options.database)](const Damage& damage) {
    context.exit_code = kFailure;
    remark(damage);
  });
}

RunSummary FindShownRun(CommandContext& context, const History& history, const HistoryOptions& options) {
  RunSummary run = history.FindRun(options.run);
  if (!ReadableOptions(run.record)) {
    RemarkOn(context, options.database)({run.record.id, {}, "its options cannot be read"});
    context.exit_code = kFailure;
  }
  return run;
}

std::string BaselineSource(const RunRecord& run) {
  for (const TemplateText& one : run.templates) {
    if (one.name == run.baseline) return RenderParameters(one.text, ParseTemplate(one.name, one.text).space.Defaults());
  }
  throw Error(fmt::format("run {}: the template {} of its baseline is not stored; go back to a copy of the database", run.id,
                          run.baseline));
}

Task LoadTaskOfRun(const std::filesystem::path& folder, const RunRecord& run) {
  const std::vector<std::string> headers = OptionsOf(run).header_folders.value_or(std::vector<std::string>());
  Task task = LoadTask(folder, {headers.begin(), headers.end()});
  // A run goes on with the templates that it stored, and so with its own baseline.
  if (task.reference_kind == ReferenceKind::kBaseline) {
    const auto stored = std::find_if(run.templates.begin(), run.templates.end(),
                                     [&](const TemplateText& one) { return one.name == task.baseline; });
    if (stored != run.templates.end()) {
      const auto recorded = task.recorded;
      task = ParseTask(task.json, stored->text, folder);
      task.recorded = recorded;
    }
  }
  return WithSearchShapes(task, PolicyOf(run.device).cases, OptionsOf(run).shapes);
}

std::optional<Task> FindStoredTask(const CommandContext& context, const RunRecord& run) {
  std::vector<std::filesystem::path> folders{run.task_directory};
  for (const std::filesystem::path& folder : FindTasks(context.task_folders)) {
    if (folder.filename() == run.task) folders.push_back(folder);
  }
  for (const std::filesystem::path& folder : folders) {
    if (!std::filesystem::exists(folder / "task.json")) continue;
    Task task = LoadTaskOfRun(folder, run);
    if (task.digest == run.task_digest) return task;
  }
  return std::nullopt;
}

}  // namespace evo
