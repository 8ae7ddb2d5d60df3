// Candidates are counted between evaluations by real workers, whose device has no counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "evaluator/scheduling/elite_counter.h"
#include "evaluator/scheduling/pipeline.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "platform/installation.h"

namespace evo {
namespace {

TEST(CountedElites, AreAskedForBetweenEvaluationsAndRefused) {
  const Task task = LoadTask(std::filesystem::path(EVO_TEST_TASKS) / "brief");
  const KernelTemplate kernel = LoadTemplate(task.directory / (task.baseline + ".cu"));
  PipelineOptions options;
  options.worker_argv = {(ProgramDirectory() / "../bin/evo-worker").string()};
  options.compile_workers = 1;
  WorkerSet workers(options, task);
  EXPECT_FALSE(workers.elite_counter_settings()) << "the cpu device counts nothing";
  Pipeline pipeline(workers);
  SchedulerSettings scheduling = workers.scheduler_settings();
  EliteCounterSettings settings{scheduling.compile, scheduling.run, {}, scheduling.arch, scheduling.image_sizes};
  settings.start = [&](const std::stop_token&) { return workers.StartRunner(Seeds(kPoolSeeds, 1)); };
  std::promise<std::string> warned;
  settings.warn = [&](const std::string& line) { warned.set_value(line); };
  // Each look at the clock is an hour after the last, so that there is always time.
  std::atomic<int> looks = 0;
  settings.now = [&] { return EliteCounterSettings::Clock::time_point(std::chrono::hours(++looks)); };
  std::vector<Candidate> candidates(3);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].id = static_cast<CandidateId>(i + 1);
    candidates[i].source = RenderParameters(kernel.text, kernel.space.Defaults());
  }
  EliteCounter counter(std::move(settings));
  std::future<std::string> refused = warned.get_future();
  pipeline.Start({candidates.front()});
  while (refused.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready)
    EXPECT_THAT(counter.Count(candidates), ::testing::IsEmpty());
  EXPECT_THAT(refused.get(), ::testing::HasSubstr("this device counts nothing"));
  counter.End();
  EXPECT_EQ(pipeline.Finish({}, [](const Candidate&, const Evaluation&) {}).front().outcome, Outcome::kOk);
}

}  // namespace
}  // namespace evo
