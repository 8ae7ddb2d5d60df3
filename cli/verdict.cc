#include "cli/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <string>

#include "cli/describe.h"
#include "cli/input_groups.h"
#include "cli/print.h"
#include "cli/table.h"
#include "core/counted_diagnosis.h"

namespace evo {
namespace {

constexpr std::size_t kVerdictWidth = 400;
constexpr std::size_t kMessageWidth = 100;

constexpr std::size_t kHeading = 12;

// With the heading in a column of its own.
void Line(std::FILE* out, const std::string& heading, const std::string& text) {
  if (text.empty()) return;
  std::string what = heading;
  for (const std::string& line : WrappedLines(CleanedLine(text), LineWidth(out) - kHeading)) {
    Print(out, "{:<12}{}\n", what, line);
    what.clear();
  }
}

std::string Reason(const CandidateRecord& record) {
  if (record.evaluation.outcome != Outcome::kOk)
    return fmt::format("{}{}", record.evaluation.message.empty() ? "" : fmt::format("{}: ", ToString(record.evaluation.stage)),
                       OneLine(record.evaluation.message, kVerdictWidth));
  return record.check ? OneLine(record.check->message, kVerdictWidth) : "";
}

std::string Times(const ChampionCheck& check) {
  if (check.outcome != Outcome::kOk || std::isnan(check.speedup)) return "";
  return fmt::format("{} over the baseline in interleaved timing: {} us against {} us", Ratio(check.speedup),
                     Microseconds(check.candidate_ns), Microseconds(check.baseline_ns));
}

// Empty for the usual one.
std::string DescribeReference(const ChampionCheck& check) {
  if (check.reference == kReferenceKernels) return "";
  if (check.reference == kReferenceBaseline)
    return "the baseline itself: right means that both compute the same; what is wrong in the baseline is not found";
  return std::isnan(check.reference_ms)
             ? check.reference
             : fmt::format("{}, {:.3g} ms for an answer to a small input", check.reference, check.reference_ms);
}

// What was left out for the same reason, together.
void AddLeftOut(std::vector<EvidenceLine>& lines, const std::vector<LeftOut>& left_out, bool all) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const LeftOut& one : left_out) by_reason[one.reason].push_back(one.what);
  for (const auto& [reason, what] : by_reason) {
    const std::string heading = &reason == &by_reason.begin()->first ? "left out" : "";
    if (what.size() == 1) {
      lines.push_back({heading, fmt::format("{}: {}", what.front(), reason)});
    } else if (!all) {
      lines.push_back({heading, fmt::format("{} and {} more: {}", what.front(), what.size() - 1, reason)});
    } else {
      lines.push_back({heading, reason + ":"});
      for (std::string& group : GroupInputs(what)) lines.push_back({"", std::move(group)});
    }
  }
}

// What the hardware's counters say of the candidate and of the baseline.
void AddCounters(std::vector<EvidenceLine>& lines, const ChampionCheck& check, bool all) {
  for (const HardwareCounters& counters : check.counters) {
    const Diagnosis diagnosis = DiagnoseCounted(counters);
    const bool baseline = counters.program == kCountedBaseline;
    lines.push_back({baseline ? "" : "counters", fmt::format("{}{}: {}", baseline ? "the baseline " : "",
                                                             Describe(diagnosis.bottleneck), diagnosis.evidence)});
    if (!all) continue;
    if (const std::string rates = DescribeRates(counters); !rates.empty()) lines.push_back({"", "of the peak: " + rates});
    if (const std::string waits = DescribeWaits(counters); !waits.empty()) lines.push_back({"", "warps wait " + waits});
  }
  for (const StallLine& stall : check.stalls) {
    const bool first = &stall == &check.stalls.front();
    if (!first && !all) break;
    lines.push_back({first ? "stalls" : "", fmt::format("{:.0f}% of the warps' time at line {}, mostly for {}: {}",
                                                        100 * stall.share, stall.line, stall.waits_for, stall.code)});
  }
  if (!check.not_counted.empty()) {
    lines.push_back({"counters", fmt::format("{}: {}", check.counters.empty() ? "none" : "not all",
                                             OneLine(check.not_counted, kVerdictWidth))});
  }
}

}  // namespace

