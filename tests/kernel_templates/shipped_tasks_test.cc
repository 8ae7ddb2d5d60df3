#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/unified_diff.h"
#include "kernel_templates/launch_plan.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/text_file.h"
#include "tests/kernel_templates/task_names.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// The shared memory that a block may have on Hopper and Blackwell.
constexpr std::uint64_t kMostSharedBytes = 227 * 1024;
constexpr std::uint64_t kSharedBytesOfEveryDevice = 48 * 1024;
// The shared memory that a block may have on sm_80.
constexpr std::uint64_t kSharedBytesOfAmpere = 163 * 1024;

std::vector<Case> AllCases(const Task& task) {
  std::vector<Case> cases{task.small};
  for (const auto* list : {&task.search_cuda, &task.search_cpu, &task.held_out, &task.held_out_cpu}) {
    cases.insert(cases.end(), list->begin(), list->end());
  }
  return cases;
}

std::uint64_t LargestShared(const LaunchPlan& plan) {
  std::uint64_t largest = 0;
  for (const auto& step : plan.steps) {
    if (const auto* launch = std::get_if<PlannedLaunch>(&step)) largest = std::max(largest, launch->shared_bytes);
  }
  return largest;
}

// What a golden file holds: how a template's text and its rendering differ, for parameter values that are always the same ones
// and mostly not the defaults.
std::string RenderingDiff(const KernelTemplate& kernel) {
  Rng rng(2026);
  return UnifiedDiff(kernel.name + ".cu", kernel.text, "rendered", RenderParameters(kernel.text, *kernel.space.Draw(rng)));
}

class ShippedTask : public testing::TestWithParam<std::string> {
 protected:
  ShippedTask() : task_(LoadTask(fs::path(EVO_TASKS) / GetParam())), templates_(LoadTemplates(task_.directory)) {}
  fs::path Golden(const KernelTemplate& kernel) const {
    return fs::path(EVO_GOLDEN) / (task_.name + "_" + kernel.name + ".diff");
  }
  Task task_;
  std::vector<KernelTemplate> templates_;
};

TEST_P(ShippedTask, EveryDrawCanBeLaunchedInEveryCase) {
  for (const KernelTemplate& kernel : templates_) {
    Rng rng(1);
    std::vector<Parameters> draws{kernel.space.Defaults()};
    for (int i = 0; i < 50; ++i) draws.push_back(*kernel.space.Draw(rng));
    for (const Parameters& parameters : draws) {
      const KernelTemplate rendered = ParseTemplate(kernel.name, RenderParameters(kernel.text, parameters));
      EXPECT_EQ(rendered.space.Defaults(), parameters);
      for (const Case& sizes : AllCases(task_)) {
        const auto plan = PlanLaunches(rendered, parameters, task_, sizes);
        ASSERT_TRUE(std::holds_alternative<LaunchPlan>(plan)) << kernel.name << ": " << std::get<PlanFailure>(plan).message;
        EXPECT_LE(LargestShared(std::get<LaunchPlan>(plan)), kMostSharedBytes) << kernel.name;
      }
    }
  }
}

TEST_P(ShippedTask, DefaultsRunWhereSharedMemoryIsScarce) {
  for (const KernelTemplate& kernel : templates_) {
    // A template for one architecture only may use all that this architecture has.
    if (!CompilesFor(kernel.required_arch, "sm_90")) continue;
    const auto plan = PlanLaunches(kernel, kernel.space.Defaults(), task_, task_.small);
    const std::uint64_t bound = kernel.required_arch == "sm_80" ? kSharedBytesOfAmpere : kSharedBytesOfEveryDevice;
    EXPECT_LE(LargestShared(std::get<LaunchPlan>(plan)), bound) << kernel.name;
  }
}

// Tasks that have templates of their own: variants of these have no golden files.
class GoldenTask : public ShippedTask {};

// After a change of a template, rewrite them: shipped_tasks_test --gtest_also_run_disabled_tests --gtest_filter=*Rewrite*
TEST_P(GoldenTask, RendersAsTheGoldenFiles) {
  for (const KernelTemplate& kernel : templates_) {
    EXPECT_EQ(ReadTextFile(Golden(kernel)), RenderingDiff(kernel)) << Golden(kernel);
  }
}

TEST_P(GoldenTask, DISABLED_RewriteTheGoldenFiles) {
  for (const KernelTemplate& kernel : templates_) std::ofstream(Golden(kernel), std::ios::binary) << RenderingDiff(kernel);
}

// The text of the nth code block of this language in a page.
std::string CodeBlock(const std::string& page, const std::string& language, int nth) {
  std::size_t at = 0;
  for (int i = 0; i <= nth; ++i) at = page.find("```" + language + "\n", at) + language.size() + 4;
  return page.substr(at, page.find("```", at) - at);
}

TEST(WritingATask, TheExampleOfThePageIsATask) {
  const std::string page = ReadTextFile(fs::path(EVO_DOCS) / "writing_a_task.md").value();
  const Task task = ParseTask(CodeBlock(page, "json", 0), CodeBlock(page, "cuda", 0), "axpy");
  const KernelTemplate kernel = ParseTemplate(task.baseline, CodeBlock(page, "cuda", 1));
  for (const Case& sizes : AllCases(task)) {
    EXPECT_TRUE(std::holds_alternative<LaunchPlan>(PlanLaunches(kernel, kernel.space.Defaults(), task, sizes))) << sizes.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, ShippedTask, testing::ValuesIn(TaskNames(EVO_TASKS)), [](const auto& p) { return p.param; });
INSTANTIATE_TEST_SUITE_P(Tasks, GoldenTask, testing::Values("attention", "gemm", "layer_norm", "row_sum", "softmax", "transpose"),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace evo
