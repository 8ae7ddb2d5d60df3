#include "evaluator/scheduling/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/digest.h"
#include "core/error.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/scheduling/baseline_failures.h"
#include "evaluator/scheduling/job_results.h"
#include "evaluator/scheduling/jobs.h"

namespace evo {
namespace {

// A run pays one worker for each.
constexpr std::size_t kMostAvoided = 32;
constexpr std::size_t kMostAvoidedByOne = 2;

// Everything is shared but what belongs to the candidate itself.
void CopyResult(ScheduledCandidate& to, const Evaluation& shared) {
  Evaluation& evaluation = to.evaluation;
  std::string source_digest = std::move(evaluation.source_digest);
  const StageClocks clocks = evaluation.clocks;
  evaluation = shared;
  evaluation.source_digest = std::move(source_digest);
  evaluation.clocks = clocks;
}

// Candidates with the same claim are measured once. What was measured before says nothing in a trial, which compares times of
// variants of one parent: the machine was another then. Variants with the same program share their measurement.
std::string ClaimOf(const Candidate& candidate, const std::string& program_digest) {
  if (candidate.measurement == 0) return program_digest;
  const CandidateId parent = candidate.parents.empty() ? 0 : candidate.parents.front();
  return fmt::format("{} {} of {}", program_digest, candidate.measurement, parent);
}

// The run worker does not know what the compile worker said.
void AcceptEvaluation(ScheduledCandidate& work, Evaluation evaluation) {
  evaluation.log = std::move(work.evaluation.log);
  evaluation.program_digest = std::move(work.evaluation.program_digest);
  work.evaluation = std::move(evaluation);
}

// Whether the edit that made it brought parameters. If it is many times faster than the rest, they are pruned as soon as that is
// known, which counts where the baseline takes a third of a second.
bool HasNewStructure(const Candidate& candidate) {
  const std::vector<Edit>& edits = candidate.genome.edits;
  return !edits.empty() && !edits.back().brings.empty() && edits.back().op == candidate.op;
}

EvaluateRequest MakeEvaluateRequest(const ScheduledCandidate& work, const SearchHistory& history) {
  std::vector<AvoidedInputs> avoided = history.avoided;
  avoided.insert(avoided.end(), work.avoided.begin(), work.avoided.end());
  return {{work.candidate.source, work.compiled.program},
          {work.candidate.source, work.compiled.checked},
          work.compiled.facts,
          history.bounds.ByCase(),
          history.bounds.InputsToTryFirst(),
          std::move(avoided)};
}

}  // namespace

Scheduler::Scheduler(const SchedulerSettings& settings, PriorKnowledge prior)
    : settings_(settings), cache_(std::move(prior.known)), history_{{settings.policy, settings.run_deadline}, {}, {}} {
  if (prior.generations != nullptr) history_.Learn(*prior.generations, settings_.device_name);
  for (const Counterexample& one : prior.counterexamples) history_.bounds.Learn(one);
}

Scheduler::~Scheduler() {
  std::unique_lock lock(mutex_);
  if (!AllFinished()) CancelAll(lock);
  changed_.wait(lock, [this] { return AllFinished(); });
}

void Scheduler::Start(std::vector<Candidate> candidates) {
  const auto batch = std::make_shared<Batch>();
  for (Candidate& candidate : candidates) {
    ScheduledCandidate& work = batch->candidates.emplace_back();
    work.evaluation.device = settings_.device;
    work.evaluation.device_name = settings_.device_name;
    work.evaluation.l2 = settings_.l2;
    work.evaluation.source_digest = Digest(candidate.source);
    work.candidate = std::move(candidate);
    work.batch = batch.get();
  }
  {
    const std::lock_guard lock(mutex_);
    batches_.push_back(batch);
    meter_.Started(std::chrono::steady_clock::now());
  }
  for (ScheduledCandidate& candidate : batch->candidates) {
    const ScheduledPointer work(batch, &candidate);
    if (TryFindSource(candidate))
      Complete(work);
    else
      SubmitCompile(work);
  }
}

bool Scheduler::TryFindSource(ScheduledCandidate& work) const {
  if (work.candidate.generation == 0 || work.candidate.measurement > 0) return false;
  const std::lock_guard lock(mutex_);
  const Evaluation* known = cache_.FindSource(work.evaluation.source_digest);
  if (known != nullptr) CopyResult(work, *known);
  return known != nullptr;
}

// Cancellation and submission exclude each other: a job is either submitted before the runners are cancelled, or not at all.
void Scheduler::SubmitUnlessCancelled(const ScheduledPointer& work, Stage stage, const std::function<void()>& submit) {
  {
    const std::lock_guard lock(mutex_);
    if (!cancelled_) return submit();
  }
  Fail(work, Outcome::kCancelled, stage, "stopped");
}

void Scheduler::SubmitCompile(const ScheduledPointer& work) {
  SubmitUnlessCancelled(work, Stage::kCompile, [&] {
    Job job = MakeCompileJob(work->candidate.source, settings_.arch, true, history_.deadlines.Compile(), settings_.image_sizes);
    job.urgent = HasNewStructure(work->candidate);
    job.deadline_rule = history_.deadlines.CompileRule();
    settings_.compile.Submit(std::move(job), [this, work](const JobResult& result) { OnCompiled(work, result); });
  });
}

void Scheduler::SubmitRun(const ScheduledPointer& work) {
  SubmitUnlessCancelled(work, Stage::kLoad, [&] {
    const int generation = work->candidate.generation;
    const auto request = [this, work] {
      const std::lock_guard lock(mutex_);
      return ToMessage(MakeEvaluateRequest(*work, history_));
    };
    Job job =
        MakeRunJob(request, history_.deadlines.Run(generation), settings_.policy.pauses_compilers ? &settings_.compile : nullptr);
    job.urgent = HasNewStructure(work->candidate);
    job.deadline_rule = history_.deadlines.RunRule(generation);
    settings_.run.Submit(std::move(job), [this, work](const JobResult& result) { OnRun(work, result); });
  });
}

void Scheduler::OnCompiled(const ScheduledPointer& work, const JobResult& result) {
  if (result.death && result.death->kind == WorkerDeath::Kind::kCannotStart) SetFatal(result.death->description);
  Evaluation& evaluation = work->evaluation;
  evaluation.clocks.compile_ms = StageMs(result, Stage::kCompile);
  evaluation.clocks.queue_ms = result.queue_ms;
  work->compiled = ReadCompileResult(result);
  evaluation.log = work->compiled.log;
  evaluation.facts = work->compiled.facts;
  evaluation.program_digest = work->compiled.program_digest;
  if (work->compiled.machine_failed) {
    if (work->retries.AfterInfrastructureFailure()) return SubmitCompile(work);
    SetFatal(work->compiled.message);
  }
  if (work->compiled.outcome != Outcome::kOk) return Fail(work, work->compiled.outcome, Stage::kCompile, work->compiled.message);
  work->claim = ClaimOf(work->candidate, work->compiled.program_digest);
  ClaimAndRun(work);
}

// A program that is known is not run. If another candidate is being evaluated with it, this one is completed together with that.
void Scheduler::ClaimAndRun(const ScheduledPointer& work) {
  EvaluationCache::Claim claim;
  {
    const std::lock_guard lock(mutex_);
    const auto claimed = cache_.ClaimProgram(work->claim, work, work->candidate.generation == 0);
    claim = claimed.claim;
    if (claim == EvaluationCache::Claim::kYours) work->claimed = true;
    if (claim == EvaluationCache::Claim::kKnown) CopyResult(*work, *claimed.evaluation);
  }
  if (claim == EvaluationCache::Claim::kYours) SubmitRun(work);
  if (claim == EvaluationCache::Claim::kKnown) Complete(work);
}

// Notes where the baseline failed, so that it is not run there again; false if that has happened too often. Before a candidate is
// loaded it is the baseline's own fault; later the candidate may have caused it, and others are not spared these inputs.
bool Scheduler::AvoidLater(ScheduledCandidate& work, const JobResult& result) {
  const auto failed = BaselineFailedOn(result);
  if (!failed) return false;
  const std::lock_guard lock(mutex_);
  const bool own = result.stage == Stage::kPrepare;
  std::vector<AvoidedInputs>& avoided = own ? history_.avoided : work.avoided;
  if (avoided.size() >= (own ? kMostAvoided : kMostAvoidedByOne)) return false;
  avoided.push_back(*failed);
  return true;
}

void Scheduler::OnRun(const ScheduledPointer& work, const JobResult& result) {
  if (AvoidLater(*work, result)) return SubmitRun(work);
  RunResult read = ReadRunResult(result);
  if (const auto* pool = std::get_if<PoolFailure>(&read)) {
    SetFatal(pool->message);
    return Fail(work, Outcome::kCancelled, Stage::kLoad, pool->message);
  }
  if (const auto* report = std::get_if<InfrastructureReport>(&read)) {
    if (work->retries.AfterInfrastructureFailure(result.death && result.death->from_outside)) return SubmitRun(work);
    SetFatal(report->message);
    return Fail(work, Outcome::kCancelled, Stage::kLoad, report->message);
  }
  auto* evaluation = std::get_if<Evaluation>(&read);
  if (evaluation != nullptr && evaluation->outcome == Outcome::kCheating && work->retries.AfterCheating()) return SubmitRun(work);
  StageClocks& clocks = work->evaluation.clocks;
  const StageClocks before = clocks;
  if (evaluation != nullptr) AcceptEvaluation(*work, std::move(*evaluation));
  clocks = {before.compile_ms,
            StageMs(result, Stage::kLoad),
            StageMs(result, Stage::kCheck),
            StageMs(result, Stage::kTime),
            StageMs(result, Stage::kReverify),
            before.queue_ms + result.queue_ms};
  {
    const std::lock_guard lock(mutex_);
    meter_.AddReverification(clocks.reverification_ms);
  }
  if (const auto* failure = std::get_if<CandidateFailure>(&read)) {
    return Fail(work, failure->outcome, failure->stage, failure->message);
  }
  Complete(work);
}

void Scheduler::Complete(const ScheduledPointer& work) {
  std::vector<ScheduledPointer> next;
  {
    const std::lock_guard lock(mutex_);
    next = ResolveWaiters(*work);
    history_.Learn(work->candidate, work->evaluation);
    work->compiled = {};  // images are large and no longer needed
    work->batch->finished.push_back(work.get());
    meter_.Completed(std::chrono::steady_clock::now());
    changed_.notify_all();
  }
  for (const ScheduledPointer& waiter : next) {
    if (waiter->claimed)
      SubmitRun(waiter);
    else
      Complete(waiter);
  }
}

// Returns the candidates that waited for this program: each now has the result, or one of them has to be run instead.
// Precondition: mutex_ is held.
std::vector<ScheduledPointer> Scheduler::ResolveWaiters(ScheduledCandidate& work) {
  if (!std::exchange(work.claimed, false)) return {};
  auto resolved = cache_.ResolveWaiters(work.claim, work.candidate.id, work.evaluation);
  for (const ScheduledPointer& waiter : resolved.waiting) {
    if (resolved.final)
      CopyResult(*waiter, cache_.Get(work.claim));
    else
      waiter->claimed = true;
  }
  return std::move(resolved.waiting);
}

void Scheduler::Fail(const ScheduledPointer& work, Outcome outcome, Stage stage, const std::string& message) {
  work->evaluation.outcome = outcome;
  work->evaluation.stage = stage;
  work->evaluation.message = message;
  Complete(work);
}

void Scheduler::SetFatal(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (fatal_.empty()) fatal_ = message;
  changed_.notify_all();
}

// Precondition: mutex_ is held by `lock`; it is released meanwhile, since cancelled jobs are completed in this thread.
void Scheduler::CancelAll(std::unique_lock<std::mutex>& lock) {
  cancelled_ = true;
  lock.unlock();
  settings_.compile.Cancel();
  settings_.run.Cancel();
  lock.lock();
}

// Precondition: mutex_ is held.
bool Scheduler::AllFinished() const {
  return std::all_of(batches_.begin(), batches_.end(), [](const auto& batch) { return batch->all_finished(); });
}

std::vector<Evaluation> Scheduler::Finish(const std::stop_token& stop, const Evaluator::Each& each) {
  std::size_t reported = 0;
  std::unique_lock lock(mutex_);
  // It was cancelled together with one before it, which ended just before it could be.
  if (batches_.empty()) return {};
  const std::shared_ptr<Batch> batch = batches_.front();
  while (reported < batch->candidates.size()) {
    const auto ready = [&] { return batch->finished.size() > reported || (!fatal_.empty() && !cancelled_); };
    bool stopped = false;
    if (cancelled_)
      changed_.wait(lock, ready);
    else
      stopped = !changed_.wait(lock, stop, ready);
    if (!cancelled_ && (stopped || !fatal_.empty())) {
      CancelAll(lock);
      continue;
    }
    const ScheduledCandidate& next = *batch->finished[reported++];
    lock.unlock();
    if (each && next.evaluation.outcome != Outcome::kCancelled) each(next.candidate, next.evaluation);
    lock.lock();
  }
  batches_.pop_front();
  if (cancelled_) {  // all batches were cancelled together
    changed_.wait(lock, [this] { return AllFinished(); });
    batches_.clear();
    cancelled_ = false;
  }
  if (!fatal_.empty()) throw Error(fatal_);
  std::vector<Evaluation> evaluations;
  for (ScheduledCandidate& done : batch->candidates) evaluations.push_back(std::move(done.evaluation));
  return evaluations;
}

std::chrono::milliseconds Scheduler::ChampionDeadline() const {
  const std::lock_guard lock(mutex_);
  return history_.deadlines.Champion();
}

std::vector<Counterexample> Scheduler::InputsToTryFirst() const {
  const std::lock_guard lock(mutex_);
  return history_.bounds.InputsToTryFirst();
}

void Scheduler::LearnMissed(const Counterexample& counterexample) {
  const std::lock_guard lock(mutex_);
  history_.bounds.LearnMissed(counterexample);
}

Utilisation Scheduler::utilisation() const {
  const BusyTime run{settings_.run.busy_ms(), settings_.run_workers};
  const BusyTime compile{settings_.compile.busy_ms(), settings_.compile_workers};
  const std::lock_guard lock(mutex_);
  return meter_.Of(run, compile);
}

}  // namespace evo
