#include "evaluator/scheduling/machine_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "evaluator/scheduling/utilisation.h"
#include "tests/evaluator/fake_job_runner.h"

namespace evo {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

JobResult State(int ordinal) {
  MachineState state;
  state.ordinal = ordinal;
  state.f32_per_s = 1e12;
  return FakeJobRunner::Reply(ToReply(state));
}

CompiledProgram Kernels() {
  CompiledProgram kernels;
  kernels.image = "our kernels";
  return kernels;
}

std::string ErrorOf(JobResult result) {
  ScriptedJobRunner runner({std::move(result)});
  try {
    MachineProbe(runner, Kernels(), "a GPU", 1).Measure("start", {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(MachineProbe, MeasuresEveryDevice) {
  ScriptedJobRunner runner({State(0), State(1)});
  const std::vector<MeasuredMachine> states = MachineProbe(runner, Kernels(), "a GPU", 2).Measure("end", {});
  ASSERT_THAT(states, SizeIs(2));
  EXPECT_EQ(states[0].state.moment, "end");
  EXPECT_EQ(states[1].state.ordinal, 1);
  ASSERT_THAT(runner.jobs, SizeIs(2));
  EXPECT_EQ(std::get<MachineRequest>(ToRunRequest(runner.jobs[1].request)).kernels.program.image, "our kernels");
}

TEST(MachineProbe, AMachineThatIsNotInOrderEndsTheRun) {
  EXPECT_EQ(ErrorOf(FakeJobRunner::Reply(ToReply(InfrastructureReport{"the controls come out wrong"}))),
            "the controls come out wrong");
  EXPECT_THAT(ErrorOf(FakeJobRunner::Death(WorkerDeath::Kind::kDeadline, "deadline passed")),
              HasSubstr("measuring a GPU: deadline passed"));
  Message odd;
  odd.header["result"] = "fast";
  EXPECT_THAT(ErrorOf(FakeJobRunner::Reply(odd)), HasSubstr("measuring a GPU: the run worker sent a malformed reply"));
}

TEST(MachineProbe, StopsWhenAsked) {
  FakeJobRunner runner;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(MachineProbe(runner, Kernels(), "a GPU", 1).Measure("start", stop.get_token()), Interrupted);
  EXPECT_EQ(runner.cancels, 1);
}

TEST(UtilisationMeter, GivesSharesOfTheTimeSinceTheFirstStart) {
  const UtilisationMeter::Time start{};
  UtilisationMeter meter;
  EXPECT_EQ(meter.Of({1000, 1}, {1000, 1}).seconds, 0) << "nothing was started";
  meter.Started(start);
  meter.Started(start + std::chrono::seconds(5));
  meter.Completed(start + std::chrono::seconds(10));
  meter.AddReverification(1000);
  const Utilisation busy = meter.Of({10'000, 2}, {90'000, 4});
  EXPECT_DOUBLE_EQ(busy.seconds, 10);
  EXPECT_DOUBLE_EQ(busy.run, 0.5);
  EXPECT_DOUBLE_EQ(busy.reverify, 0.05);
  EXPECT_DOUBLE_EQ(busy.compile, 1) << "never more than all of it";
}

}  // namespace
}  // namespace evo
