// `evo check`: the real programs, on the cpu device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/run/evo_process.h"

namespace evo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kWrong[] =
    "// evo:launch wrong(x, y, N) grid(ceil_div(N, 64)) block(64)\n"
    "__global__ void wrong(const float* x, float* y, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = x[i];\n}\n";

class CheckTaskTest : public EvoRun {
 protected:
  std::string CopyOfTheTask() const {
    const fs::path task = folder_ / "task";
    fs::copy(TaskFolder(), task);
    return task.string();
  }
  int Check(const std::string& task, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"check", task, "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(CheckTaskTest, ASoundTaskIsClean) {
  ASSERT_EQ(Check(TaskFolder()), 0) << Output();
  EXPECT_THAT(Output(), AllOf(HasSubstr("\nclean: 0 failing templates"), HasSubstr("hard inputs: the baseline is right on")));
  EXPECT_FALSE(fs::exists("evo.db")) << "nothing is stored";
}

TEST_F(CheckTaskTest, ATemplateThatFailsIsSaidWithItsReason) {
  const std::string file = (folder_ / "wrong.cu").string();
  std::ofstream(file) << kWrong;
  ASSERT_EQ(Check(TaskFolder(), {"--kernel", file, "--json"}), 3) << Output();
  std::string output = Output();
  const auto json = nlohmann::json::parse(output.substr(output.find('{')));
  EXPECT_EQ(json.at("clean"), false);
  const auto& row = json.at("templates").back();
  EXPECT_EQ(row.at("template"), file);
  EXPECT_EQ(row.at("outcome"), "wrong_result");
  EXPECT_EQ(row.at("nvcc"), "clean");
  EXPECT_THAT(row.at("message").get<std::string>(), HasSubstr("case small: y: relative L2 error"));
}

TEST_F(CheckTaskTest, AReferenceThatCrashesIsTheTasksFailure) {
  const std::string task = CopyOfTheTask();
  std::ifstream in(task + "/reference.cu");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t body = text.rfind('{', text.find('}'));
  text.insert(body + 1, "\n  *(volatile int*)0 = 1;\n");
  std::ofstream(task + "/reference.cu") << text;
  ASSERT_EQ(Check(task), 3) << Output();
  EXPECT_THAT(Output(), AllOf(HasSubstr("the reference"), HasSubstr("not run: the task has to be right first")));
}

TEST_F(CheckTaskTest, AWrongQuestionIsStatus2) {
  EXPECT_EQ(Run({"check"}), 2);
  EXPECT_EQ(Check("/nonexistent"), 2);
  EXPECT_THAT(Output(), HasSubstr("task /nonexistent: neither a folder with a task.json"));
  const std::string kernel = TaskFolder() + "/honest.cu";
  EXPECT_EQ(Run({"check", kernel, "--device", "cpu"}), 2);
  EXPECT_THAT(Output(), HasSubstr("a file; `evo init " + kernel + "` makes a task of a kernel"));
  EXPECT_EQ(Check(TaskFolder(), {"--kernel", "/nonexistent.cu"}), 2);
}

TEST_F(CheckTaskTest, MutatorsSayWhereTheyApplyAndWhyNot) {
  ASSERT_EQ(Run({"mutators", "--explain", TaskFolder()}), 0) << Output();
  EXPECT_THAT(Output(), AllOf(HasSubstr("launch_bounds "), HasSubstr("tile_contraction"), HasSubstr("why not")));
  ASSERT_EQ(Run({"mutators", "--explain", "gemm", "--json"}), 0) << Output();
  std::string output = Output();
  for (const auto& one : nlohmann::json::parse(output.substr(output.find('[')))) {
    if (one.at("template") != "naive") continue;
    for (const auto& mutator : one.at("mutators")) {
      if (mutator.at("mutator") == "tile_contraction") {
        EXPECT_EQ(mutator.at("places"), 3) << "larger tiles, smaller ones and narrow ones";
      }
    }
  }
  EXPECT_EQ(Run({"mutators", "--explain", "no_such_task"}), 2);
}

}  // namespace
}  // namespace evo
