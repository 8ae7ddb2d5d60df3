#include "engine/study.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/landscape_run.h"
#include "cli/print.h"
#include "cli/table.h"
#include "core/error.h"
#include "engine/child_ranker.h"
#include "engine/population_kinds.h"
#include "evaluator/device/device_policy.h"
#include "platform/cores.h"

namespace evo {
namespace {

struct StudyOptions {
  std::string file;
  LandscapeColumns columns;
  LandscapeSearchOptions search;
  std::vector<std::string> strategies = {"evolution", "random"};
  std::string surrogate;  // empty: on, but for random search
  bool as_run = false;
  int children = 0;  // 0: as many as `evo run` has
  std::string format = "table";
  int seeds = 50;
  int threads = 0;  // 0: one for each core
};

Landscape Load(const StudyOptions& options) {
  const auto refuse = [&](const char* why) {
    throw UsageError(fmt::format("--landscape {}: {}; give a file of comma separated values", options.file, why));
  };
  std::error_code failed;
  if (std::filesystem::is_directory(options.file, failed)) refuse("it is a folder");
  std::ifstream file(options.file);
  if (!file) refuse("it cannot be read");
  return ReadLandscape(file, options.file, options.columns);
}

// Random search learns nothing, as in `evo run`.
bool UsesSurrogate(const StudyOptions& options) {
  if (options.search.population_kind != "random") return options.surrogate != "off";
  if (options.surrogate == "on")
    throw UsageError("--population-kind random: it learns nothing from times; leave out --surrogate on");
  return false;
}

// As `evo run` on a GPU.
int UsualChildren(const LandscapeSearchOptions& search) {
  return search.surrogate ? ChildRanker::kUsualChildren : PolicyOf("cuda").children_per_member * search.population;
}

std::string NameOf(const LandscapeSearchOptions& search, bool as_run) {
  if (search.random) return "random";
  return fmt::format("{} evolution{}{}", search.population_kind, search.surrogate ? " + surrogate" : "",
                     as_run ? ", as a run" : "");
}

void PrintTable(const StudyOptions& options, const Landscape& landscape,
                const std::vector<std::pair<std::string, std::vector<StudyPoint>>>& rows, std::FILE* out) {
  Print(out,
        "{}: {} points of {} parameters, {} failed; optimum {} {}; {} seeds; optimum over best so far: mean, its standard error, "
        "(10th percentile)\n",
        options.file, landscape.size(), landscape.parameters.size(),
        std::count_if(landscape.scores.begin(), landscape.scores.end(), [](double s) { return std::isnan(s); }),
        options.columns.score, landscape.optimum, options.seeds);
  std::vector<std::string> headings{"evaluations"};
  for (const StudyPoint& point : rows.front().second) headings.push_back(fmt::format(">{}", point.evaluations));
  Table table(headings);
  for (const auto& [name, points] : rows) {
    std::vector<std::string> cells{name};
    for (const StudyPoint& point : points)
      cells.push_back(fmt::format("{:.3f} +-{:.3f} ({:.3f})", point.mean, point.standard_error, point.percentile10));
    table.Add(cells);
  }
  table.Print(out);
}

void PrintJson(const StudyOptions& options, const Landscape& landscape,
               const std::vector<std::pair<std::string, std::vector<StudyPoint>>>& rows, std::FILE* out) {
  nlohmann::ordered_json json = {{"landscape", options.file},
                                 {"points", landscape.size()},
                                 {"optimum", landscape.optimum},
                                 {"seeds", options.seeds},
                                 {"first_seed", options.search.seed}};
  json["searches"] = nlohmann::ordered_json::array();
  for (const auto& [name, points] : rows) {
    nlohmann::ordered_json one = {{"search", name}, {"optimum_over_best", nlohmann::ordered_json::array()}};
    for (const StudyPoint& point : points) {
      one["optimum_over_best"].push_back({{"evaluations", point.evaluations},
                                          {"mean", point.mean},
                                          {"standard_error", point.standard_error},
                                          {"percentile10", point.percentile10},
                                          {"by_seed", point.reached}});
    }
    json["searches"].push_back(one);
  }
  PrintLines(out, Dump(json));
}

void Run(const StudyOptions& options, const CommandContext& context) {
  if (options.children > 0 && !options.as_run)
    throw UsageError("--children: only a search as a run has generations; add --as-run, or leave it out");
  const Landscape landscape = Load(options);
  const int threads = options.threads > 0 ? options.threads : AvailableCores();
  std::vector<std::pair<std::string, std::vector<StudyPoint>>> rows;
  for (const std::string& strategy : options.strategies) {
    LandscapeSearchOptions search = options.search;
    search.random = strategy == "random";
    search.surrogate = UsesSurrogate(options);
    const bool as_run = options.as_run && !search.random;
    if (as_run) search.children = options.children > 0 ? options.children : UsualChildren(search);
    if (as_run && options.children == 0 && search.surrogate) search.early_children = ChildRanker::kUsualEarlyChildren;
    const auto one = [&](std::uint64_t seed) {
      LandscapeSearchOptions seeded = search;
      seeded.seed = seed;
      return as_run ? SearchAsRun(landscape, seeded) : SearchLandscape(landscape, seeded);
    };
    rows.emplace_back(NameOf(search, as_run), Study(landscape, search.evaluations, one, search.seed, options.seeds, threads,
                                                    [&] { return context.interrupt.stop_requested(); }));
    if (context.interrupt.stop_requested()) throw Interrupted();
  }
  if (options.format == "json")
    PrintJson(options, landscape, rows, context.out);
  else
    PrintTable(options, landscape, rows, context.out);
}

}  // namespace

void AddStudy(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<StudyOptions>();
  CLI::App* study = app.add_subcommand("study", "Search a measured landscape of parameters, without a device");
  study
      ->add_option("--landscape", options->file,
                   "File of comma separated values: a line for each point with its parameters, status and score")
      ->required();
  study->add_option("--evaluations", options->search.evaluations, "Points that a search may evaluate, each once")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  study->add_option("--seeds", options->seeds, "Number of searches, each with its own seed")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  study->add_option("--seed", options->search.seed, "Seed of the first search")->capture_default_str();
  study->add_option("--strategy", options->strategies, "What to compare: evolution, random")
      ->delimiter(',')
      ->check(CLI::IsMember({"evolution", "random"}))
      ->capture_default_str();
  study->add_option("--population-kind", options->search.population_kind, "How survivors of evolution are chosen")
      ->check(CLI::IsMember(PopulationKinds()))
      ->capture_default_str();
  study->add_option("--population", options->search.population, "Survivors of a generation")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  study->add_option("--surrogate", options->surrogate, "Whether a model chooses the points that evolution evaluates")
      ->check(CLI::IsMember({"on", "off"}))
      ->default_str("on, but for random search");
  study->add_flag("--as-run", options->as_run,
                  "Search in generations, as evo run does; otherwise each point is chosen when all before it are known");
  study->add_option("--children", options->children, "With --as-run: points of a generation (default: as evo run on a GPU)")
      ->check(CLI::Range(1, 100'000));
  study->add_option("--score", options->columns.score, "Column of the score, smaller is better")->capture_default_str();
  study->add_option("--status", options->columns.status, "Column of the status; may be missing")->capture_default_str();
  study->add_option("--ok", options->columns.ok, "The status of a point that counts")->capture_default_str();
  study
      ->add_option("--parameters", options->columns.parameters,
                   "Columns of the parameters (default: those before the status, or before the score)")
      ->delimiter(',');
  study->add_option("--threads", options->threads, "Searches at a time (default: one for each core)")->check(CLI::Range(1, 1024));
  study->add_option("--format", options->format, "How to print")->check(CLI::IsMember({"table", "json"}))->capture_default_str();
  study->add_flag_callback(
      "--json", [options] { options->format = "json"; }, "The same as --format json");
  study->callback([&context, options] { Run(*options, context); });
}

}  // namespace evo
