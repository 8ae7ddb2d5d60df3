#pragma once

#include <string>
#include <vector>

#include "core/store.h"
#include "engine/recorded_children.h"
#include "engine/recorded_evaluations.h"

namespace evo {

struct RunOptions;

// What `evo run --replay` stands on: evaluations that runs of a database recorded, all of them under the same conditions.
struct Replay {
  RunRecord conditions;  // the latest of those runs
  std::vector<RunId> runs;
  RecordedEvaluations recorded;
};

// The runs that options.replay_runs names, or, without any, all of the task that were measured as the latest of them was. Replays
// are not replayed. Throws UsageError when there is nothing to replay: no run of the task, other conditions, another version of
// evo, no evaluation.
Replay LoadReplay(const RunOptions& options, const std::string& task, const std::string& task_digest);

// The replay that a stored run is; what it was then, though the database may have more by now.
Replay LoadReplayOf(const RunRecord& run);

// What a new run stores of its replay, so that it can go on, and by which it is known as one.
void MarkReplay(RunRecord& run, const RunOptions& options, const Replay& replay);

// As the command line spells it: "replace", "skip" or "stop". Precondition: it is one of these.
MissingChild ToMissing(const std::string& word);
// As the stored run says; what a sweep lacks cannot be replaced.
MissingChild MissingOf(const RunRecord& run);

}  // namespace evo
