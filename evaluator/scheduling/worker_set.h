#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/machine.h"
#include "evaluator/compiler/compiler.h"
#include "evaluator/device/device.h"
#include "evaluator/device/device_policy.h"
#include "evaluator/scheduling/champion_checker.h"
#include "evaluator/scheduling/elite_counter.h"
#include "evaluator/scheduling/machine_probe.h"
#include "evaluator/scheduling/scheduler.h"
#include "evaluator/workers/worker_pool.h"
#include "kernel_templates/task.h"

namespace evo {

struct PipelineOptions {
  std::vector<std::string> worker_argv;  // evo-worker, on this machine
  // Commands with a launcher in front, one for each worker, where workers are started through one. Empty: `worker_argv`.
  std::vector<std::vector<std::string>> run_commands;
  std::vector<std::vector<std::string>> compile_commands;
  // On which host each of them is, for messages. Empty: it is not known.
  std::vector<std::string> run_hosts;
  std::vector<std::string> compile_hosts;
  // For a process beside the run workers, on a device that one of them has. Empty: as the first of them that is there.
  std::vector<std::string> fresh_command;
  std::string device = "cpu";    // "cpu" or "cuda"
  std::vector<int> ordinals{0};  // of the devices; one run worker each
  bool allow_mixed = false;      // run workers may have different devices; champions are measured on the first
  std::string arch;              // what to compile for; empty: the GPU's own, or sm_90a for the check on the cpu device
  std::string l2 = "hot";
  std::string baseline_source;  // rendered; decides which inputs are legal. Empty: only those that the task lists are tried
  int compile_workers = 2;
  std::function<Seeds()> draw_seeds = UnpredictableSeeds;  // of all inputs; a test may want the same in every run
  bool counts_elites = false;  // whether the search has a use for the hardware counters of its best candidates
  bool tools = true;           // whether champion candidates meet the device's tools: compute-sanitizer, hardware counters
  std::stop_token interrupt;   // ends the constructor early
  // The longest that a stage of loading, checking or timing one candidate may take. The limit falls once the baseline has shown
  // how long these take.
  std::chrono::milliseconds run_deadline{10'000};
  std::function<void(const std::string&)> warn;  // as WorkerPoolOptions::warn
};

// The worker processes of a run, ready for candidates of one task: one run worker for each device, and compile workers. Tells
// what the device is before a Pipeline is made.
class WorkerSet : public FreshWorkers, public ChampionTools {
 public:
  // Starts the workers, compiles the reference and the baseline, and measures the machine. Throws Error when the device, the tool
  // chain or the reference is not usable, Interrupted when asked to stop meanwhile.
  WorkerSet(PipelineOptions options, const Task& task);

  // Of the first run worker.
  const DeviceInfo& device() const { return met_.device; }
  // What candidates are compiled for.
  const std::string& arch() const { return arch_; }
  const DevicePolicy& policy() const { return policy_; }
  // What the machine lacks to confine the workers; see UnconfinedIn.
  const std::set<std::string>& unconfined() const { return met_.unconfined; }
  JobRunner& compile_runner() { return compile_pool_; }
  SchedulerSettings scheduler_settings();
  // nullopt where the best candidates of a search are not counted: on a device that does not count, with several devices, of
  // which one would be timed on meanwhile, and where nobody asks for it. `this` must outlive the counter.
  std::optional<EliteCounterSettings> elite_counter_settings();
  // For which sizes a champion candidate is compiled.
  ImageSizes check_sizes() const;

  // How fast each device was at the start; empty on the cpu device.
  const std::vector<MachineState>& machines() const { return machines_; }
  // How fast it is now; see MachineProbe. Precondition: every batch is finished.
  std::vector<MachineState> MeasureMachines(const std::string& moment) const;

  // How long the reference takes, if it is in Python. Throws Error if it has no answer, Interrupted after a stop request.
  std::optional<ReferenceCost> TimeReference();

  Seeds DrawSeeds() override { return options_.draw_seeds(); }
  std::unique_ptr<JobRunner> StartRunner(const Seeds& seeds) override;
  // nullptr where the device has no tools, and where they are not wanted.
  ChampionTools* tools() { return options_.tools && policy_.runs_sanitizers ? this : nullptr; }
  ToolRun SampleBlocks(const std::string& source, const Seeds& seeds, const std::stop_token& stop) override;
  std::vector<ToolRun> RunSanitizer(const AttachedProgram& program, const Seeds& seeds, const std::stop_token& stop) override;
  CountedEvents CountEvents(const AttachedProgram& program, const std::string& text, const Seeds& seeds,
                            const std::stop_token& stop) override;

 private:
  bool launches_runs() const { return !options_.run_commands.empty(); }
  WorkerPoolOptions RunPoolOptions() const;
  WorkerPoolOptions CompilePoolOptions() const;
  WorkerPoolOptions FreshPoolOptions() const;
  WorkerPoolOptions CountingPoolOptions() const;
  void Meet();
  void CompilePrograms();
  std::vector<std::string> UuidsOf(const std::vector<MachineState>& machines) const;
  SetupRequest RunSetup(const Seeds& seeds) const;
  Message CountingSetup(const Seeds& seeds) const;

  // What the workers said of themselves and of their machines.
  struct Met {
    DeviceInfo device;               // of the first run worker
    std::vector<std::string> uuids;  // of the devices of the run workers, numbered in this order
    std::set<std::string> unconfined;
  };
  // What run workers need besides the task: what right answers come from, and the baseline.
  struct Programs {
    AttachedData recorded;
    CompiledProgram reference;  // without an image if it is no kernel
    CompiledProgram baseline;   // without an image if there is none, or if it does not compile
  };

  PipelineOptions options_;
  Task task_;
  DevicePolicy policy_;
  Programs programs_;
  WorkerPool run_pool_;
  WorkerPool compile_pool_;
  Met met_;
  std::string arch_;
  std::optional<MachineProbe> probe_;  // nullopt where the machine is not measured
  std::vector<MachineState> machines_;
};

}  // namespace evo
