// A kernel may be fast only on the inputs that are timed. The champion check names the inputs on which it takes longest.
#include <gtest/gtest.h>

#include "evaluator/scheduling/pipeline.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "platform/installation.h"

namespace evo {
namespace {

ChampionCheck CheckOf(const std::filesystem::path& folder) {
  const Task task = LoadTask(folder);
  PipelineOptions options;
  options.worker_argv = {(ProgramDirectory() / "../bin/evo-worker").string()};
  options.compile_workers = 1;
  WorkerSet workers(options, task);
  Pipeline pipeline(workers);
  Candidate candidate;
  candidate.id = 1;
  const KernelTemplate kernel = LoadTemplate(task.directory / (task.baseline + ".cu"));
  candidate.source = RenderParameters(kernel.text, kernel.space.Defaults());
  return pipeline.CheckChampion(candidate, candidate, {});
}

TEST(SlowestInputs, AreNamedWhereAKernelDependsOnThem) {
  const ChampionCheck check = CheckOf(std::filesystem::path(EVO_TEST_TASKS) / "uneven");
  ASSERT_EQ(check.outcome, Outcome::kOk) << check.message;
  // normal(200,1) is the third generator; the kernel sums its rows 20 times instead of once.
  EXPECT_EQ(check.slowest.inputs, "case r64_c500, generator 2");
  EXPECT_GT(check.slowest.ratio, 3);
}

TEST(SlowestInputs, OfAnEvenKernelAreHardlySlower) {
  const ChampionCheck check = CheckOf(std::filesystem::path(EVO_TEST_TASKS) / "brief");
  ASSERT_EQ(check.outcome, Outcome::kOk) << check.message;
  EXPECT_GE(check.slowest.ratio, 1);
  EXPECT_LT(check.slowest.ratio, 3);
}

}  // namespace
}  // namespace evo
