#include "evaluator/workers/worker_pool.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

// A worker that dies before it is ready may have been unlucky (memory, a signal); one that does so three times running is broken.
constexpr int kStartAttempts = 3;
// What a tool around the worker may need to write its report.
constexpr std::chrono::seconds kGracefulEnd{20};

double MillisecondsSince(SteadyTime start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

JobResult Stopped() {
  JobResult result;
  result.death = WorkerDeath{WorkerDeath::Kind::kStopped, "stopped"};
  return result;
}

// A worker may say anything: what is not of the type expected counts as not said.
std::string TextIn(const Message& message, const char* key) {
  const auto found = message.header.find(key);
  return found != message.header.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool FlagIn(const Message& message, const char* key) {
  const auto found = message.header.find(key);
  return found != message.header.end() && found->is_boolean() && found->get<bool>();
}

WorkerDeath MalformedReply(const Message& message) {
  return {WorkerDeath::Kind::kProtocol,
          fmt::format("sent a malformed reply: a message of type '{:.40}'", TextIn(message, "type"))};
}

}  // namespace

WorkerPool::WorkerPool(WorkerPoolOptions options) : options_(std::move(options)) {
  for (int i = 0; i < options_.workers; ++i) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->index = static_cast<std::size_t>(i);
  }
  for (const auto& slot : slots_) {
    threads_.emplace_back([this, s = slot.get()](const std::stop_token& stop) { Serve(*s, stop); });
  }
}

WorkerPool::~WorkerPool() {
  for (std::jthread& thread : threads_) thread.request_stop();
  Cancel();
  changed_.notify_all();
  threads_.clear();
}

void WorkerPool::Submit(Job job, Done done) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(job), std::move(done), Clock::now()});
    waiting_.Set(queue_.size());
  }
  changed_.notify_all();  // WaitReady waits for the same condition variable
}

void WorkerPool::SetSetup(Message setup) {
  setup.header["type"] = "job";
  const std::lock_guard lock(mutex_);
  setup_ = std::make_shared<const Message>(std::move(setup));
  ++setups_;
}

std::pair<int, std::shared_ptr<const Message>> WorkerPool::CurrentSetup() const {
  const std::lock_guard lock(mutex_);
  return {setups_, setup_};
}

void WorkerPool::Cancel() {
  std::deque<Queued> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(queue_);
    waiting_.Set(0);
    cancel_.request_stop();
    cancel_ = std::stop_source();
  }
  for (Queued& queued : dropped) queued.done(Stopped());
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
    Queued next;
    std::stop_token cancel;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return !queue_.empty() && suspended_ == 0; })) break;
      next = std::move(queue_.front());
      queue_.pop_front();
      waiting_.Set(queue_.size());
      cancel = cancel_.get_token();
    }
    JobResult result;
    const double queue_ms = MillisecondsSince(next.since);
    if (auto death = EnsureWorker(slot, cancel)) {
      result.death = std::move(death);
    } else {
      result = Converse(slot, next.job, cancel);
    }
    result.queue_ms = queue_ms;
    {
      const std::lock_guard lock(mutex_);
      busy_ms_ += MillisecondsSince(next.since) - queue_ms;
    }
    const bool last = result.reply && FlagIn(*result.reply, "last");
    if (result.death || last || options_.fresh) Retire(slot);
    next.done(std::move(result));
  }
  Retire(slot);
  const std::lock_guard lock(slot.mutex);
  slot.standby = {};
}

// The setup follows the greeting at once: a worker in reserve then does it long before it is needed.
WorkerPool::Hired WorkerPool::StartWorker(std::size_t index, const std::stop_token& stop) {
  Hired worker{std::make_unique<WorkerProcess>(options_.argv)};
  Message init;
  init.header = options_.init;
  if (!options_.init_of_worker.empty()) init.header.update(options_.init_of_worker.at(index));
  init.header["type"] = "init";
  init.header["waiting"] = waiting_.path();
  // A death while it is being told shows when its answer is awaited.
  worker.process->Send(init, Clock::now() + options_.start_deadline, stop);
  const auto [number, setup] = CurrentSetup();
  if (setup) worker.process->Send(*setup, Clock::now() + options_.start_deadline, stop);
  worker.setup = number;
  return worker;
}

void WorkerPool::Retire(Slot& slot) {
  Hired old;
  {
    const std::lock_guard lock(slot.mutex);
    std::swap(old, slot.worker);
  }
  if (old && options_.end_gracefully) old.process->End(Clock::now() + kGracefulEnd);
}

