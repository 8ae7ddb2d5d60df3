#include "cli/run_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/operator_choice.h"
#include "cli/stored_run.h"
#include "core/error.h"
#include "evaluator/device/device_policy.h"
#include "evo_version.h"
#include "kernel_templates/task_shape.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

fs::path FindTaskFolder(const RunOptions& options, const CommandContext& context) {
  if (fs::exists(fs::path(options.task) / "task.json")) return options.task;
  std::vector<fs::path> folders(options.task_folders.begin(), options.task_folders.end());
  folders.insert(folders.end(), context.task_folders.begin(), context.task_folders.end());
  std::vector<std::string> names;
  for (const fs::path& folder : FindTasks(folders)) {
    if (folder.filename() == options.task) return folder;
    names.push_back(folder.filename().string());
  }
  throw UsageError(fmt::format("--task {}: neither a folder with a task.json nor one of the known tasks ({})", options.task,
                               fmt::join(names, ", ")));
}

// Whether a template can do nothing but fail there: it is compiled for another architecture, or the cpu device refuses it by
// name.
bool IsHopeless(const KernelTemplate& one, const std::string& device, const std::string& arch) {
  if (!arch.empty() && !CompilesFor(one.required_arch, arch)) return true;
  const auto has = [&](std::string_view words) { return one.text.find(words) != std::string::npos; };
  return !PolicyOf(device).runs_device_assembly && (has("asm volatile(") || has("asm(") || !one.tensor_maps.empty());
}

// The baseline's template first; the others as asked for, or all that have a chance.
std::vector<KernelTemplate> ChooseTemplates(const RunOptions& options, const Task& task, const std::string& device) {
  const std::vector<KernelTemplate> all = LoadTemplates(task.directory);
  std::vector<std::string> names;
  for (const KernelTemplate& one : all) names.push_back(one.name);
  for (const std::string& name : options.templates) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw UsageError(fmt::format("--template {}: task {} has {}", name, task.name, fmt::join(names, ", ")));
    }
  }
  std::vector<KernelTemplate> chosen;
  for (const KernelTemplate& one : all) {
    const bool named = std::find(options.templates.begin(), options.templates.end(), one.name) != options.templates.end();
    const bool asked = named || (options.templates.empty() && !IsHopeless(one, device, options.arch));
    if (one.name == task.baseline)
      chosen.insert(chosen.begin(), one);
    else if (asked)
      chosen.push_back(one);
  }
  return chosen;
}

// -D NAME=VALUE leaves a parameter only that value.
void Fix(std::vector<KernelTemplate>& templates, const std::string& definition) {
  const std::size_t equals = definition.find('=');
  std::int64_t value = 0;
  const char* end = definition.data() + definition.size();
  if (equals == std::string::npos || std::from_chars(definition.data() + equals + 1, end, value).ptr != end ||
      equals + 1 == definition.size()) {
    throw UsageError(fmt::format("-D {}: give NAME=VALUE with a whole number", definition));
  }
  bool found = false;
  for (KernelTemplate& one : templates) {
    for (Parameter& parameter : one.space.parameters) {
      if (parameter.name != definition.substr(0, equals)) continue;
      found = true;
      if (std::find(parameter.values.begin(), parameter.values.end(), value) == parameter.values.end()) {
        throw UsageError(fmt::format("-D {}: {} of template {} may be {}", definition, parameter.name, one.name,
                                     fmt::join(parameter.values, ", ")));
      }
      parameter.values = {value};
      parameter.initial = value;
    }
  }
  if (!found) throw UsageError(fmt::format("-D {}: no template has such a parameter", definition));
}

std::vector<Genome> Seeds(const std::vector<KernelTemplate>& templates) {
  std::vector<Genome> seeds;
  for (const KernelTemplate& one : templates) {
    const Parameters defaults = one.space.Defaults();
    if (const auto violated = one.space.Violated(defaults)) {
      throw UsageError(fmt::format("template {}: its default parameters do not meet `{}`", one.name, *violated));
    }
    seeds.push_back({one.name, one.digest, defaults, {}});
  }
  return seeds;
}

