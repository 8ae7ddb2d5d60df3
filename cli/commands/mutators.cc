#include "cli/commands/mutators.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/describe.h"
#include "cli/stored_run.h"
#include "cli/table.h"
#include "mutators/mutator_set.h"

namespace evo {
namespace {

void Run(const CommandContext& context, const HistoryOptions& options, bool with_history) {
  std::vector<OperatorRow> earned;
  if (with_history) {
    const History history(options.database);
    earned = history.Operators(history.FindRun(options.run).record.id);
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::vector<std::string> headings{"mutator", ">weight"};
  if (with_history) headings.insert(headings.end(), {">children", ">valid", ">faster", ">best gain"});
  headings.push_back("what it does");
  Table table(headings);
  const MutatorSet mutators;
  for (const auto& mutator : mutators.all()) {
    const auto row = std::find_if(earned.begin(), earned.end(), [&](const OperatorRow& r) { return r.op == mutator->name(); });
    nlohmann::ordered_json one = {{"mutator", mutator->name()}, {"weight", mutator->weight()}, {"description", mutator->description()}};
    std::vector<std::string> cells{std::string(mutator->name()), fmt::format("{}", mutator->weight())};
    if (with_history) {
      const OperatorRow counts = row == earned.end() ? OperatorRow{} : *row;
      for (const int count : {counts.children, counts.valid, counts.faster_than_parent}) cells.push_back(std::to_string(count));
      cells.push_back(Ratio(counts.best_gain));
      one["children"] = counts.children;
      one["valid"] = counts.valid;
      one["faster_than_parent"] = counts.faster_than_parent;
    }
    cells.push_back(std::string(mutator->description()));
    table.Add(cells);
    json.push_back(one);
  }
  if (options.json) fmt::print(context.out, "{}", Dump(json));
  else table.Print(context.out);
}

}  // namespace

void AddMutators(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<HistoryOptions>();
  CLI::App* command = app.add_subcommand("mutators", "List the mutators; with --db, what each has earned");
  AddHistoryOptions(*command, context, *options);
  const CLI::Option* database = command->get_option("--db");
  const CLI::Option* run = command->get_option("--run");
  command->callback([&context, options, database, run] { Run(context, *options, database->count() + run->count() > 0); });
}

}  // namespace evo
