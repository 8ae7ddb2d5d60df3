#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "cli/commands/commands.h"
#include "cli/describe.h"
#include "cli/edit_promises.h"
#include "cli/insight.h"
#include "cli/print.h"
#include "cli/shown_candidate.h"
#include "cli/stored_run.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/verdict.h"

namespace evo {
namespace {

struct ShowOptions : HistoryOptions {
  std::optional<CandidateId> id;
  bool source = false;
};

std::string Known(int value, const char* unit) { return value < 0 ? "-" : fmt::format("{}{}", value, unit); }

// "1980", or "1755-1980" where it changed.
std::string Clocks(const CaseMeasurement& m) {
  if (m.sm_high_mhz < 0) return "-";
  return m.sm_low_mhz == m.sm_high_mhz ? std::to_string(m.sm_high_mhz) : fmt::format("{}-{}", m.sm_low_mhz, m.sm_high_mhz);
}

// "small: 1.984 us ▁▃█▅▂▁ 2.480 us, 3 of 57 samples beyond". Samples far above the median would flatten the others.
void PrintHistogram(std::FILE* out, const CaseMeasurement& m) {
  constexpr std::size_t kFewest = 8;
  constexpr std::size_t kMostBins = 40;
  constexpr double kBeyond = 1.25;
  if (m.samples.size() < kFewest) return;
  std::vector<std::uint32_t> sorted = m.samples;
  std::sort(sorted.begin(), sorted.end());
  const double low = sorted.front();
  const double high = std::min<double>(sorted.back(), kBeyond * sorted[sorted.size() / 2]);
  const std::string from = fmt::format("{}: {} us ", m.name, Microseconds(low * m.tick_ns));
  const auto beyond = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), static_cast<std::uint32_t>(high));
  const std::string to = fmt::format(
      " {} us{}", Microseconds(high * m.tick_ns),
      beyond == 0 ? fmt::format(", {} samples", sorted.size()) : fmt::format(", {} of {} samples beyond", beyond, sorted.size()));
  // On one line, also of a narrow terminal.
  const std::size_t texts = ColumnsOf(from) + ColumnsOf(to);
  const std::size_t bins = std::clamp<std::size_t>(LineWidth(out) - std::min(LineWidth(out), texts), kFewest, kMostBins);
  std::vector<double> counts(bins, 0);
  for (const std::uint32_t ticks : sorted) {
    if (ticks <= high)
      ++counts[std::min(bins - 1,
                        static_cast<std::size_t>(high > low ? (ticks - low) / (high - low) * static_cast<double>(bins) : 0))];
  }
  Print(out, "{}{}{}\n", from, Sparkline(counts, bins), to);
}

void PrintMeasurements(std::FILE* out, const Evaluation& evaluation, const std::vector<EfficiencyRow>& efficiency) {
  if (evaluation.cases.empty()) return;
  Print(out, "\n");
  Table table({"case", ">weight", ">median us", ">p10 us", ">p90 us", ">busy us", ">samples", ">discarded", ">outliers",
               ">SM MHz", ">max error", ">L2 error"});
  const auto error = [](double value) { return std::isnan(value) ? std::string("-") : fmt::format("{:.2e}", value); };
  for (const CaseMeasurement& m : evaluation.cases) {
    table.Add({m.name, fmt::format("{}", m.weight), Microseconds(m.median_ns), Microseconds(m.p10_ns), Microseconds(m.p90_ns),
               Microseconds(m.busy_ns), std::to_string(m.samples.size()), std::to_string(m.discarded), std::to_string(m.outliers),
               Clocks(m), error(m.max_error), error(m.l2_error)});
  }
  table.Print(out);
  for (const CaseMeasurement& m : evaluation.cases) {
    PrintHistogram(out, m);
    if (!m.launches.empty()) Print(out, "{}: {}\n", m.name, m.launches);
    if (!m.throttle_reason.empty()) Print(out, "{}: clocks throttled by {}\n", m.name, m.throttle_reason);
  }
  for (const EfficiencyRow& row : efficiency) Print(out, "{}: {}\n", row.case_name, Describe(row));
}

struct Shown {
  RunId run = 0;
  CandidateRecord record;
  std::vector<EfficiencyRow> efficiency;
  std::optional<MinimisedVariant> minimised;
  std::string arch;
};

