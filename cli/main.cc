#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <stop_token>
#include <system_error>

#include "cli/command_context.h"
#include "cli/commands/commands.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/standard_output.h"
#include "cli/workers.h"
#include "core/error.h"
#include "core/json_error.h"
#include "evaluator/workers/breeder_pool.h"
#include "evo_version.h"
#include "platform/installation.h"
#include "platform/scratch_folder.h"

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

// Keeps a worker for each template, since a story renders every step.
SourceRenderer MakeRenderer() {
  const auto breeders = std::make_shared<std::map<std::string, std::unique_ptr<BreederPool>>>();
  return [breeders](const TemplateText& text, const Genome& genome) {
    std::unique_ptr<BreederPool>& breeder = (*breeders)[text.digest];
    if (!breeder) breeder = std::make_unique<BreederPool>(BreedWorkers({text}, 1));
    return breeder->Render(genome);
  };
}

int Main(int argc, char** argv, const std::stop_token& interrupt) {
  ScratchFolder scratch;
  CommandContext context;
  context.interrupt = interrupt;
  context.arguments.assign(argv + 1, argv + argc);
  context.open_scratch_folder = [&] { scratch.Open(); };
  context.make_renderer = [&] {
    scratch.Open();
    return MakeRenderer();
  };
  context.task_folders = {ShareDirectory() / "kernel_templates"};
  CLI::App app("Evolves CUDA kernels: finds faster variants and checks that they are right.", "evo");
  app.set_version_flag("--version", std::string("evo ") + kEvoVersion);
  app.require_subcommand(1);
  for (const auto add : kCommands) add(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    std::ostringstream text;  // std::cout does not say why it failed
    const int status = app.exit(wanted, text, text);
    PrintText(context.out, text.str());
    return status;
  } catch (const CLI::ParseError& error) {
    Print(stderr, "evo: {} (see evo --help)\n", Explain(app, error, argc, argv));
    return kUsage;
  }
  return context.exit_code;
}

// Calls Main and reports what it throws. `output_error` becomes the number of the error if printing failed: of that FinishOutput
// tells.
int Reported(int argc, char** argv, const std::stop_token& interrupt, int& output_error) {
  const auto fail = [](const std::exception& error, int status) {
    Print(stderr, "evo: {}\n", PlainText(error));
    return status;
  };
  try {
    return Main(argc, argv, interrupt);
  } catch (const Interrupted& error) {
    return fail(error, kInterrupted);
  } catch (const UsageError& error) {
    return fail(error, kUsage);
  } catch (const std::system_error& error) {
    if (std::ferror(stdout) == 0) return fail(error, kFailure);
    output_error = error.code().value();
    return 0;
  } catch (const std::exception& error) {
    return fail(error, kFailure);
  }
}

}  // namespace
}  // namespace evo

int main(int argc, char** argv) {
  evo::OccupyStandardDescriptors();
  std::signal(SIGXFSZ, SIG_IGN);   // writing beyond a limit of file sizes fails, which is said
  const evo::Interrupt interrupt;  // to the end: writing to a pipe that nobody reads must be interrupted too
  int output_error = 0;
  const int status = evo::Reported(argc, argv, interrupt.token(), output_error);
  return evo::FinishOutput(stdout, stderr, status, output_error);
}
