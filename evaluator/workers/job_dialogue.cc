#include "evaluator/workers/job_dialogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "core/record_json.h"

namespace evo {
namespace {

using Clock = std::chrono::steady_clock;

// Begin markers of one job. A champion check sends some thousands.
constexpr int kMostMarkers = 100'000;
// Until a worker on another machine begins a job: a message of some MiB takes a second through Slurm.
constexpr std::chrono::milliseconds kTravel{10'000};

// Times the stages of one job and calls its on_enter and on_leave in pairs.
class StageClock {
 public:
  StageClock(const Job& job, JobResult& result, bool elsewhere)
      : job_(job), result_(result), to_begin_(elsewhere ? std::max(job.deadline, kTravel) : job.deadline) {}

  // The present stage, if there is one, ends now.
  void Leave() {
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - begin_;
    if (result_.stage) result_.stage_ms[*result_.stage] += elapsed.count();
    if (std::exchange(entered_, false) && job_.on_leave) job_.on_leave(*result_.stage);
    begin_ = Clock::now();
  }

  void Begin(Stage stage) { result_.stage = stage; }

  // The worker waits until on_enter has returned; that time is not the stage's.
  void Enter() {
    if (job_.on_enter) job_.on_enter(*result_.stage);
    entered_ = true;
    begin_ = Clock::now();
  }

  // Of the stage that begins now.
  SteadyTime Deadline() {
    all_parts_ = false;
    if (!result_.stage) return Clock::now() + to_begin_;
    const std::chrono::milliseconds once = Once();
    const auto before = result_.stage_ms.find(*result_.stage);
    const auto spent = std::chrono::milliseconds(before == result_.stage_ms.end() ? 0 : static_cast<long>(before->second));
    const auto left = job_.deadlines_per_stage * once - spent;
    all_parts_ = left < once;
    return Clock::now() + std::min(once, left);
  }

  // Which deadline the present stage has passed.
  std::string Passed() const {
    const auto seconds = [](std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000; };
    if (!result_.stage) return fmt::format("took over {:g} s", seconds(to_begin_));
    const bool own = job_.stage_deadlines.contains(*result_.stage);
    const std::string rule = own || job_.deadline_rule.empty() ? "" : fmt::format(" ({})", job_.deadline_rule);
    if (all_parts_) {
      return fmt::format("all parts together took over {} times {:g} s{}", job_.deadlines_per_stage, seconds(Once()), rule);
    }
    if (job_.latest && *job_.latest > Once())
      return fmt::format("took over {:g} s of processor time, or {:g} s{}", seconds(Once()), seconds(*job_.latest), rule);
    return fmt::format("took over {:g} s{}", seconds(Once()), rule);
  }

 private:
  // The deadline of one part of the present stage.
  std::chrono::milliseconds Once() const {
    const auto own = job_.stage_deadlines.find(*result_.stage);
    return own == job_.stage_deadlines.end() ? job_.deadline : own->second;
  }

  const Job& job_;
  JobResult& result_;
  std::chrono::milliseconds to_begin_;
  SteadyTime begin_ = Clock::now();
  bool entered_ = false;
  bool all_parts_ = false;  // the deadline is that of all parts of the stage together
};

// The run of a begin marker; nullopt if it cannot be read.
std::optional<AnnouncedRun> ReadRun(const Message& marker) {
  const auto found = marker.header.find("run");
  if (found == marker.header.end()) return AnnouncedRun{};
  try {
    return found->get<AnnouncedRun>();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string TextField(const Message& message, const char* key) {
  const auto found = message.header.find(key);
  return found != message.header.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool FlagField(const Message& message, const char* key) {
  const auto found = message.header.find(key);
  return found != message.header.end() && found->is_boolean() && found->get<bool>();
}

WorkerDeath MalformedReply(const Message& message) {
  return {WorkerDeath::Kind::kProtocol,
          fmt::format("sent a malformed reply: a message of type '{:.40}'", TextField(message, "type"))};
}

WorkerDeath KilledFor(const Message& message) { return {WorkerDeath::Kind::kSignalled, TextField(message, "message"), true}; }

void SendJob(WorkerProcess& worker, const Job& job) {
  Message request = job.make_request ? job.make_request() : job.request;
  request.header["type"] = "job";
  worker.SendMeanwhile(request);
}

JobResult FollowJob(WorkerProcess& worker, const Job& job, const std::stop_token& stop) {
  JobResult result;
  StageClock clock(job, result, worker.launched());
  SteadyTime deadline = clock.Deadline();
  for (int markers = 0;;) {
    auto answer = worker.Receive(deadline, stop, job.latest ? std::optional(Clock::now() + *job.latest) : std::nullopt);
    clock.Leave();
    if (auto* death = std::get_if<WorkerDeath>(&answer)) {
      result.death = std::move(*death);
      if (result.death->kind == WorkerDeath::Kind::kDeadline)
        result.death->description = fmt::format("{}: {}", clock.Passed(), result.death->description);
      return result;
    }
    auto& message = std::get<Message>(answer);
    const std::string type = TextField(message, "type");
    if (type == "reply") {
      result.reply = std::move(message);
      return result;
    }
    if (type == "killed") {
      result.death = KilledFor(message);
      return result;
    }
    if (type == "log" && result.tool_log.empty()) {  // the worker has died, which comes next
      result.tool_log = TextField(message, "text");
      continue;
    }
    const std::optional<Stage> stage = ParseStage(TextField(message, "stage"));
    const std::optional<AnnouncedRun> run = ReadRun(message);
    if (type != "begin" || !stage || !run || ++markers > kMostMarkers) {
      result.death = MalformedReply(message);
      return result;
    }
    clock.Begin(*stage);
    result.run = *run;
    if (FlagField(message, "wait")) {
      clock.Enter();
      Message go;
      go.header["type"] = "go";
      // A worker that died meanwhile is noticed by the next Receive.
      worker.Send(go, Clock::now() + job.deadline, stop);
    }
    deadline = clock.Deadline();
  }
}

std::string EndForReport(WorkerProcess& worker, SteadyTime deadline, const std::stop_token& stop) {
  Message end;
  end.header["type"] = "end";
  worker.SendMeanwhile(end);
  std::string report;
  for (;;) {
    const auto answer = worker.Receive(deadline, stop);
    if (std::holds_alternative<WorkerDeath>(answer)) return report;
    const Message& message = std::get<Message>(answer);
    if (TextField(message, "type") == "log") report = TextField(message, "text");
  }
}

}  // namespace evo
