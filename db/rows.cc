#include "db/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "core/error.h"
#include "db/record_rows.h"
#include "db/stored_genomes.h"

namespace evo {
namespace {

using SQLite::Statement;

constexpr std::array<std::string_view, 4> kRunStatuses{"running", "finished", "interrupted", "failed"};

template <typename Add>
void ForEachRow(Statement& statement, RunId run, CandidateId candidate, Add add) {
  statement.reset();
  statement.bind(1, run);
  statement.bind(2, candidate);
  while (statement.executeStep()) add(statement);
}

CaseMeasurement ReadCase(Statement& row) {
  int column = 0;
  return ReadRecord<CaseMeasurement>(row, column);
}

// An evaluation that was taken from another candidate has its samples there.
void ReadSharedSamples(Statement& cases, RunId run, Evaluation& evaluation) {
  if (evaluation.shared_candidate == 0) return;
  std::size_t position = 0;
  ForEachRow(cases, evaluation.shared_run == 0 ? run : evaluation.shared_run, evaluation.shared_candidate, [&](Statement& row) {
    if (position < evaluation.cases.size() && evaluation.cases[position].samples.empty())
      evaluation.cases[position].samples = ReadCase(row).samples;
    ++position;
  });
}

// Reads evaluations with their measurements.
class EvaluationReader {
 public:
  EvaluationReader(SQLite::Database& db, RunId run)
      : run_(run),
        cases_(db, fmt::format("SELECT {} FROM case_measurement WHERE run = ? AND candidate = ? ORDER BY position",
                               ColumnList<CaseMeasurement>())) {}

  // From the columns of the evaluation that begin there.
  Evaluation Read(Statement& row, int column, CandidateId candidate) {
    auto evaluation = ReadRecord<Evaluation>(row, column);
    ForEachRow(cases_, run_, candidate, [&](Statement& r) { evaluation.cases.push_back(ReadCase(r)); });
    ReadSharedSamples(cases_, run_, evaluation);
    return evaluation;
  }

 private:
  RunId run_;
  Statement cases_;
};

// Reads what other tables hold of a candidate as well.
class CandidateParts {
 public:
  CandidateParts(SQLite::Database& db, RunId run, GenomeDetail detail)
      : run_(run),
        detail_(detail),
        genomes_(db),
        parents_(db, "SELECT parent FROM parent WHERE run = ? AND candidate = ? ORDER BY position"),
        dropped_(db, "SELECT reason FROM dropped_edit WHERE run = ? AND candidate = ? ORDER BY position"),
        evaluations_(db, run) {}

  // Throws Error for a value that this version does not know.
  StoredCandidate Read(Statement& row) {
    Candidate candidate;
    candidate.id = row.getColumn(0).getInt64();
    int column = 2;
    candidate.generation = row.getColumn(column++).getInt();
    candidate.index = row.getColumn(column++).getInt();
    candidate.op = row.getColumn(column++).getString();
    const std::int64_t head = row.getColumn(column++).getInt64();
    const SQLite::Column stored = row.getColumn(column++);
    const std::optional<std::string> edits = stored.isNull() ? std::nullopt : std::optional(stored.getString());
    candidate.genome = detail_ == GenomeDetail::kWhole ? genomes_.Read(head, edits) : genomes_.Outline(head, edits);
    ForEachRow(parents_, run_, candidate.id, [&](Statement& r) { candidate.parents.push_back(r.getColumn(0).getInt64()); });
    ForEachRow(dropped_, run_, candidate.id, [&](Statement& r) { candidate.dropped.push_back(r.getColumn(0).getString()); });
    Evaluation evaluation = evaluations_.Read(row, column, candidate.id);
    return {std::move(candidate), std::move(evaluation)};
  }

 private:
  RunId run_;
  GenomeDetail detail_;
  StoredGenomes genomes_;
  Statement parents_;
  Statement dropped_;
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
  }
  Statement missed(db, "SELECT generation, operator, times FROM operator_inapplicable WHERE run = ?");
  missed.bind(1, run);
  while (missed.executeStep()) {
    const auto found = generations.find(missed.getColumn(0).getInt());
    if (found != generations.end()) found->second.inapplicable[missed.getColumn(1).getString()] = missed.getColumn(2).getInt();
  }
  return generations;
}

void AddTo(StoredCandidate stored, GenerationRecord& generation) {
  generation.candidates.push_back(std::move(stored.candidate));
  generation.evaluations.push_back(std::move(stored.evaluation));
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
                     const std::function<void(StoredCandidate)>& visit, GenomeDetail detail) {
  CandidateParts parts(db, run, detail);
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
  EvaluationReader reader(db, run);
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

std::vector<GenerationRecord> ReadGenerations(SQLite::Database& db, RunId run, const OnDamage& damaged, GenomeDetail detail) {
  std::map<int, std::pair<int, int>> counts;
  std::map<int, GenerationRecord> generations = WithoutCandidates(db, run, counts);
  // By their ids, which is the order of the rows on the disk; within a generation it is that of the places.
  const auto add = [&](StoredCandidate stored) {
    const auto found = generations.find(stored.candidate.generation);
    if (found == generations.end()) {
      damaged({run, stored.candidate.id, fmt::format("its generation {} is missing", stored.candidate.generation)});
      return;
    }
    AddTo(std::move(stored), found->second);
  };
  VisitCandidates(db, run, "TRUE", "c.candidate", {}, damaged, add, detail);
  std::vector<GenerationRecord> in_order;
  for (auto& [number, record] : generations) {
    const auto [evaluated, valid] = counts[number];
    if (std::pair(static_cast<int>(record.candidates.size()), CountValid(record.evaluations)) != counts[number]) {
      damaged({run,
               {},
               fmt::format("its generation {} had {} candidates, {} of them ok, and has {}, {} of them ok", number, evaluated,
                           valid, record.candidates.size(), CountValid(record.evaluations))});
    }
    in_order.push_back(std::move(record));
  }
  if (const std::optional<Damage> damage = FindDamage(run, in_order)) damaged(*damage);
  return in_order;
}

void VisitGenerations(SQLite::Database& db, RunId run, const OnDamage& damaged,
                      const std::function<void(GenerationRecord)>& visit) {
  std::map<int, std::pair<int, int>> counts;
  std::map<int, GenerationRecord> generations = WithoutCandidates(db, run, counts);
  auto complete = generations.begin();  // the first that was not visited
  const auto visit_before = [&](int number) {
    for (; complete != generations.end() && complete->first < number; ++complete) visit(std::exchange(complete->second, {}));
  };
  VisitCandidates(db, run, "TRUE", "c.candidate", {}, damaged, [&](StoredCandidate stored) {
    const int number = stored.candidate.generation;
    visit_before(number);
    if (complete == generations.end() || complete->first != number)
      damaged({run, stored.candidate.id, fmt::format("its generation {} is missing, or has changed meanwhile", number)});
    else
      AddTo(std::move(stored), complete->second);
  });
  visit_before(std::numeric_limits<int>::max());
}

int CountValid(const std::vector<Evaluation>& evaluations) {
  return static_cast<int>(std::count_if(evaluations.begin(), evaluations.end(),
                                        [](const Evaluation& evaluation) { return evaluation.outcome == Outcome::kOk; }));
}

}  // namespace evo
