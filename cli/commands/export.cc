#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/print.h"
#include "cli/record_output.h"
#include "cli/stored_run.h"

namespace evo {
namespace {

struct ExportOptions : HistoryOptions {
  bool csv = false;
};

// Columns of the evaluation are those of the database. The log stays out: it has many lines.
template <typename Visit>
void ForEachCsvColumn(const Evaluation& evaluation, Visit visit) {
  ForEachColumn(evaluation, [&](const Column& column, const auto& value) {
    if (column.name != "log") visit(column, value);
  });
}

constexpr std::array kCaseFields{std::pair{"median_ns", &CaseMeasurement::median_ns},
                                 std::pair{"p10_ns", &CaseMeasurement::p10_ns}, std::pair{"p90_ns", &CaseMeasurement::p90_ns}};

struct Columns {
  std::set<std::string> parameters;
  std::vector<std::string> cases;  // in the order in which they first appear
};

std::vector<std::string> Header(const Columns& columns) {
  std::vector<std::string> header{"run",      "id",      "generation", "index",   "template",
                                  "operator", "parents", "edits",      "dropped", "genome_hash"};
  ForEachCsvColumn({}, [&](const Column& column, const auto&) { header.emplace_back(column.name); });
  header.insert(header.end(), {"check_outcome", "check_speedup"});
  for (const std::string& name : columns.parameters) header.push_back(CsvText("parameter." + name));
  for (const std::string& name : columns.cases) {
    for (const auto& [field, member] : kCaseFields) header.push_back(CsvText(fmt::format("case.{}.{}", name, field)));
  }
  return header;
}

std::vector<std::string> Row(RunId run, const CandidateRecord& record, const Columns& columns) {
  const Candidate& c = record.candidate;
  std::vector<std::string> row{fmt::format("{}", run),
                               fmt::format("{}", c.id),
                               fmt::format("{}", c.generation),
                               fmt::format("{}", c.index),
                               CsvText(c.genome.template_name),
                               CsvText(c.op),
                               fmt::format("{}", fmt::join(c.parents, " ")),
                               fmt::format("{}", c.genome.edits.size()),
                               fmt::format("{}", c.dropped.size()),
                               GenomeHash(c.genome)};
  ForEachCsvColumn(record.evaluation, [&](const Column& column, const auto& value) { row.push_back(CsvCell(column, value)); });
  row.push_back(record.check ? std::string(ToString(record.check->outcome)) : "");
  row.push_back(CsvCell({}, record.check ? record.check->speedup : kNoValue));
  for (const std::string& name : columns.parameters) {
    const auto found = c.genome.parameters.find(name);
    row.push_back(found == c.genome.parameters.end() ? "" : fmt::format("{}", found->second));
  }
  const std::vector<CaseMeasurement>& cases = record.evaluation.cases;
  for (const std::string& name : columns.cases) {
    const auto found = std::find_if(cases.begin(), cases.end(), [&](const auto& m) { return m.name == name; });
    for (const auto& [field, member] : kCaseFields) row.push_back(found == cases.end() ? "" : CsvCell({}, *found.*member));
  }
  return row;
}

// As if the run and all its candidates were dumped as one value.
void ExportJson(std::FILE* out, const History& history, const RunSummary& run) {
  constexpr std::string_view kEnd = "[]\n}\n";
  nlohmann::ordered_json json = ToJson(run);
  json["candidates"] = nlohmann::ordered_json::array();
  std::string frame = Dump(json);
  frame.resize(frame.size() - kEnd.size());
  PrintLines(out, frame + "[");
  bool first = true;
  history.VisitAll(run.record.id, [&](const CandidateRecord& record) {
    std::string text = Dump(ToJson(record));
    text.pop_back();
    std::string indented = std::exchange(first, false) ? "\n    " : ",\n    ";
    for (const char c : text) indented += c == '\n' ? std::string("\n    ") : std::string(1, c);
    PrintLines(out, indented);
  });
  PrintLines(out, first ? "]\n}\n" : "\n  ]\n}\n");
}

void ExportCsv(std::FILE* out, const History& history, RunId run) {
  const Columns columns{history.ParameterNames(run), history.CaseNames(run)};
  // For programs: never broken.
  const auto print = [&](const std::vector<std::string>& cells) { PrintLines(out, fmt::format("{}\n", fmt::join(cells, ","))); };
  print(Header(columns));
  history.VisitAll(run, [&](const CandidateRecord& record) { print(Row(run, record, columns)); });
}

void RunExport(CommandContext& context, const ExportOptions& options) {
  const History history = OpenForShowing(context, options);
  const RunSummary run = FindShownRun(context, history, options);
  if (options.json)
    ExportJson(context.out, history, run);
  else
    ExportCsv(context.out, history, run.record.id);
}

}  // namespace

void AddExport(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Print every candidate of a run for other programs");
  AddHistoryOptions(*command, context, *options);
  command->add_flag("--csv", options->csv, "Print CSV (default)")->excludes("--json");
  command->callback([&context, options] { RunExport(context, *options); });
}

}  // namespace evo
