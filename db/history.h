#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/diagnosis.h"
#include "core/machine.h"
#include "core/store.h"
#include "db/damage.h"

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

// What a list of runs says of each.
struct RunTitle {
  RunId id = 0;
  std::string task;
  std::string device_name;
  std::string started_at;  // UTC, ISO 8601
};

// Of a candidate that was counted while the search went on.
struct CountOfSearch {
  int generation = 0;  // was recorded with this one
  CountedElite elite;
  Diagnosis before;  // what was found without counters
};

struct CandidateRecord {
  Candidate candidate;                 // without its source
  Evaluation evaluation;               // where there is a count, with the class that this says
  std::optional<ChampionCheck> check;  // the latest that was not cancelled
  std::optional<CountOfSearch> count{};
};

// Selects candidates of a run. A field that is empty selects all.
struct CandidateFilter {
  std::optional<Outcome> outcome;
  std::string op;
  std::string template_name;
  bool fastest_first = false;  // false: in the order of their ids
};

struct GenerationRow {
  int generation = 0;
  int evaluated = 0;
  int valid = 0;
  int duplicates = 0;
  double best_ns = kNoValue;  // fastest of this generation
  double best_so_far_ns = kNoValue;
  std::map<std::string, int> outcomes;  // number of candidates per outcome that occurred
};

struct OperatorRow {
  std::string op;
  int children = 0;
  int valid = 0;
  int faster_than_parent = 0;
  double best_gain = kNoValue;  // largest ratio of the first parent's score to the child's
  int inapplicable = 0;         // how often it was drawn and did not apply
};

// The reward of an operator, from all children whose first parent is known. A neutral child compiled to the same program as its
// first parent; it counts neither as valid nor as improving.
struct RewardRow {
  std::string op;
  int tries = 0;
  int valid = 0;
  int neutral = 0;
  int improving = 0;
  double gains = 0;  // sum of the ratios of the first parent's score to the child's, over improving children
  double best_gain = kNoValue;
  int inapplicable = 0;  // draws that did not apply; not among the tries
};

// The rates of a candidate on one case, and their shares of the best rates measured on its machine, from 0 to 1. kNoValue: not
// known.
struct EfficiencyRow {
  std::string case_name;
  double bytes_per_s = kNoValue;
  double operations_per_s = kNoValue;
  double memory_share = kNoValue;
  double arithmetic_share = kNoValue;
};

// The effect of leaving one edit out of a minimised champion.
struct EditWorth {
  CandidateId without = 0;         // the candidate that lacks the edit; 0: it could not be rendered or was not tried
  std::optional<Outcome> outcome;  // of that candidate
  double worth = kNoValue;         // the score of that candidate over the score with the edit
};

// A champion without its removable edits.
struct MinimisedVariant {
  CandidateId champion = 0;  // the champion that was minimised; the candidate itself if no edit was removable
  int champion_edits = 0;
  std::vector<EditWorth> edits;  // in the order of the genome
};

// Reads a database. All answers are from the moment in which it was opened, also while a run writes. Brings an older database up
// to date and changes nothing else. Every function throws Error when the file cannot be read, and UsageError for a run or a
// candidate that does not exist. A row that is damaged is left out and goes to `damaged`, once; what was asked for by its number
// throws Error if it is damaged.
class History {
 public:
  // Throws Error for every row that is damaged.
  explicit History(std::string path);
  History(std::string path, OnDamage damaged);
  ~History();

  // In the order in which they were started.
  std::vector<RunSummary> Runs() const;
  // Those that were started last, at most so many, in the order in which they were started.
  std::vector<RunTitle> LatestTitles(std::size_t most) const;
  // The given run, or the latest one.
  RunSummary FindRun(std::optional<RunId> run) const;

  CandidateRecord FindCandidate(RunId run, CandidateId id) const;
  std::vector<CandidateRecord> Candidates(RunId run, const CandidateFilter& filter) const;
  // All candidates in the order of their ids, one after another, in a memory that does not grow with their number.
  void VisitAll(RunId run, const std::function<void(const CandidateRecord&)>& visit) const;
  // At most `count` of those that are ok and failed no check, the fastest first.
  std::vector<CandidateRecord> Fastest(RunId run, int count) const;
  // The names of the cases that candidates were measured on, in the order in which they first appear.
  std::vector<std::string> CaseNames(RunId run) const;
  std::set<std::string> ParameterNames(RunId run) const;
  // The fastest that passed the champion check; if none did, the fastest that was not checked; nullopt if there is neither. A
  // minimised champion that passed counts with the time of its champion and comes before it. In the place of one that is damaged
  // comes the next of those that are not.
  std::optional<CandidateRecord> Best(RunId run) const;
  // The run's baseline template with its default parameters; nullopt if it was not evaluated.
  std::optional<CandidateRecord> Baseline(RunId run) const;
  // From the first ancestor to the candidate, along first parents. It begins after an ancestor that is damaged or missing.
  std::vector<CandidateRecord> Lineage(RunId run, CandidateId id) const;

  // nullopt if the candidate is not a minimised champion.
  std::optional<MinimisedVariant> Minimised(RunId run, CandidateId id) const;

  // In the order of the cases.
  std::vector<EfficiencyRow> Efficiency(RunId run, CandidateId id) const;
  // In the order of measurement.
  std::vector<MachineState> Machines(RunId run) const;

  std::vector<GenerationRow> Generations(RunId run) const;
  // Most children first. Candidates that were made to minimise a champion do not count.
  std::vector<OperatorRow> Operators(RunId run) const;
  // For one run, or for all runs except replays, whose times were measured in other runs. Most tries first.
  std::vector<RewardRow> Rewards(std::optional<RunId> run) const;
  // Summed over all candidates of the run.
  StageClocks TotalClocks(RunId run) const;

 private:
  void Visit(RunId run, const std::string& condition, const std::string& order, const std::vector<std::string>& values,
             const OnDamage& damaged, const std::function<void(CandidateRecord)>& visit) const;
  std::vector<CandidateRecord> Read(RunId run, const std::string& condition, const std::string& order,
                                    const std::vector<std::string>& values, const OnDamage& damaged) const;
  std::vector<CandidateRecord> Ranked(RunId run) const;
  std::optional<CandidateRecord> ReadOne(RunId run, CandidateId id, const OnDamage& damaged) const;
  // What `work` reads is left out if it is damaged: place.what says what it is.
  template <typename Work>
  void LeavingOut(const Damage& place, Work&& work) const {
    try {
      work();
    } catch (const Error& error) {
      Once()({place.run, place.candidate, fmt::format("{}: {}", place.what, error.what())});
    }
  }
  OnDamage Once() const;
  OnDamage Throwing() const;

  std::string path_;
  std::unique_ptr<SQLite::Database> db_;
  OnDamage damaged_;
  mutable std::set<std::string> reported_;  // what was damaged, as one line each
};

}  // namespace evo
