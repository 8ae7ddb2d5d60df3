#include "cli/export_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "cli/describe.h"
#include "cli/edit_promises.h"
#include "cli/export_host.h"
#include "cli/export_sizes.h"
#include "cli/verdict.h"
#include "core/error.h"
#include "evaluator/device/device_policy.h"
#include "kernel_templates/launch_plan.h"

namespace evo {
namespace {

// Longest step of a lineage: its edits may quote whole functions.
constexpr std::size_t kLineageWidth = 160;

// Comment lines that stay harmless whatever text they quote: none ends the comment, continues on the next line or reads as a
// directive.
class Comment {
 public:
  void Line(const std::string& text) {
    std::string line = OneLine(text, std::string::npos);
    for (std::size_t at = line.find("evo:"); at != std::string::npos; at = line.find("evo:", at)) line[at + 3] = ' ';
    if (!line.empty() && line.back() == '\\') line += '.';
    // OneLine drops indentation.
    const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
    text_ += line.empty() ? "//\n" : fmt::format("// {}{}\n", std::string(indent, ' '), line);
  }
  // The same, broken at spaces into lines that fit a screen; further lines are indented by four more.
  void Wrapped(const std::string& text) {
    const std::string line = OneLine(text, std::string::npos);
    std::string indent(std::min(text.find_first_not_of(' '), text.size()), ' ');
    std::size_t from = 0;
    while (line.size() - from > kWidth - indent.size()) {
      std::size_t space = line.rfind(' ', from + kWidth - indent.size());
      if (space == std::string::npos || space <= from) space = line.find(' ', from);
      if (space == std::string::npos) break;
      Line(indent + line.substr(from, space - from));
      if (from == 0) indent += "    ";
      from = space + 1;
    }
    Line(indent + line.substr(from));
  }
  const std::string& text() const { return text_; }

 private:
  static constexpr std::size_t kWidth = 127;  // and "// "