std::vector<EvidenceLine> DescribeEvidence(const ChampionCheck& check, bool all) {
  std::vector<EvidenceLine> lines;
  if (std::string reference = DescribeReference(check); !reference.empty()) lines.push_back({"reference", std::move(reference)});
  const VerifiedDomain& domain = check.domain;
  if (!domain.sizes.empty()) {
    lines.push_back({"sizes", fmt::format("right at the task's own and at {}", fmt::join(domain.sizes, "; "))});
  }
  if (!domain.inputs.empty()) {
    lines.push_back({"inputs", fmt::format("right on the task's generators and on {} hard ones", domain.inputs.size())});
    if (all) {
      for (std::string& group : GroupInputs(domain.inputs)) lines.push_back({"", std::move(group)});
    }
  }
  AddLeftOut(lines, domain.left_out, all);
  if (check.adversary.inputs > 0) {
    const AdversaryEffort& effort = check.adversary;
    lines.push_back(
        {"adversary",
         fmt::format("{} inputs tried{}", effort.inputs,
                     std::isnan(effort.worst) ? "" : fmt::format(", the worst error {:.2g} of its bound", effort.worst)) +
             (effort.worst_inputs.empty()
                  ? ""
                  : fmt::format(" ({})", all ? effort.worst_inputs : OneLine(effort.worst_inputs, kMessageWidth)))});
  }
  if (!std::isnan(check.fresh_ratio))
    lines.push_back({"fresh data", fmt::format("{} times as long as on data that repeats", Ratio(check.fresh_ratio))});
  AddCounters(lines, check, all);
  if (const std::string found = Describe(check.counterexample); !found.empty()) lines.push_back({"fails on", found});
  return lines;
}

void PrintEvidence(std::FILE* out, const ChampionCheck& check, bool all) {
  for (const EvidenceLine& line : DescribeEvidence(check, all)) Line(out, line.heading, line.text);
  if (all && !check.took.empty()) Line(out, "check took", check.took);
}

std::string Describe(const Counterexample& counterexample) {
  if (counterexample.case_name.empty()) return "";
  const std::string inputs =
      counterexample.inputs.empty() ? fmt::format("generator {}", counterexample.generator) : counterexample.inputs;
  return fmt::format("case {}: {}, seed {}", counterexample.case_name, inputs, counterexample.seed);
}

bool Passed(const CandidateRecord& record) {
  return record.evaluation.outcome == Outcome::kOk && record.check && record.check->outcome == Outcome::kOk;
}

void PrintVerdict(std::FILE* out, const CandidateRecord& record) {
  Line(out, "verdict", Verdict(record));
  if (!Passed(record)) Line(out, "reason", Reason(record));
  if (record.evaluation.outcome != Outcome::kOk) Line(out, "fails on", Describe(record.evaluation.counterexample));
  if (!record.check) return;
  const ChampionCheck& check = *record.check;
  Line(out, "speed-up", Times(check));
  PrintEvidence(out, check, false);
  if (check.held_out_cases.empty() && check.tools.empty()) return;
  Print(out, "\n");
  Table table({"check", "result", "message"});
  for (const std::string& name : check.held_out_cases) table.Add({"held-out case " + name, "ok", ""});
  for (const ToolResult& tool : check.tools) table.Add({tool.tool, tool.result, OneLine(tool.message, kMessageWidth)});
  table.Print(out);
}

nlohmann::ordered_json VerdictJson(const CandidateRecord& record) {
  const bool evaluated = record.evaluation.outcome == Outcome::kOk;
  const Outcome outcome = evaluated && record.check ? record.check->outcome : record.evaluation.outcome;
  nlohmann::ordered_json json = {{"verdict", Verdict(record)},
                                 {"passed", Passed(record)},
                                 {"outcome", ToString(outcome)},
                                 {"reason", Passed(record) ? "" : Reason(record)}};
  json["candidate"] = ToJson(record);
  return json;
}

}  // namespace evo
