#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/command_context.h"
#include "cli/commands/commands.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/scratch_folder.h"
#include "cli/workers.h"
#include "core/error.h"
#include "evaluator/workers/breeder_pool.h"
#include "evo_version.h"
#include "platform/installation.h"

namespace evo {
namespace {

constexpr int kFailure = 1;
constexpr int kUsage = 2;
constexpr int kInterrupted = 130;

// The parser of an unknown command only says that a command is missing.
std::string Explain(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const bool command_given = argc > 1 && argv[1][0] != '-';
  const auto named = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
  if (command_given && app.get_subcommands(named).empty()) return fmt::format("there is no command '{}'", argv[1]);
  return error.what();
}

SourceRenderer MakeRenderer() {
  return [](const TemplateText& text, const Genome& genome) {
    BreederPool breeder(BreedWorkers({text}, 1));
    return breeder.Render(genome);
  };
}

int Main(int argc, char** argv) {
  const Interrupt interrupt;
  const ScratchFolder scratch;
  CommandContext context;
  context.interrupt = interrupt.token();
  context.make_renderer = MakeRenderer;
  context.task_folders = {ShareDirectory() / "kernel_templates"};
  CLI::App app("Evolves CUDA kernels: finds faster variants and checks that they are right.", "evo");
  app.set_version_flag("--version", std::string("evo ") + kEvoVersion);
  app.require_subcommand(1);
  for (const auto add : kCommands) add(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    Print(stderr, "evo: {} (see evo --help)\n", Explain(app, error, argc, argv));
    return kUsage;
  }
  return context.exit_code;
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  try {
    return evo::Main(argc, argv);
  } catch (const evo::Interrupted&) {
    evo::Print(stderr, "evo: interrupted\n");
    return evo::kInterrupted;
  } catch (const evo::UsageError& error) {
    evo::Print(stderr, "evo: {}\n", error.what());
    return evo::kUsage;
  } catch (const std::exception& error) {
    evo::Print(stderr, "evo: {}\n", error.what());
    return evo::kFailure;
  }
}
