#pragma once

#include <CLI/App.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/executor.h"
#include "core/store.h"
#include "kernel_templates/template_parts.h"

namespace evo {

// The command line of `evo run`, parsed. What of it a run stores besides its columns is StoredOptions.
struct RunOptions {
  std::string database;
  std::string task = "attention";
  std::vector<std::string> templates;  // empty: all
  int generations = 5;
  bool generations_given = false;  // then a resumed run goes on to that many
  int population = 16;
  int children = 0;  // 0: twice the population; on the cpu device as many; 8 if a surrogate chooses parameters
  std::string population_kind = "elitist";
  std::string operators;  // "adaptive" or "fixed": drawn by the same weights throughout; empty: what suits the population kind
  std::string operators_by_class = "on";   // adaptive operators are also drawn by what the parent's time is spent on
  std::vector<std::string> only_mutators;  // names, "parameters" or "edits"; empty: all
  std::vector<std::string> without_mutators;
  bool proven_only = false;  // none of the mutators that promise nothing
  std::string surrogate;  // "on": more children are bred, and the most promising are evaluated; empty: if only parameters are set
  std::string minimise = "on";  // the champion is cut to the edits that it needs
  std::string device = "auto";
  bool device_given = false;  // then a resumed run goes on with these GPUs
  ExecutorOptions executor;
  bool allow_mixed = false;  // run workers may have different GPUs
  bool print_batch = false;  // print a script for Slurm and do nothing else
  std::string broadcast;     // a folder of each node, into which that script copies evo; empty: it does not
  bool requeue = false;      // that script goes on with the run in a later allocation
  std::string arch;
  std::string l2 = "hot";
  bool l2_given = false;  // else a replay takes it from what was recorded
  std::uint64_t seed = 1;
  std::optional<std::chrono::seconds> time_limit;
  int evaluations = 0;                     // 0: as many as the generations have
  std::optional<RunId> resume;             // 0: the latest run
  std::vector<std::string> task_folders;   // -I
  HeaderFolders header_folders;            // --include
  std::vector<std::string> definitions;    // -D NAME=VALUE: a parameter that is held fixed
  std::vector<std::string> shapes;         // B=4,S=512: the search cases, instead of those of the task
  bool sweep = false;                      // every legal parameter setting instead of evolution
  std::string replay;                      // a database whose evaluations are looked up; nothing is measured
  std::vector<RunId> replay_runs;          // empty: all that were measured under the conditions of the latest run
  std::string replay_missing = "replace";  // or "skip", "stop"
  int compile_workers = 0;                 // 0: as many as cores
  bool no_reuse = false;
  bool no_check = false;
  bool no_tools = false;  // the champion is checked without compute-sanitizer, which `evo verify` runs later
  bool json = false;
};

// Adds the flags of `evo run`. `options` must outlive the parser; once the parser is done, options hold what was given.
void AddRunOptions(CLI::App& run, RunOptions& options);

// "90", "90s", "10m", "2h" to seconds. Throws UsageError.
std::chrono::seconds ParseDuration(const std::string& text);

}  // namespace evo
