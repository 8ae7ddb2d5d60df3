#include "evaluator/scheduling/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <random>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "core/rng.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/scheduling/launch_prediction.h"
#include "evaluator/timer/machine_check.h"
#include "evaluator/workers/run_role.h"
#include "evaluator/workers/sanitizer.h"
#include "platform/installation.h"

namespace evo {
namespace {

using std::chrono::milliseconds;

// ptxas has been seen to take 15 s over a kernel with thousands of unrolled steps; compile workers also stand still while a
// kernel is timed on the cpu device.
constexpr milliseconds kCompileDeadline{40'000};
// A candidate has this many times what the slowest template took to compile: a generation waits for its last one.
constexpr double kCompileDeadlineFactor = 6;
constexpr milliseconds kLeastCompileDeadline{1'200};
// Input generation and the reference on a slow machine.
constexpr milliseconds kPrepareDeadline{120'000};
// A fresh process, all held-out cases, several runs each.
constexpr milliseconds kHeldOutDeadline{60'000};
// The tools slow a kernel down by ten to a hundred; the small case takes them seconds.
constexpr milliseconds kSanitizerDeadline{60'000};
// A few milliseconds, where a GPU is in order.
constexpr milliseconds kMachineDeadline{20'000};
constexpr const char* kDefaultArch = "sm_90a";
// Sets to rotate among, and one number more for the timer's own draws.
constexpr std::size_t kPoolSeeds = 7;
// A candidate this many times slower than the fastest needs no precise figure: it may still be a parent, but never the champion.
constexpr double kPruneFactor = 1.25;
// One that is certainly this many times slower has lost, too, and is measured as well as a parent needs.
constexpr double kDecidedFactor = 1.03;

Outcome OutcomeOf(const WorkerDeath& death) {
  switch (death.kind) {
    case WorkerDeath::Kind::kDeadline:
      return Outcome::kTimeout;
    case WorkerDeath::Kind::kStopped:
      return Outcome::kCancelled;
    default:
      return Outcome::kCrash;
  }
}

CompileResult FromCompiler(const JobResult& result) {
  if (result.reply) return ToCompileResult(*result.reply);
  CompileResult failed;
  failed.outcome = OutcomeOf(*result.death);
  failed.message = result.death->description;
  return failed;
}

double StageMs(const JobResult& result, Stage stage) {
  const auto found = result.stage_ms.find(stage);
  return found == result.stage_ms.end() ? 0 : found->second;
}

}  // namespace

Pipeline::Pipeline(PipelineOptions options, const Task& task) : options_(std::move(options)), task_(task) {
  for (std::size_t i = 0; i < kPoolSeeds; ++i) seeds_.push_back(Rng(options_.seed, ~0ULL, i).Next());
  WorkerPoolOptions run{"run",      options_.worker_argv,      RunInit(), static_cast<int>(options_.ordinals.size()),
                        Ordinals(), options_.device == "cuda", false};
  run_pool_ = std::make_unique<WorkerPool>(run);
  const nlohmann::json init = {{"role", "compile"}, {"device", options_.device}, {"check", options_.device == "cpu"}};
  compile_pool_ =
      std::make_unique<WorkerPool>(WorkerPoolOptions{"compile", options_.worker_argv, init, options_.compile_workers, {}});
  device_ = run_pool_->WaitReady(options_.interrupt).at("device").get<DeviceInfo>();
  // On the cpu device too every candidate is compiled for a GPU, so that what wins here is valid there.
  arch_ = !options_.arch.empty() ? options_.arch : options_.device == "cuda" ? device_.arch : kDefaultArch;
  compile_pool_->WaitReady(options_.interrupt);
  CompileOwn();
  machines_ = MeasureMachines("start");
  run_pool_->SetSetup(RunSetup(seeds_));
}

// The reference, and the kernels that measure a GPU.
void Pipeline::CompileOwn() {
  std::vector<Job> jobs = {CompileJob(task_.reference, false)};
  if (options_.device == "cuda") {
    Job own = jobs.front();
    own.request =
        ToMessage(CompileRequest{MachineCheckSource(device_.arch), device_.arch, false, MachineCheckKernels(device_.arch)});
    jobs.push_back(std::move(own));
  }
  const std::vector<JobResult> results = RunAndWait(*compile_pool_, std::move(jobs), options_.interrupt);
  if (options_.interrupt.stop_requested()) throw Interrupted();
  reference_ = FromCompiler(results.front());
  if (reference_.outcome != Outcome::kOk) {
    throw UsageError(fmt::format("{}: does not compile for {}: {}", (task_.directory / "reference.cu").string(), options_.device,
                                 reference_.message));
  }
  if (options_.device != "cuda") return;
  machine_check_ = FromCompiler(results.back());
  if (machine_check_.outcome != Outcome::kOk) {
    throw Error(fmt::format("our own kernels do not compile for {}: {}; install a CUDA toolkit that knows this GPU", device_.arch,
                            machine_check_.message));
  }
}

std::vector<MachineState> Pipeline::MeasureMachines(const std::string& moment) {
  if (options_.device != "cuda") return {};
  Job job;
  job.request = ToMessage(MachineRequest{{"", machine_check_.program}});
  job.deadline = kMachineDeadline;
  // As many as there are idle workers: each takes one.
  const std::vector<JobResult> results =
      RunAndWait(*run_pool_, std::vector<Job>(options_.ordinals.size(), job), options_.interrupt);
  if (options_.interrupt.stop_requested()) throw Interrupted();
  std::vector<MachineState> machines;
  for (const JobResult& result : results) {
    if (result.death) throw Error(fmt::format("measuring {}: {}; see `evo doctor`", device_.name, result.death->description));
    const auto answer = FromReply<MachineState>(*result.reply);
    if (const auto* failed = std::get_if<InfrastructureReport>(&answer)) throw Error(failed->message);
    machines.push_back(std::get<MachineState>(answer));
    machines.back().moment = moment;
  }
  return machines;
}

Pipeline::~Pipeline() {
  // Their threads call back into this object until they are gone; a compile that ends may still submit a run.
  compile_pool_.reset();
  run_pool_.reset();
}

nlohmann::json Pipeline::RunInit() const { return {{"role", "run"}, {"device", options_.device}}; }

std::vector<nlohmann::json> Pipeline::Ordinals() const {
  std::vector<nlohmann::json> ordinals;
  for (const int ordinal : options_.ordinals) ordinals.push_back({{"ordinal", ordinal}});
  return ordinals;
}

Job Pipeline::CompileJob(const std::string& source, bool check) const {
  Job job;
  job.request = ToMessage(CompileRequest{source, arch_, check, {}});
  job.deadline = kCompileDeadline;
  return job;
}

milliseconds Pipeline::CompileDeadline() {
  const std::lock_guard lock(mutex_);
  // On the cpu device compilers stand still while a kernel is timed, and what they take says nothing.
  if (options_.device != "cuda" || baseline_compile_ms_ == 0) return kCompileDeadline;
  return std::clamp(milliseconds(static_cast<long>(kCompileDeadlineFactor * baseline_compile_ms_)), kLeastCompileDeadline,
                    kCompileDeadline);
}

std::vector<JobResult> Pipeline::RunAndWait(WorkerPool& pool, std::vector<Job> jobs, const std::stop_token& stop) {
  std::vector<std::promise<JobResult>> promises(jobs.size());
  const std::stop_callback cancel(stop, [&pool] { pool.Cancel(); });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    pool.Submit(std::move(jobs[i]), [&promise = promises[i]](JobResult result) { promise.set_value(std::move(result)); });
  }
  std::vector<JobResult> results;
  for (std::promise<JobResult>& promise : promises) results.push_back(promise.get_future().get());
  return results;
}

CompileResult Pipeline::CompileNow(const std::string& source, bool check, const std::stop_token& stop) {
  return FromCompiler(RunAndWait(*compile_pool_, {CompileJob(source, check)}, stop).front());
}

Message Pipeline::RunSetup(const std::vector<std::uint64_t>& seeds) const {
  return ToMessage(SetupRequest{task_.json,
                                task_.reference,
                                task_.directory.string(),
                                seeds,
                                options_.l2,
                                machines_,
                                {task_.reference, reference_.program}});
}

milliseconds Pipeline::RunDeadline(const DeadlineFactor& factor) {
  const std::lock_guard lock(mutex_);
  if (baseline_stage_ms_ == 0) return options_.run_deadline;
  const milliseconds patient(static_cast<long>(factor.of_baseline * baseline_stage_ms_));
  return std::min(options_.run_deadline, std::max(factor.least, patient));
}

// On the cpu device nothing else may run while a kernel is timed.
Job Pipeline::WithRunDeadlines(Job job, const DeadlineFactor& factor) {
  job.deadline = RunDeadline(factor);
  job.stage_deadlines = {{Stage::kPrepare, kPrepareDeadline}, {Stage::kHeldOut, kHeldOutDeadline}};
  if (options_.device == "cpu") {
    job.on_enter = [this](Stage) { compile_pool_->Suspend(); };
    job.on_leave = [this](Stage) { compile_pool_->Resume(); };
  }
  return job;
}

void Pipeline::Start(std::vector<Candidate> candidates) {
  const auto batch = std::make_shared<Batch>();
  for (Candidate& candidate : candidates) {
    Slot slot;
    slot.evaluation.device = options_.device;
    slot.evaluation.device_name = device_.name;
    slot.evaluation.l2 = options_.l2;
    slot.evaluation.source_digest = Digest(candidate.source);
    slot.candidate = std::move(candidate);
    batch->slots.push_back(std::move(slot));
  }
  {
    const std::lock_guard lock(mutex_);
    batches_.push_back(batch);
    if (first_start_ == SteadyTime{}) first_start_ = last_completion_ = std::chrono::steady_clock::now();
  }
  for (std::size_t i = 0; i < batch->slots.size(); ++i) {
    const Place place{batch, i};
    const Candidate& candidate = place.slot().candidate;
    const Evaluation* known = candidate.generation > 0 && candidate.measurement == 0
                                  ? cache_.FindSource(place.slot().evaluation.source_digest)
                                  : nullptr;
    if (known != nullptr) {
      CopyResult(place, *known);
      Complete(place);
    } else if (const auto refusal = CannotLaunch(place.slot().candidate.source, task_, device_)) {
      Fail(place, Outcome::kResourceLimit, Stage::kCompile, *refusal + " (not compiled)");
    } else {
      Job job = CompileJob(place.slot().candidate.source, true);
      job.deadline = CompileDeadline();
      compile_pool_->Submit(std::move(job), [this, place](const JobResult& result) { OnCompiled(place, result); });
    }
  }
}

void Pipeline::CopyResult(const Place& place, const Evaluation& shared) {
  Evaluation& evaluation = place.slot().evaluation;
  const std::string source_digest = evaluation.source_digest;
  const StageClocks clocks = evaluation.clocks;
  evaluation = shared;
  evaluation.source_digest = source_digest;
  evaluation.clocks = clocks;
}

// Takes over what is known of the same program; where it is being evaluated, the candidate is completed with that one.
EvaluationCache::Claim Pipeline::Claim(const Place& place) {
  Slot& slot = place.slot();
  const std::lock_guard lock(mutex_);
  const EvaluationCache::Ticket ticket = next_ticket_++;
  const auto claimed = cache_.ClaimProgram(slot.compiled.program_digest, ticket, slot.candidate.generation == 0);
  if (claimed.claim == EvaluationCache::Claim::kYours) slot.claimed = true;
  if (claimed.claim == EvaluationCache::Claim::kKnown) CopyResult(place, *claimed.evaluation);
  if (claimed.claim == EvaluationCache::Claim::kWait) waiting_[ticket] = place;
  return claimed.claim;
}

// With the lock held: what waited for this program is completed, or has to be evaluated now.
void Pipeline::ResolveWaiters(const Place& place, std::vector<Place>& next) {
  Slot& slot = place.slot();
  if (!std::exchange(slot.claimed, false)) return;
  const std::string digest = slot.compiled.program_digest;
  const auto resolved = cache_.ResolveWaiters(digest, slot.candidate.id, slot.evaluation);
  for (const EvaluationCache::Ticket ticket : resolved.waiting) {
    const Place waiter = waiting_.extract(ticket).mapped();
    if (resolved.final)
      CopyResult(waiter, cache_.Get(digest));
    else
      waiter.slot().claimed = true;
    next.push_back(waiter);
  }
}

void Pipeline::LearnFrom(const Candidate& candidate, const Evaluation& evaluation) {
  if (candidate.generation == 0 && evaluation.outcome == Outcome::kOk) {
    const StageClocks& clocks = evaluation.clocks;
    baseline_stage_ms_ = std::max({baseline_stage_ms_, clocks.load_ms, clocks.check_ms, clocks.time_ms});
    baseline_compile_ms_ = std::max(baseline_compile_ms_, clocks.compile_ms);
  }
  for (const CaseMeasurement& measured : evaluation.cases) {
    auto& best = best_case_ns_.try_emplace(measured.name, measured.median_ns).first->second;
    best = std::min(best, measured.median_ns);
  }
  if (!evaluation.counterexample.case_name.empty())
    ++kills_[{evaluation.counterexample.case_name, evaluation.counterexample.generator}];
}

void Pipeline::GoOn(const std::vector<GenerationRecord>& generations) {
  const std::lock_guard lock(mutex_);
  for (const GenerationRecord& generation : generations) {
    for (std::size_t i = 0; i < generation.candidates.size(); ++i) {
      if (generation.evaluations[i].device_name == device_.name) LearnFrom(generation.candidates[i], generation.evaluations[i]);
    }
  }
}

void Pipeline::Complete(const Place& place) {
  std::vector<Place> next;
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = place.slot();
    ResolveWaiters(place, next);
    LearnFrom(slot.candidate, slot.evaluation);
    slot.compiled = {};  // images are large and no longer needed
    place.batch->finished.push_back(place.index);
    last_completion_ = std::chrono::steady_clock::now();
    changed_.notify_all();
  }
  for (const Place& waiter : next) {
    if (waiter.slot().claimed)
      SubmitRun(waiter);
    else
      Complete(waiter);
  }
}

void Pipeline::Fail(const Place& place, Outcome outcome, Stage stage, const std::string& message) {
  Evaluation& evaluation = place.slot().evaluation;
  evaluation.outcome = outcome;
  evaluation.stage = stage;
  evaluation.message = message;
  Complete(place);
}

void Pipeline::SetFatal(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (fatal_.empty()) fatal_ = message;
  changed_.notify_all();
}

void Pipeline::OnCompiled(const Place& place, const JobResult& result) {
  if (const std::string fatal = compile_pool_->fatal(); !fatal.empty()) SetFatal(fatal);
  Slot& slot = place.slot();
  slot.evaluation.clocks.compile_ms = StageMs(result, Stage::kCompile);
  slot.evaluation.clocks.queue_ms = result.queue_ms;
  if (result.death) {
    return Fail(place, OutcomeOf(*result.death), Stage::kCompile, fmt::format("the compiler: {}", result.death->description));
  }
  try {
    slot.compiled = ToCompileResult(*result.reply);
  } catch (const std::exception& error) {
    return Fail(place, Outcome::kCrash, Stage::kCompile,
                fmt::format("the compile worker sent a malformed reply: {}", error.what()));
  }
  slot.evaluation.log = slot.compiled.log;
  slot.evaluation.facts = slot.compiled.facts;
  slot.evaluation.program_digest = slot.compiled.program_digest;
  if (slot.compiled.outcome != Outcome::kOk) return Fail(place, slot.compiled.outcome, Stage::kCompile, slot.compiled.message);
  if (slot.candidate.measurement > 0) return SubmitRun(place);
  const EvaluationCache::Claim claim = Claim(place);
  if (claim == EvaluationCache::Claim::kYours) SubmitRun(place);
  if (claim == EvaluationCache::Claim::kKnown) Complete(place);
}

void Pipeline::SubmitRun(const Place& place) {
  const Slot& slot = place.slot();
  EvaluateRequest request{{slot.candidate.source, slot.compiled.program},
                          {slot.candidate.source, slot.compiled.checked},
                          slot.compiled.facts,
                          {},
                          {}};
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    cancelled = cancelled_;
    for (const auto& [name, best] : best_case_ns_) request.bounds[name] = {kPruneFactor * best, kDecidedFactor * best};
    const auto killer =
        std::max_element(kills_.begin(), kills_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (killer != kills_.end()) request.first = {killer->first.first, killer->first.second};
  }
  // A pool that was cancelled takes new jobs.
  if (cancelled) return Fail(place, Outcome::kCancelled, Stage::kLoad, "stopped");
  Job job;
  job.request = ToMessage(request);
  job = WithRunDeadlines(std::move(job), options_.device == "cuda" ? kGpuDeadlineFactor : kDeadlineFactor);
  // Of the templates the first that is done says nothing of how long the others may take.
  if (place.slot().candidate.generation == 0) job.deadline = options_.run_deadline;
  run_pool_->Submit(std::move(job), [this, place](const JobResult& result) { OnRun(place, result); });
}

void Pipeline::OnRun(const Place& place, const JobResult& result) {
  Slot& slot = place.slot();
  const std::string fatal = run_pool_->fatal();
  const bool charged = result.stage == Stage::kLoad || result.stage == Stage::kCheck || result.stage == Stage::kTime ||
                       result.stage == Stage::kReverify;
  const bool stopped = result.death && result.death->kind == WorkerDeath::Kind::kStopped;
  std::optional<std::variant<Evaluation, InfrastructureReport>> answer;
  if (result.reply) {
    try {
      answer = FromReply<Evaluation>(*result.reply);
    } catch (const std::exception& error) {
      return Fail(place, Outcome::kCrash, Stage::kCheck, fmt::format("the run worker sent a malformed reply: {}", error.what()));
    }
  }
  const auto* report = answer ? std::get_if<InfrastructureReport>(&*answer) : nullptr;
  if (report != nullptr || (result.death && !charged && !stopped)) {
    const std::string why = report != nullptr ? report->message : result.death->description;
    // Once may be what an earlier candidate left behind; the second time it is the machine.
    if (fatal.empty() && slot.attempts++ == 0) return SubmitRun(place);
    SetFatal(fatal.empty() ? why : fatal);
    return Fail(place, Outcome::kCancelled, Stage::kLoad, why);
  }
  const Evaluation before = slot.evaluation;
  if (answer) {
    Evaluation evaluation = std::get<Evaluation>(std::move(*answer));
    // Cheating is said of a candidate only if it shows again in a fresh process: a guard may have been overwritten by the
    // candidate before, and CUPTI has been seen to name a kernel by the one that an earlier, unloaded image had at its place.
    if (evaluation.outcome == Outcome::kCheating && slot.attempts++ == 0) return SubmitRun(place);
    slot.evaluation = std::move(evaluation);
    slot.evaluation.log = before.log;
    slot.evaluation.program_digest = before.program_digest;
  }
  slot.evaluation.clocks = {before.clocks.compile_ms,          StageMs(result, Stage::kLoad),
                            StageMs(result, Stage::kCheck),    StageMs(result, Stage::kTime),
                            StageMs(result, Stage::kReverify), before.clocks.queue_ms + result.queue_ms};
  {
    const std::lock_guard lock(mutex_);
    reverification_ms_ += slot.evaluation.clocks.reverification_ms;
  }
  if (result.death) return Fail(place, OutcomeOf(*result.death), result.stage.value_or(Stage::kLoad), result.death->description);
  Complete(place);
}

Pipeline::Utilisation Pipeline::utilisation() {
  const std::lock_guard lock(mutex_);
  const double seconds = std::chrono::duration<double>(last_completion_ - first_start_).count();
  if (seconds <= 0) return {};
  const auto share = [&](double ms, std::size_t workers) {
    return std::min(1.0, ms / 1e3 / seconds / static_cast<double>(workers));
  };
  const std::size_t gpus = options_.ordinals.size();
  return {seconds, share(run_pool_->busy_ms(), gpus), share(reverification_ms_, gpus),
          share(compile_pool_->busy_ms(), static_cast<std::size_t>(options_.compile_workers))};
}

bool Pipeline::AllFinished() const {
  return std::all_of(batches_.begin(), batches_.end(),
                     [](const auto& batch) { return batch->finished.size() == batch->slots.size(); });
}

std::vector<Evaluation> Pipeline::Finish(std::stop_token stop, const Each& each) {
  std::size_t reported = 0;
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Batch> batch = batches_.front();
  while (reported < batch->slots.size()) {
    const auto ready = [&] { return batch->finished.size() > reported || (!fatal_.empty() && !cancelled_); };
    const bool woken = cancelled_ ? (changed_.wait(lock, ready), true) : changed_.wait(lock, stop, ready);
    if (!cancelled_ && (!woken || !fatal_.empty())) {
      cancelled_ = true;
      lock.unlock();
      compile_pool_->Cancel();
      run_pool_->Cancel();
      lock.lock();
      continue;
    }
    const Slot& slot = batch->slots[batch->finished[reported++]];
    lock.unlock();
    if (each && slot.evaluation.outcome != Outcome::kCancelled) each(slot.candidate, slot.evaluation);
    lock.lock();
  }
  batches_.pop_front();
  if (cancelled_) {
    // The next batch was cancelled with this one.
    changed_.wait(lock, [&] { return AllFinished(); });
    batches_.clear();
    cancelled_ = false;
  }
  if (!fatal_.empty()) throw Error(fatal_);
  std::vector<Evaluation> evaluations;
  for (Slot& slot : batch->slots) evaluations.push_back(std::move(slot.evaluation));
  return evaluations;
}

ChampionCheck Pipeline::CheckChampion(const Candidate& candidate, const Candidate& baseline, std::stop_token stop) {
  ChampionCheck check;
  const CompileResult compiled = CompileNow(candidate.source, true, stop);
  const CompileResult compiled_baseline = CompileNow(baseline.source, true, stop);
  for (const CompileResult* result : {&compiled, &compiled_baseline}) {
    if (result->outcome == Outcome::kOk) continue;
    check.outcome = result->outcome;
    check.message = result->message;
    return check;
  }
  // Seeds that nobody could have known when the candidate was bred.
  std::random_device entropy;
  std::vector<std::uint64_t> seeds;
  for (std::size_t i = 0; i < kPoolSeeds; ++i) seeds.push_back((static_cast<std::uint64_t>(entropy()) << 32) | entropy());
  Job job;
  job.request = ToMessage(ChampionRequest{
      {candidate.source, compiled.program}, {candidate.source, compiled.checked}, {baseline.source, compiled_baseline.program}});
  WorkerPool fresh({"run", options_.worker_argv, RunInit(), 1, {Ordinals().front()}, false, true});
  const Message setup = RunSetup(seeds);
  fresh.SetSetup(setup);
  const JobResult result = RunAndWait(fresh, {WithRunDeadlines(std::move(job), kDeadlineFactor)}, stop).front();
  if (result.death) {
    check.outcome = OutcomeOf(*result.death);
    check.message = fmt::format("{}: {}", result.stage ? ToString(*result.stage) : "start", result.death->description);
    return check;
  }
  const auto answer = FromReply<ChampionCheck>(*result.reply);
  if (const auto* failed = std::get_if<InfrastructureReport>(&answer)) throw Error(failed->message);
  check = std::get<ChampionCheck>(answer);
  if (check.outcome != Outcome::kOk) return check;
  for (ToolResult& tool : Sanitize(candidate.source, compiled.program, setup, stop)) check.tools.push_back(std::move(tool));
  const auto found =
      std::find_if(check.tools.begin(), check.tools.end(), [](const ToolResult& tool) { return tool.result == "error"; });
  if (found == check.tools.end()) return check;
  check.outcome = found->tool == "racecheck" || found->tool == "synccheck" ? Outcome::kNondeterministic : Outcome::kCheating;
  check.message = fmt::format("{}: {}", found->tool, found->message);
  return check;
}

std::vector<ToolResult> Pipeline::Sanitize(const std::string& source, const CompiledProgram& program, const Message& setup,
                                           const std::stop_token& stop) {
  if (options_.device != "cuda" || !options_.sanitizers) return {};
  nlohmann::json init = RunInit();
  init["timing"] = false;  // CUPTI and the sanitizer would be in each other's way
  const Sanitizer sanitizer(CudaRoot().value_or(""), {"sanitizer", options_.worker_argv, init, 1, {Ordinals().front()}}, setup);
  Job job;
  job.request = ToMessage(SmallCaseRequest{{source, program}});
  job.deadline = kSanitizerDeadline;
  return sanitizer.Check(job, stop);
}

}  // namespace evo
