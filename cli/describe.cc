#include "cli/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/edit_promises.h"
#include "cli/print.h"
#include "cli/record_output.h"
#include "cli/stored_options.h"
#include "cli/table.h"
#include "db/rows.h"

namespace evo {
namespace {

using nlohmann::ordered_json;

// ", worth 1.120x"; ", needed: wrong_result without it"; empty if nothing is known.
std::string Describe(const EditWorth& worth) {
  if (!worth.outcome) return "";
  if (*worth.outcome != Outcome::kOk) return fmt::format(", needed: {} without it", ToString(*worth.outcome));
  return fmt::format(", worth {:.3f}x", worth.worth);
}

// That nvcc compiles a kernel is no evidence about its behaviour.
bool IsCleanSanitizer(const ToolResult& tool) { return tool.result == "clean" && tool.tool != "nvcc"; }

}  // namespace

ordered_json ToJson(const ChampionCheck& check) { return RecordJson(check); }

std::string Microseconds(double nanoseconds) { return std::isnan(nanoseconds) ? "-" : fmt::format("{:.3f}", nanoseconds / 1000); }

std::string Ratio(double value) { return std::isnan(value) ? "-" : fmt::format("{:.3f}", value); }

std::string DescribeGain(double gain) {
  constexpr double kMuch = 2;
  if (std::isnan(gain)) return "";
  if (gain >= kMuch) return fmt::format(", {:.2f} times the step before", gain);
  const double percent = std::round(1000 * (gain - 1)) / 10;
  return fmt::format(", {}{:.1f}%", percent > 0 ? "+" : "", percent == 0 ? 0.0 : percent);
}

std::string Describe(const EfficiencyRow& row) {
  const auto part = [](double rate, const char* name, double share) {
    if (std::isnan(rate)) return std::string();
    const bool tera = rate >= 1e12;
    return fmt::format("{:.3g} {}{}{}", rate / (tera ? 1e12 : 1e9), tera ? "T" : "G", name,
                       std::isnan(share)
                           ? ""
                           : fmt::format(" ({:.{}f}% of what this machine was seen to do)", 100 * share, share < 0.1 ? 1 : 0));
  };
  const std::string memory = part(row.bytes_per_s, "B/s", row.memory_share);
  const std::string arithmetic = part(row.operations_per_s, "FLOP/s", row.arithmetic_share);
  if (memory.empty() && arithmetic.empty()) return "-";
  return memory + (memory.empty() || arithmetic.empty() ? "" : ", ") + arithmetic;
}

std::string Describe(const MachineState& machine) {
  std::string text;
  const auto add = [&](const char* name, double value, double unit, const char* unit_name) {
    if (!std::isnan(value)) text += fmt::format("{}{} {:.3g} {}", text.empty() ? "" : ", ", name, value / unit, unit_name);
  };
  add("DRAM", machine.dram_bytes_per_s, 1e12, "TB/s");
  add("L2", machine.l2_bytes_per_s, 1e12, "TB/s");
  add("fp32", machine.f32_per_s, 1e12, "TFLOP/s");
  add("tensor cores", machine.tensor_per_s, 1e12, "TFLOP/s");
  add("an empty kernel", machine.launch_ns, 1e3, "us");
  const ClockState& clocks = machine.clocks;
  if (clocks.sm_mhz >= 0) text += fmt::format("; SM {} of {} MHz", clocks.sm_mhz, clocks.sm_max_mhz);
  if (clocks.temperature_c >= 0) text += fmt::format(", {} C", clocks.temperature_c);
  if (!std::isnan(clocks.power_w)) text += fmt::format(", {:.0f} W", clocks.power_w);
  if (!clocks.throttle_reason.empty()) text += fmt::format(", throttled: {}", clocks.throttle_reason);
  return text;
}

std::string OneLine(const std::string& text, std::size_t width) { return Cut(CleanedLine(Folded(text)), width); }

std::string Describe(const SlowestInputs& slowest) {
  // Smaller ratios come from caches and clocks.
  constexpr double kUneven = 1.25;
  return slowest.ratio >= kUneven ? fmt::format(", {:.2f} times as long on other inputs ({})", slowest.ratio, slowest.inputs)
                                  : "";
}

std::string Verdict(const CandidateRecord& record) {
  if (record.evaluation.outcome != Outcome::kOk) return fmt::format("failed: {}", ToString(record.evaluation.outcome));
  if (!record.check) return "not checked";
  if (record.check->outcome == Outcome::kOk) {
    const std::string held_out = fmt::format("held-out ok ({})", fmt::join(record.check->held_out_cases, ", "));
    std::string clean;
    for (const ToolResult& tool : record.check->tools) {
      if (IsCleanSanitizer(tool)) clean += (clean.empty() ? "" : ", ") + tool.tool;
    }
    return (clean.empty() ? held_out : fmt::format("verified ({} clean), {}", clean, held_out)) +
           Describe(record.check->slowest) +
           (record.check->reference == kReferenceBaseline ? ", compared with the baseline alone" : "");
  }
  return fmt::format("failed: {}: {}", ToString(record.check->outcome), record.check->message);
}

bool IsVerified(const CandidateRecord& record) {
  if (record.evaluation.outcome != Outcome::kOk || !record.check || record.check->outcome != Outcome::kOk) return false;
  return std::any_of(record.check->tools.begin(), record.check->tools.end(), IsCleanSanitizer);
}

Speedup SpeedupOver(const std::optional<CandidateRecord>& baseline, const CandidateRecord& record) {
  if (record.check && !std::isnan(record.check->speedup))
    return {record.check->speedup, true, record.check->baseline_ns, record.check->candidate_ns};
  const double kernel_ns = record.evaluation.score_ns;
  if (!baseline) return {kNoValue, false, kNoValue, kernel_ns};
  return {baseline->evaluation.score_ns / kernel_ns, false, baseline->evaluation.score_ns, kernel_ns};
}

std::string Describe(const Speedup& speedup) {
  if (std::isnan(speedup.value)) return "not known";
  const bool times = !std::isnan(speedup.baseline_ns) && !std::isnan(speedup.kernel_ns);
  return fmt::format(
      "{:.3f}{} ({})", speedup.value,
      times ? fmt::format(": {} us, the baseline {} us", Microseconds(speedup.kernel_ns), Microseconds(speedup.baseline_ns)) : "",
      speedup.from_check ? "re-timed, alternating with the baseline" : "from the medians of two separate measurements");
}

void PrintResult(std::FILE* out, const std::optional<CandidateRecord>& baseline, const CandidateRecord& best) {
  const Speedup speedup = SpeedupOver(baseline, best);
  Table table({"kernel", ">candidate", ">latency us", ">speed-up", "verdict"});
  if (baseline && baseline->candidate.id == best.candidate.id) {
    // Timed against itself it would seem a little faster or slower.
    table.Add({"baseline " + best.candidate.genome.template_name, std::to_string(best.candidate.id),
               Microseconds(best.evaluation.score_ns), "1.000", Verdict(best)});
    table.Print(out);
    Print(out, "no kernel was faster than the baseline\n");
    return;
  }
  if (baseline)
    table.Add({"baseline " + baseline->candidate.genome.template_name, std::to_string(baseline->candidate.id),
               Microseconds(speedup.baseline_ns), "1.000", ""});
  table.Add({"best " + best.candidate.genome.template_name, std::to_string(best.candidate.id), Microseconds(speedup.kernel_ns),
             Ratio(speedup.value), Verdict(best)});
  table.Print(out);
  if (!speedup.from_check) return;
  Print(out, "re-timed, alternating with the baseline; in the search the best took {} us{}\n",
        Microseconds(best.evaluation.score_ns),
        baseline ? fmt::format(" and the baseline {} us", Microseconds(baseline->evaluation.score_ns)) : "");
}

ordered_json ToJson(const CandidateRecord& record) {
  const Candidate& c = record.candidate;
  ordered_json json{{"id", c.id},
                    {"generation", c.generation},
                    {"index", c.index},
                    {"template", c.genome.template_name},
                    {"operator", c.op},
                    {"parents", c.parents},
                    {"genome_hash", GenomeHash(c.genome)},
                    {"parameters", c.genome.parameters},
                    {"edits", ordered_json(nlohmann::json(c.genome.edits))},
                    {"unproven_edits", UnprovenJson(c.genome)},
                    {"dropped", c.dropped}};
  AddFields(json, record.evaluation);
  json["check"] = record.check ? ToJson(*record.check) : ordered_json(nullptr);
  return json;
}

bool IsReplay(const RunRecord& run) {
  const std::optional<StoredOptions> options = ReadableOptions(run);
  return options && options->replay;
}

ordered_json ToJson(const RunSummary& run) {
  const RunRecord& r = run.record;
  ordered_json json{{"run", r.id},
                    {"status", ToString(run.status)},
                    {"message", run.status_message},
                    {"started_at", run.started_at},
                    {"ended_at", run.ended_at},
                    {"task", r.task},
                    {"task_digest", r.task_digest},
                    {"baseline", r.baseline},
                    {"device", r.device},
                    {"device_name", r.device_name},
                    {"arch", r.arch},
                    {"l2", r.l2},
                    {"population_kind", r.population_kind},
                    {"seed", r.seed},
                    {"generations", r.generations},
                    {"generations_done", run.generations_done},
                    {"population", r.population},
                    {"children", r.children},
                    {"evaluated", run.evaluated},
                    {"valid", run.valid},
                    {"tool_version", r.tool_version}};
  json["templates"] = ordered_json::array();
  for (const TemplateText& text : r.templates) json["templates"].push_back({{"name", text.name}, {"digest", text.digest}});
  json["operators"] = r.operators;
  const StoredOptions options = ReadableOptions(r).value_or(StoredOptions());
  if (options.proven_only) json["proven_only"] = true;
  if (const auto& replay = options.replay)
    json["replay"] = {{"database", replay->database}, {"runs", replay->runs}, {"missing", replay->missing}};
  return json;
}

std::string Dump(const ordered_json& json) { return json.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n"; }

void PrintEdits(std::FILE* out, const Candidate& candidate, const std::optional<MinimisedVariant>& minimised) {
  const std::vector<Edit>& edits = candidate.genome.edits;
  if (minimised && minimised->champion == candidate.id) Print(out, "minimised   every edit is needed\n");
  if (minimised && minimised->champion != candidate.id) {
    Print(out, "minimised   from candidate {}: {} of its {} edits kept\n", minimised->champion, edits.size(),
          minimised->champion_edits);
  }
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const bool known = minimised && i < minimised->edits.size();
    Print(out, "edit        {}{}\n", Describe(edits[i]), known ? Describe(minimised->edits[i]) : "");
  }
}

ordered_json ToJson(const MinimisedVariant& variant) {
  ordered_json json{{"champion", variant.champion}, {"champion_edits", variant.champion_edits}, {"edits", ordered_json::array()}};
  for (const EditWorth& worth : variant.edits) {
    json["edits"].push_back({{"without", worth.without == 0 ? ordered_json(nullptr) : ordered_json(worth.without)},
                             {"outcome", worth.outcome ? ordered_json(ToString(*worth.outcome)) : ordered_json(nullptr)},
                             {"worth", worth.worth}});
  }
  return json;
}

nlohmann::ordered_json ToJson(const std::vector<EfficiencyRow>& rows) {
  ordered_json list = ordered_json::array();
  for (const EfficiencyRow& row : rows) {
    list.push_back({{"case", row.case_name},
                    {"bytes_per_s", row.bytes_per_s},
                    {"operations_per_s", row.operations_per_s},
                    {"memory_share", row.memory_share},
                    {"arithmetic_share", row.arithmetic_share}});
  }
  return list;
}

nlohmann::ordered_json ToJson(const std::vector<MachineState>& machines) { return RecordJson(machines); }

}  // namespace evo
