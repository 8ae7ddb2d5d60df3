#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/machine.h"
#include "core/operator_reward.h"
#include "core/store.h"

namespace SQLite {
class Database;
}

namespace evo {

// Keeps runs in one SQLite file, laid out as docs/database.md says. Used from one thread; several processes may write to the same
// file, each waiting for the other up to the busy timeout. What a call has returned from survives a crash of the program and,
// with an honest disk, of the machine; what it has not is not there at all.
class SqliteStore : public Store {
 public:
  // Creates the file if there is none, and brings an older one to this version. ":memory:" is allowed. Throws Error.
  explicit SqliteStore(std::string path);
  SqliteStore(std::string path, std::chrono::milliseconds busy_timeout);
  ~SqliteStore() override;

  RunId BeginRun(const RunRecord& run) override;
  // A resumed run may be given another number of generations; nothing else of a stored run changes.
  void UpdateGenerations(RunId run, int generations);
  // A run that had ended counts as running again.
  void RecordGeneration(RunId run, const GenerationRecord& generation) override;
  // The candidate may be checked again; the latest check counts.
  void RecordChampion(RunId run, CandidateId candidate, const ChampionCheck& check) override;
  void RecordMinimised(RunId run, CandidateId champion, CandidateId candidate, const std::vector<CandidateId>& without) override;
  void RecordMachine(RunId run, const MachineState& machine);
  void EndRun(RunId run, RunStatus status, const std::string& message) override;
  std::vector<GenerationRecord> LoadGenerations(RunId run) override;
  // Neither of these two looks at replays: what they say was recorded elsewhere.
  // Evaluations of all runs of the same task on the same device, for the same architecture and L2 state, by the same version of
  // evo; without samples.
  std::vector<KnownEvaluation> LoadKnown(const RunRecord& run);
  // The rewards of operators in finished runs of the same task, by its name or digest, on the same device.
  std::map<std::string, OperatorReward> LoadRewards(const RunRecord& run);

 private:
  std::string path_;
  std::unique_ptr<SQLite::Database> db_;
};

}  // namespace evo
