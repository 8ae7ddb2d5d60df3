#include "cli/worker_plan.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "cli/workers.h"
#include "core/error.h"
#include "evaluator/device/cpu/cpu_policy.h"
#include "evaluator/device/cuda/cuda_policy.h"
#include "platform/command.h"
#include "platform/cores.h"

namespace evo {
namespace {

std::optional<std::string> EnvironmentVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// The kind of the device that is elsewhere.
std::string KindElsewhere(const ExecutorOptions& executor, const std::string& device) {
  if (device == kCpuPolicy.kind) {
    if (!executor.shared_timing) {
      throw UsageError(fmt::format(
          "--executor {}: the cpu device times kernels only where nothing else works meanwhile, which evo cannot see to on other "
          "machines; take GPUs, or give --shared-timing for a test with rough times",
          executor.executor));
    }
    return device;
  }
  if (device == "auto" || device == kCudaPolicy.kind || device == "cuda:all") return std::string(kCudaPolicy.kind);
  throw UsageError(
      fmt::format("--device {}: with --executor {} the GPUs are chosen elsewhere; give cuda, and --run-workers N for "
                  "some of them only",
                  device, executor.executor));
}

LaunchedCommands CommandsElsewhere(const WantedWorkers& wanted) {
  const ExecutorOptions& options = wanted.options;
  if (options.executor == "slurm") {
    if (!options.hosts.empty()) throw UsageError("--hosts: Slurm knows its hosts; leave the flag out, or give --executor ssh");
    if (const auto allocation = ReadAllocation(EnvironmentVariable)) return SlurmCommands(wanted, *allocation);
    throw UsageError(
        "--executor slurm: this is not inside an allocation of Slurm (SLURM_JOB_ID is not set); the same command with "
        "--print-batch prints a script for sbatch, and `salloc` gives a shell in one");
  }
  if (options.hosts.empty()) throw UsageError("--executor ssh: give --hosts FILE, with HOST GPUS CORES in each line");
  if (!std::filesystem::is_regular_file(options.hosts)) throw UsageError(fmt::format("--hosts {}: no such file", options.hosts));
  return SshCommands(wanted, ParseHosts(ReadFile(options.hosts), options.hosts));
}

}  // namespace

WorkerPlan PlanWorkers(const ExecutorOptions& executor, const std::string& device, int compile_workers) {
  if (executor.IsLocal()) {
    if (executor.run_workers > 0)
      throw UsageError("--run-workers: on this machine there is one for each GPU of --device; give --executor or --run-launcher");
    if (!executor.hosts.empty()) throw UsageError("--hosts: give --executor ssh with it");
    return {ChooseDevice(device), true, {}};
  }
  WorkerPlan plan;
  plan.usual = false;
  WantedWorkers wanted{executor, true, compile_workers, LaunchedBy({}).argv.front()};
  if (executor.executor == "local") {
    plan.device = ChooseDevice(device);
    if (wanted.compile_workers == 0) wanted.compile_workers = AvailableCores();
    if (wanted.options.run_workers == 0) wanted.options.run_workers = static_cast<int>(plan.device.ordinals.size());
    plan.commands = RawCommands(wanted);
    if (plan.commands.ordinals.size() == plan.device.ordinals.size()) plan.commands.ordinals = plan.device.ordinals;
  } else {
    plan.device.kind = KindElsewhere(executor, device);
    wanted.gpus = plan.device.kind != kCpuPolicy.kind;
    plan.commands = CommandsElsewhere(wanted);
  }
  if (!plan.commands.ordinals.empty()) plan.device.ordinals = plan.commands.ordinals;
  return plan;
}

void Apply(const WorkerPlan& plan, int compile_workers, PipelineOptions& options) {
  options.ordinals = plan.device.ordinals;
  options.compile_workers = compile_workers > 0 ? compile_workers : AvailableCores();
  if (plan.usual) return StartUsually(options);
  options.worker_argv = LaunchedBy({}).argv;
  options.run_commands = plan.commands.run;
  options.compile_commands = plan.commands.compile;
  options.run_hosts = plan.commands.run_hosts;
  options.compile_hosts = plan.commands.compile_hosts;
  options.fresh_command = plan.commands.fresh;
  if (!options.compile_commands.empty()) options.compile_workers = static_cast<int>(options.compile_commands.size());
}

}  // namespace evo
