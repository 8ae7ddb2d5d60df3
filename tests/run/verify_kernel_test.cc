// `evo verify --task --kernel`: kernels that evo did not make, on the cpu device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

constexpr char kRight[] =
    "// evo:launch theirs(x, y, N) grid(ceil_div(N, 64)) block(64)\n"
    "__global__ void theirs(const float* x, float* y, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = x[i] + x[n - 1 - i];\n}\n";

class VerifyKernelTest : public EvoRun {
 protected:
  int Verify(const std::string& kernel, const std::vector<std::string>& more = {}) const {
    const std::string file = (folder_ / "theirs.cu").string();
    std::ofstream(file) << kernel;
    std::vector<std::string> arguments = {"verify", "--task", TaskFolder(), "--kernel", file, "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
  static std::string With(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
  }
};

TEST_F(VerifyKernelTest, ARightKernelPasses) {
  ASSERT_EQ(Verify(kRight), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("verdict     verified (checked accesses, sampled blocks clean), held-out ok (n77, n1502)"));
  EXPECT_THAT(Output(), HasSubstr("over the baseline in interleaved timing"));
  EXPECT_THAT(Output(), HasSubstr("nvcc                 clean   the exported file compiles"));
  EXPECT_FALSE(fs::exists("evo.db")) << "nothing is stored";
}

// One crash ends the process, the other is a failure that the emulation reports.
TEST_F(VerifyKernelTest, SizesAtWhichTheBaselineCrashesAreLeftOut) {
  const fs::path task = folder_ / "task";
  fs::copy(TaskFolder(), task);
  std::ofstream(task / "even.cu") << With(kRight, "  if (i < n)",
                                          "  if (n == 1) x += 1 << 30;\n  if (n % 2 == 1 && n > 100) __trap();\n  if (i < n)");
  std::ifstream in(TaskFolder() + "/task.json");
  auto json = nlohmann::json::parse(in);
  json["baseline"] = "even";
  std::ofstream(task / "task.json") << json;
  const std::string file = (folder_ / "theirs.cu").string();
  std::ofstream(file) << kRight;
  ASSERT_EQ(Run({"verify", "--task", task.string(), "--kernel", file, "--device", "cpu"}), 0) << Output();
  EXPECT_THAT(Output(), HasSubstr("left out    N=1: the baseline crashes: killed by signal 11"));
  EXPECT_THAT(Output(), HasSubstr("\n            N=307 and 1 more: the baseline crashes: theirs: __trap()"));
  EXPECT_THAT(Output(), HasSubstr("\n            x: normal(0,1) | mask_second(-inf) and")) << "one heading for all";
  EXPECT_THAT(Output(), HasSubstr("right at the task's own and at N=150; N=600"));
}

TEST_F(VerifyKernelTest, ATimeLimitHoldsForWhatCouldGoOn) {
  ASSERT_EQ(Verify(kRight, {"--json", "--time-limit", "1s"}), 0) << Output();
  const auto check = nlohmann::json::parse(Output()).at("candidate").at("check");
  EXPECT_LT(check.at("adversary").at("adversary_inputs"), 20'000) << "as many as there would be with time";
  EXPECT_EQ(Verify(kRight, {"--time-limit", "soon"}), 2);
  EXPECT_THAT(Output(), HasSubstr("soon"));
}

TEST_F(VerifyKernelTest, TheVerdictAsJson) {
  ASSERT_EQ(Verify(kRight, {"--json"}), 0) << Output();
  const auto json = nlohmann::json::parse(Output());
  EXPECT_EQ(json.at("passed"), true);
  EXPECT_EQ(json.at("outcome"), "ok");
  EXPECT_EQ(json.at("candidate").at("check").at("tools").at(0).at("tool"), "nvcc");
  EXPECT_EQ(json.at("candidate").at("check").at("tools").at(0).at("result"), "clean");
}

TEST_F(VerifyKernelTest, AWrongKernelDoesNot) {
  EXPECT_EQ(Verify(With(kRight, "n - 1 - i", "n - 2 - i")), 3) << Output();
  EXPECT_EQ(Verify(With(kRight, "+ x[n - 1 - i]", "* 2")), 3) << Output();
  EXPECT_THAT(Output(), HasSubstr("verdict     failed: wrong_result"));
  EXPECT_THAT(Output(), HasSubstr("reason      check: "));
  EXPECT_EQ(Verify(With(kRight, "x[i] +", "nothing +")), 3) << Output();
  EXPECT_THAT(Output(), HasSubstr("identifier \"nothing\" is undefined"));
}

TEST_F(VerifyKernelTest, NorDoesOneThatIsNotOneSource) {
  EXPECT_EQ(Verify(std::string("#ifdef __CUDACC_RTC__\n#endif\n") + kRight), 3) << Output();
  EXPECT_THAT(Output(), HasSubstr("unsupported"));
  EXPECT_THAT(Output(), HasSubstr("line 1: `#ifdef` on `__CUDACC_RTC__`"));
}

TEST_F(VerifyKernelTest, WithoutALaunchLineItSaysWhichIsMissing) {
  EXPECT_EQ(Verify(With(kRight, "// evo:launch theirs(x, y, N) grid(ceil_div(N, 64)) block(64)\n", "")), 2);
  EXPECT_THAT(Output(), HasSubstr("`// evo:launch theirs(x, y, N) grid(ceil_div(N, 128)) block(128)`"));
  const std::string output = Output();
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
}

TEST_F(VerifyKernelTest, WhatCannotBeAskedIsRefused) {
  EXPECT_EQ(Run({"verify", "--help"}), 0);
  EXPECT_THAT(Output(), HasSubstr("--kernel TEXT"));
  EXPECT_EQ(Run({"verify", "--kernel", "a.cu"}), 2);
  EXPECT_THAT(Output(), HasSubstr("--task"));
  EXPECT_EQ(Run({"verify", "--task", "softmax"}), 2);
  EXPECT_EQ(Run({"verify", "--task", TaskFolder(), "--kernel", "/nonexistent.cu", "--device", "cpu"}), 2);
  EXPECT_THAT(Output(), HasSubstr("/nonexistent.cu: there is no such file"));
  EXPECT_EQ(Run({"check", TaskFolder(), "--kernel", TaskFolder(), "--device", "cpu"}), 2);
  EXPECT_THAT(Output(), HasSubstr(TaskFolder() + ": a folder; name the .cu file in it"));
  EXPECT_EQ(Run({"check", TaskFolder(), "--kernel", "/dev/null", "--device", "cpu"}), 2);
  EXPECT_THAT(Output(), HasSubstr("/dev/null: not a regular file"));
  EXPECT_EQ(Run({"verify", "--task", TaskFolder(), "--kernel", "a.cu", "--against", "b.db"}), 2);
}

}  // namespace
}  // namespace evo
