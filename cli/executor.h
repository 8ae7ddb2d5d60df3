#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace evo {

// Where the workers of a run are started, and by what words. A run stores the kind of executor only: a database must not name
// programs to run, so a resumed run is given all of it again.
struct ExecutorOptions {
  std::string executor = "local";  // or "slurm", "ssh"
  std::string run_launcher;        // words in place of those that the executor puts before a run worker; empty: its own
  std::string compile_launcher;    // the same for compile workers
  std::string hosts;               // ssh: a file that lists them
  int run_workers = 0;             // 0: one for each GPU
  bool shared_timing = false;      // the cpu device may time kernels while other processes work on its machine
  bool IsLocal() const { return executor == "local" && run_launcher.empty() && compile_launcher.empty(); }
};

// A line of the file that --hosts names.
struct RemoteHost {
  std::string name;
  int gpus = 0;
  int cores = 0;
};

// "HOST GPUS CORES" a line; `#` begins a comment. `file`: for messages. Throws UsageError that names the line.
std::vector<RemoteHost> ParseHosts(const std::string& text, const std::string& file);

// What Slurm has given to a job.
struct Allocation {
  int nodes = 1;
  int gpus = 0;
  int cpus = 0;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};
// An environment variable; nullopt if it is not set.
using Variable = std::function<std::optional<std::string>(const std::string& name)>;
// From Slurm's environment variables; nullopt outside an allocation. Throws Error if one of them cannot be read.
std::optional<Allocation> ReadAllocation(const Variable& variable);

// The commands of a run's workers, each with a launcher in front.
struct LaunchedCommands {
  std::vector<std::vector<std::string>> run;
  std::vector<int> ordinals;                      // of the GPUs, one for each run worker, as its own machine counts
  std::vector<std::vector<std::string>> compile;  // empty: compile workers are children of evo
  std::vector<std::string> run_hosts;             // where it is known, the host of each
  std::vector<std::string> compile_hosts;
  std::vector<std::string> fresh;  // PipelineOptions::fresh_command
};

// What all of these need to know.
struct WantedWorkers {
  ExecutorOptions options;
  bool gpus = true;         // whether each run worker has a GPU
  int compile_workers = 0;  // 0: what the machines bear
  std::string program;      // evo-worker, by its full path, which is the same on every machine
};

// Job steps of one worker each. Throws UsageError if the allocation has no GPU, or not enough of them.
LaunchedCommands SlurmCommands(const WantedWorkers& wanted, const Allocation& allocation);
// Throws UsageError if the hosts have no GPU, or not enough of them.
LaunchedCommands SshCommands(const WantedWorkers& wanted, const std::vector<RemoteHost>& hosts);
// The words of --run-launcher and --compile-launcher alone, for `run_workers` run workers. `compile_workers` must not be 0.
LaunchedCommands RawCommands(const WantedWorkers& wanted);

// A word as a shell reads it back.
std::string ShellQuoted(const std::string& word);

}  // namespace evo