// Whether the baseline is there to be compared with, and not to be evolved: others were asked for by name.
bool IsApart(const std::string& baseline, const std::vector<std::string>& asked) {
  return !asked.empty() && std::find(asked.begin(), asked.end(), baseline) == asked.end();
}

// Random search is to know nothing of times: operators that adapt and a surrogate would.
std::string OperatorsOf(const RunOptions& options) {
  if (options.sweep) return "fixed";
  if (options.population_kind != "random") return options.operators.empty() ? "adaptive" : options.operators;
  if (options.operators == "adaptive" || options.surrogate == "on") {
    throw UsageError("--population-kind random: it learns nothing from times; leave out --operators adaptive and --surrogate on");
  }
  return "fixed";
}

// If the run began with them; runs of earlier versions did not.
void AddChoices(RunSetup& setup) {
  const auto other = nlohmann::json::parse(setup.record.options);
  setup.minimise = other.value("minimise", false);
  setup.baseline_apart = other.value("baseline_apart", false);
  if (!other.value("surrogate", false)) return;
  std::vector<std::string> operators;
  for (const auto& [name, weight] : setup.record.operators) operators.push_back(name);
  setup.ranker = std::make_unique<ChildRanker>(setup.seeds, std::move(operators), setup.record.seed);
}

// Runs that know nothing of it are from before operators were adapted.
bool IsAdaptive(const nlohmann::json& options) { return options.value("operators", "fixed") == "adaptive"; }

// A new run's: the templates asked for, or all. The baseline's takes part only if it is one of them.
void BeginSweep(RunSetup& setup, const RunOptions& options) {
  std::vector<std::string> swept = options.templates;
  if (swept.empty()) {
    for (const KernelTemplate& one : setup.templates) swept.push_back(one.name);
  }
  RunRecord& run = setup.record;
  setup.sweep = std::make_unique<SweepBreeder>(setup.templates, swept, run.children);
  if (!options.generations_given) run.generations = setup.sweep->Generations();
  run.operators = {{kSweep, 1.0}};
  auto other = nlohmann::json::parse(run.options);
  other["sweep"] = swept;
  run.options = other.dump();
}

// What a candidate computes with is what its inputs are kept in.
std::string ArithmeticOf(const Task& task) {
  const auto input = std::find_if(task.arguments.begin(), task.arguments.end(),
                                  [](const Argument& a) { return a.role == Role::kIn || a.role == Role::kInOut; });
  return input == task.arguments.end() ? "" : std::string(ToString(input->dtype));
}

}  // namespace

void AddRewards(RunRecord& run, const std::map<std::string, OperatorReward>& rewards) {
  auto other = nlohmann::json::parse(run.options);
  if (!IsAdaptive(other)) return;
  auto& out = other["rewards"] = nlohmann::json::object();
  for (const auto& [op, reward] : rewards) {
    if (run.operators.contains(op)) out[op] = {reward.tries, reward.fresh, reward.log_gain};
  }
  run.options = other.dump();
}

std::unique_ptr<OperatorSelection> MakeSelection(const RunRecord& run) {
  const auto other = nlohmann::json::parse(run.options);
  if (!IsAdaptive(other)) return nullptr;
  std::map<std::string, OperatorReward> rewards;
  const nlohmann::json before = other.value("rewards", nlohmann::json::object());
  for (const auto& [op, reward] : before.items()) {
    rewards[op] = {reward.at(0).get<double>(), reward.at(1).get<double>(), reward.at(2).get<double>()};
  }
  return std::make_unique<OperatorSelection>(run.operators, rewards);
}

Task LoadAskedTask(const RunOptions& options, const CommandContext& context) {
  return LoadTask(FindTaskFolder(options, context));
}

std::optional<int> EvaluationsOf(const RunRecord& run) {
  const int evaluations = nlohmann::json::parse(run.options).value("evaluations", 0);
  return evaluations > 0 ? std::optional(evaluations) : std::nullopt;
}

