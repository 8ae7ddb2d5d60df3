#include "db/rows.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"
#include "db/record_rows.h"

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

}  // namespace

std::string_view ToString(RunStatus status) { return kRunStatuses.at(static_cast<std::size_t>(status)); }

RunStatus ParseRunStatus(std::string_view text) {
  for (std::size_t i = 0; i < kRunStatuses.size(); ++i) {
    if (kRunStatuses[i] == text) return static_cast<RunStatus>(i);
  }
  throw Error(fmt::format("database: a run has the status '{}', which this evo does not know; use a newer one", text));
}

std::vector<StoredCandidate> ReadCandidates(SQLite::Database& db, RunId run, const std::string& condition,
                                            const std::string& order, const std::vector<std::string>& values) {
  Statement parents(db, "SELECT parent FROM parent WHERE run = ? AND candidate = ? ORDER BY position");
  Statement dropped(db, "SELECT reason FROM dropped_edit WHERE run = ? AND candidate = ? ORDER BY position");
  Statement cases(db, fmt::format("SELECT {} FROM case_measurement WHERE run = ? AND candidate = ? ORDER BY position",
                                  ColumnList<CaseMeasurement>()));
  Statement row(db, fmt::format("SELECT c.candidate, c.generation, c.idx, c.operator, c.genome, {} FROM candidate AS c "
                                "JOIN evaluation AS e USING (run, candidate) WHERE c.run = ? AND ({}) ORDER BY {}",
                                ColumnList<Evaluation>("e."), condition, order));
  row.bind(1, run);
  for (std::size_t i = 0; i < values.size(); ++i) row.bind(static_cast<int>(i) + 2, values[i]);
  std::vector<StoredCandidate> found;
  while (row.executeStep()) {
    Candidate candidate;
    int column = 0;
    candidate.id = row.getColumn(column++).getInt64();
    candidate.generation = row.getColumn(column++).getInt();
    candidate.index = row.getColumn(column++).getInt();
    candidate.op = row.getColumn(column++).getString();
    candidate.genome = GenomeFromJson(row.getColumn(column++).getString());
    auto evaluation = ReadRecord<Evaluation>(row, column);
    ForEachRow(parents, run, candidate.id, [&](Statement& r) { candidate.parents.push_back(r.getColumn(0).getInt64()); });
    ForEachRow(dropped, run, candidate.id, [&](Statement& r) { candidate.dropped.push_back(r.getColumn(0).getString()); });
    ForEachRow(cases, run, candidate.id, [&](Statement& r) { evaluation.cases.push_back(ReadCase(r)); });
    ReadSharedSamples(cases, run, evaluation);
    found.push_back({std::move(candidate), std::move(evaluation)});
  }
  return found;
}

}  // namespace evo
