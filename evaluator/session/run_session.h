#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/diagnosis.h"
#include "core/evaluation.h"
#include "core/machine.h"
#include "evaluator/messages/requests.h"
#include "evaluator/session/case_timer.h"
#include "evaluator/session/input_cache.h"
#include "evaluator/session/input_pool.h"
#include "evaluator/session/session_context.h"
#include "evaluator/workers/worker_main.h"

namespace evo {

// What one run worker does for one task on its device: it checks and times programs. Everything random comes from the setup's
// seeds. Methods throw InfrastructureFailure where the reference or the device fails, not the candidate.
class RunSession {
 public:
  // Longest idle-time re-verification of one candidate: the search waits for the result. Three times as long as 16 compilers take
  // for the next kernel.
  static constexpr std::chrono::milliseconds kReverificationTime{50};

  // `jobs_wait` says whether other jobs wait for this worker. While none does, a candidate is checked further. `python` computes
  // the answers of a task whose reference is a Python file.
  RunSession(std::unique_ptr<Device> device, std::function<bool()> jobs_wait,
             std::chrono::milliseconds reverification_time = kReverificationTime, std::unique_ptr<Reference> python = nullptr);

  const DeviceInfo& info() const { return device_->info(); }
  // True after a job that this process must not outlive.
  bool must_restart() const { return must_restart_; }

  // Names the task of all jobs that follow. Draws the inputs, but leaves the device alone: a standby worker must not disturb the
  // worker that is timing.
  void Setup(const SetupRequest& request);
  Evaluation Evaluate(const EvaluateRequest& request, WorkerChannel& channel);
  ChampionCheck CheckChampion(const ChampionRequest& request, WorkerChannel& channel);
  // Runs the baseline alone; see BaselineRequest.
  BaselineResult TryBaseline(const BaselineRequest& request, WorkerChannel& channel);
  // Looks at the task itself; see SurveyRequest.
  TaskSurvey Survey(const SurveyRequest& request, WorkerChannel& channel);
  // How long the reference takes; see ReferenceRequest.
  ReferenceCost TimeReference(WorkerChannel& channel);
  // How fast this device is. Needs no setup.
  MachineState Measure(const MachineRequest& request, WorkerChannel& channel);
  // Runs one case once, for a tool that watches this process; see SmallCaseRequest. One line that says what was wrong, or empty.
  std::string RunOnce(const SmallCaseRequest& request, WorkerChannel& channel);
  // What two programs do, by the hardware's counters; see CountRequest.
  CountedEvents CountEvents(const CountRequest& request, WorkerChannel& channel);
  // Runs samples of blocks at the sizes of a GPU; see BlockSampleRequest. This process must not be used after it.
  ToolResult SampleBlocks(const BlockSampleRequest& request, WorkerChannel& channel);

 private:
  SessionContext Context();
  L2State TimedL2() const { return l2_ == "cold" ? L2State::kCold : L2State::kHot; }
  // `battery`: how many inputs of the standard battery; 0: all. The job's baseline runs are announced from here on.
  void PlaceInputs(WorkerChannel& channel, std::size_t battery, const std::vector<Counterexample>& known,
                   const std::vector<AvoidedInputs>& avoided);
  void NoteContamination(const Failure& failure);

  std::unique_ptr<Device> device_;
  std::function<bool()> jobs_wait_;
  std::chrono::milliseconds reverification_time_;
  InputCache cache_;
  std::string l2_;                   // "hot" or "cold"
  std::optional<InputPool> inputs_;  // of the setup's task, as are the next two
  std::optional<LegalInputs> legal_;
  std::optional<CaseTimer> timer_;
  DiagnosedDevice diagnosed_;
  bool must_restart_ = false;
};

}  // namespace evo
