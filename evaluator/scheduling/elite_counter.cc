#include "evaluator/scheduling/elite_counter.h"

#include <fmt/format.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <stop_token>
#include <utility>

#include "core/counted_diagnosis.h"
#include "core/error.h"
#include "core/json_error.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/scheduling/deadlines.h"
#include "evaluator/scheduling/job_results.h"
#include "evaluator/scheduling/jobs.h"

namespace evo {
namespace {

using Clock = EliteCounterSettings::Clock;

// The run worker stands still meanwhile. A count that takes so long has failed.
constexpr std::chrono::milliseconds kEliteDeadline{5'000};
// What refuses so often before anything was counted refuses always.
constexpr int kMostRefusals = 3;
// A process may die of a candidate or for reasons of its own. If it happens so often before anything was counted, these are its
// own.
constexpr int kMostDeaths = 10;

Message Idle() { return ToMessage(IdleRequest{}); }

CountedElite ToElite(CandidateId id, HardwareCounters counters) {
  Diagnosis diagnosis = DiagnoseCounted(counters);
  return {id, diagnosis.bottleneck, diagnosis.evidence + " (counted)", std::move(counters)};
}

// Throws Error, with the reason, where nothing was counted.
CountedElite ReadCount(CandidateId id, const JobResult& result) {
  auto counted = ReadRunReply<CountedEvents>(result, "counting");
  if (!counted.not_counted.empty()) throw Error(counted.not_counted);
  if (counted.counters.empty() || DiagnoseCounted(counted.counters.front()).bottleneck == Bottleneck::kNone)
    throw Error("the profiler counted nothing");
  return ToElite(id, std::move(counted.counters.front()));
}

}  // namespace

struct EliteCounter::State : std::enable_shared_from_this<State> {
  explicit State(EliteCounterSettings given) : settings(std::move(given)), begun(settings.now()) {}

  bool Affords(std::chrono::nanoseconds expected) const {
    const auto elapsed = std::chrono::duration<double>(settings.now() - begun);
    return std::chrono::duration<double>(spent + expected) <= kShare * elapsed;
  }

  void Start();
  void SetUp();
  void Compile(const Candidate& elite);
  void CountOne(CandidateId id, AttachedProgram program);
  // Has the run worker stand still while `work` is done, which uses the device. `then` is called afterwards, or if that is
  // cancelled.
  void Hold(std::function<void()> work, void (State::*then)());
  void Work(const std::function<void()>& work);
  void Free() {
    const std::lock_guard lock(mutex);
    busy = false;
  }
  // Gives up for good.
  void GiveUp(const std::string& why);
  // The candidate is passed over, unless so many of its kind were before the first that could be counted.
  void PassOver(const std::string& why, int& times, int most);

  const EliteCounterSettings settings;
  const Clock::time_point begun;
  std::stop_source stop;

