#pragma once

#include <string>
#include <vector>

#include "core/store.h"
#include "engine/recorded_children.h"
#include "engine/recorded_evaluations.h"

namespace evo {

struct RunOptions;
struct RunSetup;
struct StoredOptions;
struct StoredReplay;

// The evaluations that `evo run --replay` looks up: those that runs of a database recorded, all under the same conditions.
struct Replay {
  RunRecord conditions;  // the latest of those runs
  std::vector<RunId> runs;
  RecordedEvaluations recorded;
};

// The runs that options.replay_runs names, or, without any, all of the task that were measured under the conditions of the
// latest. Replays are not replayed. Throws UsageError when there is nothing to replay: no run of the task, other conditions,
// another version of evo, no evaluation.
Replay LoadReplay(const RunOptions& options, const std::string& task, const std::string& task_digest);

// The replay of a stored run: the same runs as then, though the database may have more by now.
Replay LoadReplayOf(const StoredReplay& stored);

// Makes a new run a replay, before it is stored.
void MarkReplay(RunSetup& setup, const RunOptions& options, const Replay& replay);

// As the command line spells it: "replace", "skip" or "stop". Precondition: it is one of these.
MissingChild ToMissing(const std::string& word);
// What becomes of a missing child; a sweep cannot replace it. Precondition: the options are those of a replay.
MissingChild MissingOf(const StoredOptions& options);

}  // namespace evo
