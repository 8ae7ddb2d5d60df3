#include "evaluator/workers/worker_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "evaluator/workers/job_dialogue.h"
#include "evaluator/workers/watched_worker.h"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(SteadyTime start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

JobResult Stopped() {
  JobResult result;
  result.death = WorkerDeath{WorkerDeath::Kind::kStopped, "stopped"};
  return result;
}

}  // namespace

WorkerPool::WorkerPool(WorkerPoolOptions options) : options_(std::move(options)) {
  for (int i = 0; i < options_.workers; ++i) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->index = static_cast<std::size_t>(i);
  }
  for (const auto& slot : slots_) {
    slot->thread = std::jthread([this, s = slot.get()](const std::stop_token& stop) { Serve(*s, stop); });
  }
}

WorkerPool::~WorkerPool() {
  for (const auto& slot : slots_) slot->thread.request_stop();
  Cancel();
  changed_.notify_all();
  for (const auto& slot : slots_) slot->thread.join();
}

void WorkerPool::Submit(Job job, Done done) {
  {
    const std::lock_guard lock(mutex_);
    queue_.Push({std::move(job), std::move(done), Clock::now()});
  }
  changed_.notify_all();  // not notify_one: WaitReady waits for the same condition variable
}

void WorkerPool::SetSetup(Message setup) {
  setup.header["type"] = "job";
  {
    const std::lock_guard lock(mutex_);
    setup_ = {setup_.number + 1, std::make_shared<const Message>(std::move(setup))};
  }
  changed_.notify_all();
}

WorkerPool::Setup WorkerPool::CurrentSetup() const {
  const std::lock_guard lock(mutex_);
  return setup_;
}

void WorkerPool::Cancel() {
  std::deque<QueuedJob> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped = queue_.Drain();
    cancel_.request_stop();
    cancel_ = std::stop_source();
  }
  for (QueuedJob& queued : dropped) queued.done(Stopped());
}

double WorkerPool::busy_ms() const {
  const std::lock_guard lock(mutex_);
  return busy_ms_;
}

std::string WorkerPool::fatal() const {
  const std::lock_guard lock(mutex_);
  return fatal_;
}

nlohmann::json WorkerPool::WaitReady(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [this] { return ready_.has_value() || !fatal_.empty(); })) throw Interrupted();
  if (!ready_) throw Error(fatal_);
  return *ready_;
}

std::vector<nlohmann::json> WorkerPool::WaitAllReady(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto decided = [this](const auto& slot) { return HasStartedOrFailed(*slot); };
  if (!changed_.wait(lock, stop, [&] { return !fatal_.empty() || std::all_of(slots_.begin(), slots_.end(), decided); }))
    throw Interrupted();
  std::vector<nlohmann::json> greetings;
  for (const auto& slot : slots_) {
    if (slot->greeting) greetings.push_back(*slot->greeting);
  }
  if (greetings.empty()) throw Error(fatal_.empty() ? fmt::format("no {} worker can be started", options_.name) : fatal_);
  return greetings;
}

void WorkerPool::Suspend() {
  const std::lock_guard lock(mutex_);
  if (++suspended_ > 1) return;
  for (const auto& slot : slots_) {
    const std::lock_guard slot_lock(slot->mutex);
    if (slot->worker) slot->worker.process->Suspend();
  }
}

void WorkerPool::Resume() {
  {
    const std::lock_guard lock(mutex_);
    if (--suspended_ > 0) return;
    for (const auto& slot : slots_) {
      const std::lock_guard slot_lock(slot->mutex);
      if (slot->worker) slot->worker.process->Resume();
    }
  }
  changed_.notify_all();
}

void WorkerPool::Serve(Slot& slot, const std::stop_token& stop) {
  if (!options_.fresh) EnsureWorker(slot, stop);
  while (slot.ahead || AwaitJob(slot, stop)) {
    const SteadyTime since = Clock::now();
    // Before it takes a job, so that another worker takes it where this one cannot be started. One that has its next job lives.
    if (!slot.ahead) EnsureWorker(slot, stop);
    ServeNext(slot, since);
    if (slot.machine_failures == 0) continue;
    std::unique_lock lock(mutex_);
    const int doublings = std::min(slot.machine_failures - 1, kMostDoublings);
    changed_.wait_for(lock, stop, options_.start_pause * (1 << doublings), [] { return false; });
  }
  Retire(slot, stop);
  slot.standby = {};
}

// False after a stop request. Otherwise the slot counts as waiting until ServeNext. Ends without a job where there is a new setup
// for the worker: it makes itself ready, which may take seconds, while the first job is still being made.
bool WorkerPool::AwaitJob(const Slot& slot, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  queue_.BeginWait();
  const auto has_work = [&] { return !queue_.empty() || (slot.worker && slot.worker.setup != setup_.number); };
  if (changed_.wait(lock, stop, [&] { return suspended_ == 0 && has_work(); })) return true;
  queue_.EndWait();
  return false;
}

