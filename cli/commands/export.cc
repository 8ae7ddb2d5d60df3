#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <set>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/stored_run.h"

namespace evo {
namespace {

struct Options : HistoryOptions {
  bool csv = false;
};

// RFC 4180: quoted only where necessary, with quotes doubled.
std::string Cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

// The shortest form, which reads back to the same double; empty if the value is not known.
std::string Cell(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }
std::string Cell(int value) { return value < 0 ? "" : fmt::format("{}", value); }

struct Columns {
  std::set<std::string> parameters;
  std::vector<std::string> cases;  // in the order they first appear
};

Columns FindColumns(const std::vector<CandidateRecord>& records) {
  Columns columns;
  for (const CandidateRecord& record : records) {
    for (const auto& [name, value] : record.candidate.genome.parameters) columns.parameters.insert(name);
    for (const CaseMeasurement& m : record.evaluation.cases) {
      if (std::find(columns.cases.begin(), columns.cases.end(), m.name) == columns.cases.end()) columns.cases.push_back(m.name);
    }
  }
  return columns;
}

std::vector<std::string> Header(const Columns& columns) {
  std::vector<std::string> header{"run",
                                  "id",
                                  "generation",
                                  "index",
                                  "template",
                                  "operator",
                                  "parents",
                                  "edits",
                                  "dropped",
                                  "genome_hash",
                                  "outcome",
                                  "stage",
                                  "message",
                                  "score_ns",
                                  "device",
                                  "device_name",
                                  "l2",
                                  "registers",
                                  "static_shared_bytes",
                                  "dynamic_shared_bytes",
                                  "spill_bytes",
                                  "local_bytes",
                                  "occupancy",
                                  "compile_ms",
                                  "load_ms",
                                  "check_ms",
                                  "time_ms",
                                  "reverification_ms",
                                  "queue_ms",
                                  "reverification_runs",
                                  "image_digest",
                                  "source_digest",
                                  "check_outcome",
                                  "check_speedup"};
  for (const std::string& name : columns.parameters) header.push_back(Cell("parameter." + name));
  for (const std::string& name : columns.cases) {
    for (const char* field : {"median_ns", "p10_ns", "p90_ns"}) header.push_back(Cell(fmt::format("case.{}.{}", name, field)));
  }
  return header;
}

std::vector<std::string> Row(RunId run, const CandidateRecord& record, const Columns& columns) {
  const Candidate& c = record.candidate;
  const Evaluation& e = record.evaluation;
  std::vector<std::string> row{fmt::format("{}", run),
                               fmt::format("{}", c.id),
                               Cell(c.generation),
                               Cell(c.index),
                               Cell(c.genome.template_name),
                               Cell(c.op),
                               fmt::format("{}", fmt::join(c.parents, " ")),
                               fmt::format("{}", c.genome.edits.size()),
                               fmt::format("{}", c.dropped.size()),
                               GenomeHash(c.genome),
                               std::string(ToString(e.outcome)),
                               std::string(ToString(e.stage)),
                               Cell(e.message),
                               Cell(e.score_ns),
                               Cell(e.device),
                               Cell(e.device_name),
                               Cell(e.l2)};
  for (const int fact :
       {e.facts.registers, e.facts.static_shared_bytes, e.facts.dynamic_shared_bytes, e.facts.spill_bytes, e.facts.local_bytes}) {
    row.push_back(Cell(fact));
  }
  for (const double value : {e.facts.occupancy, e.clocks.compile_ms, e.clocks.load_ms, e.clocks.check_ms, e.clocks.time_ms,
                             e.clocks.reverification_ms, e.clocks.queue_ms}) {
    row.push_back(Cell(value));
  }
  row.push_back(Cell(e.reverification_runs));
  row.insert(row.end(), {e.image_digest, e.source_digest, record.check ? std::string(ToString(record.check->outcome)) : "",
                         Cell(record.check ? record.check->speedup : kNoValue)});
  for (const std::string& name : columns.parameters) {
    const auto found = c.genome.parameters.find(name);
    row.push_back(found == c.genome.parameters.end() ? "" : fmt::format("{}", found->second));
  }
  for (const std::string& name : columns.cases) {
    const auto found = std::find_if(e.cases.begin(), e.cases.end(), [&](const auto& m) { return m.name == name; });
    const CaseMeasurement none;
    const CaseMeasurement& m = found == e.cases.end() ? none : *found;
    row.insert(row.end(), {Cell(m.median_ns), Cell(m.p10_ns), Cell(m.p90_ns)});
  }
  return row;
}

void RunExport(const CommandContext& context, const Options& options) {
  const History history(options.database);
  const RunSummary run = history.FindRun(options.run);
  const std::vector<CandidateRecord> records = history.Candidates(run.record.id, {});
  if (options.json) {
    nlohmann::ordered_json json = ToJson(run);
    json["candidates"] = nlohmann::ordered_json::array();
    for (const CandidateRecord& record : records) json["candidates"].push_back(ToJson(record));
    fmt::print(context.out, "{}", Dump(json));
    return;
  }
  const Columns columns = FindColumns(records);
  fmt::print(context.out, "{}\n", fmt::join(Header(columns), ","));
  for (const CandidateRecord& record : records)
    fmt::print(context.out, "{}\n", fmt::join(Row(run.record.id, record, columns), ","));
}

}  // namespace

void AddExport(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("export", "Print every candidate of a run for other programs");
  AddHistoryOptions(*command, context, *options);
  command->add_flag("--csv", options->csv, "Print CSV (default)")->excludes("--json");
  command->callback([&context, options] { RunExport(context, *options); });
}

}  // namespace evo
