#include "evaluator/workers/worker_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "evaluator/workers/job_dialogue.h"
#include "platform/disk_full.h"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

// A worker that dies before it is ready may have been unlucky (memory, a signal). After three such deaths in a row it waits
// before the next attempt; when all workers of a pool have died six times in a row, none can live.
constexpr int kStartsWithoutPause = 3;
constexpr int kMostStarts = 6;
constexpr int kMostDoublings = 5;  // of the pause
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

std::vector<nlohmann::json> WorkerPool::WaitAllReady(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto settled = [this](const auto& slot) { return IsSettled(*slot); };
  if (!changed_.wait(lock, stop, [&] { return !fatal_.empty() || std::all_of(slots_.begin(), slots_.end(), settled); }))
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
  while (AwaitJob(stop)) {
    const SteadyTime since = Clock::now();
    // Before it takes a job, so that another worker takes it where this one cannot be started.
    EnsureWorker(slot, stop);
    ServeNext(slot, since);
  }
  Retire(slot);
  slot.standby = {};
}

// False after a stop request.
bool WorkerPool::AwaitJob(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  return changed_.wait(lock, stop, [this] { return !queue_.empty() && suspended_ == 0; });
}

// Runs the next job, if there is still one, on the slot's worker. `since` is when the slot began to get ready for it.
void WorkerPool::ServeNext(Slot& slot, SteadyTime since) {
  QueuedJob next;
  std::stop_token cancel;
  JobResult result;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty() || suspended_ > 0 || (!slot.worker && fatal_.empty())) return;
    next = queue_.Pop();
    cancel = cancel_.get_token();
    if (!fatal_.empty()) result.death = WorkerDeath{WorkerDeath::Kind::kCannotStart, fatal_};
  }
  if (!result.death) {
    if (next.job.make_request) next.job.request = next.job.make_request();
    result = RunJob(*slot.worker.process, next.job, cancel);
  }
  result.queue_ms = std::max(0.0, std::chrono::duration<double, std::milli>(since - next.since).count());
  const bool last = result.reply && FlagField(*result.reply, "last");
  if (result.death || last || options_.fresh) Retire(slot);
  {
    const std::lock_guard lock(mutex_);
    busy_ms_ += MillisecondsSince(since);
    if (result.death && result.death->from_outside && !cancel.stop_requested() && queue_.TakeBack(next)) {
      changed_.notify_all();
      return;
    }
  }
  next.done(std::move(result));
}

// The setup follows the init message at once: a worker in reserve then prepares itself long before it is needed.
WorkerPool::Worker WorkerPool::StartWorker(std::size_t index, const std::stop_token& stop) {
  const auto& argv = options_.argv_of_worker.empty() ? options_.argv : options_.argv_of_worker.at(index);
  Worker worker{std::make_unique<WorkerProcess>(argv, options_.launched)};
  Message init;
  init.header = options_.init;
  if (!options_.init_of_worker.empty()) init.header.update(options_.init_of_worker.at(index));
  init.header["type"] = "init";
  // The path leads nowhere on another machine, or, worse, to something else.
  init.header["waiting"] = options_.launched ? "" : queue_.count_path();
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
  if (!old || !options_.end_gracefully) return;
  std::unique_lock lock(mutex_);
  const std::stop_token cancel = cancel_.get_token();
  lock.unlock();
  old.process->End(Clock::now() + kGracefulEnd, cancel);
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

// Afterwards the slot has a worker that is ready and has the present setup, unless there was a stop request or no worker can
// live.
void WorkerPool::EnsureWorker(Slot& slot, const std::stop_token& stop) {
  if (slot.worker) {
    if (!SendSetup(slot.worker, stop)) return;
    Retire(slot);
  }
  while (!stop.stop_requested() && fatal().empty()) {
    const auto failure = TryStart(slot, stop);
    if (!failure) {
      const std::lock_guard lock(mutex_);
      slot.starts = {.succeeded = true};
      return;
    }
    if (!AwaitNextStart(slot, *failure, stop)) return;
  }
}

// Returns after a pause; false if there is to be no further attempt.
bool WorkerPool::AwaitNextStart(Slot& slot, const StartFailure& failure, const std::stop_token& stop) {
  if (failure.death.kind == WorkerDeath::Kind::kStopped) return false;
  std::unique_lock lock(mutex_);
  StartAttempts& starts = slot.starts;
  std::string why = fmt::format("{} worker cannot be started: {}", options_.name, failure.death.description);
  if (SaysDiskIsFull(why)) why += fmt::format(" in {}; {}", std::filesystem::temp_directory_path().string(), kMakeRoom);
  const int before = starts.failed;
  // A minute of waiting for one that hangs says as much as two deaths.
  starts.failed += failure.death.kind == WorkerDeath::Kind::kDeadline ? 2 : 1;
  const bool news =
      (before < kStartsWithoutPause && starts.failed >= kStartsWithoutPause) || (!failure.worth_retrying && !starts.hopeless);
  starts.hopeless = !failure.worth_retrying;
  changed_.notify_all();  // WaitAllReady
  // At the start of a run, what a worker says of itself is a mistake that the user can correct.
  if ((starts.hopeless && !starts.succeeded) || NoneCanLive()) {
    if (fatal_.empty()) fatal_ = why;
    changed_.notify_all();
    return false;
  }
  if (news && options_.warn) {
    lock.unlock();
    options_.warn(fmt::format("{}; the others go on, and it is tried again", why));
    lock.lock();
  }
  const int beyond = starts.failed - kStartsWithoutPause;
  if (beyond < 0 && !starts.hopeless) return true;
  const auto pause = options_.start_pause * (1 << std::clamp(beyond, 0, kMostDoublings));
  changed_.wait_for(lock, stop, pause, [this] { return !fatal_.empty(); });
  return true;
}

// Precondition: mutex_ is held.
bool WorkerPool::IsSettled(const Slot& slot) const {
  return slot.greeting || slot.starts.hopeless || slot.starts.failed >= kStartsWithoutPause;
}

// Precondition: mutex_ is held.
bool WorkerPool::NoneCanLive() const {
  return std::all_of(slots_.begin(), slots_.end(),
                     [](const auto& slot) { return slot->starts.hopeless || slot->starts.failed >= kMostStarts; });
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
    if (TextField(greeting, "type") == "killed") return StartFailure{KilledFor(greeting)};
    if (TextField(greeting, "type") != "ready") return StartFailure{MalformedReply(greeting)};
    worker.process->SetReady();
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
    slot.greeting = greeting.header;
    changed_.notify_all();
    return std::nullopt;
  } catch (const Error& error) {
    return StartFailure{{WorkerDeath::Kind::kExited, error.what()}};
  }
}

}  // namespace evo
