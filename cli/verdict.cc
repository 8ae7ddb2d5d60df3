#include "cli/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>

#include "cli/describe.h"
#include "cli/table.h"

namespace evo {
namespace {

constexpr std::size_t kReasonWidth = 400;
constexpr std::size_t kMessageWidth = 100;

void Line(std::FILE* out, std::string_view what, const std::string& text) {
  if (!text.empty()) fmt::print(out, "{:<12}{}\n", what, text);
}

std::string Reason(const CandidateRecord& record) {
  if (record.evaluation.outcome != Outcome::kOk)
    return fmt::format("{}{}", record.evaluation.message.empty() ? "" : fmt::format("{}: ", ToString(record.evaluation.stage)),
                       OneLine(record.evaluation.message, kReasonWidth));
  return record.check ? OneLine(record.check->message, kReasonWidth) : "";
}

std::string Describe(const Counterexample& counterexample) {
  if (counterexample.case_name.empty()) return "";
  return fmt::format("case {}, generator {}, seed {}", counterexample.case_name, counterexample.generator, counterexample.seed);
}

std::string Times(const ChampionCheck& check) {
  if (check.outcome != Outcome::kOk || std::isnan(check.speedup)) return "";
  return fmt::format("{} over the baseline in interleaved timing: {} us against {} us", Ratio(check.speedup),
                     Microseconds(check.candidate_ns), Microseconds(check.baseline_ns));
}

// What the check knows of the sizes and inputs that it tried.
template <typename Check>
void PrintDomain(std::FILE* out, const Check& check) {
  if constexpr (requires { check.domain; }) {
    Line(out, "sizes", fmt::format("{}", fmt::join(check.domain.sizes, "; ")));
    Line(out, "inputs", fmt::format("{}", fmt::join(check.domain.inputs, "; ")));
    for (const auto& left_out : check.domain.left_out)
      Line(out, "left out", fmt::format("{}: {}", left_out.what, OneLine(left_out.reason, kMessageWidth)));
  }
  if constexpr (requires { check.adversary; }) {
    if (check.adversary.inputs > 0) {
      Line(out, "adversary",
           fmt::format("{} inputs tried; the largest error was {} of its bound ({})", check.adversary.inputs,
                       Ratio(check.adversary.worst), check.adversary.worst_inputs));
    }
  }
  if constexpr (requires { check.counterexample; }) Line(out, "fails on", Describe(check.counterexample));
  if constexpr (requires { check.fresh_ratio; }) {
    if (!std::isnan(check.fresh_ratio))
      Line(out, "fresh data", fmt::format("{} times as long as on data that repeats", Ratio(check.fresh_ratio)));
  }
}

}  // namespace

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
  PrintDomain(out, check);
  if (check.held_out_cases.empty() && check.tools.empty()) return;
  fmt::print(out, "\n");
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
