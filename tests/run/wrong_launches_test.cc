// Launch lines that do not fit their kernels, and headers, in every command that takes a person's template.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr char kLong[] =
    "// A kernel.\n"
    "// evo:launch theirs(x, y, N) grid(ceil_div(N, 64)) block(64)\n"
    "__global__ void theirs(const float* x, float* y, long long n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = x[i] + x[n - 1 - i];\n}\n";

constexpr char kMessage[] =
    "theirs.cu:2: evo:launch theirs: argument 3, 'N', is passed as int, but the kernel takes `long long n`; write i64(N) or "
    "declare "
    "an i64 scalar\n";

class WrongLaunchesTest : public EvoRun {
 protected:
  void SetUp() override {
    EvoRun::SetUp();
    fs::copy(TaskFolder(), folder_ / "task");
  }
  std::string Task() const { return (folder_ / "task").string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  // One line, and nothing else.
  void ExpectTheMessage() const {
    const std::string output = Output();
    EXPECT_THAT(output, EndsWith(kMessage));
    EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
  }
  static std::string With(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
  }
};

TEST_F(WrongLaunchesTest, AreSaidBeforeAnythingStarts) {
  Write("task/theirs.cu", kLong);
  EXPECT_EQ(Run({"check", Task(), "--device", "cpu"}), 2);
  ExpectTheMessage();
  EXPECT_EQ(Run({"run", "--task", Task(), "--device", "cpu", "--db", Database()}), 2);
  ExpectTheMessage();
  EXPECT_FALSE(fs::exists(Database())) << "no run has begun";
  const std::string kernel = Write("theirs.cu", kLong);
  EXPECT_EQ(Run({"verify", "--task", TaskFolder(), "--kernel", kernel, "--device", "cpu"}), 2);
  ExpectTheMessage();
  EXPECT_EQ(Run({"check", TaskFolder(), "--kernel", kernel, "--device", "cpu"}), 2);
  ExpectTheMessage();
}

TEST_F(WrongLaunchesTest, AHeaderElsewhereNeedsItsFolder) {
  Write("common/sum.h",
        "#ifndef SUM_H\n#define SUM_H\n__device__ inline float Sum(float a, float b) { return a + b; }\n#endif\n");
  const std::string text =
      "#include \"sum.h\"\n" + With(With(kLong, "(x, y, N)", "(x, y, i64(N))"), "x[i] + x[n - 1 - i]", "Sum(x[i], x[n - 1 - i])");
  const std::string kernel = Write("theirs.cu", text);
  const std::vector<std::string> verify = {"verify", "--task", TaskFolder(), "--kernel", kernel, "--device", "cpu"};
  EXPECT_EQ(Run(verify), 2);
  EXPECT_THAT(Output(), HasSubstr("theirs.cu:1: #include \"sum.h\": not found in " + folder_.string() +
                                  "; name its folder with --include"));
  std::vector<std::string> with_folder = verify;
  with_folder.insert(with_folder.end(), {"--include", (folder_ / "common").string()});
  EXPECT_EQ(Run(with_folder), 0) << Output();
  with_folder.back() = "/nonexistent";
  EXPECT_EQ(Run(with_folder), 2);
  EXPECT_THAT(Output(), HasSubstr("--include /nonexistent: there is no such folder"));
}

TEST_F(WrongLaunchesTest, AHeaderWithCodeOfTheHostIsNamed) {
  Write("host.h", "#pragma once\n#include <iostream>\n");
  const std::string kernel = Write("theirs.cu", "#include \"host.h\"\n" + With(kLong, "(x, y, N)", "(x, y, i64(N))"));
  EXPECT_EQ(Run({"verify", "--task", TaskFolder(), "--kernel", kernel, "--device", "cpu"}), 2);
  EXPECT_THAT(Output(), HasSubstr("host.h:2: `#include <iostream>`: only headers of CUDA"));
}

// A run remembers the folders, so that it can go on. What the message above says to write is right.
TEST_F(WrongLaunchesTest, ARunGoesOnWithItsHeaders) {
  Write("common/sum.h", "__device__ inline float Sum(float a, float b) { return a + b; }\n");
  const std::string text =
      "#include \"sum.h\"\n" + With(With(kLong, "(x, y, N)", "(x, y, i64(N))"), "x[i] + x[n - 1 - i]", "Sum(x[i], x[n - 1 - i])");
  Write("task/theirs.cu", text);
  const std::vector<std::string> run = {"run", "--task",     Task(),         "--device", "cpu",  "--generations",
                                        "0",   "--no-check", "--population", "4",        "--db", Database()};
  EXPECT_EQ(Run(run), 2);
  std::vector<std::string> with_folder = run;
  with_folder.insert(with_folder.end(), {"--include", (folder_ / "common").string()});
  ASSERT_EQ(Run(with_folder), 0) << Output();
  ASSERT_EQ(Run({"run", "--resume", "--generations", "1", "--no-check", "--db", Database()}), 0) << Output();
  EXPECT_THAT(Output(), ::testing::Not(HasSubstr("changed since")));
}

}  // namespace
}  // namespace evo
