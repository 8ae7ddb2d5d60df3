#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "cli/check_task.h"
#include "cli/describe.h"
#include "evaluator/device/device_policy.h"
#include "kernel_templates/task_shape.h"

namespace evo {
namespace {

// A warp, and the least that blocks and tiles are multiples of.
constexpr std::int64_t kWarp = 32;
// An honest kernel that sums in another order, or uses fast intrinsics, is off by a few times the baseline's error.
constexpr double kLittleRoom = 0.5;
// One run of the baseline in a timed case (docs/writing_a_task.md).
constexpr double kSlowNs = 20e6;
// Inputs, their copies, answers in double precision, at least two sets of them.
constexpr double kMemoryOfArguments = 8;

using Findings = std::vector<Finding>;

std::vector<const Case*> CasesOf(const Task& task, CaseScale scale) {
  std::vector<const Case*> cases = {&task.small};
  for (const Case& one : SearchCases(task, scale)) cases.push_back(&one);
  for (const Case& one : HeldOutCases(task, scale)) cases.push_back(&one);
  return cases;
}

void AddFailures(const TaskSurvey& survey, Findings& findings) {
  for (const SurveyedCase& one : survey.cases) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const LeftOut& failure : one.failures) by_reason[failure.reason].push_back(failure.what);
    for (const auto& [reason, what] : by_reason) {
      const std::string who = reason.starts_with("the ") ? "" : "the baseline fails: ";
      findings.push_back({true, fmt::format("case {}, {}: {}{}", one.name, fmt::join(what, "; "), who, reason)});
    }
  }
  if (!survey.lax.empty()) findings.push_back({true, survey.lax});
}

// The case in which the mistake is nearest to passing speaks for the others.
template <typename Value, typename Text>
void AddWorst(const TaskSurvey& survey, Value value, Text text, Findings& findings) {
  std::map<std::string, std::pair<const SurveyedCase*, const SurveyedOutput*>> worst;
  std::map<std::string, int> others;
  for (const SurveyedCase& one : survey.cases) {
    for (const SurveyedOutput& output : one.outputs) {
      const double of_this = value(output);
      if (!(of_this < 1)) continue;
      ++others[output.output];
      auto& kept = worst[output.output];
      if (kept.second == nullptr || of_this < value(*kept.second)) kept = {&one, &output};
    }
  }
  for (const auto& [name, kept] : worst) {
    const int more = others[name] - 1;
    findings.push_back({false, text(*kept.first, *kept.second) + (more > 0 ? fmt::format("; so in {} more cases", more) : "")});
  }
}

void AddBounds(const TaskSurvey& survey, Findings& findings) {
  AddWorst(
      survey, [](const SurveyedOutput& output) { return output.block_ratio; },
      [](const SurveyedCase& one, const SurveyedOutput& output) {
        return fmt::format(
            "case {}: zeros in place of block {} of {} of {} are an error of {:.2g} of what is allowed: such a kernel passes; "
            "lower "
            "the bounds, or add a case with fewer blocks",
            one.name, output.block, output.blocks, output.output, output.block_ratio);
      },
      findings);
  AddWorst(
      survey, [](const SurveyedOutput& output) { return output.term_ratio; },
      [](const SurveyedCase& one, const SurveyedOutput& output) {
        return fmt::format(
            "case {}: one missing term of the {} of each sum of {} is an error of about {:.2g} of what is allowed: such a kernel "
            "passes, unless an input has one large term; add a case with shorter sums, or a generator such as one_hot",
            one.name, output.terms, output.output, output.term_ratio);
      },
      findings);
  for (const SurveyedCase& one : survey.cases) {
    for (const SurveyedOutput& output : one.outputs) {
      if (!(output.baseline_ratio > kLittleRoom && output.baseline_ratio <= 1)) continue;
      findings.push_back(
          {false, fmt::format("case {}: the baseline's own error of {} is {:.2g} of what is allowed: honest kernels "
                              "may fail",
                              one.name, output.output, output.baseline_ratio)});
    }
  }
}

