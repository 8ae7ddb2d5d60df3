#include "db/rows.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/error.h"

namespace evo {
namespace {

constexpr std::array<std::string_view, 4> kRunStatuses{"running", "finished", "interrupted", "failed"};

constexpr const char* kSelectCandidate =
    "SELECT c.candidate, c.generation, c.idx, c.operator, c.genome, "
    "e.outcome, e.stage, e.message, e.log, e.score_ns, e.device, e.device_name, e.l2, "
    "e.registers, e.static_shared_bytes, e.dynamic_shared_bytes, e.spill_bytes, e.local_bytes, e.occupancy, "
    "e.compile_ms, e.load_ms, e.check_ms, e.time_ms, e.reverification_ms, e.queue_ms, e.reverification_runs, e.image_digest, "
    "e.source_digest, e.program_digest, "
    "e.shared_run, e.shared_candidate, e.failed_case, e.failed_generator, e.failed_seed "
    "FROM candidate AS c JOIN evaluation AS e USING (run, candidate) WHERE c.run = ?";

Evaluation ReadEvaluation(SQLite::Statement& row, int column) {
  const auto next = [&] { return row.getColumn(column++); };
  Evaluation evaluation;
  const std::string outcome = next().getString();
  const std::string stage = next().getString();
  const auto known_outcome = ParseOutcome(outcome);
  const auto known_stage = ParseStage(stage);
  if (!known_outcome || !known_stage) {
    throw Error(fmt::format("database: candidate {} has the outcome '{}' at '{}', which this evo does not know; use a newer one",
                            row.getColumn(0).getInt64(), outcome, stage));
  }
  evaluation.outcome = *known_outcome;
  evaluation.stage = *known_stage;
  evaluation.message = next().getString();
  evaluation.log = next().getString();
  evaluation.score_ns = RealOrNan(next());
  evaluation.device = next().getString();
  evaluation.device_name = next().getString();
  evaluation.l2 = next().getString();
  for (int* fact : {&evaluation.facts.registers, &evaluation.facts.static_shared_bytes, &evaluation.facts.dynamic_shared_bytes,
                    &evaluation.facts.spill_bytes, &evaluation.facts.local_bytes}) {
    *fact = IntOrUnknown(next());
  }
  evaluation.facts.occupancy = RealOrNan(next());
  for (double* clock : {&evaluation.clocks.compile_ms, &evaluation.clocks.load_ms, &evaluation.clocks.check_ms,
                        &evaluation.clocks.time_ms, &evaluation.clocks.reverification_ms, &evaluation.clocks.queue_ms}) {
    *clock = RealOrNan(next());
  }
  evaluation.reverification_runs = next().getInt();
  evaluation.image_digest = next().getString();
  evaluation.source_digest = next().getString();
  evaluation.program_digest = next().getString();
  evaluation.shared_run = next().getInt64();  // NULL reads as 0
  evaluation.shared_candidate = next().getInt64();
  evaluation.counterexample.case_name = next().getString();
  evaluation.counterexample.generator = next().getInt();
  const SQLite::Column seed = next();
  if (!seed.isNull()) evaluation.counterexample.seed = std::stoull(seed.getString());
  return evaluation;
}

template <typename Add>
void ForEachRow(SQLite::Statement& statement, RunId run, CandidateId candidate, Add add) {
  statement.reset();
  statement.bind(1, run);
  statement.bind(2, candidate);
  while (statement.executeStep()) add(statement);
}

}  // namespace

std::string_view ToString(RunStatus status) { return kRunStatuses.at(static_cast<std::size_t>(status)); }

RunStatus ParseRunStatus(std::string_view text) {
  for (std::size_t i = 0; i < kRunStatuses.size(); ++i) {
    if (kRunStatuses[i] == text) return static_cast<RunStatus>(i);
  }
  throw Error(fmt::format("database: a run has the status '{}', which this evo does not know; use a newer one", text));
}

std::string EncodeSamples(const std::vector<std::uint32_t>& samples) {
  std::string blob;
  blob.reserve(samples.size() * 4);
  for (const std::uint32_t sample : samples) {
    for (int shift = 0; shift < 32; shift += 8) blob += static_cast<char>((sample >> shift) & 0xffU);
  }
  return blob;
}

std::vector<std::uint32_t> DecodeSamples(std::string_view blob) {
  std::vector<std::uint32_t> samples(blob.size() / 4);
  for (std::size_t i = 0; i < samples.size() * 4; ++i) {
    samples[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(blob[i])) << (8 * (i % 4));
  }
  return samples;
}

void BindKnown(SQLite::Statement& statement, int position, int value) {
  if (value < 0) {
    statement.bind(position);  // NULL
  } else {
    statement.bind(position, value);
  }
}

int IntOrUnknown(const SQLite::Column& column) { return column.isNull() ? -1 : column.getInt(); }

double RealOrNan(const SQLite::Column& column) { return column.isNull() ? kNoValue : column.getDouble(); }

void BindCase(SQLite::Statement& statement, int first, const CaseMeasurement& m) {
  statement.bind(first, m.name);
  statement.bind(first + 1, m.weight);
  int position = first + 2;
  for (const double value : {m.median_ns, m.p10_ns, m.p90_ns, m.busy_ns, m.wall_ns, m.tick_ns}) statement.bind(position++, value);
  statement.bind(position++, m.discarded);
  statement.bind(position++, m.max_error);
  statement.bind(position++, m.l2_error);
  statement.bind(position++, m.pruned ? 1 : 0);
  const std::string blob = EncodeSamples(m.samples);
  statement.bind(position++, blob.data(), static_cast<int>(blob.size()));
  statement.bind(position++, m.outliers);
  BindKnown(statement, position++, m.sm_low_mhz);
  BindKnown(statement, position++, m.sm_high_mhz);
  statement.bind(position++, m.throttle_reason);
  statement.bind(position++, m.launches);
  statement.bind(position++, m.bytes);
  statement.bind(position, m.operations);
}

CaseMeasurement ReadCase(SQLite::Statement& row) {
  CaseMeasurement m;
  m.name = row.getColumn(0).getString();
  m.weight = row.getColumn(1).getDouble();
  int column = 2;
  for (double* value : {&m.median_ns, &m.p10_ns, &m.p90_ns, &m.busy_ns, &m.wall_ns, &m.tick_ns})
    *value = RealOrNan(row.getColumn(column++));
  m.discarded = row.getColumn(column++).getInt();
  m.max_error = RealOrNan(row.getColumn(column++));
  m.l2_error = RealOrNan(row.getColumn(column++));
  m.pruned = row.getColumn(column++).getInt() != 0;
  const SQLite::Column blob = row.getColumn(column++);
  const int bytes = blob.getBytes();
  if (bytes > 0) m.samples = DecodeSamples({static_cast<const char*>(blob.getBlob()), static_cast<std::size_t>(bytes)});
  m.outliers = row.getColumn(column++).getInt();
  m.sm_low_mhz = IntOrUnknown(row.getColumn(column++));
  m.sm_high_mhz = IntOrUnknown(row.getColumn(column++));
  m.throttle_reason = row.getColumn(column++).getString();
  m.launches = row.getColumn(column++).getString();
  m.bytes = RealOrNan(row.getColumn(column++));
  m.operations = RealOrNan(row.getColumn(column));
  return m;
}

std::vector<StoredCandidate> ReadCandidates(SQLite::Database& db, RunId run, const std::string& condition,
                                            const std::string& order, const std::vector<std::string>& values) {
  SQLite::Statement parents(db, "SELECT parent FROM parent WHERE run = ? AND candidate = ? ORDER BY position");
  SQLite::Statement dropped(db, "SELECT reason FROM dropped_edit WHERE run = ? AND candidate = ? ORDER BY position");
  SQLite::Statement cases(
      db, fmt::format("SELECT {} FROM case_measurement WHERE run = ? AND candidate = ? ORDER BY position", kCaseColumns));
  SQLite::Statement row(db, fmt::format("{} AND ({}) ORDER BY {}", kSelectCandidate, condition, order));
  row.bind(1, run);
  for (std::size_t i = 0; i < values.size(); ++i) row.bind(static_cast<int>(i) + 2, values[i]);
  std::vector<StoredCandidate> found;
  while (row.executeStep()) {
    StoredCandidate& stored = found.emplace_back();
    Candidate& candidate = stored.candidate;
    candidate.id = row.getColumn(0).getInt64();
    candidate.generation = row.getColumn(1).getInt();
    candidate.index = row.getColumn(2).getInt();
    candidate.op = row.getColumn(3).getString();
    candidate.genome = GenomeFromJson(row.getColumn(4).getString());
    stored.evaluation = ReadEvaluation(row, 5);
    ForEachRow(parents, run, candidate.id, [&](auto& r) { candidate.parents.push_back(r.getColumn(0).getInt64()); });
    ForEachRow(dropped, run, candidate.id, [&](auto& r) { candidate.dropped.push_back(r.getColumn(0).getString()); });
    Evaluation& evaluation = stored.evaluation;
    ForEachRow(cases, run, candidate.id, [&](auto& r) { evaluation.cases.push_back(ReadCase(r)); });
    if (evaluation.shared_candidate == 0) continue;
    // Taken over from another candidate, which keeps the samples.
    std::size_t place = 0;
    ForEachRow(cases, evaluation.shared_run == 0 ? run : evaluation.shared_run, evaluation.shared_candidate, [&](auto& r) {
      if (place < evaluation.cases.size() && evaluation.cases[place].samples.empty())
        evaluation.cases[place].samples = ReadCase(r).samples;
      ++place;
    });
  }
  return found;
}

}  // namespace evo
