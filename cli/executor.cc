#include "cli/executor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "cli/workers.h"
#include "core/error.h"
#include "evaluator/workers/worker_main.h"

namespace evo {
namespace {

using Words = std::vector<std::string>;

// For how long a step may wait for its GPU or CPU. Without it, one that never gets any waits for ever.
constexpr const char* kStepWait = "--immediate=20";

Words Joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// A whole number that is not negative, and nothing else.
std::optional<int> ParseCount(const std::string& text) {
  int count = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, count);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != end || count < 0) return std::nullopt;
  return count;
}

[[noreturn]] void RefuseVariable(const std::string& name, const std::string& value) {
  throw Error(fmt::format("{} is '{}', which is not what Slurm sets; is this an allocation of Slurm?", name, value));
}

// "6", "h100:6", "gpu:h100:2,gpu:a100:4": their sum.
int SumOfGpus(const std::string& name, const std::string& value) {
  int sum = 0;
  std::istringstream parts(value);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto count = ParseCount(part.substr(part.rfind(':') + 1));
    if (!count) RefuseVariable(name, value);
    sum += *count;
  }
  return sum;
}

// "8(x3),4": their sum.
int SumOfCpus(const std::string& name, const std::string& value) {
  int sum = 0;
  std::istringstream parts(value);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t times = part.find("(x");
    const auto count = ParseCount(part.substr(0, times));
    const bool repeated = times != std::string::npos && part.back() == ')';
    const auto nodes = repeated ? ParseCount(part.substr(times + 2, part.size() - times - 3)) : std::optional(1);
    if (!count || !nodes || (times != std::string::npos && !repeated)) RefuseVariable(name, value);
    sum += *count * *nodes;
  }
  return sum;
}

int Tasks(const Variable& variable, int nodes) {
  const std::string tasks = variable("SLURM_NTASKS").value_or("");
  return tasks.empty() ? nodes : ParseCount(tasks).value_or(nodes);
}

Words WorkerWords(const WantedWorkers& wanted) { return {wanted.program, kLaunched}; }

int RunWorkers(const WantedWorkers& wanted, int gpus, const std::string& where) {
  const int asked = wanted.options.run_workers;
  if (!wanted.gpus) return std::max(1, asked);
  if (gpus == 0) throw UsageError(fmt::format("--executor {}: {} no GPU", wanted.options.executor, where));
  if (asked > gpus) throw UsageError(fmt::format("--run-workers {}: {} {} GPUs", asked, where, gpus));
  return asked > 0 ? asked : gpus;
}

Words SrunWords(const char* gpus) {
  // A step would take what the job asked for besides --gpus=1: every GPU of its node.
  Words words = {"env", "-u", "SLURM_GPUS_PER_NODE", "-u", "SLURM_GPUS_PER_TASK"};
  // -u: without it a frame waits for a newline. -Q: no word of srun's own among a worker's last ones. --mem=0: without it the
  // first step takes all memory of its node.
  return Joined(std::move(words), {"srun", "-u", "-Q", "-n1", "-N1", "-c1", "--mem=0", gpus});
}

// For each CPU that the run workers leave, at least one.
int CompileSteps(const WantedWorkers& wanted, const Allocation& allocation, int run_workers) {
  return wanted.compile_workers > 0 ? wanted.compile_workers : std::max(1, allocation.cpus - run_workers);
}

Words SshWords(const std::string& launcher) {
  if (!launcher.empty()) return SplitWords(launcher);
  // Without a question that nobody answers, and with a sign of life, so that a host that is gone is noticed after 15 s, also by
  // who wants to reach it.
  return {"ssh", "-T",
          "-o",  "BatchMode=yes",
          "-o",  "ConnectTimeout=15",
          "-o",  "ServerAliveInterval=5",
          "-o",  "ServerAliveCountMax=3"};
}

}  // namespace

std::vector<RemoteHost> ParseHosts(const std::string& text, const std::string& file) {
  std::vector<RemoteHost> hosts;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const Words words = SplitWords(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    const auto gpus = words.size() == 3 ? ParseCount(words[1]) : std::nullopt;
    const auto cores = words.size() == 3 ? ParseCount(words[2]) : std::nullopt;
    if (!gpus || !cores || words[0].starts_with('-'))
      throw UsageError(fmt::format("--hosts {}:{}: give HOST GPUS CORES, such as `node7 4 32`", file, number));
    const auto same = [&](const RemoteHost& one) { return one.name == words[0]; };
    if (std::any_of(hosts.begin(), hosts.end(), same))
      throw UsageError(fmt::format("--hosts {}:{}: {} stands there twice", file, number, words[0]));
    hosts.push_back({words[0], *gpus, *cores});
  }
  if (hosts.empty()) throw UsageError(fmt::format("--hosts {}: it names no host; give HOST GPUS CORES in a line each", file));
  return hosts;
}

