#include "evaluator/workers/run_role.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "evaluator/gate/infrastructure_failure.h"
#include "evaluator/messages/message_codec.h"
#include "tests/evaluator/fake_device.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Device> Fake() {
  auto device = std::make_unique<FakeDevice>("cuda");
  device->kernels["reference"] = [](const auto& buffers) { Multiply<double>(buffers, 2); };
  device->kernels["candidate"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  return device;
}

const EvaluateRequest kRequest{TwiceProgram("candidate"), {}, {}, {}, {}};

TEST(InfrastructureFailure, IsARuntimeError) {
  RunSession session(Fake(), [] { return true; });
  session.Setup(TwiceSetup(LaxTwiceTask()));
  RecordingChannel channel;
  EXPECT_THROW(session.Evaluate(kRequest, channel), std::runtime_error);
}

TEST(RunRole, ReportsAnInfrastructureFailureAndLivesOn) {
  RunRole role(Fake(), [] { return true; });
  RecordingChannel channel;
  role.Handle(ToMessage(TwiceSetup(LaxTwiceTask())), channel);
  const auto refused = FromReply<Evaluation>(role.Handle(ToMessage(kRequest), channel));
  ASSERT_TRUE(std::holds_alternative<InfrastructureReport>(refused));
  EXPECT_THAT(std::get<InfrastructureReport>(refused).message, HasSubstr("tighten the tolerance"));
  role.Handle(ToMessage(TwiceSetup()), channel);
  const auto evaluated = FromReply<Evaluation>(role.Handle(ToMessage(kRequest), channel));
  ASSERT_TRUE(std::holds_alternative<Evaluation>(evaluated));
  EXPECT_EQ(std::get<Evaluation>(evaluated).outcome, Outcome::kOk);
}

TEST(RunSession, SaysWhatTheTimeOfAProgramIsSpentOn) {
  RunSession session(Fake(), [] { return true; });
  SetupRequest setup = TwiceSetup();
  setup.machines.emplace_back().launch_ns = 20'000;
  session.Setup(setup);
  RecordingChannel channel;
  const Evaluation evaluation = session.Evaluate(kRequest, channel);
  ASSERT_EQ(evaluation.outcome, Outcome::kOk) << evaluation.message;
  EXPECT_EQ(evaluation.bottleneck, Bottleneck::kLaunch);
  EXPECT_THAT(evaluation.evidence, HasSubstr("where a launch of an empty kernel takes 20.00 us"));
}

TEST(RunSession, CountsBothProgramsWithTheInputsOfATimedRun) {
  auto device = std::make_unique<FakeDevice>("cuda");
  FakeDevice& fake = *device;
  fake.kernels["reference"] = [](const auto&) { ADD_FAILURE() << "counting needs no answer"; };
  fake.kernels["candidate"] = fake.kernels["baseline"] = [](const auto&) {};
  fake.count = [](const std::string& image) {
    CountedRun counted;
    counted.counters.dram = image == "candidate" ? 0.75 : 0.25;
    return counted;
  };
  fake.stalls = [](const std::string& image, int times) {
    EXPECT_EQ(image, "candidate");
    EXPECT_GT(times, 1);
    return SampledStalls{{}, {{2, "long_scoreboard", 30}, {2, "selected", 10}, {0, "wait", 40}, {1, "barrier", 20}}};
  };
  RunSession session(std::move(device), [] { return true; });
  SetupRequest setup = TwiceSetup();
  setup.only_counts = true;
  session.Setup(setup);
  RecordingChannel channel;
  const CountRequest request{TwiceProgram("candidate"), TwiceProgram("baseline"), TwiceProgram("candidate").source};
  const CountedEvents counted = session.CountEvents(request, channel);
  EXPECT_EQ(counted.not_counted, "");
  ASSERT_EQ(counted.counters.size(), 2u);
  EXPECT_EQ(counted.counters[0].program, kCountedCandidate);
  EXPECT_EQ(counted.counters[0].dram, 0.75);
  EXPECT_EQ(counted.counters[1].program, kCountedBaseline);
  EXPECT_EQ(counted.counters[1].dram, 0.25);
  EXPECT_FALSE(counted.counters[1].case_name.empty());
  EXPECT_TRUE(fake.prepared.back().displace_code) << "the caches are those of a timed launch";
  EXPECT_TRUE(session.must_restart());
  ASSERT_EQ(counted.stalls.size(), 2u);
  EXPECT_EQ(counted.stalls[0].line, 2);
  EXPECT_EQ(counted.stalls[0].share, 0.4);
  EXPECT_EQ(counted.stalls[0].waits_for, "global memory");
  fake.stalls = [](const std::string&, int) { return SampledStalls{{Outcome::kUnsupported, "no samples here", false}, {}}; };
  const CountedEvents without = session.CountEvents(request, channel);
  EXPECT_EQ(without.counters.size(), 2u);
  EXPECT_EQ(without.not_counted, "no samples here");

  fake.count = [](const std::string&) -> CountedRun { throw std::runtime_error("users may not count"); };
  EXPECT_EQ(session.CountEvents(request, channel).not_counted, "users may not count");
  fake.count = [](const std::string&) { return CountedRun{{Outcome::kLaunchError, "too many threads", false}, {}}; };
  EXPECT_EQ(session.CountEvents(request, channel).not_counted, "too many threads");
}

