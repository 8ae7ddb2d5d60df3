#include "evaluator/scheduling/elite_counter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/evaluator/fake_job_runner.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

CountedEvents Bound(double dram) {
  CountedEvents counted;
  HardwareCounters& counters = counted.counters.emplace_back();
  counters.program = kCountedCandidate;
  counters.counted_ns = 1000;
  counters.dram = dram;
  counters.wait_barrier = 0.5;
  return counted;
}

std::vector<Candidate> Elites(std::vector<CandidateId> ids) {
  std::vector<Candidate> elites;
  for (const CandidateId id : ids) {
    Candidate& one = elites.emplace_back();
    one.id = id;
    one.source = "source of " + std::to_string(id);
  }
  return elites;
}

// The process that counts: takes a while, and answers from a script. It is set up when the test says so.
class CountingProcess : public ScriptedJobRunner {
 public:
  CountingProcess(std::vector<JobResult> answers, std::function<void()> used, std::function<void()>& set_up)
      : ScriptedJobRunner(std::move(answers)), used_(std::move(used)), set_up_(set_up) {}
  void Submit(Job job, Done done) override {
    if (job.request.header.at("kind") != CountRequest::kKind) {
      set_up_ = [done = std::move(done)] { done(Reply({})); };
      return;
    }
    used_();
    ScriptedJobRunner::Submit(std::move(job), std::move(done));
  }

 private:
  std::function<void()> used_;
  std::function<void()>& set_up_;
};

class EliteCounterTest : public ::testing::Test {
 protected:
  EliteCounterTest() {
    CompileResult compiled;
    compiled.outcome = Outcome::kOk;
    compiled.program.image = "image";
    compiled_ = FakeJobRunner::Reply(ToMessage(compiled));
    answers_ = {FakeJobRunner::Reply(ToReply(Bound(0.9))), FakeJobRunner::Reply(ToReply(Bound(0.1)))};
  }

  EliteCounter& Counter() {
    EliteCounterSettings settings{compile_, run_, {}, "sm_90a"};
    settings.start = [this](const std::stop_token&) -> std::unique_ptr<JobRunner> {
      now_ += start_takes_;
      ++started_;
      if (!refusal_.empty()) throw Error(refusal_);
      return std::make_unique<CountingProcess>(
          answers_, [this] { now_ += count_takes_; }, set_up_);
    };
    settings.now = [this] { return now_; };
    settings.warn = [this](const std::string& line) { warnings_.push_back(line); };
    counter_.emplace(std::move(settings));
    return *counter_;
  }

  // Lets the run worker take its job: the request is made, and the worker answers it.
  void RunWorkerTakesItsJob() {
    ASSERT_EQ(run_.pending(), 1U);
    EXPECT_EQ(run_.request_of_front().header.at("kind"), IdleRequest::kKind);
    run_.Answer(FakeJobRunner::Reply({}));
    if (auto set_up = std::exchange(set_up_, nullptr)) set_up();
  }

  // Until the process can count.
  void GetReady(EliteCounter& counter) {
    now_ += seconds(100);
    counter.Count(Elites({7}));
    RunWorkerTakesItsJob();
  }

  // Lets the first of these that was not tried be compiled and counted.
  void TryOne(EliteCounter& counter, std::vector<CandidateId> ids) {
    now_ += seconds(100);
    counter.Count(Elites(std::move(ids)));
    ASSERT_EQ(compile_.pending(), 1U);
    compile_.Answer(compiled_);
    RunWorkerTakesItsJob();
  }

  FakeJobRunner compile_;
  FakeJobRunner run_;
  JobResult compiled_;
  std::vector<JobResult> answers_;
  std::string refusal_;
  milliseconds start_takes_{1500};
  milliseconds count_takes_{100};
  int started_ = 0;
  EliteCounterSettings::Clock::time_point now_;
  std::vector<std::string> warnings_;
  std::function<void()> set_up_;  // empty until the process has got its first job
  std::optional<EliteCounter> counter_;
};

TEST_F(EliteCounterTest, ShortRunsHaveNoTimeForIt) {
  EliteCounter& counter = Counter();
  now_ += seconds(10);
  EXPECT_THAT(counter.Count(Elites({1, 2})), IsEmpty());
  EXPECT_EQ(run_.pending() + compile_.pending(), 0U);
  now_ += seconds(40);
  EXPECT_THAT(counter.Count({}), IsEmpty());
  EXPECT_EQ(run_.pending(), 0U) << "there is nobody to count";
  counter.Count(Elites({1, 2}));
  EXPECT_EQ(run_.pending(), 1U) << "a second of fifty";
  EXPECT_EQ(started_, 0) << "the run worker still times";
}

TEST_F(EliteCounterTest, CountsWhileTheRunWorkerStandsStill) {
  EliteCounter& counter = Counter();
  GetReady(counter);
  EXPECT_EQ(started_, 1);
  EXPECT_THAT(counter.Count(Elites({7, 8})), IsEmpty());
  ASSERT_EQ(compile_.pending(), 1U);
  EXPECT_EQ(run_.pending(), 0U) << "the run worker goes on while it is compiled";
  compile_.Answer(compiled_);
  EXPECT_THAT(counter.Count(Elites({7, 8})), IsEmpty()) << "one at a time";
  EXPECT_EQ(compile_.pending(), 0U);
  RunWorkerTakesItsJob();
  const std::vector<CountedElite> counted = counter.Count({});
  ASSERT_THAT(counted, SizeIs(1));
  EXPECT_EQ(counted[0].candidate, 7);
  EXPECT_EQ(counted[0].bottleneck, Bottleneck::kDram);
  EXPECT_EQ(counted[0].evidence, "90% of the peak of DRAM (counted)");
  EXPECT_THAT(counter.Count({}), IsEmpty()) << "each once";
}

