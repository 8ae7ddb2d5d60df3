// How a pool starts its workers.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "evaluator/workers/job_dialogue.h"
#include "evaluator/workers/sanitizer.h"
#include "evaluator/workers/worker_pool.h"
#include "platform/disk_full.h"

namespace evo {
namespace {

using Now = std::chrono::steady_clock;

// A worker that dies before it is ready may have been unlucky (memory, a signal). After three such deaths in a row it waits
// before the next attempt; when all workers of a pool have died six times in a row, none can live.
constexpr int kStartsWithoutPause = 3;
constexpr int kMostStarts = 6;
// So long a failed start says as much as three: it may have waited for a GPU that another job has.
constexpr std::chrono::seconds kLongStart{10};

}  // namespace

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
  worker.process->Send(init, Now::now() + options_.start_deadline, stop);
  const Setup setup = CurrentSetup();
  if (setup.message) worker.process->Send(*setup.message, Now::now() + options_.start_deadline, stop);
  worker.setup = setup.number;
  return worker;
}

// Sends the present setup to a worker that is ready and has not got it.
std::optional<WorkerDeath> WorkerPool::SendSetup(Worker& worker, const std::stop_token& stop) {
  const Setup setup = CurrentSetup();
  if (worker.setup == setup.number) return std::nullopt;
  if (auto death = worker.process->Send(*setup.message, Now::now() + options_.start_deadline, stop)) return death;
  auto answer = worker.process->Receive(Now::now() + options_.start_deadline, stop);
  if (auto* death = std::get_if<WorkerDeath>(&answer)) return std::move(*death);
  worker.setup = setup.number;
  return std::nullopt;
}

// Afterwards the slot has a worker that is ready and has the present setup, unless there was a stop request or no worker can
// live.
void WorkerPool::EnsureWorker(Slot& slot, const std::stop_token& stop) {
  if (slot.worker) {
    if (!SendSetup(slot.worker, stop)) return;
    Retire(slot, stop);
  }
  while (!stop.stop_requested() && fatal().empty()) {
    const SteadyTime begin = Now::now();
    auto failure = TryStart(slot, stop);
    if (!failure) {
      const std::lock_guard lock(mutex_);
      slot.starts = {.succeeded = true};
      return;
    }
    failure->took = Now::now() - begin;
    if (!AwaitNextStart(slot, *failure, stop)) return;
  }
}

// Returns after a pause; false if there is to be no further attempt.
bool WorkerPool::AwaitNextStart(Slot& slot, const StartFailure& failure, const std::stop_token& stop) {
  if (failure.death.kind == WorkerDeath::Kind::kStopped) return false;
  std::unique_lock lock(mutex_);
  StartAttempts& starts = slot.starts;
  const std::string place = options_.place_of_worker.empty() ? "" : " on " + options_.place_of_worker.at(slot.index);
  std::string why = fmt::format("{} worker{} cannot be started: {}", options_.name, place, failure.death.description);
  if (SaysDiskIsFull(why)) why += fmt::format(" in {}; {}", std::filesystem::temp_directory_path().string(), kMakeRoom);
  const int before = starts.failed;
  const bool was_long = failure.death.kind == WorkerDeath::Kind::kDeadline || failure.took > kLongStart;
  starts.failed += was_long ? kStartsWithoutPause : 1;
  const bool news =
      (before < kStartsWithoutPause && starts.failed >= kStartsWithoutPause) || (!failure.worth_retrying && !starts.hopeless);
  starts.hopeless = !failure.worth_retrying;
  changed_.notify_all();  // WaitAllReady
  // At the start of a run, what a worker says of itself is a mistake that the user can correct. Of many machines, one may be bad.
  if ((starts.hopeless && !starts.succeeded && !options_.launched) || NoneCanLive()) {
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
bool WorkerPool::HasStartedOrFailed(const Slot& slot) const {
  return slot.greeting || slot.starts.hopeless || slot.starts.failed >= kStartsWithoutPause;
}

std::size_t WorkerPool::FirstUsable() const {
  const std::lock_guard lock(mutex_);
  const auto usable = [](const auto& slot) { return slot->greeting && slot->starts.failed == 0; };
  const auto first = std::find_if(slots_.begin(), slots_.end(), usable);
  return first == slots_.end() ? 0 : (*first)->index;
}

// Precondition: mutex_ is held.
bool WorkerPool::NoneCanLive() const {
  return std::all_of(slots_.begin(), slots_.end(),
                     [](const auto& slot) { return slot->starts.hopeless || slot->starts.failed >= kMostStarts; });
}

std::optional<WorkerPool::StartFailure> WorkerPool::TryStart(Slot& slot, const std::stop_token& stop) {
  try {
    Worker worker = slot.standby ? std::exchange(slot.standby, {}) : StartWorker(slot.index, stop);
    auto answer = worker.process->Receive(Now::now() + options_.start_deadline, stop);
    if (auto* death = std::get_if<WorkerDeath>(&answer)) return StartFailure{std::move(*death)};
    const Message greeting = std::get<Message>(std::move(answer));
    if (TextField(greeting, "type") == "failed") {  // it says why; another would say the same
      const std::string host = options_.launched ? TextField(greeting, "host") : "";
      const std::string why = TextField(greeting, "message");
      return StartFailure{{WorkerDeath::Kind::kExited, host.empty() ? why : host + ": " + why}, false};
    }
    if (TextField(greeting, "type") == "killed") return StartFailure{KilledFor(greeting)};
    if (TextField(greeting, "type") == "log") {
      const ToolResult report = ReadSanitizerLog(options_.name, TextField(greeting, "text"));
      const bool clean = report.result == "clean";
      return StartFailure{{WorkerDeath::Kind::kExited,
                           clean ? "the worker ended before it was ready" : "the tool ended first: " + report.message}};
    }
    if (TextField(greeting, "type") != "ready") return StartFailure{MalformedReply(greeting)};
    worker.process->SetReady();
    if (worker.setup > 0) {
      answer = worker.process->Receive(Now::now() + options_.start_deadline, stop);
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
