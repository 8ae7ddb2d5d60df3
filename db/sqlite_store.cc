#include "db/sqlite_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cassert>

#include "db/counted_rows.h"
#include "db/database.h"
#include "db/record_rows.h"
#include "db/rows.h"

namespace evo {
namespace {

using SQLite::Statement;

// What SQLite adds to the name of a database for the files beside it.
constexpr const char* kLog = "-wal";
constexpr const char* kLogIndex = "-shm";
constexpr int kMostRescued = 100;

SQLite::Transaction Begin(SQLite::Database& db) { return SQLite::Transaction(db, SQLite::TransactionBehavior::IMMEDIATE); }

// Binds all values, beginning at position 1, runs the statement and resets it for the next row.
template <typename... Values>
void Insert(Statement& statement, const Values&... values) {
  int position = 0;
  (statement.bind(++position, values), ...);
  statement.exec();
  statement.reset();
}

// The evaluation as it is stored: a copy names the run of its original, even if that is the present run.
Evaluation WithSource(Evaluation evaluation, RunId run) {
  if (evaluation.shared_candidate == 0) {
    evaluation.shared_run = 0;
  } else if (evaluation.shared_run == 0) {
    evaluation.shared_run = run;
  }
  return evaluation;
}

// Adds a generation to the sums that the history reads. Once for each generation, after its candidates.
void CountGeneration(SQLite::Database& db, RunId run, const GenerationRecord& record) {
  Statement outcomes(db, "INSERT INTO generation_outcome SELECT * FROM counted_outcome WHERE run = ? AND generation = ?");
  Insert(outcomes, run, record.generation);
  const std::string add =
      " ON CONFLICT (run, operator) DO UPDATE SET children = children + excluded.children, ok = ok + excluded.ok, "
      "faster = faster + excluded.faster, tries = tries + excluded.tries, valid = valid + excluded.valid, "
      "neutral = neutral + excluded.neutral, improving = improving + excluded.improving, gains = gains + excluded.gains, "
      "best_gain = max(coalesce(best_gain, excluded.best_gain), coalesce(excluded.best_gain, best_gain)), "
      "inapplicable = inapplicable + excluded.inapplicable";
  Statement operators(db,
                      "INSERT INTO operator_total SELECT run, operator, children, ok, faster, tries, valid, neutral, improving, "
                      "gains, best_gain, 0 FROM counted_operator WHERE run = ? AND generation = ?" +
                          add);
  Insert(operators, run, record.generation);
  Statement missed(db, "INSERT INTO operator_total VALUES (?, ?, 0, 0, 0, 0, 0, 0, 0, 0.0, NULL, ?)" + add);
  for (const auto& [name, times] : record.inapplicable) Insert(missed, run, name, times);
}

// What can be reused of a run's own generations, likewise as it is read from the database.
void AddKnown(RunId run, const std::vector<GenerationRecord>& generations, std::vector<KnownEvaluation>& known) {
  for (const GenerationRecord& generation : generations) {
    for (std::size_t i = 0; i < generation.evaluations.size(); ++i) {
      const Evaluation& evaluation = generation.evaluations[i];
      if (evaluation.shared_candidate == 0 && !evaluation.program_digest.empty())
        known.push_back({run, generation.candidates[i].id, evaluation});
    }
  }
}

// Inserts the candidates of one generation, `last` being the last of them.
class CandidateWriter {
 public:
  CandidateWriter(SQLite::Database& db, RunId run, CandidateId last)
      : run_(run),
        last_(last),
        candidate_(db,
                   "INSERT INTO candidate (run, candidate, generation, idx, template, operator, genome_hash, genome) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
        parent_(db, "INSERT INTO parent (run, candidate, position, parent) VALUES (?, ?, ?, ?)"),
        dropped_(db, "INSERT INTO dropped_edit (run, candidate, position, reason) VALUES (?, ?, ?, ?)"),
        insert_evaluation_(db, "evaluation", {"run", "candidate"}),
        insert_case_(db, "case_measurement", {"run", "candidate", "position"}) {}

  void Write(const Candidate& candidate, const Evaluation& evaluation) {
    Insert(candidate_, run_, candidate.id, candidate.generation, candidate.index, candidate.genome.template_name, candidate.op,
           GenomeHash(candidate.genome), ToCanonicalJson(candidate.genome));
    int position = 0;
    for (const CandidateId parent : candidate.parents) Insert(parent_, run_, candidate.id, position++, parent);
    position = 0;
    for (const std::string& reason : candidate.dropped) Insert(dropped_, run_, candidate.id, position++, reason);
    WriteEvaluation(candidate.id, WithSource(evaluation, run_));
  }

 private:
  void WriteEvaluation(CandidateId candidate, Evaluation evaluation) {
    insert_evaluation_(evaluation, run_, candidate);
    // The next generation is evaluated at the same time as this one. Its candidates are stored later or never, so that
    // samples taken from it are kept here as well.
    const bool kept_there =
        evaluation.shared_candidate != 0 && (evaluation.shared_run != run_ || evaluation.shared_candidate <= last_);
    int position = 0;
    for (CaseMeasurement& measurement : evaluation.cases) {
      if (kept_there) measurement.samples.clear();
      insert_case_(measurement, run_, candidate, position++);
    }
  }

  RunId run_;
  CandidateId last_;
  Statement candidate_;
  Statement parent_;
  Statement dropped_;
  RecordInsert<Evaluation> insert_evaluation_;
  RecordInsert<CaseMeasurement> insert_case_;
};

}  // namespace

SqliteStore::SqliteStore(std::string path, LockWait lock, DiskWait disk)
    : path_(std::move(path)),
      lock_waiter_(path_, std::move(lock)),
      disk_waiter_(path_, std::move(disk)),
      db_(OpenForWriting(path_, kBusyTimeout, Migrations())),
      file_(IdentityOf(path_)) {
  lock_waiter_.Serve(*db_);
}

SqliteStore::~SqliteStore() = default;

void SqliteStore::SetStop(const std::stop_token& stop) {
  lock_waiter_.SetStop(stop);
  disk_waiter_.SetStop(stop);
}

void SqliteStore::Write(const std::function<void()>& work) {
  const auto once = [&] {
    RequireSameFile();
    SQLite::Transaction transaction = Begin(*db_);
    work();
    transaction.commit();
    RequireSameFile();
    if (!log_) log_ = IdentityOf(path_ + kLog);
  };
  Explaining(path_, [&] { disk_waiter_.Call(once); });
}

// SQLite writes on to the file that it opened, which has no name any longer. What lies under its name now is not ours.
void SqliteStore::RequireSameFile() {
  if (lost_.empty() && IdentityOf(path_) == file_) return;
  if (lost_.empty()) {
    lost_ = fmt::format("{}: deleted or replaced while evo wrote to it; {}", path_, Rescue());
    // Our log beside another database: SQLite would take its pages for theirs.
    if (log_ && IdentityOf(path_ + kLog) == log_) {
      for (const char* ours : {kLog, kLogIndex}) ::unlink((path_ + ours).c_str());
    }
  }
  throw Error(lost_);
}

// Returns the end of a message: where what was stored is now.
std::string SqliteStore::Rescue() {
  for (int number = 1; number <= kMostRescued; ++number) {
    const std::string copy = fmt::format("{}.rescued-{}", path_, number);
    if (IdentityOf(copy)) continue;
    try {
      Statement vacuum(*db_, "VACUUM INTO ?");
      vacuum.bind(1, copy);
      vacuum.exec();
      return fmt::format("all that was stored is in {}: go on with `evo run --resume --db {}`", copy, copy);
    } catch (const SQLite::Exception& error) {
      return fmt::format("what was stored is lost ({})", error.what());
    }
  }
  return "what was stored is lost, because there are too many rescued copies; remove some";
}

RunId SqliteStore::BeginRun(const RunRecord& run) {
  RunId id = 0;
  Write([&] {
    RecordInsert<RunRecord>(*db_, "run", {})(run);
    id = db_->getLastInsertRowid();
    Statement text(*db_, "INSERT INTO template (digest, text) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING");
    Statement place(*db_, "INSERT INTO run_template (run, position, name, digest) VALUES (?, ?, ?, ?)");
    int position = 0;
    for (const TemplateText& text_of : run.templates) {
      Insert(text, text_of.digest, text_of.text);
      Insert(place, id, position++, text_of.name, text_of.digest);
    }
    Statement weight_row(*db_, "INSERT INTO run_operator (run, operator, weight) VALUES (?, ?, ?)");
    for (const auto& [name, weight] : run.operators) Insert(weight_row, id, name, weight);
  });
  return id;
}

void SqliteStore::UpdateGenerations(RunId run, int generations) {
  Write([&] {
    Statement update(*db_, "UPDATE run SET generations = ? WHERE run = ?");
    Insert(update, generations, run);
  });
}

void SqliteStore::RecordGeneration(RunId run, const GenerationRecord& record) {
  assert(record.candidates.size() == record.evaluations.size());
  Write([&] {
    Statement generation(*db_, "INSERT INTO generation (run, generation, evaluated, valid, duplicates) VALUES (?, ?, ?, ?, ?)");
    Insert(generation, run, record.generation, static_cast<int>(record.candidates.size()), CountValid(record.evaluations),
           record.duplicates);
    Statement missed(*db_, "INSERT INTO operator_inapplicable (run, generation, operator, times) VALUES (?, ?, ?, ?)");
    for (const auto& [name, times] : record.inapplicable) Insert(missed, run, record.generation, name, times);
    CandidateWriter writer(*db_, run, record.candidates.empty() ? 0 : record.candidates.back().id);
    for (std::size_t i = 0; i < record.candidates.size(); ++i) writer.Write(record.candidates[i], record.evaluations[i]);
    WriteCounted(*db_, run, record);
    CountGeneration(*db_, run, record);
    Statement running(
        *db_, "UPDATE run SET status = 'running', status_message = '', ended_at = NULL WHERE run = ? AND status <> 'running'");
    Insert(running, run);
  });
}

void SqliteStore::RecordChampion(RunId run, CandidateId candidate, const ChampionCheck& check) {
  Write([&] {
    RecordInsert<ChampionCheck>(*db_, "champion_check", {"run", "candidate"})(check, run, candidate);
    const std::int64_t id = db_->getLastInsertRowid();
    RecordInsert<CaseMeasurement> insert_case(*db_, "champion_case", {"champion_check", "side", "position"});
    int position = 0;
    for (const CaseMeasurement& measurement : check.candidate) insert_case(measurement, id, "candidate", position++);
    position = 0;
    for (const CaseMeasurement& measurement : check.baseline) insert_case(measurement, id, "baseline", position++);
    Statement held_out(*db_, "INSERT INTO held_out_case (champion_check, position, case_name) VALUES (?, ?, ?)");
    position = 0;
    for (const std::string& name : check.held_out_cases) Insert(held_out, id, position++, name);
    RecordInsert<ToolResult> insert_tool(*db_, "tool_check", {"champion_check", "position"});
    position = 0;
    for (const ToolResult& tool : check.tools) insert_tool(tool, id, position++);
    RecordInsert<HardwareCounters> insert_counters(*db_, "hardware_counters", {"champion_check"});
    for (const HardwareCounters& counters : check.counters) insert_counters(counters, id);
    RecordInsert<StallLine> insert_stall(*db_, "stall_line", {"champion_check", "position"});
    position = 0;
    for (const StallLine& stall : check.stalls) insert_stall(stall, id, position++);
    Statement covered(*db_, "INSERT INTO verified_domain (champion_check, position, kind, what, reason) VALUES (?, ?, ?, ?, ?)");
    position = 0;
    for (const std::string& sizes : check.domain.sizes) Insert(covered, id, position++, "sizes", sizes, "");
    for (const std::string& inputs : check.domain.inputs) Insert(covered, id, position++, "inputs", inputs, "");
    for (const LeftOut& one : check.domain.left_out) Insert(covered, id, position++, "left out", one.what, one.reason);
  });
}

void SqliteStore::RecordMinimised(RunId run, CandidateId champion, CandidateId candidate,
                                  const std::vector<CandidateId>& without) {
  Write([&] {
    Statement minimised(*db_,
                        "INSERT INTO minimised (run, champion, candidate) VALUES (?, ?, ?) "
                        "ON CONFLICT (run, champion) DO UPDATE SET candidate = excluded.candidate");
    Insert(minimised, run, champion, candidate);
    Statement stale(*db_, "DELETE FROM left_out_edit WHERE run = ? AND candidate = ?");
    Insert(stale, run, candidate);
    Statement row(*db_, "INSERT INTO left_out_edit (run, candidate, position, without) VALUES (?, ?, ?, nullif(?, 0))");
    int position = 0;
    for (const CandidateId lacking : without) Insert(row, run, candidate, position++, lacking);
  });
}

void SqliteStore::RecordMachine(RunId run, const MachineState& machine) {
  Write([&] { RecordInsert<MachineState>(*db_, "machine", {"run"})(machine, run); });
}

void SqliteStore::EndRun(RunId run, RunStatus status, const std::string& message) {
  Write([&] {
    Statement update(*db_,
                     "UPDATE run SET status = ?, status_message = ?, "
                     "ended_at = CASE ? WHEN 'running' THEN NULL ELSE strftime('%Y-%m-%dT%H:%M:%SZ', 'now') END WHERE run = ?");
    const std::string name(ToString(status));
    Insert(update, name, message, name, run);
  });
}

std::vector<KnownEvaluation> SqliteStore::LoadKnown(const RunRecord& run, const OnDamage& damaged,
                                                    const std::vector<GenerationRecord>* own) {
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
      if (own != nullptr && earlier == run.id) {
        AddKnown(earlier, *own, known);
        continue;
      }
      VisitEvaluations(*db_, earlier, "e.shared_candidate IS NULL AND e.program_digest <> ''", damaged,
                       [&](CandidateId id, Evaluation evaluation) {
                         known.push_back({earlier, id, std::move(evaluation)});
                       });
    }
    return known;
  });
}

