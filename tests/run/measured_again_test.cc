// A candidate that is to be measured again is measured, even if the time of its program is known.
#include <gtest/gtest.h>

#include "evaluator/scheduling/pipeline.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "platform/installation.h"

namespace evo {
namespace {

TEST(MeasuredAgain, ForItselfAlone) {
  const Task task = LoadTask(std::filesystem::path(EVO_TEST_TASKS) / "brief");
  PipelineOptions options;
  options.worker_argv = {(ProgramDirectory() / "../bin/evo-worker").string()};
  options.compile_workers = 1;
  WorkerSet workers(options, task);
  Pipeline pipeline(workers);
  const KernelTemplate kernel = LoadTemplate(task.directory / (task.baseline + ".cu"));
  const auto evaluate = [&](CandidateId id, int measurement) {
    Candidate candidate;
    candidate.id = id;
    candidate.generation = 1;
    candidate.source = RenderParameters(kernel.text, kernel.space.Defaults());
    candidate.measurement = measurement;
    pipeline.Start({candidate});
    return pipeline.Finish({}, [](const Candidate&, const Evaluation&) {}).front();
  };
  const Evaluation first = evaluate(1, 0);
  const Evaluation again = evaluate(2, 1);
  const Evaluation third = evaluate(3, 0);
  ASSERT_EQ(first.outcome, Outcome::kOk) << first.message;
  ASSERT_EQ(again.outcome, Outcome::kOk) << again.message;
  EXPECT_EQ(again.shared_candidate, 0);
  EXPECT_GT(again.clocks.time_ms, 0);
  EXPECT_EQ(third.shared_candidate, 1) << "later candidates of the program share the first measurement";
  EXPECT_EQ(third.score_ns, first.score_ns);
}

}  // namespace
}  // namespace evo