// Eight processes under tools would each draw all inputs of a search, of which they need one set.
TEST(RunSession, DrawsNothingAheadForATool) {
  std::string task = kTwiceTask;
  const std::string timed = R"("name": "a", "sizes": {"N": )";
  task.insert(task.find(timed) + timed.size(), "99999");  // 1e16 elements
  for (const std::string vector = R"(["N"], ")"; task.find(vector) != std::string::npos;)
    task.replace(task.find(vector), vector.size(), R"(["N", "N"], ")");
  const std::string small = R"("name": "small", "sizes": {"N": 100})";
  task.replace(task.find(small), small.size(), R"("name": "small", "sizes": {"N": 10})");
  auto device = std::make_unique<FakeDevice>("cuda");
  device->kernels["reference"] = [](const auto& buffers) { Multiply<double>(buffers, 2); };
  device->kernels["candidate"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
  RunSession session(std::move(device), [] { return true; });
  SetupRequest setup = TwiceSetup(task);
  session.Setup(setup);
  RecordingChannel channel;
  EXPECT_ANY_THROW(session.Evaluate({TwiceProgram("candidate")}, channel)) << "the timed case cannot be drawn";
  setup.draws_ahead = false;
  session.Setup(setup);
  EXPECT_EQ(session.RunOnce({TwiceProgram("candidate"), ""}, channel), "");
}

TEST(RunSession, AToolIsToldOfAProgramThatDidNotRun) {
  auto device = std::make_unique<FakeDevice>("cuda");
  device->kernels["reference"] = [](const auto& buffers) { Multiply<double>(buffers, 2); };
  device->kernels["candidate"] = [](const auto& buffers) { Multiply<float>(buffers, 3); };
  FakeDevice& fake = *device;
  RunSession session(std::move(device), [] { return true; });
  SetupRequest setup = TwiceSetup();
  setup.draws_ahead = false;
  session.Setup(setup);
  RecordingChannel channel;
  EXPECT_NE(session.RunOnce({TwiceProgram("candidate"), ""}, channel), "") << "it ran, and was wrong";
  EXPECT_EQ(session.RunOnce({TwiceProgram("candidate"), "a"}, channel), "") << "nothing is compared";
  fake.run_status = [](const std::string& image) {
    return image == "candidate" ? DeviceStatus{Outcome::kLaunchError, "too many registers", false} : DeviceStatus{};
  };
  EXPECT_THROW(session.RunOnce({TwiceProgram("candidate"), ""}, channel), InfrastructureFailure);
  EXPECT_THROW(session.RunOnce({TwiceProgram("candidate"), "a"}, channel), InfrastructureFailure);
}

TEST(RunSession, CountsOneProgramAfterAnotherOnInputsThatItKeeps) {
  auto device = std::make_unique<FakeDevice>("cuda");
  FakeDevice& fake = *device;
  fake.kernels["candidate"] = fake.kernels["other"] = [](const auto&) {};
  fake.stalls = [](const std::string&, int) {
    ADD_FAILURE() << "nobody asked where warps wait";
    return SampledStalls{};
  };
  RunSession session(std::move(device), [] { return true; });
  SetupRequest setup = TwiceSetup();
  setup.only_counts = true;
  session.Setup(setup);
  RecordingChannel channel;
  EXPECT_EQ(session.CountEvents({TwiceProgram("candidate"), {}, ""}, channel).counters.size(), 1U);
  const int allocated = fake.operations.allocations;
  EXPECT_EQ(allocated - fake.operations.freed, 2) << "an input and an output, and nothing for an answer";
  EXPECT_EQ(session.CountEvents({TwiceProgram("other"), {}, ""}, channel).counters.size(), 1U);
  EXPECT_EQ(fake.operations.allocations, allocated);
  EXPECT_FALSE(session.must_restart());
  fake.count = [](const std::string&) -> CountedRun { throw std::runtime_error("users may not count"); };
  EXPECT_EQ(session.CountEvents({TwiceProgram("other"), {}, ""}, channel).not_counted, "users may not count");
  EXPECT_TRUE(session.must_restart());
}

TEST(RunRole, DoesNothingIfAskedTo) {
  RunRole role(Fake(), [] { return true; });
  RecordingChannel channel;
  role.Handle(ToMessage(IdleRequest{}), channel);
  EXPECT_TRUE(channel.stages.empty());
  EXPECT_FALSE(role.MustRestart());
}

TEST(RunRole, AnswersARequestForCounters) {
  RunRole role(Fake(), [] { return true; });
  RecordingChannel channel;
  role.Handle(ToMessage(TwiceSetup()), channel);
  const CountRequest request{TwiceProgram("candidate"), TwiceProgram("candidate")};
  const auto answer = FromReply<CountedEvents>(role.Handle(ToMessage(request), channel));
  EXPECT_EQ(std::get<CountedEvents>(answer).counters.size(), 2u);
}

}  // namespace
}  // namespace evo
