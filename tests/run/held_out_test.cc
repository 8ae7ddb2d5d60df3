// The baseline of a task passes the check of a champion: held-out cases with fresh seeds in a fresh process. Six tasks with each
// build, every task in `scripts/test --slow`.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "evaluator/scheduling/pipeline.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "platform/installation.h"
#include "tests/kernel_templates/task_names.h"

namespace evo {
namespace {

class BaselineHolds : public ::testing::TestWithParam<std::string> {};

TEST_P(BaselineHolds, OnHeldOutCases) {
  const Task task = LoadTask(ShareDirectory() / "kernel_templates" / GetParam());
  PipelineOptions options;
  options.worker_argv = {(ProgramDirectory() / "../bin/evo-worker").string()};
  options.compile_workers = 1;
  WorkerSet workers(options, task);
  Pipeline pipeline(workers);
  Candidate baseline;
  baseline.id = 1;
  const KernelTemplate naive = LoadTemplate(task.directory / (task.baseline + ".cu"));
  baseline.source = RenderParameters(naive.text, naive.space.Defaults());
  const ChampionCheck check = pipeline.CheckChampion(baseline, baseline, {});
  EXPECT_EQ(check.outcome, Outcome::kOk) << check.message;
  EXPECT_EQ(check.held_out_cases.size(), task.held_out_cpu.size());
}

std::vector<std::string> Tasks() {
#ifdef EVO_EVERY_TASK
  std::vector<std::string> tasks = TaskNames(ShareDirectory() / "kernel_templates");
  // Their baselines have inline PTX, which the cpu device does not run.
  std::erase_if(tasks, [](const std::string& name) { return name.ends_with("_d128"); });
  return tasks;
#else
  return {"softmax", "layer_norm", "row_sum", "transpose", "gemm", "attention"};
#endif
}

INSTANTIATE_TEST_SUITE_P(Tasks, BaselineHolds, ::testing::ValuesIn(Tasks()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace evo
