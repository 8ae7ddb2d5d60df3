#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "evaluator/device/device_policy.h"
#include "evaluator/messages/requests.h"
#include "evaluator/scheduling/evaluation_cache.h"
#include "evaluator/scheduling/scheduled_candidate.h"
#include "evaluator/scheduling/search_history.h"
#include "evaluator/scheduling/utilisation.h"
#include "evaluator/workers/job_runner.h"

namespace evo {

// The runners and the conditions under which candidates are evaluated.
struct SchedulerSettings {
  JobRunner& compile;
  JobRunner& run;
  int compile_workers = 1;
  int run_workers = 1;
  std::string device;  // "cpu" or "cuda", for the record
  std::string device_name;
  std::string arch;  // what candidates are compiled for
  std::string l2;
  DevicePolicy policy;
  std::chrono::milliseconds run_deadline{10'000};  // the longest that a stage on a run worker may take
  ImageSizes image_sizes{};                        // for sources that have sizes compiled in
};

// Sends each candidate to a compile worker and then to a run worker, unless the cache knows its evaluation. The source of a
// candidate is only passed on, never parsed. Start and Finish belong to one thread; results come in from the runners' threads.
class Scheduler {
 public:
  Scheduler(const SchedulerSettings& settings, PriorKnowledge prior);
  // Cancels what is under way and waits until it has ended.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // As Evaluator::Start and Evaluator::Finish.
  void Start(std::vector<Candidate> candidates);
  std::vector<Evaluation> Finish(const std::stop_token& stop, const Evaluator::Each& each);

  std::chrono::milliseconds ChampionDeadline() const;
  // Inputs on which wrong candidates are found soonest; see RaceBounds.
  std::vector<Counterexample> InputsToTryFirst() const;
  // Inputs on which a candidate failed that had passed all checks of the search.
  void LearnMissed(const Counterexample& counterexample);
  Utilisation utilisation() const;

 private:
  void SubmitCompile(const ScheduledPointer& work);
  void SubmitRun(const ScheduledPointer& work);
  void SubmitUnlessCancelled(const ScheduledPointer& work, Stage stage, const std::function<void()>& submit);
  void OnCompiled(const ScheduledPointer& work, const JobResult& result);
  void OnRun(const ScheduledPointer& work, const JobResult& result);
  bool AvoidLater(ScheduledCandidate& work, const JobResult& result);
  bool TryFindSource(ScheduledCandidate& work) const;
  void ClaimAndRun(const ScheduledPointer& work);
  void Complete(const ScheduledPointer& work);
  std::vector<ScheduledPointer> ResolveWaiters(ScheduledCandidate& work);
  void Fail(const ScheduledPointer& work, Outcome outcome, Stage stage, const std::string& message);
  void SetFatal(const std::string& message);
  void CancelAll(std::unique_lock<std::mutex>& lock);
  bool AllFinished() const;

  const SchedulerSettings settings_;

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<Batch>> batches_;  // in the order of their start
  bool cancelled_ = false;                      // until every batch has ended
  std::string fatal_;                           // why the run must end; empty: it need not
  EvaluationCache cache_;
  SearchHistory history_;
  UtilisationMeter meter_;
};

}  // namespace evo
