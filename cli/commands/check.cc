#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "cli/check_task.h"
#include "cli/commands/commands.h"
#include "cli/console_observer.h"
#include "cli/describe.h"
#include "cli/header_folders.h"
#include "cli/input_groups.h"
#include "cli/print.h"
#include "cli/run_options.h"
#include "cli/table.h"
#include "core/record_json.h"
#include "evaluator/device/device_policy.h"
#include "kernel_templates/task_shape.h"

namespace evo {
namespace {

constexpr int kFails = 3;
constexpr std::size_t kCheckReasonWidth = 600;
constexpr std::size_t kInputsWidth = 200;

struct CheckOptions : TaskToCheck {
  bool json = false;
};

std::string NvccCell(const CheckedTemplate& one) {
  if (one.nvcc.result == "clean") return "ok";
  return one.nvcc.result == "missing" ? "none" : "fails";
}

std::string CompiledCell(const CheckedTemplate& one) {
  const Evaluation& evaluation = one.evaluation;
  if (!one.evaluated || evaluation.outcome == Outcome::kCancelled) return "-";
  return evaluation.outcome != Outcome::kOk && evaluation.stage == Stage::kCompile ? "fails" : "ok";
}

// Why the template fails, as far as anything says so.
std::string Reason(const CheckedTemplate& one) {
  std::vector<std::string> parts;
  // What both compilers refuse is said once.
  if (one.nvcc.result == "error" && CompiledCell(one) != "fails") parts.push_back(OneLine(one.nvcc.message, kCheckReasonWidth));
  if (!one.evaluated) parts.emplace_back("not run: the task has to be right first");
  if (one.hopeless && one.evaluation.outcome != Outcome::kOk) parts.emplace_back("for another device");
  if (one.evaluated && !one.evaluation.message.empty())
    parts.push_back(fmt::format("{}: {}", ToString(one.evaluation.stage), OneLine(one.evaluation.message, kCheckReasonWidth)));
  return fmt::format("{}", fmt::join(parts, "; "));
}

void PrintTemplates(std::FILE* out, const TaskCheck& check) {
  const std::string compiler = PolicyOf(check.device.kind).runs_device_assembly ? "NVRTC" : "NVRTC, g++";
  Table table({"template", "nvcc", compiler, "outcome", ">time", "reason"});
  for (const CheckedTemplate& one : check.templates) {
    table.Add({one.name + (one.baseline ? " (baseline)" : ""), NvccCell(one), CompiledCell(one),
               one.evaluated ? std::string(ToString(one.evaluation.outcome)) : "-", FormatDuration(one.evaluation.score_ns),
               Reason(one)});
  }
  table.Print(out);
  const auto& templates = check.templates;
  const auto missing =
      std::find_if(templates.begin(), templates.end(), [](const auto& one) { return one.nvcc.result == "missing"; });
  if (missing != templates.end()) PrintWrapped(out, "not compiled with nvcc: " + missing->nvcc.message);
}

std::string Bytes(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.3g} KB", bytes / 1e3);
  return bytes < 1e9 ? fmt::format("{:.3g} MB", bytes / 1e6) : fmt::format("{:.3g} GB", bytes / 1e9);
}

std::string Milliseconds(double ms) { return FormatDuration(ms * 1e6); }

void PrintCases(std::FILE* out, const TaskCheck& check) {
  Table table({"case", "for", "sizes", ">arguments", ">reference", ">baseline", ">timed", ">right on"});
  const CaseScale scale = PolicyOf(check.device.kind).cases;
  std::map<std::string, double> medians;
  for (const CaseMeasurement& one : check.templates.front().evaluation.cases) medians[one.name] = one.median_ns;
  for (const SurveyedCase& one : check.survey.cases) {
    const auto sizes = FindCase(check.task, one.name);
    const auto& timed = SearchCases(check.task, scale);
    const bool is_timed = std::any_of(timed.begin(), timed.end(), [&](const Case& other) { return other.name == one.name; });
    const auto median = medians.find(one.name);
    std::string text = sizes ? SizesText(check.task, *sizes) : "";
    std::replace(text.begin(), text.end(), ',', ' ');  // where a line may be broken
    table.Add({one.name,
               one.name == check.task.small.name ? "every check"
               : is_timed                        ? "timing"
                                                 : "champions",
               text, Bytes(one.bytes), Milliseconds(one.reference_ms), Milliseconds(one.baseline_ms),
               median == medians.end() ? "-" : FormatDuration(median->second), fmt::format("{} of {}", one.right, one.inputs)});
  }
  Print(out, "\n");
  table.Print(out);
}

std::string ErrorCell(double value) { return std::isnan(value) ? "-" : fmt::format("{:.1e}", value); }

std::string OfBound(double ratio) {
  if (std::isnan(ratio)) return "-";
  return ratio >= 1e6 ? "over 1e6" : fmt::format("{:.2g}", ratio);
}

void PrintBounds(std::FILE* out, const TaskCheck& check) {
  Table table({"output", "case", ">allowed L2", ">baseline", ">allowed max", ">baseline", ">zero block", ">missing term"});
  for (const SurveyedCase& one : check.survey.cases) {
    for (const SurveyedOutput& output : one.outputs) {
      table.Add({output.output, one.name, output.exact ? "exact" : ErrorCell(output.allowed_l2), ErrorCell(output.baseline_l2),
                 output.exact ? "exact" : ErrorCell(output.allowed_max), ErrorCell(output.baseline_max),
                 OfBound(output.block_ratio), OfBound(output.term_ratio)});
    }
  }
  Print(out, "\n");
  table.Print(out);
  PrintWrapped(out, "zero block, missing term: the error of such a kernel over what is allowed; below 1 it passes");
}

void PrintInputs(std::FILE* out, const TaskCheck& check) {
  const TaskSurvey& survey = check.survey;
  const auto all = survey.hard_inputs + static_cast<std::int64_t>(survey.left_out.size());
  if (all == 0) return;
  Print(out, "\n");
  PrintWrapped(out, fmt::format("hard inputs: the baseline is right on {} of {}, and every candidate has to be{}",
                                survey.hard_inputs, all, survey.left_out.empty() ? "" : "; the others are left out:"));
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const LeftOut& one : survey.left_out) by_reason[OneLine(one.reason, kCheckReasonWidth)].push_back(one.what);
  Table table({">inputs", "why", "which"});
  for (const auto& [reason, what] : by_reason)
    table.Add(
        {std::to_string(what.size()), reason, OneLine(fmt::format("{}", fmt::join(GroupInputs(what), "; ")), kInputsWidth)});
  if (!by_reason.empty()) table.Print(out);
}

