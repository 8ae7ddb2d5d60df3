#include "cli/commands/run.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <thread>

#include "cli/console_observer.h"
#include "cli/describe.h"
#include "cli/replay.h"
#include "cli/run_setup.h"
#include "cli/table.h"
#include "cli/workers.h"
#include "core/error.h"
#include "db/history.h"
#include "db/sqlite_store.h"
#include "engine/evolution.h"
#include "engine/population_kinds.h"
#include "evaluator/scheduling/pipeline.h"
#include "evaluator/workers/breeder_pool.h"

namespace evo {
namespace {

int Cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

PipelineOptions ToPipelineOptions(const RunOptions& options, const RunRecord& run, const std::stop_token& interrupt) {
  PipelineOptions pipeline;
  pipeline.worker_argv = WorkerCommand();
  pipeline.device = run.device;
  pipeline.ordinals = nlohmann::json::parse(run.options).at("ordinals").get<std::vector<int>>();
  pipeline.arch = run.arch;
  pipeline.l2 = run.l2;
  pipeline.compile_workers = options.compile_workers > 0 ? options.compile_workers : Cores();
  pipeline.seed = run.seed;
  pipeline.sanitizers = !options.no_tools;
  pipeline.interrupt = interrupt;
  return pipeline;
}

std::unique_ptr<Breeder> MakeBreeder(RunSetup& setup) {
  if (setup.sweep) return std::move(setup.sweep);
  return std::make_unique<BreederPool>(BreedWorkers(setup.record.templates, std::max(std::min(Cores(), 4), Cores() / 2)));
}

void PrintClosing(std::FILE* out, const RunOptions& options, RunId run) {
  const History history(options.database);
  const auto best = history.Best(run);
  if (options.json) {
    nlohmann::ordered_json json = {{"run", ToJson(history.FindRun(run))}};
    json["best"] = best ? ToJson(*best) : nlohmann::ordered_json();
    fmt::print(out, "{}", Dump(json));
    return;
  }
  if (!best) {
    fmt::print(out, "no kernel was shown right; `evo history --db {} --run {}` says what became of the candidates\n",
               options.database, run);
    return;
  }
  const auto baseline = history.Baseline(run);
  Table table({"kernel", ">candidate", ">latency us", ">speed-up", "verdict"});
  if (baseline)
    table.Add({"baseline " + baseline->candidate.genome.template_name, std::to_string(baseline->candidate.id),
               Microseconds(baseline->evaluation.score_ns), "1.00", ""});
  table.Add({"best " + best->candidate.genome.template_name, std::to_string(best->candidate.id),
             Microseconds(best->evaluation.score_ns), Ratio(SpeedupOver(baseline, *best).value), Verdict(*best)});
  table.Print(out);
  fmt::print(out, "parameters {}; {} edits; `evo best --db {} --run {} --export kernel.cu` writes it\n",
             Describe(best->candidate.genome.parameters), best->candidate.genome.edits.size(), options.database, run);
}

// A machine that is no longer what it was at the start has measured some candidates at another speed than others.
void CloseMachines(const WorkerSet& workers, SqliteStore& store, RunId run) {
  constexpr double kDrift = 0.03;
  for (const MachineState& end : workers.MeasureMachines("end")) {
    store.RecordMachine(run, end);
    for (const MachineState& start : workers.machines()) {
      if (start.ordinal != end.ordinal || std::abs(end.f32_per_s / start.f32_per_s - 1) <= kDrift) continue;
      fmt::print(stderr,
                 "cuda:{} does {:.1f} TFLOP/s now and did {:.1f} at the start{}: scores of this run are not all alike; run again "
                 "when the GPU is cool and "
                 "nobody else's\n",
                 end.ordinal, end.f32_per_s / 1e12, start.f32_per_s / 1e12,
                 end.clocks.throttle_reason.empty() ? "" : fmt::format(" (clocks held back: {})", end.clocks.throttle_reason));
    }
  }
}

// Evolves with whatever evaluates.
RunStatus Evolve(const RunOptions& options, RunSetup& setup, Breeder& breeder, Evaluator& evaluator, SqliteStore& store,
                 const Replay* replay, const std::stop_token& interrupt) {
  const RunRecord& run = setup.record;
  ConsoleObserver observer(stderr);
  const std::unique_ptr<Population> population = MakePopulation(run.population_kind, static_cast<std::size_t>(run.population));
  const std::unique_ptr<OperatorSelection> selection = MakeSelection(run);
  Evolution evolution(run, setup.seeds, breeder, evaluator, store, observer, *population, setup.ranker.get(), selection.get());
  if (replay != nullptr) evolution.RestrictTo(replay->recorded, MissingOf(run));
  if (options.no_check) evolution.LeaveUnchecked();
  if (setup.minimise) evolution.MinimiseChampion();
  if (setup.baseline_apart) evolution.KeepBaselineApart();
  const std::optional<int> evaluations = options.evaluations > 0 ? options.evaluations : EvaluationsOf(run);
  const StopCondition stop(run.generations, options.time_limit, interrupt, evaluations);
  try {
    return setup.resumed ? evolution.Resume(stop) : evolution.Run(stop);
  } catch (const Error& error) {
    store.EndRun(run.id, RunStatus::kFailed, error.what());
    throw;
  }
}

RunStatus RunReplay(const RunOptions& options, CommandContext& context, RunSetup& setup, const Replay& replay) {
  RunRecord& run = setup.record;
  SqliteStore store(options.database);
  if (!setup.resumed) {
    MarkReplay(run, options, replay);
    run.id = store.BeginRun(run);
  }
  fmt::print(stderr, "replays {} evaluations that were recorded on {}; nothing is compiled or measured\n", replay.recorded.size(),
             run.device_name);
  const std::unique_ptr<Breeder> breeder = MakeBreeder(setup);
  ReplayEvaluator evaluator(replay.recorded);
  return Evolve(options, setup, *breeder, evaluator, store, &replay, context.interrupt);
}

RunStatus RunOnDevice(const RunOptions& options, CommandContext& context, RunSetup& setup) {
  RunRecord& run = setup.record;
  SqliteStore store(options.database);
  const PipelineOptions pipeline_options = ToPipelineOptions(options, run, context.interrupt);
  const std::size_t pipeline_workers = pipeline_options.ordinals.size();
  const std::unique_ptr<Breeder> breeder = MakeBreeder(setup);  // first: its workers start while the pipeline's do
  WorkerSet workers(pipeline_options, setup.task);
  run.arch = workers.arch();
  run.device_name = workers.device().name;
  if (!setup.resumed) {
    if (!options.no_reuse) AddRewards(run, store.LoadRewards(run));
    run.id = store.BeginRun(run);
  }
  for (const MachineState& machine : workers.machines()) store.RecordMachine(run.id, machine);
  PriorKnowledge prior;
  if (!options.no_reuse) prior.known = store.LoadKnown(run);
  if (setup.resumed) prior.generations = store.LoadGenerations(run.id);
  Pipeline pipeline(workers, std::move(prior));
  const RunStatus status = Evolve(options, setup, *breeder, pipeline, store, nullptr, context.interrupt);
  if (status == RunStatus::kFinished) CloseMachines(workers, store, run.id);
  const Utilisation busy = pipeline.utilisation();
  fmt::print(stderr,
             "evaluated for {:.1f} s: run worker{} busy {:.0f}% of it{}, compile workers {:.0f}%; `evo history --timing` says "
             "with what\n",
             busy.seconds, pipeline_workers > 1 ? "s" : "", 100 * busy.run,
             busy.reverify > 0 ? fmt::format(" ({:.0f}% with checks that nothing waited for)", 100 * busy.reverify) : "",
             100 * busy.compile);
  return status;
}

RunStatus RunNew(const RunOptions& asked, CommandContext& context, RunSetup& setup) {
  if (asked.replay.empty()) {
    setup = PrepareRun(asked, context, ChooseDevice(asked.device));
    return RunOnDevice(asked, context, setup);
  }
  if (!asked.shapes.empty())
    throw UsageError("--replay: what is recorded was measured at the task's own sizes; leave out --shape");
  const Task task = LoadAskedTask(asked, context);
  const Replay replay = LoadReplay(asked, task.name, task.digest);
  RunOptions options = asked;
  options.arch = replay.conditions.arch;
  options.l2 = replay.conditions.l2;
  setup = PrepareRun(options, context, {replay.conditions.device, {0}});
  return RunReplay(options, context, setup, replay);
}

RunStatus RunAgain(const RunOptions& options, CommandContext& context, RunSetup& setup) {
  setup = PrepareResume(options, context);
  if (options.generations_given) setup.record.generations = options.generations;
  return IsReplay(setup.record) ? RunReplay(options, context, setup, LoadReplayOf(setup.record))
                                : RunOnDevice(options, context, setup);
}

void Run(const RunOptions& options, CommandContext& context) {
  RunSetup setup;
  const RunStatus status = options.resume ? RunAgain(options, context, setup) : RunNew(options, context, setup);
  PrintClosing(context.out, options, setup.record.id);
  if (status == RunStatus::kInterrupted) context.exit_code = 130;
}

void AddReplay(CLI::App& run, RunOptions& options) {
  CLI::Option* replay =
      run.add_option("--replay", options.replay, "Compile and measure nothing: look up what the runs of this database recorded");
  run.add_option("--replay-runs", options.replay_runs, "Numbers of those runs (default: all of the task, measured as the latest)")
      ->delimiter(',')
      ->needs(replay);
  run.add_option("--replay-missing", options.replay_missing,
                 "A child that is not recorded: replace it by others, skip it, or stop with an error")
      ->check(CLI::IsMember({"replace", "skip", "stop"}))
      ->capture_default_str()
      ->needs(replay);
  replay->excludes("--resume");
}

}  // namespace

void AddRun(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<RunOptions>();
  options->database = context.database;
  const auto limit = std::make_shared<std::string>();
  const auto resume = std::make_shared<std::string>();
  CLI::App* run = app.add_subcommand("run", "Evolve the kernels of a task");
  run->add_option("--task", options->task, "Task, by name or folder")->capture_default_str();
  run->add_option("--template", options->templates, "Templates to start from (default: all of the task)")->delimiter(',');
  CLI::Option* generations = run->add_option("--generations", options->generations, "Generations to breed")
                                 ->check(CLI::Range(0, 1'000'000))
                                 ->capture_default_str();
  run->add_option("--population", options->population, "Survivors of a generation")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  run->add_option("--children", options->children,
                  "Children of a generation (default: twice the population; on the cpu device as many)")
      ->check(CLI::Range(1, 100'000));
  run->add_option("--population-kind", options->population_kind, "How survivors are chosen")
      ->check(CLI::IsMember(PopulationKinds()))
      ->capture_default_str();
  run->add_option("--operators", options->operators,
                  "adaptive (default): what earns more is drawn more often; fixed: always by the weights of `evo mutators`")
      ->check(CLI::IsMember({"adaptive", "fixed"}));
  run->add_option("--only-mutators", options->only_mutators, "Draw no others: names of `evo mutators`, parameters, edits")
      ->delimiter(',');
  run->add_option("--without-mutators", options->without_mutators, "Draw all but these")->delimiter(',');
  run->add_option("--surrogate", options->surrogate,
                  "Breed three times as many and evaluate those that a model of the run's evaluations prefers")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  run->add_option("--minimise", options->minimise,
                  "When the run ends, cut the champion to the edits that it needs and say what each is worth")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  run->add_option("--device", options->device, "auto, cpu, cuda, cuda:N, cuda:N,M or cuda:all (one run worker each)")
      ->capture_default_str();
  run->add_option("--arch", options->arch,
                  "Compile for this architecture, such as sm_90a (default: the GPU's own; on cpu sm_90a, as a check)");
  CLI::Option* l2 = run->add_option("--l2", options->l2, "State of the L2 cache when a kernel is timed")
                        ->check(CLI::IsMember({"hot", "cold"}))
                        ->capture_default_str();
  run->add_option("--db", options->database, "Database of the history")->capture_default_str();
  run->add_option("--seed", options->seed, "Of every random decision")->capture_default_str();
  run->add_option("--evaluations", options->evaluations,
                  "End after so many candidates; then generations are not limited unless --generations is given")
      ->check(CLI::Range(1, 1'000'000));
  run->add_option("--time-limit", *limit, "End after this long: 90s, 10m, 2h");
  run->add_option("--resume", *resume, "Go on with a run of the database (default: the latest)")
      ->expected(0, 1)
      ->default_str("0");
  run->add_option("--shape", options->shapes,
                  "Search at these sizes instead of the task's, such as B=4,S=512; may be given several times")
      ->allow_extra_args(false);
  run->add_option("-I", options->task_folders, "More folders with tasks")->allow_extra_args(false);
  run->add_option("-D", options->definitions, "NAME=VALUE: hold a parameter fixed")->allow_extra_args(false);
  run->add_flag("--sweep", options->sweep,
                "Evaluate every legal parameter setting instead of evolving; without --generations, all of them");
  AddReplay(*run, *options);
  run->add_option("--compile-workers", options->compile_workers, "Compile processes (default: one a core)")
      ->check(CLI::Range(1, 1024));
  run->add_flag("--no-reuse", options->no_reuse,
                "Use nothing of earlier runs of the database: neither evaluations nor what operators have earned");
  run->add_flag("--no-check", options->no_check, "End without checking the champion; `evo verify` does that later");
  run->add_flag("--no-tools", options->no_tools, "Check the champion without compute-sanitizer; `evo verify` does that later");
  run->add_flag("--json", options->json, "Print the result as JSON");
  CLI::Option* resume_option = run->get_option("--resume");
  run->callback([=, &context] {
    if (!limit->empty()) options->time_limit = ParseDuration(*limit);
    if (resume_option->count() > 0) {
      try {
        options->resume = resume->empty() ? 0 : std::stoll(*resume);
      } catch (const std::exception&) {
        throw UsageError(fmt::format("--resume {}: give the number of a run", *resume));
      }
    }
    options->generations_given = generations->count() > 0;
    options->l2_given = l2->count() > 0;
    Run(*options, context);
  });
}

}  // namespace evo