void AddSizes(const TaskCheck& check, CaseScale scale, Findings& findings) {
  const std::vector<const Case*> cases = CasesOf(check.task, scale);
  std::map<std::string, std::set<std::int64_t>> values;
  for (const Case* one : cases) {
    for (const auto& [name, value] : one->sizes) values[name].insert(value);
  }
  const auto multiple = [](std::int64_t value) { return value % kWarp == 0; };
  const auto all_multiples = [&](const std::set<std::int64_t>& of) { return std::all_of(of.begin(), of.end(), multiple); };
  std::vector<std::string> regular;
  bool any_ragged = false;
  for (const auto& [name, of] : values) {
    any_ragged = any_ragged || !all_multiples(of);
    if (of.size() > 1 && all_multiples(of)) regular.push_back(name);
  }
  if (!any_ragged) {
    findings.push_back({false,
                        "not ragged: every size of every case is a multiple of 32, so that a kernel that reads or writes "
                        "past the end is not seen; make the small case, and a held-out one, ragged"});
  } else if (!regular.empty()) {
    findings.push_back({false, fmt::format("not ragged: {} {} a multiple of 32 in every case, so that a kernel that forgets its "
                                           "end is not seen",
                                           fmt::join(regular, ", "), regular.size() == 1 ? "is" : "are")});
  } else {
    const auto& small = check.task.small.sizes;
    if (std::all_of(small.begin(), small.end(), [&](const auto& size) { return multiple(size.second); }))
      findings.push_back({false,
                          "the small case is not ragged: a kernel that is wrong at the end of a row or grid is only found "
                          "in a champion's check"});
  }
}

void AddReference(const TaskCheck& check, Findings& findings) {
  constexpr double kLong = 5;  // seconds
  if (!check.reference) return;
  const ReferenceCost& cost = *check.reference;
  const double seconds = static_cast<double>(cost.first_answers) * cost.ms / 1e3;
  if (!(seconds > kLong)) return;
  findings.push_back(
      {false,
       fmt::format(
           "slow reference: {:.3g} ms for an answer of {} to the small case; a search waits {:.0f} s for {} of them before "
           "its first candidate, and {:.0f} s in each check of a champion: make the small case smaller, or the reference "
           "faster",
           cost.ms, check.task.reference_file, seconds, cost.first_answers,
           static_cast<double>(cost.check_answers) * cost.ms / 1e3)});
}

void AddCosts(const TaskCheck& check, Findings& findings) {
  for (const SurveyedCase& one : check.survey.cases) {
    const auto memory = static_cast<double>(check.device.memory_bytes);
    if (memory > 0 && kMemoryOfArguments * one.bytes > memory) {
      findings.push_back(
          {false, fmt::format("case {}: too large: {:.1f} GB of arguments; with copies and answers about {:.0f} GB, "
                              "and the device has {:.0f} GB",
                              one.name, one.bytes / 1e9, kMemoryOfArguments * one.bytes / 1e9, memory / 1e9)});
    }
  }
  AddReference(check, findings);
  const auto& baseline = check.templates.front();
  for (const CaseMeasurement& one : baseline.evaluation.cases) {
    if (one.median_ns > kSlowNs) {
      findings.push_back({false, fmt::format("case {}: too slow: {:.0f} ms for one run of the baseline; 5 to 20 ms on the cpu "
                                             "device, and at most 20 ms on a GPU, leave time for a search",
                                             one.name, one.median_ns / 1e6)});
    }
  }
  if (baseline.evaluated && baseline.evaluation.outcome == Outcome::kNoisy)
    findings.push_back({false, "the baseline could not be timed with the required precision: is the machine busy?"});
}

}  // namespace

std::vector<Finding> FindingsOf(const TaskCheck& check) {
  Findings findings;
  AddFailures(check.survey, findings);
  AddBounds(check.survey, findings);
  AddSizes(check, PolicyOf(check.device.kind).cases, findings);
  AddCosts(check, findings);
  for (const std::string& what : check.survey.not_seen) findings.push_back({false, fmt::format("no time for {}", what)});
  return findings;
}

}  // namespace evo