  std::mutex mutex;  // guards everything below
  std::condition_variable changed;
  bool busy = false;     // something is under way
  bool holding = false;  // and uses the device
  bool off = false;
  bool able = false;  // something has been counted
  int refusals = 0, deaths = 0;
  std::chrono::nanoseconds spent{};  // for which the run worker stood still
  std::chrono::nanoseconds last_count = kExpectedCount;
  std::set<CandidateId> tried;
  std::vector<CountedElite> counted;
  std::unique_ptr<JobRunner> process;  // only the one for which it is busy uses it
};

EliteCounter::EliteCounter(EliteCounterSettings settings) : state_(std::make_shared<State>(std::move(settings))) {}

EliteCounter::~EliteCounter() { End(); }

std::vector<CountedElite> EliteCounter::Count(const std::vector<Candidate>& elites) {
  State& state = *state_;
  const Candidate* next = nullptr;
  bool starts = false;
  std::vector<CountedElite> counted;
  {
    const std::lock_guard lock(state.mutex);
    counted = std::exchange(state.counted, {});
    if (state.busy || state.off) return counted;
    for (const Candidate& elite : elites) {
      if (next == nullptr && !state.tried.contains(elite.id)) next = &elite;
    }
    starts = state.process == nullptr;
    if (next == nullptr || !state.Affords(starts ? kExpectedStart : state.last_count)) return counted;
    state.busy = true;
    if (!starts) state.tried.insert(next->id);
  }
  if (starts)
    state.Start();
  else
    state.Compile(*next);
  return counted;
}

void EliteCounter::End() {
  state_->stop.request_stop();
  std::unique_ptr<JobRunner> process;
  {
    std::unique_lock lock(state_->mutex);
    state_->off = true;
    state_->changed.wait(lock, [this] { return !state_->holding; });
    process = std::move(state_->process);
  }
  // Its jobs, which end now, call back and need the mutex.
  process.reset();
}

void EliteCounter::State::Start() {
  Hold(
      [this] {
        try {
          auto started = settings.start(stop.get_token());
          const std::lock_guard lock(mutex);
          process = std::move(started);
        } catch (const Interrupted&) {
        } catch (const Error& error) {
          GiveUp(error.what());
        }
      },
      &State::SetUp);
}

// The process draws its inputs, for which it needs no device.
void EliteCounter::State::SetUp() {
  const std::lock_guard lock(mutex);
  busy = process != nullptr;
  if (!busy) return;
  process->Submit(MakeRunJob(Idle(), kPrepareDeadline, nullptr), [self = shared_from_this()](const JobResult& result) {
    if (result.death) self->GiveUp(result.death->description);
    self->Free();
  });
}

void EliteCounter::State::Compile(const Candidate& elite) {
  Job job = MakeCompileJob(elite.source, settings.arch, true, kCompileDeadline, settings.sizes);
  settings.compile.Submit(std::move(job), [self = shared_from_this(), id = elite.id, source = elite.source](JobResult result) {
    CompileResult compiled = ReadCompileResult(result);
    // It compiled before. If it does not now, the run ends or the machine is in trouble, and the search will say so.
    if (compiled.outcome != Outcome::kOk) return self->Free();
    self->CountOne(id, {source, std::move(compiled.program)});
  });
}

void EliteCounter::State::CountOne(CandidateId id, AttachedProgram program) {
  CountRequest request;
  request.candidate = std::move(program);
  {
    const std::lock_guard lock(mutex);
    if (off) return;
  }
  Hold(
      [this, id, request = std::move(request)] {
        const Clock::time_point since = settings.now();
        Job job = MakeRunJob(ToMessage(request), kEliteDeadline, nullptr);
        job.stage_deadlines.clear();  // its inputs are drawn
        const std::vector<JobResult> results = RunAndWait(*process, {std::move(job)}, stop.get_token());
        if (stop.stop_requested()) return;
        try {
          CountedElite one = ReadCount(id, results.front());
          const std::lock_guard lock(mutex);
          counted.push_back(std::move(one));
          able = true;
          last_count = settings.now() - since;
        } catch (const Error& error) {
          const auto& death = results.front().death;
          if (death && death->kind == WorkerDeath::Kind::kCannotStart)
            GiveUp(error.what());
          else
            PassOver(error.what(), death ? deaths : refusals, death ? kMostDeaths : kMostRefusals);
        }
      },
      &State::Free);
}

// Jobs that wait go first: this is no reason to let the search wait. A worker that is killed and started again is asked twice.
void EliteCounter::State::Hold(std::function<void()> work, void (State::*then)()) {
  const auto once = std::make_shared<bool>(false);
  const auto request = [self = shared_from_this(), once, work = std::move(work)] {
    if (!std::exchange(*once, true)) self->Work(work);
    return Idle();
  };
  settings.run.Submit(MakeRunJob(request, kEliteDeadline, nullptr),
                      [self = shared_from_this(), then](const JobResult&) { (*self.*then)(); });
}

void EliteCounter::State::Work(const std::function<void()>& work) {
  {
    const std::lock_guard lock(mutex);
    if (off) return;
    holding = true;
  }
  const Clock::time_point since = settings.now();
  try {
    work();
  } catch (const std::exception& error) {  // no thread, no file: not the search's fault
    GiveUp(PlainText(error));
  }
  const std::lock_guard lock(mutex);
  spent += settings.now() - since;
  holding = false;
  changed.notify_all();
}

void EliteCounter::State::PassOver(const std::string& why, int& times, int most) {
  {
    const std::lock_guard lock(mutex);
    if (++times < most || able) return;
  }
  GiveUp(why);
}

void EliteCounter::State::GiveUp(const std::string& why) {
  {
    const std::lock_guard lock(mutex);
    if (off || stop.stop_requested()) return;
    off = true;
  }
  settings.warn(
      fmt::format("the best candidates are not counted ({}); the search goes on with the classes that it finds itself", why));
}

}  // namespace evo