void PrintText(std::FILE* out, const Shown& found) {
  const CandidateRecord& record = found.record;
  const Candidate& c = record.candidate;
  const Evaluation& e = record.evaluation;
  const KernelFacts& f = e.facts;
  Print(out, "candidate   {} of run {}, generation {}, place {}\n", c.id, found.run, c.generation, c.index);
  Print(out, "operator    {}\n", c.op);
  Print(out, "parents     {}\n", c.parents.empty() ? "none" : fmt::format("{}", fmt::join(c.parents, ", ")));
  Print(out, "template    {}\n", c.genome.template_name);
  Print(out, "parameters  {}\n", Describe(c.genome.parameters));
  PrintEdits(out, c, found.minimised);
  Print(out, "promise     {}\n", DescribePromises(c.genome));
  for (const std::string& reason : c.dropped) Print(out, "dropped     {}\n", reason);
  Print(out, "outcome     {} (stage {})\n", ToString(e.outcome), ToString(e.stage));
  if (!e.message.empty()) Print(out, "message     {}\n", e.message);
  Print(out, "score       {} us\n", Microseconds(e.score_ns));
  Print(out, "verdict     {}\n", Verdict(record));
  if (const std::string failed = Describe(e.counterexample); !failed.empty()) Print(out, "fails on    {}\n", failed);
  if (record.check) PrintEvidence(out, *record.check, true);
  Print(out, "device      {} ({}), L2 {}\n", e.device_name, e.device, e.l2);
  Print(out, "facts       registers {}, static shared {}, dynamic shared {}, spills {}, local {}, occupancy {}\n",
        Known(f.registers, ""), Known(f.static_shared_bytes, " B"), Known(f.dynamic_shared_bytes, " B"),
        Known(f.spill_bytes, " B"), Known(f.local_bytes, " B"),
        std::isnan(f.occupancy) ? "-" : fmt::format("{:.2f}", f.occupancy));
  PrintInsight(out, e, found.arch);
  Print(out,
        "clocks      compile {:.1f} ms, load {:.1f} ms, check {:.1f} ms, time {:.1f} ms, reverify {:.1f} ms ({} runs), queue "
        "{:.1f} ms\n",
        e.clocks.compile_ms, e.clocks.load_ms, e.clocks.check_ms, e.clocks.time_ms, e.clocks.reverification_ms,
        e.reverification_runs, e.clocks.queue_ms);
  Print(out, "genome      {}\n", GenomeHash(c.genome));
  PrintMeasurements(out, e, found.efficiency);
  if (!e.log.empty()) PrintLines(out, fmt::format("\nlog:\n{}{}", e.log, e.log.back() == '\n' ? "" : "\n"));
}

void RunShow(CommandContext& context, const ShowOptions& options) {
  const History history = OpenForShowing(context, options);
  const RunRecord run = history.FindRun(options.run).record;
  CandidateRecord record = FindShownCandidate(history, run.id, options.id);
  const CandidateId id = record.candidate.id;
  DiagnoseOlder(record.evaluation, run, history.Machines(run.id));
  const Shown found = {run.id, std::move(record), history.Efficiency(run.id, id), history.Minimised(run.id, id), run.arch};
  const std::string source = options.source ? RenderStored(context.make_renderer(), run, found.record) : "";
  if (options.json) {
    nlohmann::ordered_json json = ToJson(found.record);
    json["run"] = run.id;
    json["efficiency"] = ToJson(found.efficiency);
    json["minimised"] = found.minimised ? ToJson(*found.minimised) : nlohmann::ordered_json();
    if (options.source) json["source"] = source;
    PrintLines(context.out, Dump(json));
    return;
  }
  const Pager pager(context.out);
  PrintText(context.out, found);
  if (options.source) PrintLines(context.out, "\nsource:\n" + source);
}

}  // namespace

void AddShow(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "Show everything known of one candidate");
  AddHistoryOptions(*command, context, *options);
  command->add_option("ID", options->id, "Candidate (default: the best)");
  command->add_flag("--source", options->source, "Print its source as well, rendered again");
  command->callback([&context, options] { RunShow(context, *options); });
}

}  // namespace evo
