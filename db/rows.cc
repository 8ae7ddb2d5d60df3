#include "db/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "core/error.h"
#include "db/counted_rows.h"
#include "db/record_rows.h"
#include "db/stored_genomes.h"

namespace evo {
namespace {

using SQLite::Statement;

constexpr int kMostReserved = 1'000;  // candidates of a generation: the number may be damaged

constexpr std::array<std::string_view, 4> kRunStatuses{"running", "finished", "interrupted", "failed"};

// How the rows of candidates are asked for. kAscending: by ascending candidates, most candidates of the run.
enum class Asked { kAnyhow, kAscending };

// The rows that a table has of the candidates of a run. Asked for ascending, they come from one statement that goes through the
// table, which takes half of the time of looking up each candidate.
class CandidateRows {
 public:
  CandidateRows(SQLite::Database& db, RunId run, Asked asked, std::string_view columns, std::string_view table)
      : ascending_(asked == Asked::kAscending),
        row_(db, fmt::format("SELECT {}, candidate FROM {} WHERE run = ? {}", columns, table,
                             ascending_ ? "ORDER BY candidate, position" : "AND candidate = ? ORDER BY position")) {
    row_.bind(1, run);
  }

  template <typename Add>
  void ForEach(CandidateId candidate, Add add) {
    if (!ascending_) {
      row_.reset();
      row_.bind(2, candidate);
      while (row_.executeStep()) add(row_);
      return;
    }
    if (!std::exchange(begun_, true)) Next();
    while (of_ < candidate) Next();
    for (; of_ == candidate; Next()) add(row_);
  }

 private:
  static constexpr CandidateId kNone = std::numeric_limits<CandidateId>::max();

  void Next() { of_ = row_.executeStep() ? row_.getColumn(row_.getColumnCount() - 1).getInt64() : kNone; }

  bool ascending_;
  bool begun_ = false;
  CandidateId of_ = kNone;  // the candidate of the present row
  Statement row_;
};

CaseMeasurement ReadCase(Statement& row) {
  int column = 0;
  return ReadRecord<CaseMeasurement>(row, column);
}

// Reads evaluations with their measurements.
class EvaluationReader {
 public:
  EvaluationReader(SQLite::Database& db, RunId run, Asked asked)
      : run_(run),
        cases_(db, run, asked, ColumnList<CaseMeasurement>(), "case_measurement"),
        shared_samples_(db, "SELECT samples FROM case_measurement WHERE run = ? AND candidate = ? ORDER BY position") {}

  // From the columns of the evaluation that begin there.
  Evaluation Read(Statement& row, int column, CandidateId candidate) {
    auto evaluation = ReadRecord<Evaluation>(row, column);
    cases_.ForEach(candidate, [&](Statement& r) { evaluation.cases.push_back(ReadCase(r)); });
    ReadSharedSamples(evaluation);
    return evaluation;
  }

 private:
  // An evaluation that was taken from another candidate has its samples there.
  void ReadSharedSamples(Evaluation& evaluation) {
    if (evaluation.shared_candidate == 0) return;
    shared_samples_.reset();
    shared_samples_.bind(1, evaluation.shared_run == 0 ? run_ : evaluation.shared_run);
    shared_samples_.bind(2, evaluation.shared_candidate);
    for (CaseMeasurement& measurement : evaluation.cases) {
      if (!shared_samples_.executeStep()) return;
      if (measurement.samples.empty()) ReadValue(shared_samples_.getColumn(0), Column{"samples"}, measurement.samples);
    }
  }

  RunId run_;
  CandidateRows cases_;
  Statement shared_samples_;
};

// Reads what other tables hold of a candidate as well.
class CandidateParts {
 public:
  CandidateParts(SQLite::Database& db, RunId run, Asked asked)
      : genomes_(db),
        parents_(db, run, asked, "parent", "parent"),
        dropped_(db, run, asked, "reason", "dropped_edit"),
        evaluations_(db, run, asked) {}

  // Throws Error for a value that this version does not know.
  StoredCandidate Read(Statement& row) {
    StoredCandidate stored;
    Candidate& candidate = stored.candidate;
    candidate.id = row.getColumn(0).getInt64();
    int column = 2;
    candidate.generation = row.getColumn(column++).getInt();
    candidate.index = row.getColumn(column++).getInt();
    candidate.op = row.getColumn(column++).getString();
    const std::int64_t head = row.getColumn(column++).getInt64();
    const SQLite::Column edits = row.getColumn(column++);
    stored.genome = genomes_.Read(head, edits.isNull() ? std::nullopt : std::optional(edits.getString()));
    candidate.genome.template_name = stored.genome.head->template_name;
    candidate.genome.template_digest = stored.genome.head->template_digest;
    parents_.ForEach(candidate.id, [&](Statement& r) { candidate.parents.push_back(r.getColumn(0).getInt64()); });
    dropped_.ForEach(candidate.id, [&](Statement& r) { candidate.dropped.push_back(r.getColumn(0).getString()); });
    stored.evaluation = evaluations_.Read(row, column, candidate.id);
    return stored;
  }

