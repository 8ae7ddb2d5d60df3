#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/mutator_places.h"
#include "cli/print.h"
#include "cli/stored_run.h"
#include "cli/table.h"
#include "mutators/mutator_set.h"

namespace evo {
namespace {

double MeanGain(const RewardRow& row) { return row.improving > 0 ? row.gains / row.improving : kNoValue; }

// "71%"; "-" if the whole is 0.
std::string Percent(int part, int whole) { return whole > 0 ? fmt::format("{:.0f}%", 100.0 * part / whole) : "-"; }

void Add(RewardRow& sum, const RewardRow& row) {
  sum.tries += row.tries;
  sum.valid += row.valid;
  sum.neutral += row.neutral;
  sum.improving += row.improving;
  sum.gains += row.gains;
  sum.inapplicable += row.inapplicable;
  sum.best_gain = std::fmax(sum.best_gain, row.best_gain);  // ignores NaN
}

// Valid and improving are shares of the tries that are not neutral.
std::vector<std::string> Cells(const RewardRow& row) {
  const int changed = row.tries - row.neutral;
  return {std::to_string(row.tries),       Percent(row.valid, changed), Percent(row.neutral, row.tries),
          Percent(row.improving, changed), Ratio(MeanGain(row)),        Ratio(row.best_gain)};
}

void AddTo(nlohmann::ordered_json& json, const RewardRow& row) {
  const nlohmann::ordered_json counts = {
      {"tries", row.tries},         {"valid", row.valid},         {"neutral", row.neutral},          {"improving", row.improving},
      {"mean_gain", MeanGain(row)}, {"best_gain", row.best_gain}, {"inapplicable", row.inapplicable}};
  json.update(counts);
}

void Run(const CommandContext& context, const HistoryOptions& options, bool with_history) {
  std::vector<RewardRow> rewards;
  if (with_history) {
    const History history(options.database);
    if (options.run) history.FindRun(options.run);  // throws if there is no such run
    rewards = history.Rewards(options.run);
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::vector<std::string> headings{"mutator", "promise", ">weight"};
  if (with_history) headings.insert(headings.end(), {">tries", ">valid", ">neutral", ">improving", ">mean gain", ">best gain"});
  headings.push_back("what it does");
  Table table(headings);
  RewardRow edits;
  const MutatorSet mutators;
  for (const auto& mutator : mutators.all()) {
    const std::string promise(ToString(mutator->promise()));
    nlohmann::ordered_json one = {{"mutator", mutator->name()},
                                  {"promise", promise},
                                  {"weight", DefaultWeight(*mutator)},
                                  {"description", mutator->description()}};
    std::vector<std::string> cells{std::string(mutator->name()), promise, fmt::format("{}", DefaultWeight(*mutator))};
    if (with_history) {
      const auto found =
          std::find_if(rewards.begin(), rewards.end(), [&](const RewardRow& r) { return r.op == mutator->name(); });
      const RewardRow row = found == rewards.end() ? RewardRow{} : *found;
      std::ranges::copy(Cells(row), std::back_inserter(cells));
      AddTo(one, row);
      if (mutator->reads_source()) Add(edits, row);
    }
    cells.push_back(std::string(mutator->description()));
    table.Add(cells);
    json.push_back(one);
  }
  if (with_history) {
    std::vector<std::string> cells{"all source edits", "", ""};
    std::ranges::copy(Cells(edits), std::back_inserter(cells));
    cells.push_back("");
    table.Add(cells);
  }
  if (options.json)
    PrintLines(context.out, Dump(json));
  else
    table.Print(context.out);
}

}  // namespace

void AddMutators(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<HistoryOptions>();
  CLI::App* command = app.add_subcommand("mutators", "List the mutators and what they promise; with --db, their rewards");
  AddHistoryOptions(*command, context, *options);
  const CLI::Option* database = command->get_option("--db");
  CLI::Option* run = command->get_option("--run");
  run->description("Number of the run (default: all runs together)");
  const auto explained = std::make_shared<std::string>();
  command
      ->add_option("--explain", *explained,
                   "A task or its folder: how many places each mutator has in its templates, and why it has none")
      ->type_name("TASK");
  command->callback([&context, options, database, run, explained] {
    if (!explained->empty()) return PrintMutatorPlaces(*explained, options->json, context);
    Run(context, *options, database->count() + run->count() > 0);
  });
}

}  // namespace evo
