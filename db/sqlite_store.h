#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/machine.h"
#include "core/operator_reward.h"
#include "core/store.h"
#include "db/damage.h"
#include "db/disk_wait.h"
#include "db/file_identity.h"
#include "db/lock_wait.h"
#include "db/stored_generations.h"

namespace SQLite {
class Database;
}

namespace evo {

// Stores runs in one SQLite file; docs/database.md describes its tables. One thread uses a store. Several processes may write to
// the same file; each waits for the others as its LockWait says, and for room on the disk as its DiskWait says. When a call has
// returned, its data survive a crash of the program and, if the disk keeps its promises, of the machine. A call that was
// interrupted leaves nothing behind. Every call that writes makes sure that the path still names the file that was opened. If it
// does not, the call copies what was stored to a new file beside it and throws an Error that names it; from then on nothing is
// written.
class SqliteStore : public Store {
 public:
  // Creates the file if it does not exist, and brings an older one up to date. Throws Error; UsageError if it is not a regular
  // file.
  explicit SqliteStore(std::string path, LockWait lock = {}, DiskWait disk = {});
  ~SqliteStore() override;
  // From now on this token, instead of those of the waits, ends them.
  void SetStop(const std::stop_token& stop);

  RunId BeginRun(const RunRecord& run) override;
  // A resumed run may be given another number of generations; nothing else of a stored run changes.
  void UpdateGenerations(RunId run, int generations);
  // Sets the status of a run that had ended to running.
  void RecordGeneration(RunId run, const GenerationRecord& generation) override;
  // A candidate may be checked several times; the latest check counts.
  void RecordChampion(RunId run, CandidateId candidate, const ChampionCheck& check) override;
  void RecordMinimised(RunId run, CandidateId champion, CandidateId candidate, const std::vector<CandidateId>& without) override;
  void RecordMachine(RunId run, const MachineState& machine);
  void EndRun(RunId run, RunStatus status, const std::string& message) override;
  // Throws Error, which names the candidate, if the history is not whole (FindDamage).
  std::vector<GenerationRecord> LoadGenerations(RunId run) override;
  // The same, and not yet put together: of a long run that takes a fraction of the memory.
  StoredGenerations LoadParts(RunId run);
  // The evaluations of all runs of the same task on the same device, with the same architecture, L2 state and version of evo.
  // Replays are left out, because they copy evaluations of other runs, and so is what is damaged. `own`: the outlines of the run
  // itself, if they were loaded, which are then not read again.
  std::vector<KnownEvaluation> LoadKnown(
      const RunRecord& run, const OnDamage& damaged = [](const Damage&) {}, const std::vector<GenerationRecord>* own = nullptr);
  // The inputs on which candidates failed in all runs of the task, those that failed most first.
  std::vector<Counterexample> LoadCounterexamples(const std::string& task_digest);
  // The rewards of operators in all finished runs of the same task (by name or by digest) on the same device, except replays.
  std::map<std::string, OperatorReward> LoadRewards(const RunRecord& run);
  // The same in the runs of any task whose baseline is a kernel of this kind (the option kernel_kind), as at most 10
  // children of each operator.
  std::map<std::string, OperatorReward> LoadRewardsOfKind(const RunRecord& run, const std::string& kind);
  // The rewards of operators by the bottleneck of the first parent, in finished runs of any task on the same device, except
  // replays: the latest 100,000 children.
  RewardsByBottleneck LoadRewardsByBottleneck(const RunRecord& run);

 private:
  // Calls `work` in one transaction, once more each time that the disk is full.
  void Write(const std::function<void()>& work);
  void RequireSameFile();
  std::string Rescue();

  std::string path_;
  LockWaiter lock_waiter_;
  DiskWaiter disk_waiter_;
  std::unique_ptr<SQLite::Database> db_;
  std::optional<FileIdentity> file_;  // that was opened
  std::optional<FileIdentity> log_;   // its write-ahead log
  std::string lost_;                  // why nothing is written any longer; empty: it is
};

}  // namespace evo