 private:
  StoredGenomes genomes_;
  CandidateRows parents_;
  CandidateRows dropped_;
  EvaluationReader evaluations_;
};

// The generations of a run, with all that is not of their candidates. `counts`: how many candidates each had, and how many of
// them were ok.
std::map<int, GenerationRecord> WithoutCandidates(SQLite::Database& db, RunId run, std::map<int, std::pair<int, int>>& counts) {
  std::map<int, GenerationRecord> generations;
  Statement rows(db, "SELECT generation, duplicates, evaluated, valid FROM generation WHERE run = ? ORDER BY generation");
  rows.bind(1, run);
  while (rows.executeStep()) {
    const int number = rows.getColumn(0).getInt();
    GenerationRecord& record = generations[number];
    record.generation = number;
    record.duplicates = rows.getColumn(1).getInt();
    counts[number] = {rows.getColumn(2).getInt(), rows.getColumn(3).getInt()};
    const auto expected = static_cast<std::size_t>(std::clamp(counts[number].first, 0, kMostReserved));
    record.candidates.reserve(expected);
    record.evaluations.reserve(expected);
  }
  Statement missed(db, "SELECT generation, operator, times FROM operator_inapplicable WHERE run = ?");
  missed.bind(1, run);
  while (missed.executeStep()) {
    const auto found = generations.find(missed.getColumn(0).getInt());
    if (found != generations.end()) found->second.inapplicable[missed.getColumn(1).getString()] = missed.getColumn(2).getInt();
  }
  for (auto& [id, stored] : ReadCounted(db, run)) {
    const auto found = generations.find(stored.generation);
    if (found != generations.end()) found->second.counted.push_back(std::move(stored.elite));
  }
  return generations;
}

}  // namespace

std::string_view ToString(RunStatus status) { return kRunStatuses.at(static_cast<std::size_t>(status)); }

RunStatus ParseRunStatus(std::string_view text) {
  for (std::size_t i = 0; i < kRunStatuses.size(); ++i) {
    if (kRunStatuses[i] == text) return static_cast<RunStatus>(i);
  }
  throw Error(fmt::format("database: a run has the status '{}', which this evo does not know; use a newer one", text));
}

void VisitCandidates(SQLite::Database& db, RunId run, const std::string& condition, const std::string& order,
                     const std::vector<std::string>& values, const OnDamage& damaged,
                     const std::function<void(StoredCandidate)>& visit) {
  CandidateParts parts(db, run, condition == kEveryCandidate && order == kById ? Asked::kAscending : Asked::kAnyhow);
  Statement row(db,
                fmt::format("SELECT c.candidate, e.candidate IS NULL, c.generation, c.idx, c.operator, c.head, c.edits, {} "
                            "FROM candidate_row AS c LEFT JOIN evaluation AS e ON e.run = c.run AND e.candidate = c.candidate "
                            "WHERE c.run = ? AND ({}) ORDER BY {}",
                            ColumnList<Evaluation>("e."), condition, order));
  row.bind(1, run);
  for (std::size_t i = 0; i < values.size(); ++i) row.bind(static_cast<int>(i) + 2, values[i]);
  while (row.executeStep()) {
    const CandidateId id = row.getColumn(0).getInt64();
    if (row.getColumn(1).getInt() != 0) {
      damaged({run, id, "its evaluation is missing"});
      continue;
    }
    std::optional<StoredCandidate> stored;
    try {
      stored = parts.Read(row);
    } catch (const Error& error) {
      damaged({run, id, error.what()});
    }
    if (stored) visit(std::move(*stored));
  }
}

void VisitEvaluations(SQLite::Database& db, RunId run, const std::string& condition, const OnDamage& damaged,
                      const std::function<void(CandidateId, Evaluation)>& visit) {
  EvaluationReader reader(db, run, Asked::kAscending);
  Statement row(db, fmt::format("SELECT e.candidate, {} FROM evaluation AS e WHERE e.run = ? AND ({}) ORDER BY e.candidate",
                                ColumnList<Evaluation>("e."), condition));
  row.bind(1, run);
  while (row.executeStep()) {
    const CandidateId id = row.getColumn(0).getInt64();
    std::optional<Evaluation> evaluation;
    try {
      evaluation = reader.Read(row, 1, id);
    } catch (const Error& error) {
      damaged({run, id, error.what()});
    }
    if (evaluation) visit(id, std::move(*evaluation));
  }
}

StoredGenerations ReadGenerations(SQLite::Database& db, RunId run, const OnDamage& damaged) {
  std::map<int, std::pair<int, int>> counts;
  std::map<int, GenerationRecord> generations = WithoutCandidates(db, run, counts);
  std::map<int, std::vector<GenomeParts>> genomes;
  // By their ids, which is the order of the rows on the disk; within a generation it is that of the places.
  const auto add = [&](StoredCandidate stored) {
    const int number = stored.candidate.generation;
    const auto found = generations.find(number);
    if (found == generations.end()) {
      damaged({run, stored.candidate.id, fmt::format("its generation {} is missing", number)});
      return;
    }
    found->second.candidates.push_back(std::move(stored.candidate));
    found->second.evaluations.push_back(std::move(stored.evaluation));
    genomes[number].push_back(std::move(stored.genome));
  };
  VisitCandidates(db, run, kEveryCandidate, kById, {}, damaged, add);
  std::vector<GenerationRecord> in_order;
  std::vector<std::vector<GenomeParts>> parts;
  for (auto& [number, record] : generations) {
    const auto [evaluated, valid] = counts[number];
    if (std::pair(static_cast<int>(record.candidates.size()), CountValid(record.evaluations)) != counts[number]) {
      damaged({run,
               {},
               fmt::format("its generation {} had {} candidates, {} of them ok, and has {}, {} of them ok", number, evaluated,
                           valid, record.candidates.size(), CountValid(record.evaluations))});
    }
    in_order.push_back(std::move(record));
    parts.push_back(std::move(genomes[number]));
  }
  if (const std::optional<Damage> damage = FindDamage(run, in_order)) damaged(*damage);
  return {std::move(in_order), std::move(parts)};
}

int CountValid(const std::vector<Evaluation>& evaluations) {
  return static_cast<int>(std::count_if(evaluations.begin(), evaluations.end(),
                                        [](const Evaluation& evaluation) { return evaluation.outcome == Outcome::kOk; }));
}

}  // namespace evo