std::chrono::seconds ParseDuration(const std::string& text) {
  long value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  const std::string unit(parsed.ptr, end);
  const long factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (parsed.ec != std::errc() || factor == 0 || value <= 0 || value > 1'000'000) {
    throw UsageError(fmt::format("--time-limit {}: give seconds, or a number with s, m or h, such as 10m", text));
  }
  return std::chrono::seconds(value * factor);
}

RunSetup PrepareRun(const RunOptions& options, const CommandContext& context, const DeviceChoice& device) {
  const DevicePolicy& policy = PolicyOf(device.kind);
  RunSetup setup;
  setup.task = WithSearchShapes(LoadAskedTask(options, context), policy.cases, options.shapes);
  setup.templates = ChooseTemplates(options, setup.task, device.kind);
  for (const std::string& definition : options.definitions) Fix(setup.templates, definition);
  setup.seeds = Seeds(setup.templates);
  RunRecord& run = setup.record;
  run.task = setup.task.name;
  run.task_directory = fs::absolute(setup.task.directory).lexically_normal().string();
  run.task_digest = setup.task.digest;
  for (const KernelTemplate& one : setup.templates) run.templates.push_back({one.name, one.digest, one.text});
  run.baseline = setup.task.baseline;
  run.device = device.kind;
  run.l2 = options.l2;
  run.arithmetic = ArithmeticOf(setup.task);
  run.arch = options.arch;
  run.population_kind = options.population_kind;
  run.seed = options.seed;
  run.generations = options.evaluations > 0 && !options.generations_given ? kUnlimitedGenerations : options.generations;
  run.population = options.population;
  const int usual_children = policy.children_per_member * options.population;
  run.children = options.children > 0 ? options.children : usual_children;
  run.operators = ChooseOperators(options.only_mutators, options.without_mutators);
  nlohmann::json other = {{"definitions", options.definitions},
                          {"ordinals", device.ordinals},
                          {"surrogate", options.surrogate == "on" && !options.sweep},
                          {"minimise", options.minimise == "on" && !options.sweep},
                          {"baseline_apart", IsApart(setup.task.baseline, options.templates)},
                          {"operators", OperatorsOf(options)},
                          {"evaluations", options.evaluations}};
  if (!options.shapes.empty()) other["shapes"] = options.shapes;
  run.options = other.dump();
  AddChoices(setup);
  if (options.sweep) BeginSweep(setup, options);
  run.tool_version = kEvoVersion;
  return setup;
}

RunSetup PrepareResume(const RunOptions& options, const CommandContext&) {
  RunSetup setup;
  {
    const History history(options.database);
    setup.resumed = history.FindRun(*options.resume == 0 ? std::nullopt : options.resume);
  }
  setup.record = setup.resumed->record;
  if (!options.shapes.empty()) {
    throw UsageError(fmt::format(
        "--shape: run {} goes on with the shapes that it began with; leave the flag out, or begin a new run", setup.record.id));
  }
  setup.task = LoadTaskOfRun(setup.record.task_directory, setup.record);
  if (setup.task.digest != setup.record.task_digest) {
    throw UsageError(
        fmt::format("run {}: task.json or reference.cu in {} has changed since; a run goes on only with the task it began with",
                    setup.record.id, setup.record.task_directory));
  }
  for (const TemplateText& text : setup.record.templates) setup.templates.push_back(ParseTemplate(text.name, text.text));
  const auto other = nlohmann::json::parse(setup.record.options);
  for (const std::string& definition : other.at("definitions").get<std::vector<std::string>>()) Fix(setup.templates, definition);
  std::stable_partition(setup.templates.begin(), setup.templates.end(),
                        [&](const KernelTemplate& one) { return one.name == setup.record.baseline; });
  setup.seeds = Seeds(setup.templates);
  AddChoices(setup);
  if (other.contains("sweep")) {
    setup.sweep =
        std::make_unique<SweepBreeder>(setup.templates, other.at("sweep").get<std::vector<std::string>>(), setup.record.children);
  } else if (options.sweep) {
    throw UsageError(fmt::format("--sweep: run {} is not a sweep; leave the flag out to go on with it", setup.record.id));
  }
  return setup;
}

}  // namespace evo
