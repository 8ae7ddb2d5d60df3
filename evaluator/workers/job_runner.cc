#include "evaluator/workers/job_runner.h"

#include <future>
#include <utility>

namespace evo {

std::vector<JobResult> RunAndWait(JobRunner& runner, std::vector<Job> jobs, const std::stop_token& stop) {
  std::vector<std::promise<JobResult>> promises(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    runner.Submit(std::move(jobs[i]), [&promise = promises[i]](JobResult result) { promise.set_value(std::move(result)); });
  }
  // After Submit, so that a request that came earlier cancels these jobs, too.
  const std::stop_callback cancel(stop, [&runner] { runner.Cancel(); });
  std::vector<JobResult> results;
  for (std::promise<JobResult>& promise : promises) results.push_back(promise.get_future().get());
  return results;
}

}  // namespace evo
