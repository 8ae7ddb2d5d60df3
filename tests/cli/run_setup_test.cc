#include "cli/run_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

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

}  // namespace
}  // namespace evo
