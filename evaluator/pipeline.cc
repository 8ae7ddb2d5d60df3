#include "evaluator/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <random>

#include "core/digest.h"
#include "core/error.h"
#include "core/rng.h"
#include "evaluator/evaluation_messages.h"
#include "evaluator/run_role.h"

namespace evo {
namespace {

using std::chrono::milliseconds;

// ptxas has been seen to take 15 s over a kernel with thousands of unrolled steps; compile workers also stand still while a kernel is
// timed on the cpu device.
constexpr milliseconds kCompileDeadline{40'000};
// Input generation and the reference on a slow machine.
constexpr milliseconds kPrepareDeadline{120'000};
// A fresh process, all held-out cases, several runs each.
constexpr milliseconds kHeldOutDeadline{60'000};
constexpr const char* kDefaultArch = "sm_90a";
// Sets to rotate among, and one number more for the timer's own draws.
constexpr std::size_t kPoolSeeds = 4;
// A candidate this many times slower than the fastest needs no precise figure.
constexpr double kGiveUpFactor = 2;

Stage StageOf(const std::string& name) { return ParseStage(name).value_or(Stage::kLoad); }

Outcome OutcomeOf(const WorkerDeath& death) {
  switch (death.kind) {
    case WorkerDeath::Kind::kDeadline: return Outcome::kTimeout;
    case WorkerDeath::Kind::kStopped: return Outcome::kCancelled;
    default: return Outcome::kCrash;
  }
}

double StageMs(const JobResult& result, const char* stage) {
  const auto found = result.stage_ms.find(stage);
  return found == result.stage_ms.end() ? 0 : found->second;
}

}  // namespace

Pipeline::Pipeline(PipelineOptions options, const Task& task) : options_(std::move(options)), task_(task) {
  for (std::size_t i = 0; i < kPoolSeeds; ++i) seeds_.push_back(Rng(options_.seed, ~0ULL, i).Next());
  WorkerPoolOptions run{"run", options_.worker_argv, RunInit(options_.ordinals.front()), 1, options_.device == "cuda", false};
  run_pool_ = std::make_unique<WorkerPool>(run);
  device_ = run_pool_->WaitReady(options_.interrupt).at("device").get<DeviceInfo>();
  // On the cpu device too every candidate is compiled for a GPU, so that what wins here is valid there.
  arch_ = !options_.arch.empty() ? options_.arch : options_.device == "cuda" ? device_.arch : kDefaultArch;
  const nlohmann::json init = {{"role", "compile"}, {"device", options_.device}, {"check", options_.device == "cpu"}};
  compile_pool_ = std::make_unique<WorkerPool>(WorkerPoolOptions{"compile", options_.worker_argv, init, options_.compile_workers});
  compile_pool_->WaitReady(options_.interrupt);
  reference_ = CompileNow(task_.reference, false, options_.interrupt);
  if (options_.interrupt.stop_requested()) throw Interrupted();
  if (reference_.outcome != Outcome::kOk) {
    throw UsageError(fmt::format("{}: does not compile for {}: {}", (task_.directory / "reference.cu").string(), options_.device, reference_.message));
  }
}

Pipeline::~Pipeline() {
  // Their threads call back into this object until they are gone; a compile that ends may still submit a run.
  compile_pool_.reset();
  run_pool_.reset();
}

nlohmann::json Pipeline::RunInit(int ordinal) const {
  return {{"role", "run"}, {"device", options_.device}, {"ordinal", ordinal}};
}

Job Pipeline::CompileJob(const std::string& source, bool check) const {
  Job job;
  job.request.header = {{"source", source}, {"arch", arch_}, {"check", check}};
  job.deadline = kCompileDeadline;
  return job;
}

JobResult Pipeline::RunAndWait(WorkerPool& pool, Job job, const std::stop_token& stop) {
  std::promise<JobResult> promise;
  auto future = promise.get_future();
  const std::stop_callback cancel(stop, [&pool] { pool.Cancel(); });
  pool.Submit(std::move(job), [&promise](JobResult result) { promise.set_value(std::move(result)); });
  return future.get();
}

CompileResult Pipeline::CompileNow(const std::string& source, bool check, const std::stop_token& stop) {
  const JobResult result = RunAndWait(*compile_pool_, CompileJob(source, check), stop);
  if (result.reply) return ToCompileResult(*result.reply);
  CompileResult failed;
  failed.outcome = OutcomeOf(*result.death);
  failed.message = result.death->description;
  return failed;
}

Message Pipeline::RunMessage(const char* kind, const std::vector<std::uint64_t>& seeds) const {
  Message message;
  message.header = {{"kind", kind},
                    {"task", {{"json", task_.json}, {"reference", task_.reference}, {"directory", task_.directory.string()}}},
                    {"seeds", seeds},
                    {"l2", options_.l2}};
  AttachProgram(message, "reference", task_.reference, reference_.program);
  return message;
}

// On the cpu device nothing else may run while a kernel is timed.
Job Pipeline::WithRunDeadlines(Job job) {
  job.deadline = options_.run_deadline;
  job.stage_deadlines = {{"prepare", kPrepareDeadline}, {"held_out", kHeldOutDeadline}};
  if (options_.device == "cpu") {
    job.on_enter = [this](const std::string&) { compile_pool_->Suspend(); };
    job.on_leave = [this](const std::string&) { compile_pool_->Resume(); };
  }
  return job;
}

void Pipeline::Start(std::vector<Candidate> batch) {
  {
    const std::lock_guard lock(mutex_);
    slots_.clear();
    finished_.clear();
    for (Candidate& candidate : batch) {
      Slot slot;
      slot.evaluation.device = options_.device;
      slot.evaluation.device_name = device_.name;
      slot.evaluation.l2 = options_.l2;
      slot.evaluation.source_digest = Digest(candidate.source);
      slot.candidate = std::move(candidate);
      slots_.push_back(std::move(slot));
    }
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    compile_pool_->Submit(CompileJob(slots_[i].candidate.source, true), [this, i](const JobResult& result) { OnCompiled(i, result); });
  }
}

void Pipeline::Complete(std::size_t index) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[index];
  slot.done = true;
  slot.compiled = {};  // images are large and no longer needed
  for (const CaseMeasurement& measured : slot.evaluation.cases) {
    auto& best = best_case_ns_.try_emplace(measured.name, measured.median_ns).first->second;
    best = std::min(best, measured.median_ns);
  }
  finished_.push_back(index);
  changed_.notify_all();
}

void Pipeline::Fail(std::size_t index, Outcome outcome, Stage stage, const std::string& message) {
  {
    const std::lock_guard lock(mutex_);
    Evaluation& evaluation = slots_[index].evaluation;
    evaluation.outcome = outcome;
    evaluation.stage = stage;
    evaluation.message = message;
  }
  Complete(index);
}

void Pipeline::SetFatal(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (fatal_.empty()) fatal_ = message;
  changed_.notify_all();
}

void Pipeline::OnCompiled(std::size_t index, const JobResult& result) {
  if (const std::string fatal = compile_pool_->fatal(); !fatal.empty()) SetFatal(fatal);
  Slot& slot = slots_[index];
  slot.evaluation.clocks.compile_ms = StageMs(result, "compile");
  slot.evaluation.clocks.queue_ms = result.queue_ms;
  if (result.death) {
    return Fail(index, OutcomeOf(*result.death), Stage::kCompile, fmt::format("the compiler: {}", result.death->description));
  }
  try {
    slot.compiled = ToCompileResult(*result.reply);
  } catch (const std::exception& error) {
    return Fail(index, Outcome::kCrash, Stage::kCompile, fmt::format("the compile worker answered nonsense: {}", error.what()));
  }
  slot.evaluation.log = slot.compiled.log;
  slot.evaluation.facts = slot.compiled.facts;
  if (slot.compiled.outcome != Outcome::kOk) return Fail(index, slot.compiled.outcome, Stage::kCompile, slot.compiled.message);
  SubmitRun(index);
}

void Pipeline::SubmitRun(std::size_t index) {
  const Slot& slot = slots_[index];
  Job job;
  job.request = RunMessage("evaluate", seeds_);
  job.request.header["facts"] = slot.compiled.facts;
  {
    const std::lock_guard lock(mutex_);
    nlohmann::json bounds = nlohmann::json::object();
    for (const auto& [name, best] : best_case_ns_) bounds[name] = kGiveUpFactor * best;
    job.request.header["give_up_ns"] = bounds;
  }
  AttachProgram(job.request, "candidate", slot.candidate.source, slot.compiled.program);
  run_pool_->Submit(WithRunDeadlines(std::move(job)), [this, index](const JobResult& result) { OnRun(index, result); });
}

void Pipeline::OnRun(std::size_t index, const JobResult& result) {
  Slot& slot = slots_[index];
  const std::string fatal = run_pool_->fatal();
  const bool charged = result.stage == "load" || result.stage == "check" || result.stage == "time";
  const bool stopped = result.death && result.death->kind == WorkerDeath::Kind::kStopped;
  const bool infrastructure = (result.reply && result.reply->header.contains("infrastructure")) || (result.death && !charged && !stopped);
  if (infrastructure) {
    const std::string why = result.reply ? result.reply->header.at("infrastructure").get<std::string>() : result.death->description;
    // Once may be what an earlier candidate left behind; the second time it is the machine.
    if (fatal.empty() && slot.attempts++ == 0) return SubmitRun(index);
    SetFatal(fatal.empty() ? why : fatal);
    return Fail(index, Outcome::kCancelled, Stage::kLoad, why);
  }
  const StageClocks before = slot.evaluation.clocks;
  if (result.reply) {
    try {
      const std::string log = slot.evaluation.log;
      Evaluation evaluation = result.reply->header.at("evaluation").get<Evaluation>();
      // Cheating is said of a candidate only if it shows again in a fresh process: a guard may have been overwritten by the candidate before,
      // and CUPTI has been seen to name a kernel by the one that an earlier, unloaded image had at its place.
      if (evaluation.outcome == Outcome::kCheating && slot.attempts++ == 0) return SubmitRun(index);
      slot.evaluation = std::move(evaluation);
      slot.evaluation.log = log;
    } catch (const std::exception& error) {
      return Fail(index, Outcome::kCrash, Stage::kCheck, fmt::format("the run worker answered nonsense: {}", error.what()));
    }
  }
  StageClocks& clocks = slot.evaluation.clocks;
  clocks = {before.compile_ms, StageMs(result, "load"), StageMs(result, "check"), StageMs(result, "time"), before.queue_ms + result.queue_ms};
  if (result.death) return Fail(index, OutcomeOf(*result.death), StageOf(result.stage), result.death->description);
  Complete(index);
}

std::vector<Evaluation> Pipeline::Finish(std::stop_token stop, const Each& each) {
  std::size_t reported = 0;
  bool cancelled = false;
  std::unique_lock lock(mutex_);
  while (reported < slots_.size()) {
    const auto ready = [&] { return finished_.size() > reported || (!fatal_.empty() && !cancelled); };
    const bool woken = cancelled ? (changed_.wait(lock, ready), true) : changed_.wait(lock, stop, ready);
    if (!cancelled && (!woken || !fatal_.empty())) {
      cancelled = true;
      lock.unlock();
      compile_pool_->Cancel();
      run_pool_->Cancel();
      lock.lock();
      continue;
    }
    const std::size_t index = finished_[reported++];
    const Slot& slot = slots_[index];
    lock.unlock();
    if (each && slot.evaluation.outcome != Outcome::kCancelled) each(slot.candidate, slot.evaluation);
    lock.lock();
  }
  if (!fatal_.empty()) throw Error(fatal_);
  std::vector<Evaluation> evaluations;
  for (Slot& slot : slots_) evaluations.push_back(std::move(slot.evaluation));
  slots_.clear();
  finished_.clear();
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
  job.request = RunMessage("champion", seeds);
  AttachProgram(job.request, "candidate", candidate.source, compiled.program);
  AttachProgram(job.request, "baseline", baseline.source, compiled_baseline.program);
  WorkerPool fresh({"run", options_.worker_argv, RunInit(options_.ordinals.front()), 1, false, true});
  const JobResult result = RunAndWait(fresh, WithRunDeadlines(std::move(job)), stop);
  if (result.death) {
    check.outcome = OutcomeOf(*result.death);
    check.message = fmt::format("{}: {}", result.stage, result.death->description);
    return check;
  }
  if (result.reply->header.contains("infrastructure")) throw Error(result.reply->header.at("infrastructure").get<std::string>());
  return result.reply->header.at("check").get<ChampionCheck>();
}

}  // namespace evo
