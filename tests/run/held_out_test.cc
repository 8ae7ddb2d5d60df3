// The baseline of every task passes the check of a champion: held-out cases with fresh seeds in a fresh process.
#include <gtest/gtest.h>

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

INSTANTIATE_TEST_SUITE_P(Tasks, BaselineHolds, ::testing::ValuesIn(TaskNames(ShareDirectory() / "kernel_templates")),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace evo
