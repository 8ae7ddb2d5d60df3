#include "evaluator/scheduling/task_surveyor.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "core/error.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/scheduling/baseline_failures.h"
#include "evaluator/scheduling/job_results.h"
#include "evaluator/scheduling/jobs.h"

namespace evo {
namespace {

// One run of the reference or the baseline. A user waits.
constexpr std::chrono::milliseconds kRunDeadline{20'000};
// A reference in Python has a deadline of its own for each answer, and says more of what took too long.
constexpr std::chrono::milliseconds kReferenceDeadline{45'000};
// Parts of one stage that follow each other: distributions of a case, hard inputs.
constexpr int kDeadlinesPerSurvey = 20;
// Each costs the start of a worker.
constexpr std::size_t kMostSurveysAvoided = 12;

Job MakeSurveyJob(const std::vector<AvoidedInputs>& avoided) {
  Job job = MakeRunJob(ToMessage(SurveyRequest{avoided}), kRunDeadline, nullptr);
  job.stage_deadlines = {{Stage::kPrepare, kReferenceDeadline}};
  job.deadlines_per_stage = kDeadlinesPerSurvey;
  return job;
}

// The runs of both are announced as the baseline's; the stage tells which it was.
AvoidedInputs Blamed(AvoidedInputs failed, const JobResult& result) {
  constexpr std::string_view kBaseline = "the baseline ";
  if (result.death && result.stage == Stage::kPrepare && failed.reason.starts_with(kBaseline))
    failed.reason = "the reference " + failed.reason.substr(kBaseline.size());
  return failed;
}

}  // namespace

TaskSurvey SurveyInFreshWorkers(FreshWorkers& workers, const std::stop_token& stop) {
  const Seeds seeds = workers.DrawSeeds();
  std::vector<AvoidedInputs> avoided;
  for (;;) {
    const JobResult result = RunAndWait(*workers.StartRunner(seeds), {MakeSurveyJob(avoided)}, stop).front();
    if (stop.stop_requested()) throw Interrupted();
    auto failed = BaselineFailedOn(result);
    if (!failed) return ReadRunReply<TaskSurvey>(result, "looking at the task");
    avoided.push_back(Blamed(std::move(*failed), result));
    if (avoided.size() > kMostSurveysAvoided) {
      throw Error(fmt::format("the reference or the baseline fails on {} cases or inputs, at last on {}: {}", avoided.size(),
                              avoided.back().on.case_name, avoided.back().reason));
    }
  }
}

}  // namespace evo
