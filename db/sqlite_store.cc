#include "db/sqlite_store.h"

#include <fmt/format.h>

#include <cassert>

#include "db/database.h"
#include "db/rows.h"

namespace evo {
namespace {

using SQLite::Statement;

SQLite::Transaction Begin(SQLite::Database& db) { return SQLite::Transaction(db, SQLite::TransactionBehavior::IMMEDIATE); }

std::string Placeholders(int count) {
  std::string text = "?";
  for (int i = 1; i < count; ++i) text += ", ?";
  return text;
}

// Binds all values from position 1 and runs the statement, which is then ready for the next row.
template <typename... Values>
void Insert(Statement& statement, const Values&... values) {
  int position = 0;
  (statement.bind(++position, values), ...);
  statement.exec();
  statement.reset();
}

void BindShared(Statement& statement, int position, RunId run, const Evaluation& e) {
  if (e.shared_candidate == 0) {
    statement.bind(position);  // NULL
    statement.bind(position + 1);
    return;
  }
  statement.bind(position, e.shared_run == 0 ? run : e.shared_run);
  statement.bind(position + 1, e.shared_candidate);
}

void BindCounterexample(Statement& statement, int position, const Counterexample& counterexample) {
  if (counterexample.case_name.empty()) {
    for (int i = 0; i < 3; ++i) statement.bind(position + i);  // NULL
    return;
  }
  statement.bind(position, counterexample.case_name);
  statement.bind(position + 1, counterexample.generator);
  statement.bind(position + 2, std::to_string(counterexample.seed));
}

void InsertEvaluation(Statement& statement, RunId run, CandidateId candidate, const Evaluation& e) {
  int position = 0;
  statement.bind(++position, run);
  statement.bind(++position, candidate);
  statement.bind(++position, std::string(ToString(e.outcome)));
  statement.bind(++position, std::string(ToString(e.stage)));
  statement.bind(++position, e.message);
  statement.bind(++position, e.log);
  statement.bind(++position, e.score_ns);  // SQLite stores NaN as NULL
  statement.bind(++position, e.device);
  statement.bind(++position, e.device_name);
  statement.bind(++position, e.l2);
  for (const int fact :
       {e.facts.registers, e.facts.static_shared_bytes, e.facts.dynamic_shared_bytes, e.facts.spill_bytes, e.facts.local_bytes}) {
    BindKnown(statement, ++position, fact);
  }
  statement.bind(++position, e.facts.occupancy);
  for (const double clock : {e.clocks.compile_ms, e.clocks.load_ms, e.clocks.check_ms, e.clocks.time_ms,
                             e.clocks.reverification_ms, e.clocks.queue_ms}) {
    statement.bind(++position, clock);
  }
  statement.bind(++position, e.reverification_runs);
  statement.bind(++position, e.image_digest);
  statement.bind(++position, e.source_digest);
  statement.bind(++position, e.program_digest);
  BindShared(statement, position + 1, run, e);
  BindCounterexample(statement, position + 3, e.counterexample);
  statement.exec();
  statement.reset();
}

// The statements that write candidates, prepared once a generation.
class CandidateWriter {
 public:
  // `last`: of the candidates that are in the database when this is done.
  CandidateWriter(SQLite::Database& db, RunId run, CandidateId last)
      : run_(run),
        last_(last),
        candidate_(db,
                   "INSERT INTO candidate (run, candidate, generation, idx, template, operator, genome_hash, genome) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
        parent_(db, "INSERT INTO parent (run, candidate, position, parent) VALUES (?, ?, ?, ?)"),
        dropped_(db, "INSERT INTO dropped_edit (run, candidate, position, reason) VALUES (?, ?, ?, ?)"),
        evaluation_(db, fmt::format("INSERT INTO evaluation (run, candidate, outcome, stage, message, log, score_ns, device, "
                                    "device_name, l2, registers, static_shared_bytes, dynamic_shared_bytes, spill_bytes, "
                                    "local_bytes, occupancy, compile_ms, load_ms, check_ms, time_ms, reverification_ms, "
                                    "queue_ms, reverification_runs, image_digest, "
                                    "source_digest, program_digest, shared_run, shared_candidate, failed_case, failed_generator, "
                                    "failed_seed) VALUES ({})",
                                    Placeholders(31))),
        case_(db, fmt::format("INSERT INTO case_measurement (run, candidate, position, {}) VALUES ({})", kCaseColumns,
                              Placeholders(3 + kCaseColumnCount))) {}

  void Write(const Candidate& candidate, const Evaluation& evaluation) {
    Insert(candidate_, run_, candidate.id, candidate.generation, candidate.index, candidate.genome.template_name, candidate.op,
           GenomeHash(candidate.genome), ToCanonicalJson(candidate.genome));
    int position = 0;
    for (const CandidateId parent : candidate.parents) Insert(parent_, run_, candidate.id, position++, parent);
    position = 0;
    for (const std::string& reason : candidate.dropped) Insert(dropped_, run_, candidate.id, position++, reason);
    InsertEvaluation(evaluation_, run_, candidate.id, evaluation);
    position = 0;
    // A generation is evaluated beside the next: what it took over from there comes into the database later, or never.
    const bool of_this_run = evaluation.shared_run == 0 || evaluation.shared_run == run_;
    const bool kept_there = evaluation.shared_candidate != 0 && (!of_this_run || evaluation.shared_candidate <= last_);
    for (CaseMeasurement measurement : evaluation.cases) {
      if (kept_there) measurement.samples.clear();
      case_.bind(1, run_);
      case_.bind(2, candidate.id);
      case_.bind(3, position++);
      BindCase(case_, 4, measurement);
      case_.exec();
      case_.reset();
    }
  }

 private:
  RunId run_;
  CandidateId last_;
  Statement candidate_;
  Statement parent_;
  Statement dropped_;
  Statement evaluation_;
  Statement case_;
};

int CountValid(const std::vector<Evaluation>& evaluations) {
  int valid = 0;
  for (const Evaluation& evaluation : evaluations) valid += evaluation.outcome == Outcome::kOk ? 1 : 0;
  return valid;
}

void InsertRunRow(SQLite::Database& db, const RunRecord& run) {
  Statement insert(
      db, fmt::format("INSERT INTO run (task, task_directory, task_digest, baseline, device, device_name, arch, l2, "
                      "population_kind, seed, generations, population, children, options, tool_version, arithmetic) VALUES ({})",
                      Placeholders(16)));
  Insert(insert, run.task, run.task_directory, run.task_digest, run.baseline, run.device, run.device_name, run.arch, run.l2,
         run.population_kind, std::to_string(run.seed), run.generations, run.population, run.children, run.options,
         run.tool_version, run.arithmetic);
}

}  // namespace

SqliteStore::SqliteStore(std::string path) : SqliteStore(std::move(path), kBusyTimeout) {}

SqliteStore::SqliteStore(std::string path, std::chrono::milliseconds busy_timeout)
    : path_(std::move(path)), db_(OpenForWriting(path_, busy_timeout, Migrations())) {}

SqliteStore::~SqliteStore() = default;

RunId SqliteStore::BeginRun(const RunRecord& run) {
  return Explaining(path_, [&] {
    SQLite::Transaction transaction = Begin(*db_);
    InsertRunRow(*db_, run);
    const RunId id = db_->getLastInsertRowid();
    Statement text(*db_, "INSERT INTO template (digest, text) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING");
    Statement place(*db_, "INSERT INTO run_template (run, position, name, digest) VALUES (?, ?, ?, ?)");
    int position = 0;
    for (const TemplateText& text_of : run.templates) {
      Insert(text, text_of.digest, text_of.text);
      Insert(place, id, position++, text_of.name, text_of.digest);
    }
    Statement weight_row(*db_, "INSERT INTO run_operator (run, operator, weight) VALUES (?, ?, ?)");
    for (const auto& [name, weight] : run.operators) Insert(weight_row, id, name, weight);
    transaction.commit();
    return id;
  });
}

void SqliteStore::UpdateGenerations(RunId run, int generations) {
  Explaining(path_, [&] {
    SQLite::Transaction transaction = Begin(*db_);
    Statement update(*db_, "UPDATE run SET generations = ? WHERE run = ?");
    Insert(update, generations, run);
    transaction.commit();
  });
}

void SqliteStore::RecordGeneration(RunId run, const GenerationRecord& record) {
  assert(record.candidates.size() == record.evaluations.size());
  Explaining(path_, [&] {
    SQLite::Transaction transaction = Begin(*db_);
    Statement generation(*db_, "INSERT INTO generation (run, generation, evaluated, valid, duplicates) VALUES (?, ?, ?, ?, ?)");
    Insert(generation, run, record.generation, static_cast<int>(record.candidates.size()), CountValid(record.evaluations),
           record.duplicates);
    Statement missed(*db_, "INSERT INTO operator_inapplicable (run, generation, operator, times) VALUES (?, ?, ?, ?)");
    for (const auto& [name, times] : record.inapplicable) Insert(missed, run, record.generation, name, times);
    CandidateWriter writer(*db_, run, record.candidates.empty() ? 0 : record.candidates.back().id);
    for (std::size_t i = 0; i < record.candidates.size(); ++i) writer.Write(record.candidates[i], record.evaluations[i]);
    Statement running(
        *db_, "UPDATE run SET status = 'running', status_message = '', ended_at = NULL WHERE run = ? AND status <> 'running'");
    Insert(running, run);
    transaction.commit();
  });
}

void SqliteStore::RecordChampion(RunId run, CandidateId candidate, const ChampionCheck& check) {
  Explaining(path_, [&] {
    SQLite::Transaction transaction = Begin(*db_);
    Statement row(
        *db_,
        "INSERT INTO champion_check (run, candidate, outcome, message, candidate_ns, baseline_ns, speedup, slowest_ratio, "
        "slowest_inputs) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    Insert(row, run, candidate, std::string(ToString(check.outcome)), check.message, check.candidate_ns, check.baseline_ns,
           check.speedup, check.slowest.ratio, check.slowest.inputs);
    const std::int64_t id = db_->getLastInsertRowid();
    Statement case_row(*db_, fmt::format("INSERT INTO champion_case (champion_check, side, position, {}) VALUES ({})",
                                         kCaseColumns, Placeholders(3 + kCaseColumnCount)));
    const auto write = [&](const char* side, const std::vector<CaseMeasurement>& cases) {
      int position = 0;
      for (const CaseMeasurement& measurement : cases) {
        case_row.bind(1, id);
        case_row.bind(2, side);
        case_row.bind(3, position++);
        BindCase(case_row, 4, measurement);
        case_row.exec();
        case_row.reset();
      }
    };
    write("candidate", check.candidate);
    write("baseline", check.baseline);
    Statement held_out(*db_, "INSERT INTO held_out_case (champion_check, position, case_name) VALUES (?, ?, ?)");
    int position = 0;
    for (const std::string& name : check.held_out_cases) Insert(held_out, id, position++, name);
    Statement tool(*db_, "INSERT INTO tool_check (champion_check, position, tool, result, message) VALUES (?, ?, ?, ?, ?)");
    position = 0;
    for (const ToolResult& result : check.tools) Insert(tool, id, position++, result.tool, result.result, result.message);
    transaction.commit();
  });
}

void SqliteStore::RecordMinimised(RunId run, CandidateId champion, CandidateId candidate,
                                  const std::vector<CandidateId>& without) {
  Explaining(path_, [&] {
    SQLite::Transaction transaction = Begin(*db_);
    Statement form(*db_,
                   "INSERT INTO minimised (run, champion, candidate) VALUES (?, ?, ?) "
                   "ON CONFLICT (run, champion) DO UPDATE SET candidate = excluded.candidate");
    Insert(form, run, champion, candidate);
    Statement stale(*db_, "DELETE FROM left_out_edit WHERE run = ? AND candidate = ?");
    Insert(stale, run, candidate);
    Statement row(*db_, "INSERT INTO left_out_edit (run, candidate, position, without) VALUES (?, ?, ?, nullif(?, 0))");
    int position = 0;
    for (const CandidateId lacking : without) Insert(row, run, candidate, position++, lacking);
    transaction.commit();
  });
}

void SqliteStore::RecordMachine(RunId run, const MachineState& machine) {
  Explaining(path_, [&] {
    SQLite::Transaction transaction = Begin(*db_);
    Statement row(
        *db_,
        fmt::format(
            "INSERT INTO machine (run, moment, ordinal, launch_ns, control_ratio, dram_bytes_per_s, l2_bytes_per_s, f32_per_s, "
            "tensor_per_s, l2_bytes, sm_mhz, sm_max_mhz, memory_mhz, temperature_c, power_w, throttle_reason) VALUES ({})",
            Placeholders(16)));
    row.bind(1, run);
    row.bind(2, machine.moment);
    row.bind(3, machine.ordinal);
    int position = 4;
    for (const double value : {machine.launch_ns, machine.control_ratio, machine.dram_bytes_per_s, machine.l2_bytes_per_s,
                               machine.f32_per_s, machine.tensor_per_s}) {
      row.bind(position++, value);  // SQLite stores NaN as NULL
    }
    row.bind(position++, static_cast<std::int64_t>(machine.l2_bytes));
    const ClockState& clocks = machine.clocks;
    for (const int value : {clocks.sm_mhz, clocks.sm_max_mhz, clocks.memory_mhz, clocks.temperature_c})
      BindKnown(row, position++, value);
    row.bind(position++, clocks.power_w);
    row.bind(position, clocks.throttle_reason);
    row.exec();
    transaction.commit();
  });
}

void SqliteStore::EndRun(RunId run, RunStatus status, const std::string& message) {
  Explaining(path_, [&] {
    SQLite::Transaction transaction = Begin(*db_);
    Statement update(*db_,
                     "UPDATE run SET status = ?, status_message = ?, "
                     "ended_at = CASE ? WHEN 'running' THEN NULL ELSE strftime('%Y-%m-%dT%H:%M:%SZ', 'now') END WHERE run = ?");
    const std::string name(ToString(status));
    Insert(update, name, message, name, run);
    transaction.commit();
  });
}

std::vector<KnownEvaluation> SqliteStore::LoadKnown(const RunRecord& run) {
  return Explaining(path_, [&] {
    Statement row(*db_,
                  "SELECT run FROM run WHERE task_digest = ? AND device = ? AND device_name = ? AND arch = ? AND l2 = ? AND "
                  "tool_version = ? "
                  "AND NOT coalesce(json_valid(run.options) AND json_type(run.options, '$.replay') IS NOT NULL, 0) ORDER BY run");
    int position = 0;
    for (const std::string* value : {&run.task_digest, &run.device, &run.device_name, &run.arch, &run.l2, &run.tool_version})
      row.bind(++position, *value);
    std::vector<KnownEvaluation> known;
    while (row.executeStep()) {
      const RunId earlier = row.getColumn(0).getInt64();
      for (StoredCandidate& stored :
           ReadCandidates(*db_, earlier, "e.shared_candidate IS NULL AND e.program_digest <> ''", "c.candidate", {})) {
        known.push_back({earlier, stored.candidate.id, std::move(stored.evaluation)});
      }
    }
    return known;
  });
}

std::map<std::string, OperatorReward> SqliteStore::LoadRewards(const RunRecord& run) {
  return Explaining(path_, [&] {
    Statement row(*db_,
                  "SELECT operator, outcome = 'ok' AND NOT neutral, parent_ns, score_ns FROM operator_child JOIN run USING (run) "
                  "WHERE status = 'finished' AND operator <> 'minimise' AND (task_digest = ? OR task = ?) AND run.device = ? AND "
                  "run.device_name = ? "
                  "AND NOT coalesce(json_valid(run.options) AND json_type(run.options, '$.replay') IS NOT NULL, 0) ORDER BY run, "
                  "candidate");
    int position = 0;
    for (const std::string* value : {&run.task_digest, &run.task, &run.device, &run.device_name}) row.bind(++position, *value);
    std::map<std::string, OperatorReward> rewards;
    while (row.executeStep()) {
      AddChild(rewards[row.getColumn(0).getString()], row.getColumn(1).getInt() != 0, RealOrNan(row.getColumn(2)),
               RealOrNan(row.getColumn(3)));
    }
    return rewards;
  });
}

std::vector<GenerationRecord> SqliteStore::LoadGenerations(RunId run) {
  return Explaining(path_, [&] {
    SQLite::Transaction snapshot(*db_);
    std::map<int, GenerationRecord> generations;
    Statement rows(*db_, "SELECT generation, duplicates FROM generation WHERE run = ? ORDER BY generation");
    rows.bind(1, run);
    while (rows.executeStep()) {
      GenerationRecord& record = generations[rows.getColumn(0).getInt()];
      record.generation = rows.getColumn(0).getInt();
      record.duplicates = rows.getColumn(1).getInt();
    }
    Statement missed(*db_, "SELECT generation, operator, times FROM operator_inapplicable WHERE run = ?");
    missed.bind(1, run);
    while (missed.executeStep()) {
      generations.at(missed.getColumn(0).getInt()).inapplicable[missed.getColumn(1).getString()] = missed.getColumn(2).getInt();
    }
    for (StoredCandidate& stored : ReadCandidates(*db_, run, "TRUE", "c.generation, c.idx", {})) {
      GenerationRecord& record = generations.at(stored.candidate.generation);
      record.candidates.push_back(std::move(stored.candidate));
      record.evaluations.push_back(std::move(stored.evaluation));
    }
    std::vector<GenerationRecord> in_order;
    for (auto& [number, record] : generations) in_order.push_back(std::move(record));
    return in_order;
  });
}

}  // namespace evo
