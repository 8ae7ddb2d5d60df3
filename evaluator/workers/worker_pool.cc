#include "evaluator/workers/worker_pool.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "evaluator/workers/job_dialogue.h"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

// A worker that dies before it is ready may have been unlucky (memory, a signal); one that does so three times running is broken.
constexpr int kStartAttempts = 3;
// How long a tool around the worker may take to write its report.
constexpr std::chrono::seconds kGracefulEnd{20};

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
  const std::lock_guard lock(mutex_);
  setup_ = {setup_.number + 1, std::make_shared<const Message>(std::move(setup))};
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
  for (;;) {
    QueuedJob next;
    std::stop_token cancel;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !queue_.empty() && suspended_ == 0; })) break;
      next = queue_.Pop();
      cancel = cancel_.get_token();
    }
    JobResult result;
    const double queue_ms = MillisecondsSince(next.since);
    result.death = EnsureWorker(slot, cancel);
    if (!result.death) result = RunJob(*slot.worker.process, next.job, cancel);
    result.queue_ms = queue_ms;
    {
      const std::lock_guard lock(mutex_);
      busy_ms_ += MillisecondsSince(next.since) - queue_ms;
    }
    const bool last = result.reply && FlagField(*result.reply, "last");
    if (result.death || last || options_.fresh) Retire(slot);
    next.done(std::move(result));
  }
  Retire(slot);
  slot.standby = {};
}

// The setup follows the init message at once: a worker in reserve then prepares itself long before it is needed.
WorkerPool::Worker WorkerPool::StartWorker(std::size_t index, const std::stop_token& stop) {
  Worker worker{std::make_unique<WorkerProcess>(options_.argv)};
  Message init;
  init.header = options_.init;
  if (!options_.init_of_worker.empty()) init.header.update(options_.init_of_worker.at(index));
  init.header["type"] = "init";
  init.header["waiting"] = queue_.count_path();
  // A worker that dies during these two is noticed when its answer is awaited.
  worker.process->Send(init, Clock::now() + options_.start_deadline, stop);
  const Setup setup = CurrentSetup();
  if (setup.message) worker.process->Send(*setup.message, Clock::now() + options_.start_deadline, stop);
  worker.setup = setup.number;
  return worker;
}

void WorkerPool::Retire(Slot& slot) {
  Worker old;
  {
    const std::lock_guard lock(slot.mutex);
    std::swap(old, slot.worker);
  }
  if (old && options_.end_gracefully) old.process->End(Clock::now() + kGracefulEnd);
}

// Sends the present setup to a worker that is ready and has not got it.
std::optional<WorkerDeath> WorkerPool::SendSetup(Worker& worker, const std::stop_token& stop) {
  const Setup setup = CurrentSetup();
  if (worker.setup == setup.number) return std::nullopt;
  if (auto death = worker.process->Send(*setup.message, Clock::now() + options_.start_deadline, stop)) return death;
  auto answer = worker.process->Receive(Clock::now() + options_.start_deadline, stop);
  if (auto* death = std::get_if<WorkerDeath>(&answer)) return std::move(*death);
  worker.setup = setup.number;
  return std::nullopt;
}

// Afterwards the slot has a worker that is ready and has the present setup; otherwise the reason is returned.
std::optional<WorkerDeath> WorkerPool::EnsureWorker(Slot& slot, const std::stop_token& stop) {
  if (slot.worker) {
    if (!SendSetup(slot.worker, stop)) return std::nullopt;
    Retire(slot);
  }
  std::string reason;
  for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
    auto failure = TryStart(slot, stop);
    if (!failure) return std::nullopt;
    if (failure->death.kind == WorkerDeath::Kind::kStopped) return std::move(failure->death);
    reason = std::move(failure->death.description);
    if (!failure->worth_retrying) break;
  }
  const std::lock_guard lock(mutex_);
  fatal_ = fmt::format("{} worker cannot be started: {}", options_.name, reason);
  changed_.notify_all();
  return WorkerDeath{WorkerDeath::Kind::kCannotStart, fatal_};
}

std::optional<WorkerPool::StartFailure> WorkerPool::TryStart(Slot& slot, const std::stop_token& stop) {
  try {
    Worker worker = slot.standby ? std::exchange(slot.standby, {}) : StartWorker(slot.index, stop);
    auto answer = worker.process->Receive(Clock::now() + options_.start_deadline, stop);
    if (auto* death = std::get_if<WorkerDeath>(&answer)) return StartFailure{std::move(*death)};
    const Message greeting = std::get<Message>(std::move(answer));
    if (TextField(greeting, "type") == "failed") {  // it says why; another would say the same
      return StartFailure{{WorkerDeath::Kind::kExited, TextField(greeting, "message")}, false};
    }
    if (TextField(greeting, "type") != "ready") return StartFailure{MalformedReply(greeting)};
    if (worker.setup > 0) {
      answer = worker.process->Receive(Clock::now() + options_.start_deadline, stop);
      if (auto* death = std::get_if<WorkerDeath>(&answer)) return StartFailure{std::move(*death)};
    }
    // The setup may have changed since a worker in reserve was started.
    if (auto death = SendSetup(worker, stop)) return StartFailure{std::move(*death)};
    if (options_.standby) slot.standby = StartWorker(slot.index, stop);
    {
      const std::lock_guard lock(slot.mutex);
      slot.worker = std::move(worker);
    }
    const std::lock_guard lock(mutex_);
    if (!ready_) ready_ = greeting.header;
    changed_.notify_all();
    return std::nullopt;
  } catch (const Error& error) {
    return StartFailure{{WorkerDeath::Kind::kExited, error.what()}};
  }
}

}  // namespace evo
