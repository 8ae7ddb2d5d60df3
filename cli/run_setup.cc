#include "cli/run_setup.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "cli/operator_choice.h"
#include "cli/resumable_run.h"
#include "cli/stored_run.h"
#include "core/error.h"
#include "engine/child_requests.h"
#include "evaluator/device/device_policy.h"
#include "evo_version.h"
#include "kernel_templates/task_shape.h"
#include "mutators/bottleneck_relief.h"
#include "mutators/restructuring.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

fs::path FindTaskFolder(const RunOptions& options, const CommandContext& context) {
  const fs::path asked = options.task;
  if (fs::exists(asked / "task.json")) return asked;
  if (asked.filename() == "task.json" && fs::exists(asked)) return asked.has_parent_path() ? asked.parent_path() : ".";
  std::vector<fs::path> folders(options.task_folders.begin(), options.task_folders.end());
  folders.insert(folders.end(), context.task_folders.begin(), context.task_folders.end());
  std::vector<std::string> names;
  for (const fs::path& folder : FindTasks(folders)) {
    if (folder.filename() == options.task) return folder;
    names.push_back(folder.filename().string());
  }
  std::error_code failed;
  if (fs::is_directory(asked, failed))
    throw UsageError(
        fmt::format("task {}: the folder has no task.json; `evo init FILE.cu` makes a task of a kernel", options.task));
  if (fs::is_regular_file(asked, failed))
    throw UsageError(fmt::format("task {}: a file; `evo init {}` makes a task of a kernel", options.task,
                                 asked.extension() == ".cu" ? options.task : "FILE.cu"));
  throw UsageError(fmt::format("task {}: neither a folder with a task.json nor one of the known tasks ({})", options.task,
                               fmt::join(names, ", ")));
}

// The template of the baseline first, then those that are named, or else all that may run there.
std::vector<KernelTemplate> ChooseTemplates(const RunOptions& options, const Task& task, const std::string& device) {
  const std::vector<KernelTemplate> all = LoadTemplates(task.directory, options.header_folders);
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
    const bool asked = named || (options.templates.empty() && !CanOnlyFail(one, device, options.arch));
    if (one.name == task.baseline)
      chosen.insert(chosen.begin(), one);
    else if (asked)
      chosen.push_back(one);
  }
  return chosen;
}

// -D NAME=VALUE: the parameter keeps this value only.
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

