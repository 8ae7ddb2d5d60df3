// A resumed run has the deadlines that the interrupted run had learnt.
#include <gtest/gtest.h>

#include "evaluator/scheduling/pipeline.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "platform/installation.h"

namespace evo {
namespace {

constexpr double kShortMs = 20;

GenerationRecord TemplatesThatTook(double ms, const std::string& device_name) {
  GenerationRecord generation;
  generation.candidates.resize(1);
  Evaluation& evaluation = generation.evaluations.emplace_back();
  evaluation.outcome = Outcome::kOk;
  evaluation.device_name = device_name;
  evaluation.clocks.check_ms = evaluation.clocks.time_ms = ms;
  return generation;
}

// Milliseconds until an endless kernel was ended.
double WaitedFor(bool same_device) {
  const Task task = LoadTask(std::filesystem::path(EVO_TEST_TASKS) / "brief");
  PipelineOptions options;
  options.worker_argv = {(ProgramDirectory() / "../bin/evo-worker").string()};
  options.compile_workers = 1;
  options.run_deadline = std::chrono::milliseconds(6'000);
  WorkerSet workers(options, task);
  const std::vector<GenerationRecord> before{TemplatesThatTook(kShortMs, same_device ? workers.device().name : "another")};
  Pipeline pipeline(workers, {.known = {}, .generations = &before, .counterexamples = {}});
  Candidate candidate;
  candidate.id = 2;
  candidate.generation = 1;
  const KernelTemplate kernel = LoadTemplate(task.directory / (task.baseline + ".cu"));
  candidate.source = RenderParameters(kernel.text, kernel.space.Defaults());
  const std::size_t body = candidate.source.find('{', candidate.source.find("__global__"));
  candidate.source.insert(body + 1, "\n  for (volatile int i = 0; i >= 0;) i = 1;\n");
  pipeline.Start({candidate});
  const std::vector<Evaluation> evaluations = pipeline.Finish({}, [](const Candidate&, const Evaluation&) {});
  EXPECT_EQ(evaluations.front().outcome, Outcome::kTimeout) << evaluations.front().message;
  return evaluations.front().clocks.check_ms;
}

// The deadline of a stage is run_deadline until the times of the templates are known, and 2 s with them.
TEST(ResumedPipeline, HasTheDeadlinesOfTheRunBefore) {
  EXPECT_LT(WaitedFor(true), 5'500);
  EXPECT_GE(WaitedFor(false), 5'500) << "times from another machine must not set deadlines on this one";
}

}  // namespace
}  // namespace evo