// Runs the job that the slot's worker has already got, or the next one if there still is one. `since` is when the slot began to
// get ready for it.
void WorkerPool::ServeNext(Slot& slot, SteadyTime since) {
  std::optional<TakenJob> taken = std::exchange(slot.ahead, std::nullopt);
  JobResult result;
  const bool sent = taken.has_value();
  if (!sent) {
    const std::lock_guard lock(mutex_);
    queue_.EndWait();
    if (queue_.empty() || suspended_ > 0 || (!slot.worker && fatal_.empty())) return;
    taken = TakenJob{queue_.Pop(), cancel_.get_token()};
    if (!fatal_.empty()) result.death = WorkerDeath{WorkerDeath::Kind::kCannotStart, fatal_};
  }
  QueuedJob& job = taken->queued;
  if (!result.death) {
    WorkerProcess& worker = *slot.worker.process;
    if (!sent) SendJob(worker, job.job);
    if (options_.sends_ahead) worker.OnTick([this, &slot] { SendAhead(slot); });
    result = FollowJob(worker, job.job, taken->cancel);
    worker.OnTick({});
  }
  result.queue_ms = std::max(0.0, std::chrono::duration<double, std::milli>(since - job.since).count());
  if (LeaveToOthers(slot, *taken, result)) return;
  const bool last = result.reply && FlagField(*result.reply, "last");
  if (result.death || last || options_.fresh) {
    std::string report = Retire(slot, taken->cancel);
    if (!report.empty()) result.tool_log = std::move(report);
  }
  {
    const std::lock_guard lock(mutex_);
    busy_ms_ += MillisecondsSince(since);
    if (result.death && result.death->from_outside) {
      // What tells this process to end may tell its workers, too.
      if (taken->cancel.stop_requested()) {
        result.death = Stopped().death;
      } else if (queue_.TakeBack(job)) {
        changed_.notify_all();
        return;
      }
    }
  }
  job.done(std::move(result));
}

// Puts a job back that its machine, one of many, could not do. False if no machine can, or if there was no such failure.
bool WorkerPool::LeaveToOthers(Slot& slot, TakenJob& taken, const JobResult& result) {
  if (!options_.launched || !result.reply || slot.ahead) return false;
  std::string warning;
  {
    const std::lock_guard lock(mutex_);
    if (!FlagField(*result.reply, "machine_failed")) {
      slot.machine_failures = 0;
      return false;
    }
    ++slot.machine_failures;
    const auto fails = [](const auto& one) { return one->machine_failures > 0; };
    if (std::all_of(slots_.begin(), slots_.end(), fails) || taken.cancel.stop_requested()) return false;
    queue_.PutBack(std::move(taken.queued));
    const std::string host = slot.greeting ? TextField({*slot.greeting, {}}, "host") : "";
    if (slot.machine_failures == 1)
      warning = fmt::format("{} worker{}: {}; the others go on, and it is tried again", options_.name,
                            host.empty() ? "" : " on " + host, TextField(*result.reply, "message"));
    changed_.notify_all();
  }
  if (!warning.empty() && options_.warn) options_.warn(warning);
  return true;
}

// Sends the slot's worker its next job while it is busy, unless another worker would begin that at once.
void WorkerPool::SendAhead(Slot& slot) {
  if (slot.ahead) return;
  {
    const std::lock_guard lock(mutex_);
    if (!queue_.HasSpare() || suspended_ > 0) return;
    slot.ahead = TakenJob{queue_.Pop(), cancel_.get_token()};
  }
  SendJob(*slot.worker.process, slot.ahead->queued.job);
}

// The worker has gone: a job that it had got and not begun is another's.
void WorkerPool::PassOn(TakenJob ahead) {
  {
    const std::lock_guard lock(mutex_);
    if (!ahead.cancel.stop_requested()) {
      queue_.PutBack(std::move(ahead.queued));
      changed_.notify_all();
      return;
    }
  }
  ahead.queued.done(Stopped());
}

// Returns the report of a tool that watched the worker and that has sent it. `cancel`: of the job that the worker had; there is
// no waiting for the report after that.
std::string WorkerPool::Retire(Slot& slot, const std::stop_token& cancel) {
  Worker old;
  {
    const std::lock_guard lock(slot.mutex);
    std::swap(old, slot.worker);
  }
  if (slot.ahead) PassOn(*std::exchange(slot.ahead, std::nullopt));
  if (!old || !options_.end_gracefully) return {};
  if (options_.launched) return EndForReport(*old.process, Clock::now() + kReportTime, cancel);
  old.process->End(Clock::now() + kReportTime, cancel);
  return {};
}

}  // namespace evo
