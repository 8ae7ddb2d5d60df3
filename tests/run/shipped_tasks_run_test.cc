// Every shipped task evolves for a moment on the cpu device. What a champion's check does with its cases: held_out_test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "kernel_templates/task.h"
#include "tests/kernel_templates/task_names.h"
#include "tests/run/evo_process.h"

namespace evo {
namespace {

class ShippedTaskRun : public EvoRun, public ::testing::WithParamInterface<std::string> {
 protected:
  std::string Text(const std::string& query) const {
    SQLite::Database db(Database(), SQLite::OPEN_READONLY);
    SQLite::Statement statement(db, query);
    return statement.executeStep() ? statement.getColumn(0).getString() : "";
  }
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("evo-run-test-{}-{}", ::getpid(), GetParam());
    fs::create_directories(folder_);
  }
};

// Their sizes leave no kernel without inline PTX a chance on a GPU, so that their baselines have some.
const std::set<std::string> kForGpusOnly = {"attention_causal_d128", "attention_d128"};

TEST_P(ShippedTaskRun, EvolvesForAMoment) {
  const std::string baseline = LoadTask(ShareDirectory() / "kernel_templates" / GetParam()).baseline;
  const int status = Run({"run",           "--task",     GetParam(),     "--template", baseline,     "--device", "cpu",
                          "--generations", "1",          "--population", "3",          "--children", "4",        "--minimise",
                          "off",           "--no-check", "--seed",       "3",          "--db",       Database()});
  if (kForGpusOnly.contains(GetParam())) {
    EXPECT_EQ(status, 1);
    EXPECT_THAT(Output(), ::testing::HasSubstr("inline PTX is not supported on the cpu device"));
    return;
  }
  ASSERT_EQ(status, 0) << Output();
  EXPECT_EQ(Text("select status from run"), "finished") << Output();
  // A mutated kernel may be wrong or slow; the evaluator itself must not fail.
  EXPECT_EQ(Text("select count(*) from evaluation where outcome in ('crash', 'cancelled', 'unsupported')"), "0") << Output();
  EXPECT_NE(Text("select count(*) from evaluation where outcome = 'ok'"), "0") << Output();
}

INSTANTIATE_TEST_SUITE_P(Tasks, ShippedTaskRun, ::testing::ValuesIn(TaskNames(ShareDirectory() / "kernel_templates")),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace evo
