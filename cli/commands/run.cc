#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "cli/batch_script.h"
#include "cli/changed_templates.h"
#include "cli/commands/commands.h"
#include "cli/console_observer.h"
#include "cli/describe.h"
#include "cli/operator_choice.h"
#include "cli/overdue.h"
#include "cli/print.h"
#include "cli/replay.h"
#include "cli/run_setup.h"
#include "cli/store_waits.h"
#include "cli/stored_run.h"
#include "cli/template_check.h"
#include "cli/terminal.h"
#include "cli/worker_plan.h"
#include "cli/workers.h"
#include "core/error.h"
#include "db/history.h"
#include "db/sqlite_store.h"
#include "engine/evolution.h"
#include "engine/population_kinds.h"
#include "engine/recorded_children.h"
#include "engine/replay_evaluator.h"
#include "evaluator/scheduling/pipeline.h"
#include "evaluator/workers/breeder_pool.h"
#include "mutators/mutator_set.h"
#include "platform/cores.h"
#include "platform/installation.h"

namespace evo {
namespace {

// A pool goes on with fewer workers.
void WarnOfWorkers(const std::string& what) { Print(stderr, "warning: {}\n", what); }

PipelineOptions ToPipelineOptions(const RunOptions& options, const RunSetup& setup, const WorkerPlan& plan,
                                  const std::stop_token& interrupt) {
  const RunRecord& run = setup.record;
  PipelineOptions pipeline;
  pipeline.device = run.device;
  pipeline.allow_mixed = options.allow_mixed;
  pipeline.arch = run.arch;
  pipeline.l2 = run.l2;
  pipeline.baseline_source = BaselineSource(run);
  pipeline.tools = !options.no_tools;
  pipeline.counts_elites = setup.options.rewards_by_bottleneck.has_value();
  Apply(plan, options.compile_workers, pipeline);
  pipeline.interrupt = interrupt;
  pipeline.warn = WarnOfWorkers;
  return pipeline;
}

// A sweep has no breed workers.
std::set<std::string> UnconfinedBreeders(Breeder& breeder, const std::stop_token& stop) {
  auto* pool = dynamic_cast<BreederPool*>(&breeder);
  return pool == nullptr ? std::set<std::string>() : pool->Unconfined(stop);
}

std::unique_ptr<Breeder> MakeBreeder(RunSetup& setup) {
  if (setup.sweep) return std::move(setup.sweep);
  const int cores = AvailableCores();
  WorkerPoolOptions breeders = BreedWorkers(setup.record.templates, std::max(std::min(cores, 4), cores / 2));
  breeders.warn = WarnOfWorkers;
  return std::make_unique<BreederPool>(std::move(breeders));
}

void PrintClosing(const CommandContext& context, const RunOptions& options, RunId run) {
  std::FILE* const out = context.out;
  const History history(options.database, RemarkOn(context, options.database));
  const auto best = history.Best(run);
  if (options.json) {
    nlohmann::ordered_json json = {{"run", ToJson(history.FindRun(run))}};
    json["best"] = best ? ToJson(*best) : nlohmann::ordered_json();
    PrintLines(out, Dump(json));
    return;
  }
  if (!best) {
    Print(out, "no kernel was shown right; `evo history --db {} --run {}` lists the outcomes of its candidates\n",
          options.database, run);
    return;
  }
  PrintResult(out, history.Baseline(run), *best);
  Print(out, "parameters {}; {} edits; `evo best --db {} --run {} --export kernel.cu` writes it\n",
        Describe(best->candidate.genome.parameters), best->candidate.genome.edits.size(), options.database, run);
}

// Measures the GPUs again and warns if one has changed its speed during the run: then scores are not comparable.
void CloseMachines(const CommandContext& context, const WorkerSet& workers, SqliteStore& store, RunId run) {
  constexpr double kDrift = 0.03;
  for (const MachineState& end : workers.MeasureMachines("end")) {
    store.RecordMachine(run, end);
    for (const MachineState& start : workers.machines()) {
      if (start.ordinal != end.ordinal || std::abs(end.f32_per_s / start.f32_per_s - 1) <= kDrift) continue;
      Print(context.messages,
            "cuda:{} does {:.1f} TFLOP/s now and did {:.1f} at the start{}: scores of this run do not compare; run again "
            "when the GPU is cool and nothing else uses it\n",
            end.ordinal, end.f32_per_s / 1e12, start.f32_per_s / 1e12,
            end.clocks.throttle_reason.empty() ? "" : fmt::format(" (clocks throttled: {})", end.clocks.throttle_reason));
    }
  }
}

// Stores a new run, or what the command line changes of one that is resumed.
void StoreRun(SqliteStore& store, RunSetup& setup) {
  RunRecord& run = setup.record;
  if (setup.resumed) return store.UpdateGenerations(run.id, run.generations);
  run.options = ToText(setup.options);
  run.id = store.BeginRun(run);
}

// What ended the run may keep this from being stored, too. The first cause is the one to tell.
void EndFailedRun(SqliteStore& store, RunId run, const Error& cause) {
  try {
    store.EndRun(run, RunStatus::kFailed, cause.what());
  } catch (const Error&) {
  }
}

// What the baseline computes, for later runs and for the rewards to start from. Only adaptive operators have any.
void SayKind(RunSetup& setup, Breeder& breeder) {
  auto* pool = dynamic_cast<BreederPool*>(&breeder);
  if (pool == nullptr || setup.options.operators != kAdaptive) return;
  if (std::string kind = pool->KindOf(setup.record.baseline); !kind.empty()) setup.options.kernel_kind = std::move(kind);
}

// "2 run workers".
std::string Counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Evolves with whatever evaluates and chooses. `workers` says what the workers do, for people.
RunStatus Evolve(const RunOptions& options, RunSetup& setup, Breeder& breeder, Evaluator& evaluator, SqliteStore& store,
                 ChildChoice& choice, const CommandContext& context, ConsoleObserver::Workers workers) {
  const RunRecord& run = setup.record;
  const int evaluations = options.evaluations > 0 ? options.evaluations : setup.options.evaluations;
  ConsoleObserver observer(context.messages, evaluations, std::move(workers));
  const std::unique_ptr<Population> population = MakePopulation(run.population_kind, static_cast<std::size_t>(run.population));
  const std::unique_ptr<OperatorSelection> selection = MakeSelection(setup);
  Evolution evolution({.run = run,
                       .seeds = setup.seeds,
                       .check_champion = !options.no_check,
                       .minimise_champion = setup.options.minimise,
                       .baseline_apart = setup.options.baseline_apart,
                       .early_children = setup.options.early_children.value_or(0),
                       .early_candidates = setup.options.early_candidates.value_or(EvolutionSettings().early_candidates),
                       .promises = MutatorSet().AllPromises()},
                      {breeder, evaluator, store, observer, *population, choice, selection.get()});
  const Overdue overdue(options.time_limit, context.interrupt);
  store.SetStop(overdue.token());
  const StopCondition stop(run.generations, options.time_limit, context.interrupt,
                           evaluations > 0 ? std::optional(evaluations) : std::nullopt, overdue.token());
  try {
    if (!setup.resumed) return evolution.Run(stop);
    return evolution.Resume(stop, [&](const auto& visit) { setup.resumed->Take(visit); });
  } catch (const Error& error) {
    EndFailedRun(store, run.id, error);
    throw;
  }
}

RunStatus RunReplay(const RunOptions& options, CommandContext& context, RunSetup& setup, const Replay& replay) {
  RunRecord& run = setup.record;
  SqliteStore store(options.database, LockWaitOf(context), DiskWaitOf(context));
  if (!setup.resumed) MarkReplay(setup, options, replay);
  StoreRun(store, setup);
  Print(context.messages, "replays {} evaluations that were recorded on {}; nothing is compiled or measured\n",
        replay.recorded.size(), run.device_name);
  context.open_scratch_folder();
  const std::unique_ptr<Breeder> breeder = MakeBreeder(setup);
  PrintUnconfined(context.messages, UnconfinedBreeders(*breeder, context.interrupt));
  ReplayEvaluator evaluator(replay.recorded);
  const std::unique_ptr<ChildChoice> choice = MakeChoice(setup.ranker.get());
  RecordedChildren recorded(*choice, replay.recorded, MissingOf(setup.options));
  return Evolve(options, setup, *breeder, evaluator, store, recorded, context, nullptr);
}

RunStatus RunOnDevice(const RunOptions& options, CommandContext& context, RunSetup& setup, const WorkerPlan& plan) {
  RunRecord& run = setup.record;
  SqliteStore store(options.database, LockWaitOf(context), DiskWaitOf(context));
  const PipelineOptions pipeline_options = ToPipelineOptions(options, setup, plan, context.interrupt);
  const std::size_t pipeline_workers = pipeline_options.ordinals.size();
  context.open_scratch_folder();
  // Before the other workers, so that all of them start together.
  const std::unique_ptr<Breeder> breeder = MakeBreeder(setup);
  WorkerSet workers(pipeline_options, setup.task);
  std::set<std::string> unconfined = workers.unconfined();
  unconfined.merge(UnconfinedBreeders(*breeder, context.interrupt));
  PrintUnconfined(context.messages, unconfined);
  const auto reference = workers.TimeReference();
  if (reference) RequireFastReference(setup.task, *reference, options.time_limit);
  PrintReference(context.messages, setup.task, reference);
  run.arch = workers.arch();
  run.device_name = workers.device().name;
  if (!setup.resumed) LeaveOutForeign(run.operators, run.arch);
  if (!setup.resumed) SayKind(setup, *breeder);
  if (!setup.resumed && !options.no_reuse) AddRewards(setup, store);
  StoreRun(store, setup);
  for (const MachineState& machine : workers.machines()) store.RecordMachine(run.id, machine);
  PriorKnowledge prior;
  if (setup.resumed) prior.generations = &setup.resumed->outlines();
  if (!options.no_reuse) prior.known = store.LoadKnown(run, RemarkOn(context, options.database), prior.generations);
  prior.counterexamples = store.LoadCounterexamples(run.task_digest);
  Pipeline pipeline(workers, std::move(prior));
  const std::unique_ptr<ChildChoice> choice = MakeChoice(setup.ranker.get());
  const auto busy_workers = [&] {
    const Utilisation busy = pipeline.utilisation();
    return fmt::format("{} busy {:.0f}%, {} {:.0f}%", Counted(pipeline_workers, "run worker"), 100 * busy.run,
                       Counted(static_cast<std::size_t>(pipeline_options.compile_workers), "compile worker"), 100 * busy.compile);
  };
  const RunStatus status = Evolve(options, setup, *breeder, pipeline, store, *choice, context, busy_workers);
  store.SetStop(context.interrupt);
  if (status == RunStatus::kFinished) CloseMachines(context, workers, store, run.id);
  const Utilisation busy = pipeline.utilisation();
  Print(context.messages,
        "evaluated for {:.1f} s: run worker{} busy {:.0f}% of it{}, compile workers {:.0f}%; `evo history --timing` shows "
        "the stages\n",
        busy.seconds, pipeline_workers > 1 ? "s" : "", 100 * busy.run,
        busy.reverify > 0 ? fmt::format(" ({:.0f}% with idle-time re-verification)", 100 * busy.reverify) : "",
        100 * busy.compile);
  return status;
}

RunStatus RunNew(const RunOptions& asked, CommandContext& context, RunSetup& setup) {
  if (asked.replay.empty()) {
    const WorkerPlan plan = PlanWorkers(asked.executor, asked.device, asked.compile_workers);
    setup = PrepareRun(asked, context, plan.device);
    context.open_scratch_folder();
    CheckTemplates(setup.templates, setup.task, context);
    return RunOnDevice(asked, context, setup, plan);
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
  setup = PrepareResume(options);
  SayWhatChanged(context.messages, setup.task.directory, setup.record);
  const std::optional<StoredReplay>& replay = setup.options.replay;
  if (replay) return RunReplay(options, context, setup, LoadReplayOf(*replay));
  const WorkerPlan plan = PlanWorkers(options.executor, DeviceOfResumed(options, setup), options.compile_workers);
  return RunOnDevice(options, context, setup, plan);
}

// Workers take seconds to start. A log of a run says what was done, and not what is going to be.
void SayStarting(const RunOptions& options, const CommandContext& context) {
  if (!IsTerminal(context.messages)) return;
  if (options.resume)
    Print(context.messages, "starting: reads the run from {}, checks its task and starts workers\n", options.database);
  else
    Print(context.messages, "starting: looks for the device, checks task {} and its templates, and starts workers\n",
          options.task);
  std::fflush(context.messages);
}

// The command line as it was given, in a script.
void PrintBatch(const RunOptions& options, const CommandContext& context) {
  if (options.executor.executor == "ssh") throw UsageError("--print-batch: the script is for Slurm; leave out --executor ssh");
  BatchJob job;
  job.command = {(ProgramDirectory() / "evo").string()};
  for (auto word = context.arguments.begin(); word != context.arguments.end(); ++word) {
    if (*word == "--broadcast")
      ++word;  // and its folder
    else if (*word != "--print-batch" && *word != "--requeue" && !word->starts_with("--broadcast="))
      job.command.push_back(*word);
  }
  if (options.executor.executor != "slurm") job.command.insert(job.command.end(), {"--executor", "slurm"});
  if (options.time_limit) job.seconds = options.time_limit->count();
  if (!options.broadcast.empty()) job.broadcast = Broadcast{ProgramDirectory().parent_path().string(), options.broadcast};
  job.requeue = options.requeue;
  job.database = options.database;
  PrintText(context.out, BatchScript(job));
}

void Run(const RunOptions& options, CommandContext& context) {
  if (options.print_batch) return PrintBatch(options, context);
  SayStarting(options, context);
  RunSetup setup;
  const RunStatus status = options.resume ? RunAgain(options, context, setup) : RunNew(options, context, setup);
  PrintClosing(context, options, setup.record.id);
  if (status != RunStatus::kInterrupted) return;
  context.exit_code = 130;
  const std::string& executor = options.executor.executor;
  Print(context.messages, "`evo run --resume {} --db {}{}` goes on with it\n", setup.record.id, options.database,
        executor == "local" ? "" : " --executor " + executor);
}

}  // namespace

void AddRun(CLI::App& app, CommandContext& context) {
  const auto options = std::make_shared<RunOptions>();
  options->database = context.database;
  CLI::App* run = app.add_subcommand("run", "Evolve the kernels of a task");
  AddRunOptions(*run, *options);
  run->callback([&context, options] { Run(*options, context); });
}

}  // namespace evo
