#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/machine.h"
#include "core/store.h"
#include "evaluator/compiler/compiler.h"
#include "evaluator/device/device.h"
#include "evaluator/scheduling/evaluation_cache.h"
#include "evaluator/workers/worker_pool.h"
#include "kernel_templates/task.h"

namespace evo {

struct PipelineOptions {
  std::vector<std::string> worker_argv;  // evo-worker, a launcher command in front if there is one
  std::string device = "cpu";            // "cpu" or "cuda"
  std::vector<int> ordinals{0};          // of the GPUs; one run worker each
  std::string arch;                      // what to compile for; empty: the GPU's own, or sm_90a for the check on the cpu device
  std::string l2 = "hot";
  int compile_workers = 2;
  std::uint64_t seed = 0;     // of the pool of input sets
  bool sanitizers = true;     // whether would-be champions meet compute-sanitizer's tools
  std::stop_token interrupt;  // ends the constructor early
  // For loading, checking or timing one candidate, at most. Less once the baseline has shown how long these take.
  std::chrono::milliseconds run_deadline{10'000};
};

// The evaluator: compile workers, run workers and the road between them. A candidate is compiled, then checked and timed; the
// next ones compile meanwhile, except that on the cpu device compilation stands still while a kernel is timed. What was evaluated
// before is not evaluated again.
class Pipeline : public Evaluator {
 public:
  // Starts the workers and compiles the reference. Throws Error when the device, the tool chain or the reference is not usable,
  // Interrupted when asked to stop meanwhile.
  Pipeline(PipelineOptions options, const Task& task);
  ~Pipeline() override;

  // What need not be evaluated again; a run measures its own generation 0 all the same. Precondition: nothing was started.
  void Know(std::vector<KnownEvaluation> known) { cache_.Add(std::move(known)); }

  // What a run that is resumed has evaluated so far: from it come the deadlines, the race's times and the inputs that kill most.
  // What was measured on another device is passed over. Precondition: nothing was started.
  void GoOn(const std::vector<GenerationRecord>& generations);

  void Start(std::vector<Candidate> batch) override;
  std::vector<Evaluation> Finish(std::stop_token stop, const Each& each) override;
  ChampionCheck CheckChampion(const Candidate& candidate, const Candidate& baseline, std::stop_token stop) override;

  // How busy the workers were, as shares from 0 to 1 of the time between the first start and the last completion.
  struct Utilisation {
    double seconds = 0;
    double run = 0;
    double reverify = 0;  // the part of `run` that went into checks on which nothing waited
    double compile = 0;
  };
  Utilisation utilisation();

  // How fast each GPU is at this moment, `moment` being "start" or "end" of a run; nothing on the cpu device. Throws Error when a
  // GPU or the timer is not in order. Precondition: every batch is finished.
  std::vector<MachineState> MeasureMachines(const std::string& moment);
  // As they were when this was made.
  const std::vector<MachineState>& machines() const { return machines_; }

  const DeviceInfo& device() const { return device_; }
  // What candidates are compiled for.
  const std::string& arch() const { return arch_; }

 private:
  struct Slot {
    Candidate candidate;
    Evaluation evaluation;
    CompileResult compiled;
    int attempts = 0;
    bool claimed = false;  // others may wait for it
  };
  struct Batch {
    std::vector<Slot> slots;
    std::vector<std::size_t> finished;  // indices, in the order they came in
  };
  // How long a stage of a job may take: this many times what the baseline took, and at least so long.
  struct DeadlineFactor {
    double of_baseline;
    std::chrono::milliseconds least;
  };
  static constexpr DeadlineFactor kDeadlineFactor{20, std::chrono::milliseconds(2000)};
  // Of a candidate on a GPU: who takes four times as long is of no use, nothing else has the GPU, and a hang costs all of it.
  static constexpr DeadlineFactor kGpuDeadlineFactor{4, std::chrono::milliseconds(400)};
  // A candidate under way. Its slot is used by one thread at a time.
  struct Place {
    std::shared_ptr<Batch> batch;
    std::size_t index = 0;
    Slot& slot() const { return batch->slots[index]; }
  };

  nlohmann::json RunInit() const;
  std::vector<nlohmann::json> Ordinals() const;
  Job CompileJob(const std::string& source, bool check) const;
  CompileResult CompileNow(const std::string& source, bool check, const std::stop_token& stop);
  // What compute-sanitizer says of a program, on a GPU; nothing on the cpu device.
  std::vector<ToolResult> Sanitize(const std::string& source, const CompiledProgram& program, const Message& setup,
                                   const std::stop_token& stop);
  Message RunSetup(const std::vector<std::uint64_t>& seeds) const;
  std::chrono::milliseconds RunDeadline(const DeadlineFactor& factor);
  // Precondition: mutex_ is held.
  void LearnFrom(const Candidate& candidate, const Evaluation& evaluation);
  std::chrono::milliseconds CompileDeadline();
  Job WithRunDeadlines(Job job, const DeadlineFactor& factor);
  std::vector<JobResult> RunAndWait(WorkerPool& pool, std::vector<Job> jobs, const std::stop_token& stop);
  void CompileOwn();

  void SubmitRun(const Place& place);
  void OnCompiled(const Place& place, const JobResult& result);
  void OnRun(const Place& place, const JobResult& result);
  EvaluationCache::Claim Claim(const Place& place);
  void CopyResult(const Place& place, const Evaluation& shared);
  void Complete(const Place& place);
  void ResolveWaiters(const Place& place, std::vector<Place>& next);
  void Fail(const Place& place, Outcome outcome, Stage stage, const std::string& message);
  void SetFatal(const std::string& message);
  bool AllFinished() const;

  PipelineOptions options_;
  Task task_;
  std::string arch_;
  DeviceInfo device_;
  CompileResult reference_;
  CompileResult machine_check_;
  std::vector<MachineState> machines_;
  std::vector<std::uint64_t> seeds_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<Batch>> batches_;  // as started
  bool cancelled_ = false;                      // until every batch has ended
  EvaluationCache cache_;
  std::map<EvaluationCache::Ticket, Place> waiting_;
  EvaluationCache::Ticket next_ticket_ = 0;
  std::map<std::string, double> best_case_ns_;        // fastest median of each case so far
  std::map<std::pair<std::string, int>, int> kills_;  // of each case and generator
  SteadyTime first_start_{};
  SteadyTime last_completion_{};
  double reverification_ms_ = 0;
  double baseline_compile_ms_ = 0;  // the same of compiling them
  double baseline_stage_ms_ = 0;    // the longest stage of the templates at their defaults
  std::string fatal_;

  std::unique_ptr<WorkerPool> run_pool_;
  std::unique_ptr<WorkerPool> compile_pool_;  // after run_pool_: run jobs are submitted from its threads
};

}  // namespace evo