std::vector<Genome> SeedGenomes(const std::vector<KernelTemplate>& templates) {
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

// Whether the baseline is only compared with: others were asked for by name.
bool IsApart(const std::string& baseline, const std::vector<std::string>& asked) {
  return !asked.empty() && std::find(asked.begin(), asked.end(), baseline) == asked.end();
}

// Random search must not learn from times, as adaptive operators and a surrogate do.
std::string OperatorsOf(const RunOptions& options) {
  if (options.sweep) return "fixed";
  if (options.population_kind != "random") return options.operators.empty() ? kAdaptive : options.operators;
  if (options.operators == kAdaptive || options.surrogate == "on") {
    throw UsageError("--population-kind random: it learns nothing from times; leave out --operators adaptive and --surrogate on");
  }
  return "fixed";
}

bool UsesSurrogate(const RunOptions& options, const std::map<std::string, double>& operators) {
  if (options.sweep || options.surrogate == "off" || options.population_kind == "random") return false;
  return options.surrogate == "on" || SetOnlyParameters(operators);
}

// The surrogate chooses parameters, and nothing else changes.
bool RanksSettings(const RunOptions& options, const RunRecord& run) {
  return SetOnlyParameters(run.operators) && UsesSurrogate(options, run.operators);
}

int UsualChildren(const RunOptions& options, const RunRecord& run) {
  if (RanksSettings(options, run)) return ChildRanker::kUsualChildren;
  return PolicyOf(run.device).children_per_member * options.population;
}

std::unique_ptr<ChildRanker> MakeRanker(const RunSetup& setup) {
  if (!setup.options.surrogate) return nullptr;
  std::vector<std::string> operators;
  for (const auto& [name, weight] : setup.record.operators) operators.push_back(name);
  return std::make_unique<ChildRanker>(setup.seeds, std::move(operators), setup.record.seed);
}

// Of a new run: the templates asked for, or all. The baseline takes part only if it is one of them.
void BeginSweep(RunSetup& setup, const RunOptions& options) {
  std::vector<std::string> swept = options.templates;
  if (swept.empty()) {
    for (const KernelTemplate& one : setup.templates) swept.push_back(one.name);
  }
  RunRecord& run = setup.record;
  setup.sweep = std::make_unique<SweepBreeder>(setup.templates, swept, run.children);
  if (!options.generations_given) run.generations = setup.sweep->Generations();
  run.operators = {{kSweep, 1.0}};
  setup.options.sweep = std::move(swept);
}

RunRecord NewRecord(const RunOptions& options, const RunSetup& setup, const DeviceChoice& device) {
  RunRecord run;
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
  const bool other_limit = options.evaluations > 0 || options.time_limit;
  run.generations = other_limit && !options.generations_given ? kUnlimitedGenerations : options.generations;
  run.population = options.population;
  run.operators = ChooseOperators(options.only_mutators, options.without_mutators, options.proven_only);
  run.children = options.children > 0 ? options.children : UsualChildren(options, run);
  run.tool_version = kEvoVersion;
  return run;
}

StoredOptions NewStoredOptions(const RunOptions& options, const RunRecord& run, const Task& task, const DeviceChoice& device) {
  StoredOptions stored;
  stored.definitions = options.definitions;
  stored.ordinals = device.ordinals;
  stored.surrogate = UsesSurrogate(options, run.operators);
  if (options.children == 0 && RanksSettings(options, run)) stored.early_children = ChildRanker::kUsualEarlyChildren;
  stored.minimise = options.minimise == "on" && !options.sweep;
  stored.proven_only = options.proven_only;
  stored.baseline_apart = IsApart(task.baseline, options.templates);
  stored.operators = OperatorsOf(options);
  if (options.operators_by_class == "on" && stored.operators == kAdaptive && !options.sweep) {
    stored.rewards_by_bottleneck.emplace();
    std::vector<std::string> restructuring = Restructuring();
    std::erase_if(restructuring, [&](const std::string& op) { return !run.operators.contains(op); });
    if (!restructuring.empty()) stored.restructuring = std::move(restructuring);
    // A number of generations means generations of the usual size.
    const bool unlimited = run.generations >= kUnlimitedGenerations;
    if (stored.restructuring && options.children == 0 && !stored.surrogate && unlimited) {
      stored.early_children = ChildRequests::kUsualEarlyChildren;
      stored.early_candidates = ChildRequests::kUsualEarlyCandidates;
    }
  }
  stored.evaluations = options.evaluations;
  stored.shapes = options.shapes;
  const ExecutorOptions& executor = options.executor;
  if (executor.executor != "local")
    stored.executor = executor.executor;
  else if (!executor.IsLocal())
    stored.executor = "launcher";
  for (const fs::path& folder : options.header_folders) {
    if (!stored.header_folders) stored.header_folders.emplace();
    stored.header_folders->push_back(fs::absolute(folder).lexically_normal().string());
  }
  return stored;
}

}  // namespace

bool CanOnlyFail(const KernelTemplate& one, const std::string& device, const std::string& arch) {
  if (!arch.empty() && !CompilesFor(one.required_arch, arch)) return true;
  const auto has = [&](std::string_view words) { return one.text.find(words) != std::string::npos; };
  return !PolicyOf(device).runs_device_assembly && (has("asm volatile(") || has("asm(") || !one.tensor_maps.empty());
}

void AddRewards(RunSetup& setup, const std::map<std::string, OperatorReward>& rewards, const RewardsByBottleneck& by_class) {
  if (setup.options.operators != kAdaptive) return;
  auto& kept = setup.options.rewards.emplace();
  for (const auto& [op, reward] : rewards) {
    if (setup.record.operators.contains(op)) kept[op] = reward;
  }
  if (!setup.options.rewards_by_bottleneck) return;
  RewardsByBottleneck& kept_by_class = *setup.options.rewards_by_bottleneck;
  for (const auto& [bottleneck, of_class] : by_class) {
    for (const auto& [op, reward] : of_class) {
      if (setup.record.operators.contains(op)) kept_by_class[bottleneck][op] = reward;
    }
  }
}

