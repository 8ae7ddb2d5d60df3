#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/print.h"
#include "cli/table.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"

namespace evo {
namespace {

std::vector<std::string> Names(const std::vector<Case>& cases) {
  std::vector<std::string> names;
  for (const Case& sizes : cases) names.push_back(sizes.name);
  return names;
}

void RunTasks(const CommandContext& context, bool as_json) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  Table table({"task", "baseline", "templates", "cases on cuda", "cases on cpu", "summary"});
  for (const std::filesystem::path& folder : FindTasks(context.task_folders)) {
    const Task task = LoadTask(folder);
    std::vector<std::string> templates;
    for (const KernelTemplate& kernel_template : LoadTemplates(folder)) templates.push_back(kernel_template.name);
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
  if (as_json) {
    PrintLines(context.out, Dump(json));
  } else {
    table.Print(context.out);
  }
}

}  // namespace

void AddTasks(CLI::App& app, CommandContext& context) {
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("tasks", "List the tasks");
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([&context, as_json] { RunTasks(context, *as_json); });
}

}  // namespace evo
