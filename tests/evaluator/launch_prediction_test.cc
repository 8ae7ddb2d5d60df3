#include "evaluator/workers/launch_prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluator/messages/message_codec.h"
#include "evaluator/workers/compile_role.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTask = R"json({
  "name": "t", "summary": "s", "sizes": ["S"],
  "arguments": [
    {"name": "X", "role": "in", "dtype": "f32", "shape": ["S"], "generators": ["normal"]},
    {"name": "Y", "role": "out", "dtype": "f32", "shape": ["S"], "check": "exact"}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"S": 100}},
    "search": [{"name": "a", "sizes": {"S": 2000}}], "search_cpu": [{"name": "b", "sizes": {"S": 200}}],
    "held_out": [{"name": "c", "sizes": {"S": 1}}], "held_out_cpu": [{"name": "d", "sizes": {"S": 1}}]
  },
  "baseline": "naive", "bytes": 1, "operations": 1
})json";

std::string Source(const std::string& launch) {
  return "// evo:param N 8 32\n#ifndef N\n#define N 8\n#endif\n// evo:launch k(X, Y) " + launch + "\n";
}

DeviceInfo SmallDevice(const std::string& kind) {
  DeviceInfo device;
  device.kind = kind;
  device.shared_bytes_per_block_optin = 1000;
  device.max_threads_per_block = 512;
  return device;
}

// As the compile worker reads it: a source whose directives cannot be parsed never comes this far.
std::string Failure(const std::string& launch, const std::string& kind = "cuda") {
  const Task task = ParseTask(kTask, "// evo:launch reference(X, Y) grid(S) block(32)\n", "t");
  return CannotLaunch(ParseTemplate("candidate", Source(launch)), task, SmallDevice(kind)).value_or("");
}

TEST(CannotLaunch, KnowsWhatNoCompilerCanFix) {
  EXPECT_EQ(Failure("grid(S) block(N, 64) shared(N * 125)"), "");
  EXPECT_THAT(Failure("grid(S) block(N, 64) shared(N * 126)"), HasSubstr("1008 bytes of dynamic shared memory"));
  EXPECT_THAT(Failure("grid(S) block(N, 65)"), HasSubstr("520 threads"));
  EXPECT_THAT(Failure("grid(S - 100) block(32)"), HasSubstr("grid"));
}

TEST(CannotLaunch, LooksAtTheCasesOfTheDevice) {
  EXPECT_THAT(Failure("grid(1) block(32) shared(S)"), HasSubstr("2000 bytes"));
  EXPECT_EQ(Failure("grid(1) block(32) shared(S)", "cpu"), "");
}

// Succeeds and counts.
class CountingCompiler : public Compiler {
 public:
  explicit CountingCompiler(int& calls) : calls_(calls) {}
  CompileResult Compile(const CompilerInput&) override {
    ++calls_;
    CompileResult result;
    result.outcome = Outcome::kOk;
    return result;
  }

 private:
  int& calls_;
};

class SilentChannel : public WorkerChannel {
 public:
  void Begin(Stage, bool) override { ++begun; }
  int begun = 0;
};

class CompileWorkerLimits : public ::testing::Test {
 protected:
  void SendLimits() {
    const LaunchLimitsRequest limits{kTask, "// evo:launch reference(X, Y) grid(S) block(32)\n", "t", SmallDevice("cuda")};
    role_.Handle(ToMessage(limits), channel_);
    EXPECT_EQ(channel_.begun, 0) << "a setup has one answer and no markers";
  }
  CompileResult Compile(const std::string& source, bool check = true) {
    return ToCompileResult(role_.Handle(ToMessage(CompileRequest{source, "sm_90a", check, {}}), channel_));
  }
  int calls_ = 0;
  SilentChannel channel_;
  CompileRole role_{std::make_unique<CountingCompiler>(calls_), nullptr};
};

TEST_F(CompileWorkerLimits, WhatCannotBeLaunchedIsNotCompiled) {
  SendLimits();
  const CompileResult result = Compile(Source("grid(S) block(N, 65)"));
  EXPECT_EQ(result.outcome, Outcome::kResourceLimit);
  EXPECT_EQ(result.message, "k: 520 threads a block, the device takes 1 to 512 (not compiled)");
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(Compile(Source("grid(S) block(N, 64)")).outcome, Outcome::kOk);
  EXPECT_EQ(calls_, 1);
}

TEST_F(CompileWorkerLimits, DoNotHoldForTheReference) {
  SendLimits();
  EXPECT_EQ(Compile(Source("grid(S) block(N, 65)"), false).outcome, Outcome::kOk);
}

TEST_F(CompileWorkerLimits, WithoutLimitsEverythingIsCompiled) {
  EXPECT_EQ(Compile(Source("grid(S) block(N, 65)")).outcome, Outcome::kOk);
}

TEST_F(CompileWorkerLimits, WrongDirectivesAreACompileError) {
  SendLimits();
  const CompileResult result = Compile(Source("gird(1)"));
  EXPECT_EQ(result.outcome, Outcome::kCompileError);
  EXPECT_THAT(result.message, HasSubstr("gird"));
  EXPECT_EQ(calls_, 0);
}

}  // namespace
}  // namespace evo
