#include "cli/run_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>

#include "cli/header_folders.h"
#include "core/error.h"
#include "engine/population_kinds.h"

namespace evo {
namespace {

constexpr int kMostGenerations = 1'000'000;
constexpr int kMostSurvivors = 100'000;

RunId ParseRun(const std::string& text) {
  RunId run = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, run);
  if (text.empty() || (parsed.ec == std::errc() && parsed.ptr == end)) return run;
  throw UsageError(fmt::format("--resume {}: give the number of a run", text));
}

void AddTask(CLI::App& run, RunOptions& options) {
  run.add_option("--task", options.task, "Task, by name or folder")->capture_default_str();
  run.add_option("--template", options.templates, "Templates to start from (default: all of the task)")->delimiter(',');
  run.add_option("-I", options.task_folders, "Further folders with tasks")->allow_extra_args(false);
  AddHeaderFolders(run, options.header_folders);
  run.add_option("-D", options.definitions, "NAME=VALUE: hold a parameter fixed")->allow_extra_args(false);
  run.add_option("--shape", options.shapes,
                 "Search at these sizes instead of those of the task, such as B=4,S=512; may be given several times")
      ->allow_extra_args(false);
}

void AddSearch(CLI::App& run, RunOptions& options) {
  run.add_option("--population", options.population, "Survivors of a generation")
      ->check(CLI::Range(1, kMostSurvivors))
      ->capture_default_str();
  run.add_option("--children", options.children,
                 "Children of a generation (default: twice the population; on the cpu device as many as the population)")
      ->check(CLI::Range(1, kMostSurvivors));
  run.add_option("--population-kind", options.population_kind, "How survivors are chosen")
      ->check(CLI::IsMember(PopulationKinds()))
      ->capture_default_str();
  run.add_option("--operators", options.operators,
                 "adaptive (default): operators with a higher reward are drawn more often; fixed: always by the weights that "
                 "`evo mutators` lists")
      ->check(CLI::IsMember({"adaptive", "fixed"}));
  run.add_option(
         "--operators-by-class", options.operators_by_class,
         "on: adaptive operators also go by what the kernel's time is spent on, and by its structure, where these are known; "
         "off: by their rewards alone")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  run.add_option("--only-mutators", options.only_mutators,
                 "Draw only these: names that `evo mutators` lists, parameters or edits")
      ->delimiter(',');
  run.add_option("--without-mutators", options.without_mutators, "Draw all mutators but these")->delimiter(',');
  run.add_flag("--proven-only", options.proven_only,
               "Draw only mutators that promise to keep what a kernel computes (`evo mutators`), up to rounding");
  run.add_option("--surrogate", options.surrogate,
                 "Breed ten times as many children and evaluate those that a model of the evaluations so far prefers")
      ->check(CLI::IsMember({"on", "off"}))
      ->default_str("on if the mutators only set parameters");
  run.add_option("--minimise", options.minimise,
                 "When the run ends, cut the champion to the edits that it needs and say what each edit is worth")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  run.add_flag("--sweep", options.sweep,
               "Evaluate every legal parameter setting instead of evolving; without --generations, all of them");
  run.add_option("--seed", options.seed, "Seed of every random decision")->capture_default_str();
}

void AddLimits(CLI::App& run, RunOptions& options) {
  run.add_option("--generations", options.generations, "Generations to breed")
      ->check(CLI::Range(0, kMostGenerations))
      ->each([&options](const std::string&) { options.generations_given = true; })
      ->capture_default_str();
  run.add_option("--evaluations", options.evaluations,
                 "End after this many candidates; the number of generations is then not limited unless --generations is given")
      ->check(CLI::Range(1, 1'000'000));
  run.add_option_function<std::string>(
      "--time-limit", [&options](const std::string& text) { options.time_limit = ParseDuration(text); },
      "End after this long: 90s, 10m, 2h; the number of generations is then not limited unless --generations is given");
  run.add_option_function<std::string>(
         "--resume", [&options](const std::string& text) { options.resume = ParseRun(text); },
         "Go on with a run of the database (default: the latest), with --generations up to that number")
      ->expected(0, 1)
      ->default_str("0");
}

void AddDevice(CLI::App& run, RunOptions& options) {
  run.add_option("--device", options.device, "auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all (one run worker for each GPU)")
      ->each([&options](const std::string&) { options.device_given = true; })
      ->capture_default_str();
  run.add_option(
      "--arch", options.arch,
      "Compile for this architecture, such as sm_90a (default: that of the GPU; on the cpu device sm_90a, as a check)");
  run.add_option("--l2", options.l2, "State of the L2 cache when a kernel is timed")
      ->check(CLI::IsMember({"hot", "cold"}))
      ->each([&options](const std::string&) { options.l2_given = true; })
      ->capture_default_str();
  run.add_option("--compile-workers", options.compile_workers, "Compile processes (default: one for each core)")
      ->check(CLI::Range(1, 1024));
  run.add_flag("--no-check", options.no_check, "End without checking the champion; `evo verify` does that later");
  run.add_flag("--no-tools", options.no_tools,
               "Check the champion without compute-sanitizer and hardware counters; `evo verify` runs them later");
}

void AddExecutor(CLI::App& run, RunOptions& options) {
  ExecutorOptions& executor = options.executor;
  run.add_option("--executor", executor.executor,
                 "Where workers are started: local, slurm (in the steps of an allocation) or ssh (on the hosts of --hosts)")
      ->check(CLI::IsMember({"local", "slurm", "ssh"}))
      ->capture_default_str();
  run.add_option("--hosts", executor.hosts, "For ssh: a file with HOST GPUS CORES in each line");
  run.add_option("--run-workers", executor.run_workers,
                 "Run workers elsewhere (default: one for each GPU of the allocation or the hosts)")
      ->check(CLI::Range(1, 4096));
  run.add_option("--run-launcher", executor.run_launcher,
                 "Words before the command of a run worker, in place of those of the executor, such as 'srun -u -n1 --gpus=1'");
  run.add_option("--compile-launcher", executor.compile_launcher, "The same for compile workers");
  run.add_flag("--allow-mixed", options.allow_mixed,
               "Accept run workers whose GPUs, drivers or builds of evo differ; champions are measured on the first");
  run.add_flag("--shared-timing", executor.shared_timing,
               "Let the cpu device of another machine time kernels while other processes work there: for tests, times are rough");
  CLI::Option* print = run.add_flag("--print-batch", options.print_batch,
                                    "Print a script for sbatch that makes this run with --executor slurm, and do nothing else");
  run.add_option("--broadcast", options.broadcast,
                 "In that script, copy evo's package into this folder of each node first, such as /tmp, and run it there")
      ->needs(print);
  run.add_flag("--requeue", options.requeue,
               "In that script, let the job wait in the queue again when its time is over or its nodes are taken, and go on")
      ->needs(print);
}

void AddReplay(CLI::App& run, RunOptions& options) {
  CLI::Option* replay =
      run.add_option("--replay", options.replay, "Compile and measure nothing: look up what the runs of this database recorded");
  run.add_option("--replay-runs", options.replay_runs,
                 "Numbers of those runs (default: all of the task that were measured under the conditions of the latest)")
      ->delimiter(',')
      ->needs(replay);
  run.add_option("--replay-missing", options.replay_missing,
                 "What to do with a child that is not recorded: replace it by others, skip it, or stop with an error")
      ->check(CLI::IsMember({"replace", "skip", "stop"}))
      ->capture_default_str()
      ->needs(replay);
  replay->excludes("--resume");
  replay->excludes("--executor");
}

}  // namespace

void AddRunOptions(CLI::App& run, RunOptions& options) {
  AddTask(run, options);
  AddSearch(run, options);
  AddLimits(run, options);
  AddDevice(run, options);
  AddExecutor(run, options);
  run.add_option("--db", options.database, "Database of the history")->capture_default_str();
  run.add_flag("--no-reuse", options.no_reuse,
               "Use nothing of earlier runs of the database: neither evaluations nor the rewards of operators");
  AddReplay(run, options);
  run.add_flag("--json", options.json, "Print the result as JSON");
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

}  // namespace evo