// After this the slot has a worker that said it is ready and knows the present setup, or the reason why not.
std::optional<WorkerDeath> WorkerPool::EnsureWorker(Slot& slot, const std::stop_token& stop) {
  if (slot.worker) {
    if (!SetUp(slot.worker, stop)) return std::nullopt;
    Retire(slot);
  }
  return HireWorker(slot, stop);
}

// Brings a worker that is ready to the present setup.
std::optional<WorkerDeath> WorkerPool::SetUp(Hired& worker, const std::stop_token& stop) {
  const auto [number, setup] = CurrentSetup();
  if (worker.setup == number) return std::nullopt;
  if (auto death = worker.process->Send(*setup, Clock::now() + options_.start_deadline, stop)) return death;
  auto answer = worker.process->Receive(Clock::now() + options_.start_deadline, stop);
  if (auto* death = std::get_if<WorkerDeath>(&answer)) return std::move(*death);
  worker.setup = number;
  return std::nullopt;
}

std::optional<WorkerDeath> WorkerPool::HireWorker(Slot& slot, const std::stop_token& stop) {
  std::string last;
  for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
    try {
      Hired worker = slot.standby ? std::exchange(slot.standby, {}) : StartWorker(slot.index, stop);
      auto answer = worker.process->Receive(Clock::now() + options_.start_deadline, stop);
      std::optional<Message> ready;
      if (auto* message = std::get_if<Message>(&answer)) {
        if (TextIn(*message, "type") == "failed") {
          last = TextIn(*message, "message");
          break;  // it said why; trying again would hear the same
        }
        if (TextIn(*message, "type") != "ready") {
          last = MalformedReply(*message).description;
          continue;
        }
        ready = std::move(*message);
        if (worker.setup > 0) answer = worker.process->Receive(Clock::now() + options_.start_deadline, stop);
      }
      std::optional<WorkerDeath> death;
      if (auto* died = std::get_if<WorkerDeath>(&answer)) death = std::move(*died);
      if (!death) death = SetUp(worker, stop);
      if (death) {
        if (death->kind == WorkerDeath::Kind::kStopped) return death;
        last = death->description;
        continue;
      }
      if (options_.standby) slot.standby = StartWorker(slot.index, stop);
      {
        const std::lock_guard lock(slot.mutex);
        slot.worker = std::move(worker);
      }
      const std::lock_guard lock(mutex_);
      if (!ready_) ready_ = ready->header;
      changed_.notify_all();
      return std::nullopt;
    } catch (const Error& error) {
      last = error.what();
    }
  }
  const std::lock_guard lock(mutex_);
  fatal_ = fmt::format("{} worker cannot be started: {}", options_.name, last);
  changed_.notify_all();
  return WorkerDeath{WorkerDeath::Kind::kExited, fatal_};
}

JobResult WorkerPool::Converse(Slot& slot, const Job& job, const std::stop_token& stop) {
  JobResult result;
  WorkerProcess& worker = *slot.worker.process;
  SteadyTime stage_start = Clock::now();
  SteadyTime deadline = stage_start + job.deadline;
  bool entered = false;
  const auto leave = [&] {
    if (result.stage) result.stage_ms[*result.stage] += MillisecondsSince(stage_start);
    if (entered && job.on_leave) job.on_leave(*result.stage);
    entered = false;
    stage_start = Clock::now();
  };
  Message request = job.request;
  request.header["type"] = "job";
  if (auto death = worker.Send(request, deadline, stop)) {
    result.death = std::move(death);
    return result;
  }
  for (;;) {
    auto answer = worker.Receive(deadline, stop);
    if (auto* death = std::get_if<WorkerDeath>(&answer)) {
      leave();
      result.death = std::move(*death);
      return result;
    }
    auto& message = std::get<Message>(answer);
    const std::string type = TextIn(message, "type");
    const std::optional<Stage> stage = ParseStage(TextIn(message, "stage"));
    leave();
    if (type == "reply") {
      result.reply = std::move(message);
      return result;
    }
    if (type != "begin" || !stage) {
      result.death = MalformedReply(message);
      return result;
    }
    result.stage = stage;
    if (FlagIn(message, "wait")) {
      if (job.on_enter) job.on_enter(*stage);
      entered = true;
      stage_start = Clock::now();
      Message go;
      go.header["type"] = "go";
      worker.Send(go, stage_start + job.deadline, stop);
    }
    const auto own = job.stage_deadlines.find(*stage);
    deadline = Clock::now() + (own == job.stage_deadlines.end() ? job.deadline : own->second);
  }
}

}  // namespace evo
