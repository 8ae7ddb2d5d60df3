#include "evaluator/scheduling/launch_prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

std::string Refusal(const std::string& launch, const std::string& kind = "cuda") {
  const Task task = ParseTask(kTask, "// evo:launch reference(X, Y) grid(S) block(32)\n", "t");
  DeviceInfo device;
  device.kind = kind;
  device.shared_bytes_per_block_optin = 1000;
  device.max_threads_per_block = 512;
  return CannotLaunch("// evo:param N 8 32\n#ifndef N\n#define N 8\n#endif\n// evo:launch k(X, Y) " + launch + "\n", task, device)
      .value_or("");
}

TEST(CannotLaunch, KnowsWhatNoCompilerCanMend) {
  EXPECT_EQ(Refusal("grid(S) block(N, 64) shared(N * 125)"), "");
  EXPECT_THAT(Refusal("grid(S) block(N, 64) shared(N * 126)"), HasSubstr("1008 bytes of dynamic shared memory"));
  EXPECT_THAT(Refusal("grid(S) block(N, 65)"), HasSubstr("520 threads"));
  EXPECT_THAT(Refusal("grid(S - 100) block(32)"), HasSubstr("grid"));
}

TEST(CannotLaunch, LooksAtTheCasesOfTheDevice) {
  EXPECT_THAT(Refusal("grid(1) block(32) shared(S)"), HasSubstr("2000 bytes"));
  EXPECT_EQ(Refusal("grid(1) block(32) shared(S)", "cpu"), "");
}

TEST(CannotLaunch, LeavesWrongDirectivesToTheCompilersReport) { EXPECT_EQ(Refusal("gird(1)"), ""); }

}  // namespace
}  // namespace evo