  std::string text_;
};

std::string Triple(const std::array<std::uint32_t, 3>& values) { return fmt::format("{}", fmt::join(values, ", ")); }

std::string Describe(const LaunchArgument& argument) {
  if (const auto* buffer = std::get_if<BufferUse>(&argument)) return buffer->name;
  if (const auto* map = std::get_if<TensorMapUse>(&argument)) return map->name;
  if (const auto* whole = std::get_if<StructUse>(&argument)) {
    std::vector<std::string> fields;
    for (const auto& field : whole->fields)
      fields.push_back(std::visit([](const auto& one) { return Describe(LaunchArgument(one)); }, field));
    return fmt::format("{{{}}}", fmt::join(fields, ", "));
  }
  const Number& value = std::get<ScalarUse>(argument).value;
  return value.is_real ? fmt::format("{}", value.real) : fmt::format("{}", value.integer);
}

std::string Describe(const PlannedLaunch& launch) {
  std::vector<std::string> arguments;
  for (const LaunchArgument& argument : launch.arguments) arguments.push_back(Describe(argument));
  std::string text = fmt::format("{}({}) grid({}) block({}) shared {} bytes", launch.kernel_expression,
                                 fmt::join(arguments, ", "), Triple(launch.grid), Triple(launch.block), launch.shared_bytes);
  if (launch.cluster[0] != 0) text += fmt::format(" cluster({})", Triple(launch.cluster));
  if (launch.cooperative) text += " cooperative";
  return text;
}

std::string Describe(const TensorMapUse& map) {
  return fmt::format("tensor map {} of {}: {} dims({}) box({}) swizzle {} bytes", map.name, map.buffer, ToString(map.dtype),
                     fmt::join(map.dims, ", "), fmt::join(map.box, ", "), map.swizzle);
}

// Each tensor map of the launches, once.
void AddTensorMaps(Comment& comment, const LaunchPlan& plan) {
  std::vector<std::string> said;
  for (const auto& step : plan.steps) {
    const auto* launch = std::get_if<PlannedLaunch>(&step);
    if (launch == nullptr) continue;
    for (const LaunchArgument& argument : launch->arguments) {
      const auto* map = std::get_if<TensorMapUse>(&argument);
      if (map == nullptr || std::find(said.begin(), said.end(), map->name) != said.end()) continue;
      comment.Line("  " + Describe(*map));
      said.push_back(map->name);
    }
  }
}

std::string SizesOf(const Case& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes.sizes) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

// Says which sizes are compiled in. Returns the source with those of the first search case.
std::string AddCompiledSizes(Comment& comment, const KernelExport& input) {
  const auto macros = ParseTemplate(input.candidate.candidate.genome.template_name, input.source).size_macros;
  if (macros.empty()) return input.source;
  if (!input.task) {
    comment.Wrapped(DescribeCompiledSizes(macros, "The lines below have the values of the template"));
    return input.source;
  }
  const Case& sizes = SearchCases(*input.task, PolicyOf(input.run.device).cases).front();
  const SizeValues values = ValuesFor(macros, sizes.sizes);
  comment.Wrapped(
      DescribeCompiledSizes(macros, fmt::format("Below {}, for case {} ({})", ToText(values), sizes.name, SizesOf(sizes))));
  return RenderSizes(input.source, values);
}

void AddLaunches(Comment& comment, const KernelExport& input, const Task& task) {
  const KernelTemplate rendered = ParseTemplate(input.candidate.candidate.genome.template_name, input.source);
  const auto& cases = SearchCases(task, PolicyOf(input.run.device).cases);
  for (const Case& sizes : cases) {
    std::string with = SizeOptions(rendered.size_macros, sizes);
    if (!with.empty()) with.insert(0, ", compiled with");
    comment.Line(fmt::format("Launches of case {} ({}){}, in this order:", sizes.name, SizesOf(sizes), with));
    const auto planned = PlanLaunches(rendered, input.candidate.candidate.genome.parameters, task, sizes);
    if (const auto* failure = std::get_if<PlanFailure>(&planned)) {
      throw Error(fmt::format("candidate {}: case {}: {}; the database and the task do not belong together",
                              input.candidate.candidate.id, sizes.name, failure->message));
    }
    const LaunchPlan& plan = std::get<LaunchPlan>(planned);
    for (const PlannedWorkspace& workspace : plan.workspaces) {
      comment.Line(fmt::format("  workspace {}: {} x {}", workspace.name, workspace.elements, ToString(workspace.dtype)));
    }
    for (const PlannedConstant& constant : plan.constants) {
      const std::string source = std::visit([](const auto& one) { return Describe(LaunchArgument(one)); }, constant.source);
      comment.Line(fmt::format("  constant {}: {} bytes, filled with {}", constant.variable, constant.bytes, source));
    }
    AddTensorMaps(comment, plan);
    const std::vector<std::size_t> first = FirstLaunches(plan);
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const auto& step = plan.steps[i];
      if (const auto* launch = std::get_if<PlannedLaunch>(&step)) {
        // A loop launches again and again what is said once.
        if (std::find(first.begin(), first.end(), i) == first.end())
          ++left_out;
        else
          comment.Line("  " + Describe(*launch));
      } else if (left_out == 0) {
        const PlannedMemset& memset = std::get<PlannedMemset>(step);
        comment.Line(fmt::format("  memset of {} to bytes of {}", memset.buffer, memset.value));
      } else {
        ++left_out;
      }
    }
    if (left_out > 0) comment.Line(fmt::format("  {} more in further iterations of evo:repeat", left_out));
  }
}

std::string_view RoleName(Role role) {
  constexpr std::array<std::string_view, 4> kNames{"in", "out", "inout", "scalar"};
  return kNames.at(static_cast<std::size_t>(role));
}

void AddArguments(Comment& comment, const Task& task) {
  comment.Line("Arguments:");
  for (const Argument& argument : task.arguments) {
    std::vector<std::string> shape;
    for (const Expression& dimension : argument.shape) shape.push_back(dimension.text());
    std::string text = fmt::format("  {}: {} {}", argument.name, RoleName(argument.role), ToString(argument.dtype));
    if (!shape.empty()) text += fmt::format(" [{}]", fmt::join(shape, ", "));
    if (argument.value) text += fmt::format(" = {}", argument.value->text());
    comment.Line(text);
  }
}

void AddMeasurement(Comment& comment, const KernelExport& input) {
  const Evaluation& e = input.candidate.evaluation;
  comment.Line(
      fmt::format("Measured{} on {} ({}, {}), L2 {}:", IsReplay(input.run) ? " in another run, which this one replays," : "",
                  e.device_name, e.device, input.run.arch, e.l2));
  const auto list = [&](const std::vector<CaseMeasurement>& cases, const char* what) {
    for (const CaseMeasurement& m : cases) {
      comment.Line(fmt::format("  {} case {}: median {} us, p10 {} us, p90 {} us, {} samples", what, m.name,
                               Microseconds(m.median_ns), Microseconds(m.p10_ns), Microseconds(m.p90_ns), m.samples.size()));
    }
  };
  const bool checked = input.candidate.check && !input.candidate.check->candidate.empty();
  list(checked ? input.candidate.check->candidate : e.cases, "this kernel,");
  if (checked) {
    list(input.candidate.check->baseline, "baseline,");
  } else if (input.baseline) {
    list(input.baseline->evaluation.cases, "baseline,");
  }
  comment.Line(fmt::format("Speed-up over the baseline {}: {}", input.run.baseline,
                           Describe(SpeedupOver(input.baseline, input.candidate))));
  comment.Wrapped("Verdict: " + Verdict(input.candidate));
  if (!input.candidate.check) return;
  for (const EvidenceLine& line : DescribeEvidence(*input.candidate.check, true))
    comment.Wrapped(fmt::format("  {}{}", line.heading.empty() ? "  " : line.heading + ": ", line.text));
}

void AddLineage(Comment& comment, const KernelExport& input) {
  comment.Line("Lineage (candidate, time in us, operator, change):");
  const Candidate* parent = nullptr;
  for (const CandidateRecord& ancestor : input.lineage) {
    const std::string step = fmt::format("{}  {}  {}: {}", ancestor.candidate.id, Microseconds(ancestor.evaluation.score_ns),
                                         ancestor.candidate.op, DescribeStep(ancestor.candidate, parent));
    comment.Line("  " + OneLine(step, kLineageWidth));
    parent = &ancestor.candidate;
  }
}

}  // namespace

