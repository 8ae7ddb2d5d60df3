#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/print.h"
#include "db/merge.h"
#include "db/upkeep.h"

namespace evo {
namespace {

constexpr int kDamagedStatus = 1;
// A damaged file may have thousands of damaged rows.
constexpr int kMostFindings = 100;

struct DbOptions {
  std::string database;
  std::vector<std::string> merged;
  std::string out;
  bool json = false;
};

void RunMerge(CommandContext& context, const DbOptions& options) {
  const MergeResult result = MergeDatabases(options.merged, options.out);
  nlohmann::ordered_json left_out = nlohmann::ordered_json::array();
  for (const SameRun& same : result.left_out) {
    left_out.push_back({{"database", same.database}, {"run", same.run}, {"kept_as", same.kept_as}});
    if (!options.json) {
      Print(context.messages, "run {} of {} is run {} of {} already; left out\n", same.run, same.database, same.kept_as,
            options.out);
    }
  }
  if (options.json) {
    PrintLines(context.out, Dump({{"runs", result.runs}, {"candidates", result.candidates}, {"left_out", left_out}}));
  } else {
    Print(context.out, "{}: {} runs with {} candidates from {} databases\n", options.out, result.runs, result.candidates,
          options.merged.size());
  }
}

void RunCheck(CommandContext& context, const DbOptions& options) {
  std::vector<std::string> findings;
  int more = 0;
  CheckDatabase(options.database, [&](const std::string& line) {
    if (static_cast<int>(findings.size()) < kMostFindings)
      findings.push_back(line);
    else
      ++more;
  });
  if (!findings.empty()) context.exit_code = kDamagedStatus;
  if (options.json) {
    PrintLines(context.out, Dump({{"database", options.database}, {"findings", findings}, {"more", more}}));
    return;
  }
  for (const std::string& line : findings) Print(context.out, "{}\n", line);
  if (more > 0) Print(context.out, "and {} more\n", more);
  Print(context.out, "{}: {}\n", options.database,
        findings.empty() ? "whole" : "damaged; commands leave out what they cannot read, and a copy may be whole");
}

void RunVacuum(CommandContext& context, const DbOptions& options) {
  const VacuumResult result = VacuumDatabase(options.database);
  if (options.json) {
    PrintLines(context.out, Dump({{"bytes_before", result.bytes_before},
                                  {"bytes_after", result.bytes_after},
                                  {"texts_removed", result.texts_removed}}));
    return;
  }
  const auto mib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  Print(context.out, "{}: {:.1f} MiB, before {:.1f} MiB; {} texts that nothing referred to are gone\n", options.database,
        mib(result.bytes_after), mib(result.bytes_before), result.texts_removed);
}

}  // namespace

void AddDb(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<DbOptions>();
  options->database = context.database;
  CLI::App* db = app.add_subcommand("db", "Merge, check or compact databases");
  db->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, void (*run)(CommandContext&, const DbOptions&)) {
    CLI::App* command = db->add_subcommand(name, what);
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([&context, options, run] { run(context, *options); });
    return command;
  };
  CLI::App* merge = add("merge", "Write the runs of several databases into a new one", RunMerge);
  merge->add_option("DATABASE", options->merged, "Databases to merge; of a run that is in two of them the first counts")
      ->required();
  merge->add_option("--out", options->out, "The new database")->required();
  for (CLI::App* command :
       {add("check", "Look through a whole database; status 1 if something is damaged", RunCheck),
        add("vacuum", "Remove unused texts, count sums again and give free room back to the disk", RunVacuum)}) {
    command->add_option("--db", options->database, "Database file")->capture_default_str();
  }
}

}  // namespace evo
