#include "report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>

#include "core/enumeration.h"
#include "core/error.h"
#include "core/record_json.h"
#include "db/rows.h"
#include "report/described_candidates.h"
#include "report/report_parts.h"

namespace evo {
namespace {

using nlohmann::json;

constexpr std::size_t kElites = 60;             // whose lines the tree shows
constexpr std::size_t kRooflinePoints = 1'500;  // candidates
constexpr std::size_t kOtherRuns = 8;           // to compare with
constexpr std::size_t kListedRuns = 200;        // to choose from; a database that many searches share has thousands
constexpr std::size_t kMostRemarks = 20;

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

json RunJson(const RunSummary& run) {
  const RunRecord& r = run.record;
  return {{"run", r.id},
          {"task", r.task},
          {"baseline", r.baseline},
          {"device", r.device},
          {"device_name", r.device_name},
          {"arch", r.arch},
          {"l2", r.l2},
          {"population_kind", r.population_kind},
          {"population", r.population},
          {"children", r.children},
          {"seed", std::to_string(r.seed)},
          {"tool_version", r.tool_version},
          {"status", ToString(run.status)},
          {"status_message", run.status_message},
          {"started_at", run.started_at},
          {"ended_at", run.ended_at},
          {"generations", run.generations_done},
          {"evaluated", run.evaluated},
          {"valid", run.valid}};
}

json OperatorsJson(const History& history, RunId run, const ReportTools& tools) {
  json list = json::array();
  for (const RewardRow& row : history.Rewards(run)) {
    const auto described = tools.story.descriptions.find(row.op);
    list.push_back({{"operator", row.op},
                    {"tries", row.tries},
                    {"valid", row.valid},
                    {"neutral", row.neutral},
                    {"won", row.improving},
                    {"best_gain", JsonNumber(row.best_gain)},
                    {"inapplicable", row.inapplicable},
                    {"promise", tools.story.promises.contains(row.op) ? json(ToString(tools.story.promises.at(row.op))) : json()},
                    {"description", described == tools.story.descriptions.end() ? "" : described->second}});
  }
  return list;
}

// How many assignments the space has that meet its constraints; null if there are too many to count while somebody waits.
json LegalAssignments(const SearchSpace& space) {
  constexpr double kMost = 200'000;
  double product = 1;
  for (const Parameter& parameter : space.parameters) product *= static_cast<double>(parameter.values.size());
  if (product > kMost) return {};
  try {
    return Enumeration(space).size();
  } catch (const Error&) {
    return {};
  }
}

json ParametersJson(const RunRecord& run, const ReportTools& tools) {
  json list = json::array();
  for (const TemplateText& text : run.templates) {
    try {
      const std::optional<SearchSpace> space = tools.space ? tools.space(text) : std::nullopt;
      if (!space) continue;
      json one = {{"template", text.name}, {"parameters", json::array()}, {"legal", LegalAssignments(*space)}};
      for (const Parameter& parameter : space->parameters)
        one["parameters"].push_back({{"name", parameter.name}, {"values", parameter.values}, {"initial", parameter.initial}});
      list.push_back(std::move(one));
    } catch (const Error&) {  // a template that cannot be read has no parameters to show
    }
  }
  return list;
}

json RooflineJson(const History& history, const ReportRows& rows, const RunRecord& run, const std::vector<CandidateId>& ids) {
  json rates = json::object();
  const auto keep_largest = [&](const char* name, double value) {
    if (!std::isnan(value) && (!rates.contains(name) || rates[name].get<double>() < value)) rates[name] = value;
  };
  for (const MachineState& machine : history.Machines(run.id)) {
    keep_largest("dram_bytes_per_s", machine.dram_bytes_per_s);
    keep_largest("l2_bytes_per_s", machine.l2_bytes_per_s);
    keep_largest("f32_per_s", machine.f32_per_s);
    keep_largest("tensor_per_s", machine.tensor_per_s);
  }
  TextTable cases;
  json r = {{"rates", rates}, {"arithmetic", run.arithmetic}};
  for (const char* column : {"id", "case", "median_ns", "bytes", "operations"}) r[column] = json::array();
  for (const RooflinePoint& point : rows.Roofline(run.id, ids)) {
    r["id"].push_back(point.id);
    r["case"].push_back(cases.Add(point.case_name));
    r["median_ns"].push_back(JsonNumber(point.median_ns));
    r["bytes"].push_back(JsonNumber(point.bytes));
    r["operations"].push_back(JsonNumber(point.operations));
  }
  r["cases"] = cases.texts();
  return r;
}

// As much of the operators of another run as is compared.
json OperatorCountsJson(const History& history, RunId run) {
  json list = json::array();
  for (const RewardRow& row : history.Rewards(run))
    list.push_back({{"operator", row.op}, {"tries", row.tries}, {"won", row.improving}});
  return list;
}

// One run after another is read whole, so that the memory does not grow with the number of runs in the database.
json OthersJson(const History& history, const ReportRows& rows, RunId shown, const std::vector<RunTitle>& runs,
                const ReportTools& tools) {
  json others = json::array();
  for (auto run = runs.rbegin(); run != runs.rend() && others.size() < kOtherRuns; ++run) {
    const RunId id = run->id;
    if (id == shown) continue;
    try {
      const std::optional<CandidateRecord> baseline = history.Baseline(id);
      const std::optional<CandidateRecord> best = history.Best(id);
      json one = RunJson(history.FindRun(id));
      one["baseline_ns"] = baseline ? JsonNumber(baseline->evaluation.score_ns) : json();
      one["best_ns"] = best ? JsonNumber(best->evaluation.score_ns) : json();
      one["verdict"] = best && tools.verdict ? tools.verdict(*best) : "";
      one["progress"] = ProgressColumns(history, rows, id);
      one["operators_of_run"] = OperatorCountsJson(history, id);
      others.push_back(std::move(one));
    } catch (const Error&) {  // a damaged run is not compared with; the remarks tell of it where it is shown
    }
  }
  return others;
}

json OutcomesJson(const std::vector<GenerationRow>& generations) {
  std::map<std::string, int> sums;
  for (const GenerationRow& row : generations) {
    for (const auto& [outcome, count] : row.outcomes) sums[outcome] += count;
  }
  return sums;
}

json GenerationsJson(const std::vector<GenerationRow>& rows, const std::vector<GenerationTime>& times) {
  json g = json::object();
  for (const char* column : {"generation", "evaluated", "valid", "duplicates", "best_ns", "seconds"}) g[column] = json::array();
  std::map<int, double> seconds;
  for (const GenerationTime& time : times) seconds[time.generation] = time.seconds;
  for (const GenerationRow& row : rows) {
    g["generation"].push_back(row.generation);
    g["evaluated"].push_back(row.evaluated);
    g["valid"].push_back(row.valid);
    g["duplicates"].push_back(row.duplicates);
    g["best_ns"].push_back(JsonNumber(row.best_ns));
    g["seconds"].push_back(JsonNumber(seconds[row.generation]));
  }
  return g;
}

json PeersJson(const std::vector<Peer>& peers) {
  json list = json::array();
  for (const Peer& peer : peers) list.push_back({{"name", peer.name}, {"ns", JsonNumber(peer.ns)}});
  return list;
}

// How many candidates have no parameters, not even an empty list of them.
std::int64_t WithoutGenome(const json& columns) {
  const json& texts = columns["parameter_texts"];
  const auto empty = std::find(texts.begin(), texts.end(), json(""));
  const json& of = columns["parameters"];
  return empty == texts.end() ? 0 : std::count(of.begin(), of.end(), json(empty - texts.begin()));
}

json RefutingJson(const ReportRows& rows, RunId run) {
  json list = json::array();
  for (const RefutingInputs& one : rows.Refuting(run)) {
    list.push_back(
        {{"case", one.case_name}, {"generator", one.generator}, {"inputs", one.inputs}, {"candidates", one.candidates}});
  }
  return list;
}

}  // namespace

json ReportData(const std::string& database, const ReportOptions& options, const ReportTools& tools) {
  json data = {{"format", 1},
               {"version", tools.version},
               {"at", Now()},
               {"database", std::filesystem::path(database).filename().string()},
               {"remarks", json::array()}};
  const History history(database, [&](const Damage& damage) {
    if (data["remarks"].size() < kMostRemarks) data["remarks"].push_back(Describe(database, damage) + "; left out");
  });
  const ReportRows rows(database);
  const RunSummary run = history.FindRun(options.run);
  const RunId id = run.record.id;
  const std::vector<RunTitle> runs = history.LatestTitles(kListedRuns);
  data["etag"] = rows.Version(id);
  data["run"] = RunJson(run);
  data["runs"] = json::array();
  const auto list = [&](const RunTitle& one) {
    data["runs"].push_back(
        {{"run", one.id}, {"task", one.task}, {"device_name", one.device_name}, {"started_at", one.started_at}});
  };
  if (std::none_of(runs.begin(), runs.end(), [&](const RunTitle& one) { return one.id == id; }))
    list({id, run.record.task, run.record.device_name, run.started_at});
  for (const RunTitle& one : runs) list(one);

  const std::optional<CandidateRecord> baseline = history.Baseline(id);
  const std::optional<CandidateRecord> best = history.Best(id);
  const double ceiling = baseline ? CeilingNs(*baseline, history.Efficiency(id, baseline->candidate.id)) : kNoValue;
  data["lines"] = {{"baseline_ns", baseline ? JsonNumber(baseline->evaluation.score_ns) : json()},
                   {"ceiling_ns", JsonNumber(ceiling)},
                   {"peers", PeersJson(options.peers)}};
  const std::vector<GenerationRow> generations = history.Generations(id);
  data["generations"] = GenerationsJson(generations, rows.GenerationTimes(id));
  data["outcomes"] = OutcomesJson(generations);
  data["progress"] = ProgressColumns(history, rows, id);

  SourceTable sources;
  data["story"] = json::array();
  data["check"] = nullptr;
  data["baseline_id"] = baseline ? json(baseline->candidate.id) : json();
  data["best_id"] = nullptr;
  std::vector<CandidateId> elites = rows.Fastest(id, kElites);
  if (best) {
    data["best_id"] = best->candidate.id;
    data["story"] = StoryJson(TellStory(history, id, best->candidate.id, tools.story), sources);
    data["check"] = CheckJson(*best, tools);
    if (std::find(elites.begin(), elites.end(), best->candidate.id) == elites.end()) {
      if (elites.size() == kElites) elites.pop_back();
      elites.push_back(best->candidate.id);
    }
  }
  if (baseline && tools.story.render) {
    try {
      sources.Add(baseline->candidate.id, tools.story.render(run.record, *baseline));
    } catch (const Error& error) {
      data["remarks"].push_back(fmt::format("the baseline's source: {}", error.what()));
    }
  }
  data["sources"] = sources.ToJson();

  const std::vector<CandidateId> checked = rows.Checked(id);
  std::vector<CandidateId> kept = elites;
  kept.insert(kept.end(), checked.begin(), checked.end());
  for (const json& improver : data["progress"]["id"]) kept.push_back(improver.get<CandidateId>());
  if (baseline) kept.push_back(baseline->candidate.id);
  kept = rows.WithAncestors(id, kept);
  const std::int64_t total = rows.Count(id);
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(options.most_candidates, 1));
  const std::int64_t stride = std::max<std::int64_t>(1, (std::max(total, rows.LargestId(id)) + most - 1) / most);
  data["candidates"] = CandidateColumns(rows, id, total, stride, kept);
  if (const std::int64_t unread = WithoutGenome(data["candidates"]); unread > 0)
    data["remarks"].push_back(
        fmt::format("{}: run {}: the genomes of {} candidates cannot be read; left out", database, id, unread));
  data["elites"] = elites;
  data["checked"] = checked;

  std::set<CandidateId> told;
  DescribedCandidates described(history, id, tools);
  const auto tell = [&](const std::vector<CandidateId>& ids) {
    for (const CandidateId one : ids) {
      if (told.size() < options.most_described && told.insert(one).second) described.Add(one);
    }
  };
  tell(kept);
  tell(rows.Fastest(id, options.most_described));
  data["described"] = described.Take();
  data["operators"] = OperatorsJson(history, id, tools);
  data["parameters"] = ParametersJson(run.record, tools);
  std::vector<CandidateId> drawn = rows.Fastest(id, kRooflinePoints);
  drawn.insert(drawn.end(), kept.begin(), kept.end());
  std::sort(drawn.begin(), drawn.end());
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  data["roofline"] = RooflineJson(history, rows, run.record, drawn);
  data["clocks"] = history.TotalClocks(id);
  data["refuting"] = RefutingJson(rows, id);
  data["others"] = OthersJson(history, rows, id, runs, tools);
  return data;
}

std::string ReportVersion(const std::string& database, std::optional<RunId> run) {
  return ReportRows(database).Version(run.value_or(0));
}

}  // namespace evo