std::string WithoutHeaderStop(const std::string& source) {
  std::istringstream lines(source);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (OneLine(line, std::string::npos) != "#pragma nv_hdrstop") kept += line + "\n";
  }
  return kept;
}

std::string ExportKernel(const KernelExport& input) {
  const RunRecord& run = input.run;
  const Candidate& candidate = input.candidate.candidate;
  Comment comment;
  comment.Line(fmt::format("{}: candidate {} of run {}, evolved by evo {} from template {} (task {}, seed {})",
                           candidate.genome.template_name, candidate.id, run.id, run.tool_version, candidate.genome.template_name,
                           run.task, run.seed));
  comment.Line("");
  comment.Line(fmt::format("Compile: nvcc {} -c FILE",
                           NvccTarget(ArchToCompileFor(ParseTemplate(candidate.genome.template_name, input.source), run.arch))));
  comment.Line(fmt::format("Parameters: {}", Describe(candidate.genome.parameters)));
  comment.Line(fmt::format("Promise: {}", DescribePromises(candidate.genome)));
  const std::string source = AddCompiledSizes(comment, input);
  if (input.task) {
    AddArguments(comment, *input.task);
    AddLaunches(comment, input, *input.task);
  } else {
    comment.Line("Arguments and launch numbers: not known, the task's files are gone or have changed; see the directives below.");
  }
  AddMeasurement(comment, input);
  AddLineage(comment, input);
  return comment.text() + "\n" + WithoutHeaderStop(source);
}

}  // namespace evo
