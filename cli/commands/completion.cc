#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands/commands.h"
#include "cli/manual.h"
#include "cli/output_file.h"
#include "cli/print.h"
#include "evo_version.h"

namespace evo {
namespace {

// One file a command, as man(1) looks for them.
void WriteManualPages(const CLI::App& app, const CLI::App& command, const std::string& name, const std::string& folder) {
  WriteOutputFile(folder + "/" + name + ".1", ManualPage(app, command, kEvoVersion));
  for (const CLI::App* below : command.get_subcommands([](const CLI::App* one) { return !one->get_name().empty(); }))
    WriteManualPages(app, *below, name + "-" + below->get_name(), folder);
}

}  // namespace

void AddCompletion(CLI::App& app, CommandContext& context) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* completion = app.add_subcommand("completion", "Print a script with which a shell completes the command line");
  completion->add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  completion->callback(
      [&app, &context, shell] { PrintLines(context.out, *shell == "bash" ? BashCompletion(app) : ZshCompletion(app)); });
  const auto folder = std::make_shared<std::string>();
  CLI::App* manual = app.add_subcommand("manual", "Print the manual page of evo, or write those of all commands");
  manual->add_option("--out", *folder, "Existing folder to write evo.1, evo-run.1 and so on to");
  manual->callback([&app, &context, folder] {
    if (folder->empty())
      PrintLines(context.out, ManualPage(app, app, kEvoVersion));
    else
      WriteManualPages(app, app, app.get_name(), *folder);
  });
}

}  // namespace evo