void PrintFindings(std::FILE* out, const TaskCheck& check, const std::vector<Finding>& findings) {
  if (!findings.empty()) Print(out, "\n");
  Table table({"", ""});
  for (const Finding& one : findings) table.Add({one.fails ? "fails" : "warning", OneLine(one.text, kCheckReasonWidth)});
  table.Print(out);
  const auto templates = std::count_if(check.templates.begin(), check.templates.end(), Fails);
  const auto fails = std::count_if(findings.begin(), findings.end(), [](const Finding& one) { return one.fails; });
  const auto warnings = static_cast<std::ptrdiff_t>(findings.size()) - fails;
  const auto counted = [](std::ptrdiff_t n, const char* one) { return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s"); };
  Print(out, "\n{}: {} of {}, {} of the task, {}\n", templates + fails == 0 ? "clean" : "not clean",
        counted(templates, "failing template"), check.templates.size(), counted(fails, "failure"), counted(warnings, "warning"));
}

nlohmann::ordered_json ToJson(const TaskCheck& check, const std::vector<Finding>& findings) {
  nlohmann::ordered_json json{{"task", check.task.name},
                              {"directory", check.task.directory.string()},
                              {"device", check.device.kind},
                              {"device_name", check.device.name},
                              {"arch", check.arch}};
  json["templates"] = nlohmann::ordered_json::array();
  bool fails = false;
  for (const CheckedTemplate& one : check.templates) {
    fails = fails || Fails(one);
    const Evaluation& evaluation = one.evaluation;
    nlohmann::ordered_json row{
        {"template", one.name},
        {"baseline", one.baseline},
        {"fails", Fails(one)},
        {"nvcc", one.nvcc.result},
        {"nvcc_message", one.nvcc.message},
        {"outcome", one.evaluated ? nlohmann::ordered_json(ToString(evaluation.outcome)) : nullptr},
        {"stage", one.evaluated ? nlohmann::ordered_json(ToString(evaluation.stage)) : nullptr},
        {"message", evaluation.message},
        {"score_ns", std::isnan(evaluation.score_ns) ? nlohmann::ordered_json() : nlohmann::ordered_json(evaluation.score_ns)},
        {"clocks", nlohmann::json(evaluation.clocks)}};
    json["templates"].push_back(std::move(row));
  }
  json["survey"] = nlohmann::json(check.survey);
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& one : findings) {
    fails = fails || one.fails;
    json["findings"].push_back({{"fails", one.fails}, {"text", one.text}});
  }
  json["clean"] = !fails;
  return json;
}

void Check(CommandContext& context, const CheckOptions& options) {
  const TaskCheck check = CheckTask(options, context);
  const std::vector<Finding> findings = FindingsOf(check);
  const bool fails = std::any_of(check.templates.begin(), check.templates.end(), Fails) ||
                     std::any_of(findings.begin(), findings.end(), [](const Finding& one) { return one.fails; });
  if (fails) context.exit_code = kFails;
  if (options.json) return PrintLines(context.out, Dump(ToJson(check, findings)));
  Print(context.out, "task {} on {} ({}), compiled for {}\n\n", check.task.name, check.device.name, check.device.kind,
        check.arch);
  PrintTemplates(context.out, check);
  if (PolicyOf(check.device.kind).cases == CaseScale::kEmulated) PrintWrapped(context.out, kEmulatedRemark);
  PrintCases(context.out, check);
  PrintBounds(context.out, check);
  PrintInputs(context.out, check);
  const StageClocks& clocks = check.templates.front().evaluation.clocks;
  if (check.templates.front().evaluated)
    Print(context.out, "\none evaluation of the baseline: {:.1f} s to compile, {:.1f} s to check and time\n",
          clocks.compile_ms / 1e3, (clocks.load_ms + clocks.check_ms + clocks.time_ms) / 1e3);
  PrintFindings(context.out, check, findings);
}

}  // namespace

void AddCheck(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand(
      "check", "Check a task before a search: its templates, bounds, cases and inputs; status 3 if something fails");
  command->add_option("DIR", options->task, "The task: its folder, task.json or name")->required();
  command->add_option("--kernel", options->kernel, "Check this .cu as one more template of the task");
  AddHeaderFolders(*command, options->header_folders);
  command->add_option("--device", options->device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  command->add_option("--arch", options->arch, "Compile for this architecture, as in evo run");
  command->add_flag("--json", options->json, "Print JSON: full precision, and every input that is left out");
  command->callback([&context, options] { Check(context, *options); });
}

}  // namespace evo
