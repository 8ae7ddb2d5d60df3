#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/commands/commands.h"
#include "cli/print.h"
#include "cli/report_tools.h"
#include "core/error.h"
#include "db/history.h"
#include "platform/free_memory.h"
#include "report/page_server.h"
#include "report/report_site.h"

namespace evo {
namespace {

constexpr int kMade = 200;  // the status of an answer that may have been made anew

struct ServeCommand {
  std::string database;
  std::optional<RunId> run;
  ServerOptions server;
  std::vector<std::string> peers;
  bool open_to_network = false;
};

// A wrong name is told now, and not by a page that stays empty. The database need not have a run yet.
void RequireDatabase(const ServeCommand& command) {
  const History history(command.database, [](const Damage&) {});
  if (command.run) history.FindRun(command.run);
}

void RunServe(CommandContext& context, const ServeCommand& command) {
  if (!IsLoopback(command.server.address) && !command.open_to_network) {
    throw UsageError(fmt::format(
        "--address {}: everybody who reaches it could read the database's kernels; --open-to-network says that this is meant",
        command.server.address));
  }
  ReportOptions options;
  options.run = command.run;
  for (const std::string& peer : command.peers) options.peers.push_back(ParsePeer(peer));
  RequireDatabase(command);
  ReportSite site(ReadReportPage(), command.database, options, MakeReportTools(context));
  ShareOneHeap();
  PageServer server(command.server, [&site](std::string_view target, std::string_view known) {
    const Answer answer = site.Get(target, known);
    // A report takes many times the memory of its text. What is left between parts that are kept is not enough for the next one.
    if (answer.status == kMade) ReturnFreeMemory();
    return answer;
  });
  const bool is_v6 = command.server.address.find(':') != std::string::npos;
  Print(context.out, "http://{}{}{}:{}/ shows {} until Ctrl-C\n", is_v6 ? "[" : "", command.server.address, is_v6 ? "]" : "",
        server.port(), command.database);
  std::fflush(context.out);
  server.Run(context.interrupt);
}

}  // namespace

void AddServe(CLI::App& app, CommandContext& context) {
  const auto command = std::make_shared<ServeCommand>();
  constexpr int kPort = 8017;
  constexpr int kLargestPort = 65535;
  command->database = context.database;
  command->server.port = kPort;
  CLI::App* added = app.add_subcommand("serve", "Show a run in a browser while it goes on");
  added->add_option("--db", command->database, "Database file; it is only read")->capture_default_str();
  added->add_option("--run", command->run, "Run (default: the latest, also if it begins later)");
  added->add_option("--port", command->server.port, "Port; 0: any that is free")
      ->check(CLI::Range(0, kLargestPort))
      ->capture_default_str();
  added->add_option("--address", command->server.address, "Address to listen on, numeric")->capture_default_str();
  added->add_flag("--open-to-network", command->open_to_network, "Allow an address that others can reach; there is no password");
  added
      ->add_option("--host-name", command->server.hosts,
                   "Name under which browsers may ask for the page, beside localhost and the address; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  added
      ->add_option("--peer", command->peers,
                   "NAME=TIME of another implementation, such as PyTorch=12.5us, for a line in the charts; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  added->callback([&context, command] { RunServe(context, *command); });
}

}  // namespace evo
