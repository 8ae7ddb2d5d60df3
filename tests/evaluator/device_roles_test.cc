// A device that evo does not ship: what it takes to add one.
#include "evaluator/workers/device_roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/messages/message_codec.h"
#include "tests/evaluator/fake_device.h"
#include "tests/evaluator/session_bench.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr DevicePolicy StubPolicy() {
  DevicePolicy policy = kCpuPolicy;
  policy.kind = "stub";
  policy.timed_check_repeats = 5;
  return policy;
}
constexpr DevicePolicy kStubPolicy = StubPolicy();

class StubCompiler : public Compiler {
 public:
  CompileResult Compile(const CompilerInput& input) override {
    CompileResult result;
    result.outcome = Outcome::kOk;
    result.program = {input.checked ? "checked" : "candidate", "", {{"k", "k"}}, {}};
    return result;
  }
};

DeviceKind StubKind() {
  return {.kind = kStubPolicy.kind,
          .make_compiler = [] { return std::make_unique<StubCompiler>(); },
          .make_check_compiler = {},
          .make_device = [](const nlohmann::json&) -> std::unique_ptr<Device> {
            auto device = std::make_unique<FakeDevice>(kStubPolicy);
            device->kernels["reference"] = [](const auto& buffers) { Multiply<double>(buffers, 2); };
            device->kernels["candidate"] = [](const auto& buffers) { Multiply<float>(buffers, 2); };
            return device;
          }};
}

const nlohmann::json kInit = {{"device", "stub"}, {"ordinal", 0}, {"waiting", ""}};

TEST(DeviceRoles, ADeviceOfTheListCompilesChecksAndTimes) {
  const auto roles = DeviceRoles({StubKind()});
  RecordingChannel channel;
  const auto compile = roles.at("compile")(kInit);
  const CompileResult compiled =
      ToCompileResult(compile->Handle(ToMessage(CompileRequest{kTwiceSource, "sm_90a", true, {}}), channel));
  ASSERT_EQ(compiled.outcome, Outcome::kOk) << compiled.message;

  const auto run = roles.at("run")(kInit);
  EXPECT_EQ(run->Describe().at("device").at("kind"), "stub");
  run->Handle(ToMessage(TwiceSetup()), channel);
  const EvaluateRequest request{{kTwiceSource, compiled.program}, {}, {}, {}, {}};
  const auto answer = FromReply<Evaluation>(run->Handle(ToMessage(request), channel));
  ASSERT_TRUE(std::holds_alternative<Evaluation>(answer)) << std::get<InfrastructureReport>(answer).message;
  const auto& evaluation = std::get<Evaluation>(answer);
  EXPECT_EQ(evaluation.outcome, Outcome::kOk) << evaluation.message;
  EXPECT_EQ(evaluation.device, "stub");
  ASSERT_EQ(evaluation.cases.size(), 1U);
  EXPECT_EQ(evaluation.cases[0].name, "b") << "the cases that its policy names";
  EXPECT_GE(evaluation.cases[0].samples.size(), static_cast<std::size_t>(kStubPolicy.sampling.min_samples));
}

TEST(DeviceRoles, AnUnknownDeviceIsRefusedByBothRoles) {
  const auto roles = DeviceRoles({StubKind()});
  for (const char* role : {"compile", "run"}) {
    nlohmann::json init = kInit;
    init["device"] = "tpu";
    EXPECT_THAT([&] { roles.at(role)(init); }, ThrowsMessage<Error>(AllOf(HasSubstr("unknown device 'tpu'"), HasSubstr("stub"))));
  }
}

}  // namespace
}  // namespace evo
