#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/machine.h"
#include "evaluator/gate/gate.h"
#include "evaluator/messages/requests.h"
#include "evaluator/session/input_cache.h"
#include "evaluator/timer/timer.h"
#include "evaluator/workers/worker_main.h"
#include "kernel_templates/task.h"

namespace evo {

// A program over the input sets of one case. Members refer to each other, so it stays where it is made.
struct CaseOfProgram {
  Case sizes;
  LaunchBinding binding;
  std::vector<BoundProgram> bound;
  CheckedErrors errors;
};

// What one run worker does for one task on its device: checks and times programs. Everything random comes from the setup's seeds.
// Methods throw InfrastructureFailure where the reference or the device fails, not the candidate.
class RunSession {
 public:
  // Of a soak, at most: the search waits for the result. Three times as long as 16 compilers take for the next kernel.
  static constexpr std::chrono::milliseconds kReverificationTime{50};

  // Of the code of what is timed with care. Six sets, the usual number, and their eight places meet each of them.
  static constexpr std::size_t kCodePlacements = 5;

  // `jobs_wait`: whether others wait for this worker. A candidate for which none does when it comes is checked further, until one
  // does.
  RunSession(std::unique_ptr<Device> device, std::function<bool()> jobs_wait,
             std::chrono::milliseconds reverification_time = kReverificationTime);

  const DeviceInfo& info() const { return device_->info(); }
  // True after a job that this process must not outlive.
  bool must_restart() const { return must_restart_; }

  // What the jobs that follow are about. Draws the inputs, but leaves the
  // device alone: a worker in reserve must not disturb the one that is timing.
  void Setup(const SetupRequest& request);
  Evaluation Evaluate(const EvaluateRequest& request, WorkerChannel& channel);
  // How fast this device is; before any setup.
  MachineState Measure(const MachineRequest& request, WorkerChannel& channel);
  // Runs the small case once and checks it; for a tool that watches this process. What was wrong, or empty.
  std::string RunOnce(const SmallCaseRequest& request, WorkerChannel& channel);
  // Held-out cases, then both timed in turn.
  ChampionCheck CheckChampion(const ChampionRequest& request, WorkerChannel& channel);

 private:
  // A case with one of its legal generators: what a program is checked on.
  struct Probe {
    const Case* sizes;
    int generator;
    int repeats;
  };

  // A small case's inputs for one candidate alone; without a set: none.
  struct Fresh {
    std::unique_ptr<InputSet> set;
    int generator = 0;
    std::uint64_t seed = 0;
  };

  std::vector<InputCache::Wanted> PoolSets() const;
  void PlaceInputs(WorkerChannel& channel);
  void RefuseLaxTask();
  const std::vector<Case>& SearchCases() const;
  // Legal input distributions of the task: as many as the argument with the most of them lists.
  int Generators() const;
  int SearchGenerators() const;
  // The failure with the case's name before it.
  static Failure Located(Failure failure, const std::string& name);
  std::size_t SetCount(const Case& sizes) const;
  // Of each set, to be timed on; 0: on the set itself.
  std::size_t CopyCount(const Case& sizes) const;
  std::vector<InputSet*> TimedSets(const Case& sizes);
  InputSet& SetLikeTimed(const Case& sizes, int generator);
  std::vector<Probe> FirstProbes(const std::optional<CaseInputs>& first) const;
  std::variant<std::unique_ptr<CaseOfProgram>, Failure> Prepare(Program& program, const Case& sizes,
                                                                const std::vector<InputSet*>& sets);
  std::optional<Failure> PrepareSearchCases(Program& program, std::list<std::unique_ptr<CaseOfProgram>>& cases);
  std::optional<Failure> CheckProbe(Program& program, Gate& gate, const Probe& probe, CheckedErrors& errors);
  std::optional<Failure> CheckOn(Program& program, Gate& gate, const Case& sizes, InputSet& set, int repeats,
                                 CheckedErrors& errors);
  // For a soak: inputs that no candidate has met, which follow from the candidate's text and the run's seeds.
  Fresh DrawFresh(const std::string& source_digest);
  // Further checks: on the fresh inputs, then on all others until somebody waits or the time is up.
  std::optional<Failure> Reverify(Evaluation& evaluation, Program& program, Gate& gate, const Fresh& fresh,
                                  WorkerChannel& channel);
  std::optional<Failure> EvaluateInto(Evaluation& evaluation, const EvaluateRequest& request, const Fresh& fresh,
                                      WorkerChannel& channel);
  std::optional<Failure> CheckAndTime(Evaluation& evaluation, Program& program, Gate& gate, CaseOfProgram& one,
                                      const EvaluateRequest& request, WorkerChannel& channel);
  // `checked_ns`: what a check of it took, with everything around the launch.
  std::variant<CaseMeasurement, Failure> TimeCase(CaseOfProgram& one, Gate& gate, const EvaluateRequest& request,
                                                  double checked_ns);
  void Describe(CaseMeasurement& measured, const CaseOfProgram& one) const;
  // Faster than the device can be.
  std::optional<Failure> CheckFloor(const CaseMeasurement& measured) const;
  // The failure, with the inputs noted on which it was found.
  std::optional<Failure> Noted(Evaluation& evaluation, std::optional<Failure> failure, const Probe& probe) const;
  // Runs the small case with every access checked, where the device has such an image.
  std::optional<Failure> CheckAccesses(const AttachedProgram& checked, int generators);
  std::optional<Failure> CheckInto(ChampionCheck& check, const ChampionRequest& request, WorkerChannel& channel);
  std::optional<Failure> CompareInterleaved(ChampionCheck& check, std::list<std::unique_ptr<CaseOfProgram>>& first,
                                            std::list<std::unique_ptr<CaseOfProgram>>& second);
  // The program's time on every legal generator of the search cases beside that on the timed one; what it wrote is checked.
  std::optional<Failure> TimeOtherInputs(SlowestInputs& slowest, Program& program, Gate& gate, WorkerChannel& channel);
  void NoteContamination(const Failure& failure);

  std::unique_ptr<Device> device_;
  std::function<bool()> jobs_wait_;
  std::chrono::milliseconds reverification_time_;
  InputCache inputs_;
  std::optional<Task> task_;
  std::vector<std::uint64_t> seeds_;
  L2State l2_ = L2State::kHot;
  MachineState machine_;  // as far as it was measured
  bool placed_ = false;
  std::uint64_t timed_ = 0;
  bool must_restart_ = false;
};

}  // namespace evo
