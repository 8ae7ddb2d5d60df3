#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/messages/message_codec.h"
#include "evaluator/workers/job_runner.h"

namespace evo {

// Keeps jobs until the test answers them, in the test's own thread.
class FakeJobRunner : public JobRunner {
 public:
  void Submit(Job job, Done done) override { pending_.push_back({std::move(job), std::move(done)}); }
  void Cancel() override {
    ++cancels;
    if (done_by_then && !pending_.empty()) Answer(*std::exchange(done_by_then, std::nullopt));
    while (!pending_.empty()) Answer(Death(WorkerDeath::Kind::kStopped, "stopped"));
  }
  void Suspend() override { ++suspended; }
  void Resume() override { --suspended; }
  double busy_ms() const override { return busy; }

  std::size_t pending() const { return pending_.size(); }
  const Job& front() const { return pending_.front().first; }
  // As a worker gets it.
  Message request_of_front() const { return front().make_request ? front().make_request() : front().request; }

  // Answers the job that was submitted first.
  void Answer(JobResult result) {
    Done done = std::move(pending_.front().second);
    pending_.pop_front();
    done(std::move(result));
  }

  static JobResult Reply(Message reply) {
    JobResult result;
    result.reply = std::move(reply);
    return result;
  }
  static JobResult Death(WorkerDeath::Kind kind, const std::string& why, std::optional<Stage> stage = std::nullopt) {
    JobResult result;
    result.death = WorkerDeath{kind, why};
    result.stage = stage;
    return result;
  }

  // Of the job that was submitted first: it ends just before it can be cancelled.
  std::optional<JobResult> done_by_then;
  int cancels = 0;
  int suspended = 0;
  double busy = 0;

 private:
  std::deque<std::pair<Job, Done>> pending_;
};

// Answers every job at once from a script; the last answer is repeated. Submit breaks the port's promise to return first, which
// callers that wait do not notice.
class ScriptedJobRunner : public FakeJobRunner {
 public:
  explicit ScriptedJobRunner(std::vector<JobResult> answers) : answers_(std::move(answers)) {}
  void Submit(Job job, Done done) override {
    jobs.push_back(job);
    if (on_submit) on_submit(jobs.size());
    done(answers_[std::min(jobs.size(), answers_.size()) - 1]);
  }

  std::vector<Job> jobs;
  std::function<void(std::size_t number)> on_submit;  // from 1 on

 private:
  std::vector<JobResult> answers_;
};

}  // namespace evo
