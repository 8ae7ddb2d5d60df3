#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/operator_reward.h"
#include "core/store.h"

namespace evo {

inline constexpr const char* kAdaptive = "adaptive";

// Where a replay looks its evaluations up.
struct StoredReplay {
  std::string database;     // absolute path
  std::vector<RunId> runs;  // of that database
  std::string missing;      // "replace", "skip" or "stop": what becomes of a child that none of these runs evaluated
};

// Those options of a run that have no column of their own: RunRecord::options as a value. Each member is stored under its own
// name. Runs of older versions lack some of them, which then keep the defaults given here; other names are ignored.
struct StoredOptions {
  std::vector<std::string> definitions;  // NAME=VALUE: parameters that are held fixed
  std::vector<int> ordinals = {0};       // of the GPUs
  bool surrogate = false;
  bool minimise = false;
  bool proven_only = false;                                      // no mutator that promises nothing is drawn
  bool baseline_apart = false;                                   // the baseline is measured but not evolved
  std::string operators = "fixed";                               // or kAdaptive
  int evaluations = 0;                                           // 0: not limited
  std::vector<std::string> shapes;                               // sizes of the search cases; empty: those of the task
  std::optional<std::vector<std::string>> header_folders;        // absolute paths of --include; unset: none
  std::optional<std::vector<std::string>> sweep;                 // names of the templates that are swept; unset: no sweep
  std::optional<std::map<std::string, OperatorReward>> rewards;  // with which adaptive operators start; unset: without any
  std::optional<std::string> kernel_kind;  // what the baseline computes: "contraction", "rows", "elements"; unset: not known
  // The same for parents of each bottleneck; unset: the bottlenecks of parents make no difference.
  std::optional<RewardsByBottleneck> rewards_by_bottleneck;
  // Operators that are tried first because they divide the work of a kernel anew; unset: structures make no difference.
  std::optional<std::vector<std::string>> restructuring;
  std::optional<StoredReplay> replay;   // unset: candidates are measured
  std::optional<int> early_children;    // EvolutionSettings::early_children; unset: 0
  std::optional<int> early_candidates;  // EvolutionSettings::early_candidates; unset: the default there
  std::optional<std::string> executor;  // "slurm", "ssh" or "launcher": where run workers were; unset: here. For the record only
};

// The JSON text that a run stores. Members that are unset have no key.
std::string ToText(const StoredOptions& options);

// Empty text, as in a record that is not from a database, gives the defaults. Throws Error if the stored text cannot be read.
StoredOptions OptionsOf(const RunRecord& run);
// nullopt if the stored text cannot be read.
std::optional<StoredOptions> ReadableOptions(const RunRecord& run);

}  // namespace evo