TEST_F(EliteCounterTest, CountsEachOnceWithTheSameProcess) {
  EliteCounter& counter = Counter();
  GetReady(counter);
  std::vector<CandidateId> counted;
  for (int i = 0; i < 5; ++i) {
    now_ += seconds(20);
    for (const CountedElite& one : counter.Count(Elites({7, 8}))) counted.push_back(one.candidate);
    if (compile_.pending() == 0) continue;
    compile_.Answer(compiled_);
    RunWorkerTakesItsJob();
  }
  EXPECT_THAT(counted, ElementsAre(7, 8));
  EXPECT_EQ(started_, 1);
}

TEST_F(EliteCounterTest, StaysWithinItsShareOfTheRun) {
  EliteCounter& counter = Counter();
  const auto begun = now_;
  milliseconds held{};
  CandidateId next = 1;
  for (int generation = 0; generation < 2000; ++generation) {
    now_ += milliseconds(200);
    counter.Count(Elites({next, next + 1}));
    if (compile_.pending() > 0) {
      compile_.Answer(compiled_);
      ++next;
    }
    if (run_.pending() == 0) continue;
    const auto before = now_;
    RunWorkerTakesItsJob();
    held += std::chrono::duration_cast<milliseconds>(now_ - before);
  }
  const double share = std::chrono::duration<double>(held) / std::chrono::duration<double>(now_ - begun);
  EXPECT_LE(share, EliteCounter::kShare);
  EXPECT_GT(share, EliteCounter::kShare / 2) << "and uses it";
}

TEST_F(EliteCounterTest, ARefusalIsSaidOnceAndTheSearchGoesOn) {
  refusal_ = "users may not count";
  EliteCounter& counter = Counter();
  GetReady(counter);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("users may not count")));
  now_ += seconds(1000);
  EXPECT_THAT(counter.Count(Elites({7})), IsEmpty());
  EXPECT_EQ(run_.pending() + compile_.pending(), 0U);
  EXPECT_THAT(warnings_, SizeIs(1));
}

TEST_F(EliteCounterTest, GivesUpWhereSomeAreRefusedAndNoneIsCounted) {
  CountedEvents refused;
  refused.not_counted = "this device counts nothing";
  answers_ = {FakeJobRunner::Reply(ToReply(refused))};
  EliteCounter& counter = Counter();
  GetReady(counter);
  for (CandidateId id = 1; id <= 3; ++id) {
    EXPECT_THAT(warnings_, IsEmpty());
    TryOne(counter, {id});
  }
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("counts nothing")));
}

TEST_F(EliteCounterTest, GivesUpWhereManyDieAndNoneIsCounted) {
  answers_ = {FakeJobRunner::Death(WorkerDeath::Kind::kSignalled, "killed")};
  EliteCounter& counter = Counter();
  GetReady(counter);
  for (CandidateId id = 1; id <= 10; ++id) {
    EXPECT_THAT(warnings_, IsEmpty());
    TryOne(counter, {id});
  }
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("killed")));
}

TEST_F(EliteCounterTest, PassesOverWhatCannotBeCounted) {
  CountedEvents refused;
  refused.not_counted = "the program does not load";
  answers_.clear();
  for (int i = 0; i < 4; ++i) answers_.push_back(FakeJobRunner::Death(WorkerDeath::Kind::kDeadline, "too slow"));
  answers_.push_back(FakeJobRunner::Reply(ToReply(Bound(0.9))));
  for (int i = 0; i < 4; ++i) answers_.push_back(FakeJobRunner::Reply(ToReply(refused)));
  answers_.push_back(FakeJobRunner::Reply(ToReply(Bound(0.1))));
  EliteCounter& counter = Counter();
  GetReady(counter);
  std::vector<CandidateId> counted;
  for (int i = 0; i < 10; ++i) {
    TryOne(counter, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    for (const CountedElite& one : counter.Count({})) counted.push_back(one.candidate);
  }
  EXPECT_THAT(counted, ElementsAre(5, 10));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(EliteCounterTest, CountsNothingAfterItsEnd) {
  EliteCounter& counter = Counter();
  GetReady(counter);
  counter.Count(Elites({7}));
  compile_.Answer(compiled_);
  counter.End();
  const auto before = now_;
  RunWorkerTakesItsJob();
  EXPECT_EQ(now_, before) << "the device is free for the champion's check";
  now_ += seconds(1000);
  EXPECT_THAT(counter.Count(Elites({8})), IsEmpty());
  EXPECT_EQ(compile_.pending(), 0U);
}

TEST_F(EliteCounterTest, JobsMayOutliveIt) {
  GetReady(Counter());
  counter_->Count(Elites({7}));
  counter_.reset();
  compile_.Answer(compiled_);
  if (run_.pending() > 0) RunWorkerTakesItsJob();
  EXPECT_THAT(warnings_, IsEmpty());
}

}  // namespace
}  // namespace evo
