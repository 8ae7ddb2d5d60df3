#include "evaluator/scheduling/worker_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/error.h"
#include "core/json_error.h"
#include "evaluator/gate/recorded_contents.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/reference/python_reference.h"
#include "evaluator/scheduling/emulated_blocks.h"
#include "evaluator/scheduling/image_sizes.h"
#include "evaluator/scheduling/job_results.h"
#include "evaluator/scheduling/jobs.h"
#include "evaluator/session/bare_inputs.h"
#include "evaluator/timer/machine_check.h"
#include "evaluator/workers/sanitizer.h"
#include "evaluator/workers/unconfined.h"
#include "evaluator/workers/worker_identity.h"
#include "platform/installation.h"

namespace evo {
namespace {

// The tools slow a kernel down by ten to a hundred times; the small case takes them seconds.
constexpr std::chrono::milliseconds kSanitizerDeadline{60'000};
// For each tool on a search case.
constexpr std::chrono::milliseconds kTimedCaseTime{30'000};

// Of the device's memory, for one process under a tool: its context and the tool's code, then the arguments, workspaces, and what
// the tool notes of them.
constexpr std::size_t kToolBytes = std::size_t{1} << 30;
constexpr std::size_t kToolBytesPerByte = 4;
// Other processes have some of the memory: their contexts, and the inputs of a run worker.
constexpr std::size_t kMemoryForTools = 2;

// Counting takes a second; a profiler that hangs must not hold up the check.
constexpr std::chrono::milliseconds kCountDeadline{20'000};

}  // namespace

WorkerSet::WorkerSet(PipelineOptions options, const Task& task)
    : options_(std::move(options)),
      task_(task),
      policy_(PolicyOf(options_.device)),
      programs_{{PackAllRecorded(task_)}, {}, {}},
      run_pool_(RunPoolOptions()),
      compile_pool_(CompilePoolOptions()) {
  Meet();
  arch_ = !options_.arch.empty() ? options_.arch : !policy_.arch.empty() ? std::string(policy_.arch) : met_.device.arch;
  met_.unconfined.merge(UnconfinedIn(compile_pool_.WaitReady(options_.interrupt)));
  CompilePrograms();
  machines_ = MeasureMachines("start");
  run_pool_.SetSetup(ToMessage(RunSetup(DrawSeeds())));
  compile_pool_.SetSetup(ToMessage(LaunchLimitsRequest{task_.json, task_.reference, task_.directory.string(), met_.device}));
}

// The run workers say what they are.
void WorkerSet::Meet() {
  std::vector<WorkerIdentity> workers;
  for (const nlohmann::json& ready : run_pool_.WaitAllReady(options_.interrupt)) {
    workers.push_back(IdentityIn(ready));
    met_.uuids.push_back(workers.back().device.uuid);
    met_.unconfined.merge(UnconfinedIn(ready));
  }
  RequireAlike(workers, options_.allow_mixed);
  RequireApart(workers);
  met_.device = workers.front().device;
}

WorkerPoolOptions WorkerSet::RunPoolOptions() const {
  WorkerPoolOptions pool;
  pool.name = "run";
  pool.argv = options_.worker_argv;
  pool.argv_of_worker = options_.run_commands;
  pool.place_of_worker = options_.run_hosts;
  pool.launched = launches_runs();
  pool.sends_ahead = launches_runs();  // on the way a message takes up to a tenth of what an evaluation does
  pool.init = {{"role", "run"}, {"device", options_.device}};
  pool.workers = static_cast<int>(options_.ordinals.size());
  for (const int ordinal : options_.ordinals) pool.init_of_worker.push_back({{"ordinal", ordinal}});
  pool.standby = policy_.standby_worker && !launches_runs();  // a launcher has no second place on the same GPU
  pool.warn = options_.warn;
  if (task_.reference_kind == ReferenceKind::kPython) pool.init["python"] = PythonInit(task_);
  return pool;
}

WorkerPoolOptions WorkerSet::CompilePoolOptions() const {
  WorkerPoolOptions pool;
  pool.name = "compile";
  pool.argv = options_.worker_argv;
  pool.argv_of_worker = options_.compile_commands;
  pool.place_of_worker = options_.compile_hosts;
  pool.launched = !options_.compile_commands.empty();
  pool.init = {{"role", "compile"}, {"device", options_.device}, {"check", policy_.checks_accesses}};
  pool.workers = options_.compile_workers;
  pool.warn = options_.warn;
  return pool;
}

// One run worker at a time, on the first device, or, where its host is lost, on the next.
WorkerPoolOptions WorkerSet::FreshPoolOptions() const {
  WorkerPoolOptions pool = RunPoolOptions();
  const std::size_t first = launches_runs() ? run_pool_.FirstUsable() : 0;
  const auto keep = [first](auto& list) {
    if (!list.empty()) list = {list.at(first)};
  };
  pool.workers = 1;
  keep(pool.init_of_worker);
  keep(pool.argv_of_worker);
  keep(pool.place_of_worker);
  if (!options_.fresh_command.empty()) pool.argv_of_worker = {options_.fresh_command};
  pool.standby = false;
  pool.sends_ahead = false;
  pool.fresh = true;
  return pool;
}

WorkerPoolOptions WorkerSet::CountingPoolOptions() const {
  WorkerPoolOptions pool = FreshPoolOptions();
  pool.init["use"] = "counting";
  pool.name = "counting";
  pool.warn = {};  // whoever counts says it
  return pool;
}

std::optional<EliteCounterSettings> WorkerSet::elite_counter_settings() {
  const bool alone = options_.ordinals.size() == 1 && !launches_runs();
  if (!policy_.counts_events || !options_.tools || !options_.counts_elites || !alone) return std::nullopt;
  EliteCounterSettings settings{compile_pool_, run_pool_, {}, arch_, SizesOfSearch(task_, policy_)};
  settings.start = [this, seeds = DrawSeeds()](const std::stop_token& stop) {
    WorkerPoolOptions options = CountingPoolOptions();
    options.fresh = false;
    options.start_deadline = kCountDeadline;
    auto pool = std::make_unique<WorkerPool>(options);
    pool->WaitReady(stop);
    pool->SetSetup(CountingSetup(seeds));
    return pool;
  };
  if (options_.warn) settings.warn = options_.warn;
  return settings;
}

SchedulerSettings WorkerSet::scheduler_settings() {
  return {compile_pool_,
          run_pool_,
          options_.compile_workers,
          static_cast<int>(options_.ordinals.size()),
          options_.device,
          met_.device.name,
          arch_,
          options_.l2,
          policy_,
          options_.run_deadline,
          SizesOfSearch(task_, policy_)};
}

// Compiles the task's reference if it has kernels, its baseline, and the kernels that measure the machine where it is measured.
void WorkerSet::CompilePrograms() {
  const bool has_kernels = task_.reference_kind != ReferenceKind::kPython;
  const ImageSizes sizes = check_sizes();
  std::vector<Job> jobs;
  if (has_kernels) jobs.push_back(MakeCompileJob(task_.reference, arch_, false, kCompileDeadline, sizes));
  if (!options_.baseline_source.empty())
    jobs.push_back(MakeCompileJob(options_.baseline_source, arch_, false, kCompileDeadline, sizes));
  if (policy_.measures_machine) {
    Job& probe = jobs.emplace_back();
    probe.request = ToMessage(
        CompileRequest{MachineCheckSource(met_.device.arch), met_.device.arch, false, MachineCheckKernels(met_.device.arch)});
    probe.deadline = kCompileDeadline;
  }
  const std::vector<JobResult> results = RunAndWait(compile_pool_, std::move(jobs), options_.interrupt);
  if (options_.interrupt.stop_requested()) throw Interrupted();
  if (has_kernels) {
    CompileResult reference = RequireCompileResult(results.front());
    if (reference.outcome != Outcome::kOk) {
      throw UsageError(fmt::format("{}: does not compile for {}: {}", (task_.directory / task_.reference_file).string(),
                                   options_.device, reference.message));
    }
    programs_.reference = std::move(reference.program);
  }
  // The run says of a baseline that does not compile what is wrong with it.
  if (!options_.baseline_source.empty())
    programs_.baseline = std::move(RequireCompileResult(results[has_kernels ? 1 : 0]).program);
  if (!policy_.measures_machine) return;
  CompileResult kernels = RequireCompileResult(results.back());
  if (kernels.outcome != Outcome::kOk) {
    throw Error(fmt::format("our own kernels do not compile for {}: {}; install a CUDA toolkit that knows this GPU",
                            met_.device.arch, kernels.message));
  }
  probe_.emplace(run_pool_, std::move(kernels.program), met_.device.name, static_cast<int>(met_.uuids.size()));
}

ImageSizes WorkerSet::check_sizes() const { return SizesOfCheck(task_, policy_, met_.device.memory_bytes); }

std::vector<MachineState> WorkerSet::MeasureMachines(const std::string& moment) const {
  if (!probe_) return {};
  std::vector<MachineState> machines;
  for (MeasuredMachine& measured : probe_->Measure(moment, options_.interrupt)) {
    // Elsewhere than here, the first GPU of each host has the number 0.
    if (launches_runs())
      measured.state.ordinal =
          static_cast<int>(std::find(met_.uuids.begin(), met_.uuids.end(), measured.uuid) - met_.uuids.begin());
    machines.push_back(std::move(measured.state));
  }
  return machines;
}

// Empty where the numbers of GPUs say which is which.
std::vector<std::string> WorkerSet::UuidsOf(const std::vector<MachineState>& machines) const {
  std::vector<std::string> uuids;
  if (!launches_runs()) return uuids;
  for (const MachineState& machine : machines) {
    const auto number = static_cast<std::size_t>(machine.ordinal);
    uuids.push_back(number < met_.uuids.size() ? met_.uuids[number] : "");
  }
  return uuids;
}

SetupRequest WorkerSet::RunSetup(const Seeds& seeds) const {
  return {task_.json,
          task_.reference,
          task_.directory.string(),
          seeds,
          options_.l2,
          machines_,
          {task_.reference, programs_.reference},
          {options_.baseline_source, programs_.baseline},
          programs_.recorded,
          UuidsOf(machines_)};
}

Message WorkerSet::CountingSetup(const Seeds& seeds) const {
  SetupRequest setup = RunSetup(seeds);
  setup.only_counts = true;
  return ToMessage(setup);
}

std::optional<ReferenceCost> WorkerSet::TimeReference() {
  if (task_.reference_kind != ReferenceKind::kPython) return std::nullopt;
  const JobResult result =
      RunAndWait(run_pool_, {MakeRunJob(ToMessage(ReferenceRequest{}), kPrepareDeadline, nullptr)}, options_.interrupt).front();
  if (options_.interrupt.stop_requested()) throw Interrupted();
  return ReadRunReply<ReferenceCost>(result, "timing the reference");
}

std::unique_ptr<JobRunner> WorkerSet::StartRunner(const Seeds& seeds) {
  auto pool = std::make_unique<WorkerPool>(FreshPoolOptions());
  pool->SetSetup(ToMessage(RunSetup(seeds)));
  return pool;
}

CountedEvents WorkerSet::CountEvents(const AttachedProgram& program, const std::string& text, const Seeds& seeds,
                                     const std::stop_token& stop) {
  if (!policy_.counts_events || programs_.baseline.image.empty()) return {};
  WorkerPool pool(CountingPoolOptions());
  pool.SetSetup(CountingSetup(seeds));
  const AttachedProgram baseline{options_.baseline_source, programs_.baseline};
  const JobResult result =
      RunAndWait(pool, {MakeRunJob(ToMessage(CountRequest{program, baseline, text}), kCountDeadline, nullptr)}, stop).front();
  if (stop.stop_requested()) return {};
  if (result.death) return {{}, {}, result.death->description};
  try {
    auto answer = FromReply<CountedEvents>(*result.reply);
    if (const auto* report = std::get_if<InfrastructureReport>(&answer)) return {{}, {}, report->message};
    return std::get<CountedEvents>(std::move(answer));
  } catch (const std::exception& error) {
    return {{}, {}, fmt::format("the run worker sent a malformed reply: {}", PlainText(error))};
  }
}

ToolRun WorkerSet::SampleBlocks(const std::string& source, const Seeds& seeds, const std::stop_token& stop) {
  const auto begin = std::chrono::steady_clock::now();
  ToolResult result = SampleEmulatedBlocks(options_.worker_argv, task_, source, arch_, seeds.front(), stop);
  return {std::move(result), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

std::vector<ToolRun> WorkerSet::RunSanitizer(const AttachedProgram& program, const Seeds& seeds, const std::stop_token& stop) {
  WorkerPoolOptions options = FreshPoolOptions();
  options.init["use"] = "tool";  // CUPTI and the sanitizer would be in each other's way
  SetupRequest setup = RunSetup(seeds);
  setup.draws_ahead = false;  // a request of a tool meets one set of inputs
  const Sanitizer sanitizer(CudaRoot().value_or(""), options, ToMessage(setup));
  // What is wrong at the size that is timed may be right at a smaller one. The case with the most bytes.
  const std::vector<Case>& cases = SearchCases(task_, policy_.cases);
  const Case& timed = *std::max_element(cases.begin(), cases.end(), [&](const Case& a, const Case& b) {
    return BareInputs::Bytes(task_, a) < BareInputs::Bytes(task_, b);
  });
  const auto make = [&](const Case& sizes, const std::string& name, std::chrono::milliseconds deadline) {
    ToolCase one{{}, name, kToolBytes + kToolBytesPerByte * BareInputs::Bytes(task_, sizes)};
    one.job.request = ToMessage(SmallCaseRequest{program, name});
    one.job.deadline = deadline;
    return one;
  };
  return sanitizer.Check({make(task_.small, "", kSanitizerDeadline), make(timed, timed.name, kTimedCaseTime)},
                         met_.device.memory_bytes / kMemoryForTools, stop);
}

}  // namespace evo
