#include "cli/run_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/stored_run.h"

namespace evo {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::vector<std::string> TemplatesOf(const RunOptions& options, const std::string& device) {
  std::vector<std::string> names;
  for (const KernelTemplate& one : PrepareRun(options, CommandContext{}, {device, {0}}).templates) names.push_back(one.name);
  return names;
}

RunOptions Attention() {
  RunOptions options;
  options.task = (std::filesystem::path(EVO_KERNEL_TEMPLATES_DIR) / "attention").string();
  return options;
}

TEST(PrepareRun, LeavesOutTemplatesThatCanOnlyFail) {
  EXPECT_THAT(TemplatesOf(Attention(), "cuda"), Contains("wgmma"));
  EXPECT_THAT(TemplatesOf(Attention(), "cpu"), Not(Contains("wgmma")));
  EXPECT_THAT(TemplatesOf(Attention(), "cpu"), Contains("wmma"));
  RunOptions older = Attention();
  older.arch = "sm_80";
  EXPECT_THAT(TemplatesOf(older, "cuda"), Not(Contains("wgmma")));
}

TEST(PrepareRun, TakesThemWhereTheyAreAskedFor) {
  RunOptions options = Attention();
  options.templates = {"wgmma"};
  EXPECT_THAT(TemplatesOf(options, "cpu"), ::testing::ElementsAre("naive", "wgmma"));
}

TEST(PrepareRun, SearchesAtTheShapesGiven) {
  RunOptions options = Attention();
  options.shapes = {"B=4,S=128"};
  const RunSetup setup = PrepareRun(options, CommandContext{}, {"cuda", {0}});
  ASSERT_EQ(setup.task.search_cuda.size(), 1u);
  EXPECT_EQ(setup.task.search_cuda[0].name, "shape_B4_H8_S128_D64");
  EXPECT_EQ(setup.record.task_digest, setup.task.digest);
  EXPECT_NE(setup.record.task_digest, PrepareRun(Attention(), CommandContext{}, {"cuda", {0}}).record.task_digest);

  // Whoever finds the run in a database has the same task again.
  const auto stored = FindStoredTask(CommandContext{}, setup.record);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->search_cuda[0].name, "shape_B4_H8_S128_D64");
  RunRecord plain = setup.record;
  plain.options = "{}";
  EXPECT_FALSE(FindStoredTask(CommandContext{}, plain)) << "its digest is that of the shape";
}

}  // namespace
}  // namespace evo
