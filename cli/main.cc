#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/command_context.h"
#include "cli/commands/best.h"
#include "cli/commands/diff.h"
#include "cli/commands/doctor.h"
#include "cli/commands/export.h"
#include "cli/commands/history.h"
#include "cli/commands/lineage.h"
#include "cli/commands/mutators.h"
#include "cli/commands/run.h"
#include "cli/commands/show.h"
#include "cli/commands/study.h"
#include "cli/commands/tasks.h"
#include "cli/commands/verify.h"
#include "cli/interrupt.h"
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

// The command line library only says that it misses a command, not that it does not know the one given.
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
  CLI::App app("Evolves CUDA kernels: faster variants, shown right.", "evo");
  app.set_version_flag("--version", std::string("evo ") + kEvoVersion);
  app.require_subcommand(1);
  AddRun(app, context);
  AddBest(app, context);
  AddVerify(app, context);
  AddHistory(app, context);
  AddShow(app, context);
  AddDiff(app, context);
  AddLineage(app, context);
  AddExport(app, context);
  AddStudy(app, context);
  AddTasks(app, context);
  AddMutators(app, context);
  AddDoctor(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "evo: {} (see evo --help)\n", Explain(app, error, argc, argv));
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
    fmt::print(stderr, "evo: interrupted\n");
    return evo::kInterrupted;
  } catch (const evo::UsageError& error) {
    fmt::print(stderr, "evo: {}\n", error.what());
    return evo::kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "evo: {}\n", error.what());
    return evo::kFailure;
  }
}
