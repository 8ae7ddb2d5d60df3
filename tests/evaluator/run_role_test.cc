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

}  // namespace
}  // namespace evo