void AddRewards(RunSetup& setup, SqliteStore& store) {
  const RunRecord& run = setup.record;
  auto rewards = store.LoadRewards(run);
  if (rewards.empty() && setup.options.kernel_kind) rewards = store.LoadRewardsOfKind(run, *setup.options.kernel_kind);
  AddRewards(setup, rewards, setup.options.rewards_by_bottleneck ? store.LoadRewardsByBottleneck(run) : RewardsByBottleneck());
}

std::unique_ptr<OperatorSelection> MakeSelection(const RunSetup& setup) {
  if (setup.options.operators != kAdaptive) return nullptr;
  const std::map<std::string, OperatorReward> none;
  std::optional<BottleneckKnowledge> known;
  if (setup.options.rewards_by_bottleneck) {
    known = {Reliefs(), *setup.options.rewards_by_bottleneck, setup.options.restructuring.value_or(std::vector<std::string>())};
  }
  return std::make_unique<OperatorSelection>(setup.record.operators, setup.options.rewards.value_or(none), std::move(known));
}

Task LoadAskedTask(const RunOptions& options, const CommandContext& context) {
  return LoadTask(FindTaskFolder(options, context), options.header_folders);
}

RunSetup PrepareRun(const RunOptions& options, const CommandContext& context, const DeviceChoice& device) {
  RunSetup setup;
  setup.task = WithSearchShapes(LoadAskedTask(options, context), PolicyOf(device.kind).cases, options.shapes);
  setup.templates = ChooseTemplates(options, setup.task, device.kind);
  for (const std::string& definition : options.definitions) Fix(setup.templates, definition);
  setup.seeds = SeedGenomes(setup.templates);
  setup.record = NewRecord(options, setup, device);
  setup.options = NewStoredOptions(options, setup.record, setup.task, device);
  setup.ranker = MakeRanker(setup);
  if (options.sweep) BeginSweep(setup, options);
  return setup;
}

std::string DeviceOfResumed(const RunOptions& options, const RunSetup& setup) {
  const std::string& kind = setup.record.device;
  if (options.device_given && options.device != "auto") {
    if (options.device.substr(0, options.device.find(':')) != kind)
      throw UsageError(fmt::format("--device {}: run {} goes on with the device that it began with, {}", options.device,
                                   setup.record.id, kind));
    return options.device;
  }
  const bool here = options.executor.executor == "local" && !setup.options.executor;
  if (!PolicyOf(kind).has_ordinals || !here) return kind;
  return fmt::format("{}:{}", kind, fmt::join(setup.options.ordinals, ","));
}

RunSetup PrepareResume(const RunOptions& options) {
  RunSetup setup;
  ResumableRun stored = LoadResumableRun(options.database, *options.resume == 0 ? std::nullopt : options.resume);
  RunRecord& run = setup.record;
  run = std::move(stored.record);
  setup.options = std::move(stored.options);
  setup.resumed = std::move(stored.generations);
  if (!options.shapes.empty()) {
    throw UsageError(fmt::format(
        "--shape: run {} goes on with the shapes that it began with; leave the flag out, or begin a new run", run.id));
  }
  if (options.proven_only && !setup.options.proven_only) {
    throw UsageError(fmt::format(
        "--proven-only: run {} began with all mutators and may have unproven edits; leave the flag out, or begin a new run",
        run.id));
  }
  if (options.sweep && !setup.options.sweep)
    throw UsageError(fmt::format("--sweep: run {} is not a sweep; leave the flag out to go on with it", run.id));
  setup.task = LoadTaskOfRun(run.task_directory, run);
  if (setup.task.digest != run.task_digest) {
    throw UsageError(fmt::format(
        "run {}: task.json, the reference or recorded data in {} has changed since; a run goes on only with the task it "
        "began with",
        run.id, run.task_directory));
  }
  if (options.generations_given) run.generations = options.generations;
  for (const TemplateText& text : run.templates) setup.templates.push_back(ParseTemplate(text.name, text.text));
  for (const std::string& definition : setup.options.definitions) Fix(setup.templates, definition);
  std::stable_partition(setup.templates.begin(), setup.templates.end(),
                        [&](const KernelTemplate& one) { return one.name == run.baseline; });
  setup.seeds = SeedGenomes(setup.templates);
  setup.ranker = MakeRanker(setup);
  if (setup.options.sweep) setup.sweep = std::make_unique<SweepBreeder>(setup.templates, *setup.options.sweep, run.children);
  return setup;
}

}  // namespace evo
