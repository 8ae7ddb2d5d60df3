// Pools that send a busy worker its next job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/evaluator/faulty_pool.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using Kind = WorkerDeath::Kind;
using nlohmann::json;

WorkerPoolOptions Ahead(const std::string& fault) {
  WorkerPoolOptions options = Options(fault);
  options.sends_ahead = true;
  return options;
}

json Lasting(int ms) { return {{"stages", {{{"name", "load"}, {"ms", ms}}}}}; }

// A job whose request is made when it is sent.
struct Watched {
  std::future<void> sent;
  std::future<JobResult> result;
};

Watched SubmitWatched(WorkerPool& pool, const json& request) {
  auto sent = std::make_shared<std::promise<void>>();
  auto result = std::make_shared<std::promise<JobResult>>();
  Watched watched{sent->get_future(), result->get_future()};
  Job job;
  job.deadline = kLongDeadline;
  job.make_request = [sent, request, told = std::make_shared<bool>(false)] {
    if (!std::exchange(*told, true)) sent->set_value();
    return Message{request, {}};
  };
  pool.Submit(std::move(job), [result](JobResult one) { result->set_value(std::move(one)); });
  return watched;
}

bool Ready(const std::future<void>& sent, milliseconds within) { return sent.wait_for(within) == std::future_status::ready; }

TEST(WorkerPoolAhead, ABusyWorkerIsSentOneMoreJob) {
  WorkerPool pool(Ahead("hang"));
  auto busy = Submitted(pool, {{"misbehave", true}}, std::chrono::hours(1));
  const Watched next = SubmitWatched(pool, json::object());
  const Watched last = SubmitWatched(pool, json::object());
  EXPECT_TRUE(Ready(next.sent, kLongDeadline));
  EXPECT_FALSE(Ready(last.sent, milliseconds(200)));
}

TEST(WorkerPoolAhead, OtherPoolsSendAJobToAWorkerThatHasNone) {
  WorkerPool pool(Options("hang"));
  auto busy = Submitted(pool, {{"misbehave", true}}, std::chrono::hours(1));
  const Watched next = SubmitWatched(pool, json::object());
  EXPECT_FALSE(Ready(next.sent, milliseconds(200)));
}

TEST(WorkerPoolAhead, JobsAreDoneInTheirOrderByOneProcess) {
  WorkerPool pool(Ahead(""));
  std::vector<std::future<JobResult>> results;
  for (int i = 0; i < 20; ++i) results.push_back(Submitted(pool, {{"say", std::to_string(i)}}));
  for (int i = 0; i < 20; ++i) {
    const JobResult result = results[i].get();
    ASSERT_TRUE(result.reply) << result.death->description;
    EXPECT_EQ(result.reply->header["echo"], std::to_string(i));
    EXPECT_EQ(result.reply->header["served"], i + 1);
  }
}

// Its deadline begins with it.
TEST(WorkerPoolAhead, TheTimeThatAJobWaitsInItsWorkerIsNotItsOwn) {
  WorkerPool pool(Ahead(""));
  auto first = Submitted(pool, Lasting(700));
  auto next = Submitted(pool, Lasting(10), milliseconds(500));
  EXPECT_TRUE(first.get().reply);
  const JobResult result = next.get();
  EXPECT_TRUE(result.reply) << result.death->description;
  EXPECT_LT(result.stage_ms.at(Stage::kLoad), 500);
}

// The worker finds the job where it waits for the word to go on.
TEST(WorkerPoolAhead, AJobThatComesWhileAnotherWaitsIsKept) {
  WorkerPool pool(Ahead(""));
  auto first = Submitted(pool, {{"stages", {{{"name", "load"}, {"ms", 300}}, {{"name", "time"}, {"wait", true}}}}});
  const Watched next = SubmitWatched(pool, {{"say", "kept"}});
  EXPECT_TRUE(Ready(next.sent, kLongDeadline));
  EXPECT_TRUE(first.get().reply);
  EXPECT_EQ(const_cast<Watched&>(next).result.get().reply->header["echo"], "kept");
}

TEST(WorkerPoolAhead, AJobIsLargerThanAPipe) {
  WorkerPool pool(Ahead(""));
  auto first = Submitted(pool, Lasting(300));
  std::promise<JobResult> result;
  Job large;
  large.request.bodies = {std::string(5'000'000, 'b')};
  pool.Submit(large, [&](JobResult one) { result.set_value(std::move(one)); });
  auto last = Submitted(pool, {{"say", "last"}});
  EXPECT_TRUE(first.get().reply);
  EXPECT_EQ(result.get_future().get().reply->bodies, large.request.bodies);
  EXPECT_EQ(last.get().reply->header["echo"], "last");
}

TEST(WorkerPoolAhead, ADeathChargesTheJobThatHadBegunOnly) {
  for (const std::string fault : {"abort", "exit", "die_mid_reply", "must_restart"}) {
    WorkerPool pool(Ahead(fault));
    json bad = Lasting(200);
    bad["misbehave"] = true;
    auto begun = Submitted(pool, bad);
    Watched waiting = SubmitWatched(pool, {{"say", "unharmed"}});
    EXPECT_TRUE(Ready(waiting.sent, kLongDeadline));
    EXPECT_EQ(begun.get().death.has_value(), fault != "must_restart") << fault;
    const JobResult result = waiting.result.get();
    ASSERT_TRUE(result.reply) << fault << result.death->description;
    EXPECT_EQ(result.reply->header["served"], 1) << "by a new process";
  }
}

TEST(WorkerPoolAhead, ADeadlineChargesTheJobThatHadBegunOnly) {
  WorkerPool pool(Ahead("hang"));
  auto begun = Submitted(pool, {{"misbehave", true}}, kShort);
  auto waiting = Submitted(pool, {{"say", "unharmed"}});
  EXPECT_EQ(begun.get().death->kind, Kind::kDeadline);
  EXPECT_EQ(waiting.get().reply->header["echo"], "unharmed");
}

TEST(WorkerPoolAhead, AJobThatWasSentIsCancelledWithTheOthers) {
  WorkerPool pool(Ahead("hang"));
  auto begun = Submitted(pool, {{"misbehave", true}}, std::chrono::hours(1));
  Watched sent = SubmitWatched(pool, json::object());
  Watched queued = SubmitWatched(pool, json::object());
  EXPECT_TRUE(Ready(sent.sent, kLongDeadline));
  pool.Cancel();
  EXPECT_EQ(begun.get().death->kind, Kind::kStopped);
  EXPECT_EQ(sent.result.get().death->kind, Kind::kStopped);
  EXPECT_EQ(queued.result.get().death->kind, Kind::kStopped);
  EXPECT_TRUE(Answer(pool, json::object()).reply);
}

TEST(WorkerPoolAhead, EndsWithAJobThatWasSent) {
  std::future<JobResult> begun;
  Watched sent;
  {
    WorkerPool pool(Ahead("hang"));
    begun = Submitted(pool, {{"misbehave", true}}, std::chrono::hours(1));
    sent = SubmitWatched(pool, json::object());
    EXPECT_TRUE(Ready(sent.sent, kLongDeadline));
  }
  EXPECT_EQ(begun.get().death->kind, Kind::kStopped);
  EXPECT_EQ(sent.result.get().death->kind, Kind::kStopped);
}

}  // namespace
}  // namespace evo
