#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/header_folders.h"
#include "cli/print.h"
#include "cli/table.h"
#include "core/error.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {
namespace {

std::vector<std::string> Names(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const Case& sizes : cases) names.push_back(sizes.name);
  return names;
}

struct TasksOptions {
  std::string folder;
  HeaderFolders header_folders;
  bool json = false;
};

// The tasks of a folder, or the one whose folder or task.json it is; without a folder the known tasks.
std::vector<std::filesystem::path> Asked(const CommandContext& context, const std::string& folder) {
  if (folder.empty()) return FindTasks(context.task_folders);
  const std::filesystem::path path = folder;
  if (path.filename() == "task.json" && std::filesystem::exists(path)) return {path.has_parent_path() ? path.parent_path() : "."};
  if (std::filesystem::exists(path / "task.json")) return {path};
  std::vector<std::filesystem::path> found = FindTasks({path});
  if (found.empty()) throw UsageError(fmt::format("{}: there is no task.json in it, nor in a folder of it", folder));
  return found;
}

void RunTasks(const CommandContext& context, const TasksOptions& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  Table table({"task", "baseline", "templates", "cases on cuda", "cases on cpu", "summary"});
  for (const std::filesystem::path& folder : Asked(context, options.folder)) {
    const Task task = LoadTask(folder, options.header_folders);
    std::vector<std::string> templates;
    for (const KernelTemplate& kernel_template : LoadTemplates(folder, options.header_folders))
      templates.push_back(kernel_template.name);
    table.Add({task.name, task.baseline, fmt::format("{}", fmt::join(templates, " ")),
               fmt::format("{}", fmt::join(Names(task.search_cuda), " ")),
               fmt::format("{}", fmt::join(Names(task.search_cpu), " ")), task.summary});
    json.push_back({{"task", task.name},
                    {"summary", task.summary},
                    {"directory", folder.string()},
                    {"baseline", task.baseline},
                    {"templates", templates},
                    {"search_cuda", Names(task.search_cuda)},
                    {"search_cpu", Names(task.search_cpu)},
                    {"held_out", Names(task.held_out)},
                    {"held_out_cpu", Names(task.held_out_cpu)}});
  }
  if (options.json) {
    PrintLines(context.out, Dump(json));
  } else {
    table.Print(context.out);
  }
}

}  // namespace

void AddTasks(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<TasksOptions>();
  CLI::App* command = app.add_subcommand("tasks", "List the tasks");
  command->add_option("FOLDER", options->folder, "A task, or a folder of tasks (default: those that come with evo)");
  AddHeaderFolders(*command, options->header_folders);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([&context, options] { RunTasks(context, *options); });
}

}  // namespace evo