std::optional<Allocation> ReadAllocation(const Variable& variable) {
  if (!variable("SLURM_JOB_ID")) return std::nullopt;
  Allocation allocation;
  if (const auto nodes = variable("SLURM_JOB_NUM_NODES")) {
    const auto count = ParseCount(*nodes);
    if (!count || *count == 0) RefuseVariable("SLURM_JOB_NUM_NODES", *nodes);
    allocation.nodes = *count;
  }
  if (const auto cpus = variable("SLURM_JOB_CPUS_PER_NODE")) allocation.cpus = SumOfCpus("SLURM_JOB_CPUS_PER_NODE", *cpus);
  if (const auto gpus = variable("SLURM_GPUS"))
    allocation.gpus = SumOfGpus("SLURM_GPUS", *gpus);
  else if (const auto each = variable("SLURM_GPUS_PER_NODE"))
    allocation.gpus = allocation.nodes * SumOfGpus("SLURM_GPUS_PER_NODE", *each);
  else if (const auto task = variable("SLURM_GPUS_PER_TASK"))
    allocation.gpus = SumOfGpus("SLURM_GPUS_PER_TASK", *task) * Tasks(variable, allocation.nodes);
  else if (const auto here = variable("SLURM_GPUS_ON_NODE"))  // --gres: the same on every node
    allocation.gpus = allocation.nodes * SumOfGpus("SLURM_GPUS_ON_NODE", *here);
  return allocation;
}

LaunchedCommands SlurmCommands(const WantedWorkers& wanted, const Allocation& allocation) {
  const ExecutorOptions& options = wanted.options;
  const int runs = RunWorkers(wanted, allocation.gpus, "the allocation has");
  LaunchedCommands commands;
  const Words run = SrunWords(wanted.gpus ? "--gpus=1" : "--gres=none");
  for (int i = 0; i < runs; ++i) {
    Words words = Joined(run, {"--exact", kStepWait});
    // Without GPUs to be had, Slurm would put them all on the first node.
    if (!wanted.gpus) words.push_back(fmt::format("--relative={}", i % allocation.nodes));
    if (!options.run_launcher.empty()) words = SplitWords(options.run_launcher);
    commands.run.push_back(Joined(std::move(words), WorkerWords(wanted)));
  }
  commands.ordinals.assign(commands.run.size(), 0);
  if (options.run_launcher.empty()) commands.fresh = Joined(Joined(run, {"--overlap"}), WorkerWords(wanted));
  if (allocation.nodes == 1 && options.compile_launcher.empty()) return commands;
  for (int i = 0; i < CompileSteps(wanted, allocation, runs); ++i) {
    const Words words = options.compile_launcher.empty() ? Joined(SrunWords("--gres=none"), {"--exact", kStepWait})
                                                         : SplitWords(options.compile_launcher);
    commands.compile.push_back(Joined(words, WorkerWords(wanted)));
  }
  return commands;
}

LaunchedCommands SshCommands(const WantedWorkers& wanted, const std::vector<RemoteHost>& hosts) {
  const ExecutorOptions& options = wanted.options;
  // ssh has the words read by a shell.
  const std::string remote = fmt::format("exec {} {}", ShellQuoted(wanted.program), kLaunched);
  const auto on = [&](const RemoteHost& host, const std::string& launcher) {
    return Joined(SshWords(launcher), {host.name, remote});
  };
  int gpus = 0;
  for (const RemoteHost& host : hosts) gpus += host.gpus;
  const int runs = RunWorkers(wanted, gpus, "the hosts have");
  LaunchedCommands commands;
  // A first one for every host, then a second one, so that few workers are spread.
  for (int round = 0; static_cast<int>(commands.run.size()) < runs; ++round) {
    for (const RemoteHost& host : hosts) {
      if (static_cast<int>(commands.run.size()) == runs || (wanted.gpus && round >= host.gpus)) continue;
      commands.run.push_back(on(host, options.run_launcher));
      commands.run_hosts.push_back(host.name);
      commands.ordinals.push_back(wanted.gpus ? round : 0);
    }
  }
  const std::string& launcher = options.compile_launcher.empty() ? options.run_launcher : options.compile_launcher;
  int cores = 0;
  for (const RemoteHost& host : hosts) cores = std::max(cores, host.cores - host.gpus);
  for (int round = 0; round < cores; ++round) {
    for (const RemoteHost& host : hosts) {
      const bool enough = wanted.compile_workers > 0 && static_cast<int>(commands.compile.size()) >= wanted.compile_workers;
      if (enough || round >= host.cores - host.gpus) continue;
      commands.compile.push_back(on(host, launcher));
      commands.compile_hosts.push_back(host.name);
    }
  }
  return commands;
}

LaunchedCommands RawCommands(const WantedWorkers& wanted) {
  const ExecutorOptions& options = wanted.options;
  LaunchedCommands commands;
  if (!options.run_launcher.empty()) {
    const auto workers = static_cast<std::size_t>(std::max(1, options.run_workers));
    commands.run.assign(workers, Joined(SplitWords(options.run_launcher), WorkerWords(wanted)));
    commands.ordinals.assign(workers, 0);
  }
  if (!options.compile_launcher.empty()) {
    commands.compile.assign(static_cast<std::size_t>(wanted.compile_workers),
                            Joined(SplitWords(options.compile_launcher), WorkerWords(wanted)));
  }
  return commands;
}

std::string ShellQuoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./:=,+%@").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace evo
