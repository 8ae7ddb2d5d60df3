#pragma once

#include <optional>
#include <string>
#include <vector>

namespace evo {

// The package of evo, and the folder of each node that it is copied into.
struct Broadcast {
  std::string package;  // the folder above evo's own
  std::string folder;
};

// What is asked of Slurm for a run.
struct BatchJob {
  std::vector<std::string> command;    // the words that make the run, evo's own path first
  std::optional<long> seconds;         // what the search is limited to
  std::optional<Broadcast> broadcast;  // evo is put on each node first, and runs there
  // The job waits in the queue again when its time is over or its nodes are taken, and then goes on with the run.
  bool requeue = false;
  std::string database;  // of the run; for `requeue`
};

// The script that submits it: `sbatch FILE`.
std::string BatchScript(const BatchJob& job);

}  // namespace evo
