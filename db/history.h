#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/machine.h"
#include "core/store.h"

namespace SQLite {
class Database;
}

namespace evo {

struct RunSummary {
  RunRecord record;  // whole, templates included
  RunStatus status = RunStatus::kRunning;
  std::string status_message;
  std::string started_at;  // UTC, ISO 8601
  std::string ended_at;    // empty while running
  int generations_done = 0;
  int evaluated = 0;
  int valid = 0;
};

struct CandidateRecord {
  Candidate candidate;  // without its source
  Evaluation evaluation;
  std::optional<ChampionCheck> check;  // the latest that was not cancelled
};

// Which candidates of a run; an empty field asks for nothing.
struct CandidateFilter {
  std::optional<Outcome> outcome;
  std::string op;
  std::string template_name;
  bool fastest_first = false;  // else by id
};

struct GenerationRow {
  int generation = 0;
  int evaluated = 0;
  int valid = 0;
  int duplicates = 0;
  double best_ns = kNoValue;  // of this generation
  double best_so_far_ns = kNoValue;
  std::map<std::string, int> outcomes;  // only those that occurred
};

struct OperatorRow {
  std::string op;
  int children = 0;
  int valid = 0;
  int faster_than_parent = 0;
  double best_gain = kNoValue;  // first parent's score over the child's
  int inapplicable = 0;
};

// The reward of an operator, over all tries whose first parent is known. A neutral child compiled to its first parent's program;
// it counts neither as valid nor as improving.
struct RewardRow {
  std::string op;
  int tries = 0;
  int valid = 0;
  int neutral = 0;
  int improving = 0;
  double gains = 0;  // sum over the improving ones of the first parent's score over the child's
  double best_gain = kNoValue;
  int inapplicable = 0;  // draws, not tries
};

// What a candidate reached on one case, and what share of its machine's measured best that is, from 0 to 1. kNoValue: not known.
struct EfficiencyRow {
  std::string case_name;
  double bytes_per_s = kNoValue;
  double operations_per_s = kNoValue;
  double memory_share = kNoValue;
  double arithmetic_share = kNoValue;
};

// What became of a champion without one of its edits.
struct EditWorth {
  CandidateId without = 0;         // that candidate; 0: it could not be rendered, or was not tried
  std::optional<Outcome> outcome;  // its
  double worth = kNoValue;         // its score over that of the candidate with the edit
};

// What is left of a champion without the edits that it does not need.
struct MinimisedForm {
  CandidateId champion = 0;  // whose form it is; its own if it needs all
  int champion_edits = 0;
  std::vector<EditWorth> edits;  // in their order
};

// The read side of a database: a snapshot of one moment, taken when it is opened, also while a run writes. Never changes history.
// Everything throws Error when the file cannot be read, UsageError for a run or candidate that is not there.
class History {
 public:
  explicit History(std::string path);
  ~History();

  // In the order they were started.
  std::vector<RunSummary> Runs() const;
  // The run asked for, or the latest one.
  RunSummary FindRun(std::optional<RunId> run) const;

  CandidateRecord FindCandidate(RunId run, CandidateId id) const;
  std::vector<CandidateRecord> Candidates(RunId run, const CandidateFilter& filter) const;
  // The fastest that passed the champion check; if none did, the fastest that was not checked. A minimised form that passed is as
  // fast as its champion, and better. nullopt if there is neither.
  std::optional<CandidateRecord> Best(RunId run) const;
  // The run's baseline template at its defaults; nullopt if it was not evaluated.
  std::optional<CandidateRecord> Baseline(RunId run) const;
  // From the first ancestor to the candidate, along first parents.
  std::vector<CandidateRecord> Lineage(RunId run, CandidateId id) const;

  // nullopt if the candidate is not a champion's minimised form.
  std::optional<MinimisedForm> Minimised(RunId run, CandidateId id) const;

  // In the order of its cases.
  std::vector<EfficiencyRow> Efficiency(RunId run, CandidateId id) const;
  // In the order they were measured.
  std::vector<MachineState> Machines(RunId run) const;

  std::vector<GenerationRow> Generations(RunId run) const;
  // Most children first. The trials of a minimisation are no operator's children.
  std::vector<OperatorRow> Operators(RunId run) const;
  // Of a run, or of all together but for replays, whose times were measured in other runs; most tries first.
  std::vector<RewardRow> Rewards(std::optional<RunId> run) const;
  // Summed over all candidates of the run.
  StageClocks TotalClocks(RunId run) const;

 private:
  std::vector<CandidateRecord> Read(RunId run, const std::string& condition, const std::string& order,
                                    const std::vector<std::string>& values) const;
  std::optional<ChampionCheck> LatestCheck(RunId run, CandidateId id) const;

  std::string path_;
  std::unique_ptr<SQLite::Database> db_;
};

}  // namespace evo
