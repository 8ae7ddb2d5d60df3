#include "kernel_templates/task_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "core/error.h"
#include "core/evaluator.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/launch_plan.h"
#include "kernel_templates/template_variant.h"
#include "kernel_templates/text_file.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

bool IsOutput(const Argument& argument) { return argument.role == Role::kOut || argument.role == Role::kInOut; }

// The parameters of a `__global__` function as they are written; empty if there is none of that name, or if its list is not
// understood.
std::vector<std::string> ParametersOf(const std::string& text, const std::string& kernel) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex("__global__[^;{}]*\\b" + kernel + "\\s*\\("))) return {};
  std::vector<std::string> parameters{""};
  int depth = 0;
  for (auto at = static_cast<std::size_t>(found.position() + found.length()); at < text.size(); ++at) {
    const char c = text[at];
    if (c == ')' && depth == 0) return parameters;
    if (c == '(' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '>' || c == ']') --depth;
    if (c == ',' && depth == 0)
      parameters.emplace_back();
    else
      parameters.back() += c;
  }
  return {};
}

// The type that a pointer parameter points to, if it is one that is certainly not double.
std::optional<std::string> OtherThanDouble(const std::string& parameter) {
  static const std::regex pointer(
      R"(^\s*(?:const\s+)?((?:unsigned\s+|signed\s+)?)"
      R"((?:float|half|__half|nv_bfloat16|__nv_bfloat16|int|char|short|long|u?int(?:8|16|32|64)_t)(?:\s+(?:int|long))*))"
      R"((?:\s+const)?\s*\*)");
  std::smatch found;
  if (!std::regex_search(parameter, found, pointer)) return std::nullopt;
  return found[1].str();
}

void CheckOutputTypes(const Task& task, const KernelTemplate& reference, const std::string& file) {
  for (const Step& step : reference.steps) {
    if (!step.launch) continue;
    const std::vector<std::string> parameters = ParametersOf(reference.text, step.launch->kernel);
    const std::vector<std::string>& passed = step.launch->arguments;
    for (std::size_t i = 0; i < passed.size() && i < parameters.size(); ++i) {
      const auto argument = std::find_if(task.arguments.begin(), task.arguments.end(),
                                         [&](const Argument& one) { return one.name == passed[i] && IsOutput(one); });
      if (argument == task.arguments.end()) continue;
      if (const auto type = OtherThanDouble(parameters[i]))
        throw UsageError(fmt::format(
            "{}: line {}: {} takes the output '{}' as {}*; a reference gets every output as double*, whatever its dtype, and "
            "computes in double",
            file, step.launch->line, step.launch->kernel, argument->name, *type));
    }
  }
}

// Whether a launch argument is this name, or a struct in braces that has it.
bool Names(std::string_view launch_argument, const std::string& name) {
  for (std::size_t at = launch_argument.find(name); at != std::string_view::npos; at = launch_argument.find(name, at + 1)) {
    const auto is_part = [&](std::size_t i) {
      return i < launch_argument.size() &&
             (std::isalnum(static_cast<unsigned char>(launch_argument[i])) != 0 || launch_argument[i] == '_');
    };
    if (!is_part(at - 1) && !is_part(at + name.size())) return launch_argument == name || launch_argument.starts_with('{');
  }
  return false;
}

void CheckKernels(const Task& task, const std::vector<const Case*>& cases, const KernelTemplate& reference,
                  const std::string& file) {
  for (const Argument& argument : task.arguments) {
    if (!IsOutput(argument)) continue;
    const bool used = std::any_of(reference.steps.begin(), reference.steps.end(), [&](const Step& step) {
      return step.launch && std::any_of(step.launch->arguments.begin(), step.launch->arguments.end(),
                                        [&](const std::string& passed) { return Names(passed, argument.name); });
    });
    if (!used) throw UsageError(fmt::format("{}: no evo:launch line takes the output '{}'", file, argument.name));
  }
  if (task.reference_kind == ReferenceKind::kKernels) CheckOutputTypes(task, reference, file);
  for (const Case* sizes : cases) {
    const auto plan = PlanLaunches(reference, reference.space.Defaults(), task, *sizes);
    if (const auto* failure = std::get_if<PlanFailure>(&plan)) {
      throw UsageError(fmt::format("{}: case '{}': {}", file, sizes->name, failure->message));
    }
  }
}

}  // namespace

ReferenceName ReadReferenceName(const JsonValue& root) {
  if (!root.Has("reference")) return {};
  const JsonValue value = root.At("reference");
  const std::string text = value.String();
  if (text == kReferenceKernels) return {};
  if (text == kReferenceBaseline) return {ReferenceKind::kBaseline, root.At("baseline").Name() + ".cu"};
  if (!text.ends_with(".py") || text.find('/') != std::string::npos || text.size() == std::string_view(".py").size()) {
    value.Fail(
        fmt::format("'{}' is no reference; there are \"reference.cu\", \"reference.py\" (or another .py file of this folder) "
                    "and \"baseline\"",
                    text));
  }
  return {ReferenceKind::kPython, text};
}

std::string LoadReferenceText(const std::string& task_json, const fs::path& directory, const HeaderFolders& headers) {
  const std::string task_file = (directory / "task.json").string();
  const nlohmann::json document = ParseJsonDocument(task_json, task_file);
  const JsonValue root(document, task_file, "");
  const ReferenceName name = ReadReferenceName(root);
  const fs::path file = directory / name.file;
  const auto text = name.kind == ReferenceKind::kPython ? ReadTextFile(file) : ReadTemplateText(file, headers);
  if (text) return *text;
  if (name.kind == ReferenceKind::kBaseline)
    root.At("baseline").Fail(fmt::format("there is no template {} in its folder", name.file));
  throw UsageError(fmt::format(
      "{}: cannot be read; it computes the right answers. Write it, or say in task.json \"reference\": \"reference.py\" for a "
      "function in Python, or \"reference\": \"baseline\" if right is what the baseline computes",
      file.string()));
}

std::string NameOfReference(const Task& task) {
  return task.reference_kind == ReferenceKind::kBaseline ? kReferenceBaseline : task.reference_file;
}

void CheckReference(const Task& task, const std::vector<const Case*>& cases) {
  if (task.reference_kind == ReferenceKind::kPython) return;
  const fs::path file = task.directory / task.reference_file;
  CheckKernels(task, cases, ParseTemplate((task.directory / file.stem()).string(), task.reference), file.string());
}

}  // namespace evo