std::vector<Counterexample> SqliteStore::LoadCounterexamples(const std::string& task_digest) {
  return Explaining(path_, [&] {
    // What the view task_counterexample has of the task. The view itself goes through all runs of the database.
    Statement row(*db_,
                  "WITH asked AS (SELECT run FROM run WHERE task_digest = ?), found AS ("
                  "SELECT failed_case, failed_generator, failed_seed, coalesce(failed_inputs, '') AS failed_inputs "
                  "FROM evaluation_row WHERE failed_case IS NOT NULL AND run IN asked UNION ALL "
                  "SELECT failed_case, failed_generator, failed_seed, coalesce(failed_inputs, '') "
                  "FROM champion_check WHERE failed_case IS NOT NULL AND run IN asked) "
                  "SELECT failed_case, failed_generator, max(failed_seed), failed_inputs FROM found "
                  "GROUP BY failed_case, failed_generator, failed_inputs "
                  "ORDER BY count(*) DESC, failed_case, failed_generator, failed_inputs");
    row.bind(1, task_digest);
    std::vector<Counterexample> found;
    while (row.executeStep()) {
      // One that cannot be read is reported with its candidate, and is only a hint here.
      try {
        int column = 0;
        found.push_back(ReadRecord<Counterexample>(row, column));
      } catch (const Error&) {
        continue;
      }
    }
    return found;
  });
}

std::vector<GenerationRecord> SqliteStore::LoadGenerations(RunId run) {
  std::vector<GenerationRecord> generations;
  LoadParts(run).Take([&](GenerationRecord record) { generations.push_back(std::move(record)); });
  return generations;
}

StoredGenerations SqliteStore::LoadParts(RunId run) {
  return Explaining(path_, [&] {
    SQLite::Transaction snapshot(*db_);
    return ReadGenerations(*db_, run, [&](const Damage& damage) { throw Damaged(path_, damage); });
  });
}

}  // namespace evo
