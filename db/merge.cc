#include "db/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "db/database.h"

namespace evo {
namespace {

using SQLite::Statement;

// Two texts are equal; spelt so that the index text_by_content finds them.
constexpr const char* kSameText =
    "length(t.content) = length(s.content) AND substr(t.content, 23, 16) = substr(s.content, 23, 16) AND "
    "substr(t.content, -16) = substr(s.content, -16) AND t.content IS s.content";

std::string NewText(const char* old) { return fmt::format("(SELECT new FROM text_map WHERE old = s.{})", old); }

// A table whose rows are copied as they are, but for the numbers that change.
struct Copied {
  const char* table;
  const char* columns;  // after those that change
  const char* keyed;    // "run", or "champion_check" for a part of a check
};

constexpr Copied kCopied[] = {
    {"run_template", "position, name, digest", "run"},
    {"run_operator", "operator, weight", "run"},
    {"generation", "generation, evaluated, valid, duplicates, recorded_at", "run"},
    {"operator_inapplicable", "generation, operator, times", "run"},
    {"generation_outcome", "generation, outcome, candidates, best_ns", "run"},
    {"operator_total", "operator, children, ok, faster, tries, valid, neutral, improving, gains, best_gain, inapplicable", "run"},
};

// After the candidates, to which they refer.
constexpr Copied kCopiedLater[] = {
    {"parent", "candidate, position, parent", "run"},
    {"dropped_edit", "candidate, position, reason", "run"},
    {"counted_elite",
     "candidate, generation, bottleneck, evidence, program, case_name, counted_ns, dram, l2, l1, tensor, fma, alu, xu, lsu, "
     "issue, "
     "active_warps, bank_conflicts, wait_memory, wait_shared, wait_barrier, wait_math, wait_queue, wait_load_queue, wait_fixed",
     "run"},
    {"minimised", "champion, candidate", "run"},
    {"left_out_edit", "candidate, position, without", "run"},
    {"held_out_case", "position, case_name", "champion_check"},
    {"tool_check", "position, tool, result, message", "champion_check"},
    {"verified_domain", "position, kind, what, reason", "champion_check"},
    {"hardware_counters",
     "program, case_name, counted_ns, dram, l2, l1, tensor, fma, alu, xu, lsu, issue, active_warps, bank_conflicts, wait_memory, "
     "wait_shared, wait_barrier, wait_math, wait_queue, wait_load_queue, wait_fixed",
     "champion_check"},
    {"stall_line", "position, line, share, waits_for, code", "champion_check"},
};

// All columns of a table but those named, in the table's order.
std::string OtherColumns(SQLite::Database& db, const std::string& table, const std::vector<std::string>& known) {
  std::vector<std::string> names;
  Statement column(db, "SELECT name FROM pragma_table_info(?)");
  column.bind(1, table);
  while (column.executeStep()) {
    const std::string name = column.getColumn(0).getString();
    if (std::find(known.begin(), known.end(), name) == known.end()) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

class Merger {
 public:
  explicit Merger(SQLite::Database& db) : db_(db) {}

  // `source` is attached under that name.
  void Add(const std::string& path, MergeResult& result) {
    Execute("CREATE TEMP TABLE run_map (old INTEGER PRIMARY KEY, new INTEGER NOT NULL, present INTEGER NOT NULL)");
    Execute(
        "INSERT INTO run_map SELECT s.run, m.run, 1 FROM source.run AS s JOIN main.run AS m USING (task_digest, seed, "
        "started_at, "
        "device_name, options, tool_version) GROUP BY s.run");
    Execute(
        "INSERT INTO run_map SELECT run, (SELECT coalesce(max(run), 0) FROM main.run) + row_number() OVER (ORDER BY run), 0 "
        "FROM source.run WHERE run NOT IN (SELECT old FROM run_map)");
    Statement same(db_, "SELECT old, new FROM run_map WHERE present ORDER BY old");
    while (same.executeStep()) result.left_out.push_back({path, same.getColumn(0).getInt64(), same.getColumn(1).getInt64()});
    same.reset();
    MapTexts();
    Execute("CREATE TEMP TABLE check_map (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)");
    Execute(
        "INSERT INTO check_map SELECT champion_check, (SELECT coalesce(max(champion_check), 0) FROM main.champion_check) + "
        "row_number() OVER (ORDER BY champion_check) FROM source.champion_check WHERE run IN (SELECT old FROM run_map WHERE NOT "
        "present)");
    CopyRuns();
    for (const Copied& one : kCopied) Copy(one);
    CopyCandidates();
    CopyChecks();
    for (const Copied& one : kCopiedLater) Copy(one);
    result.runs += Execute("DELETE FROM run_map WHERE NOT present");
    for (const char* table : {"run_map", "text_map", "check_map"}) Execute(fmt::format("DROP TABLE {}", table));
  }

 private:
  int Execute(const std::string& sql) { return db_.exec(sql); }

  void MapTexts() {
    Execute(fmt::format(
        "INSERT INTO main.text (content) SELECT s.content FROM source.text AS s WHERE NOT EXISTS (SELECT 1 FROM main.text AS t "
        "WHERE {})",
        kSameText));
    Execute("CREATE TEMP TABLE text_map (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)");
    Execute(
        fmt::format("INSERT INTO text_map SELECT s.text, (SELECT t.text FROM main.text AS t WHERE {} LIMIT 1) "
                    "FROM source.text AS s",
                    kSameText));
    Execute(
        "INSERT OR IGNORE INTO main.condition (device, device_name, l2) SELECT device, device_name, l2 FROM source.condition");
    Execute("INSERT OR IGNORE INTO main.template SELECT * FROM source.template");
  }

  void CopyRuns() {
    const std::string rest = OtherColumns(db_, "run", {"run"});
    Execute(
        fmt::format("INSERT INTO main.run (run, {0}) SELECT m.new, {0} FROM source.run AS s JOIN run_map AS m ON m.old = s.run "
                    "WHERE NOT m.present",
                    rest));
    const std::string machine = OtherColumns(db_, "machine", {"machine", "run"});
    Execute(
        fmt::format("INSERT INTO main.machine (run, {0}) SELECT m.new, {0} FROM source.machine AS s JOIN run_map AS m "
                    "ON m.old = s.run WHERE NOT m.present ORDER BY s.machine",
                    machine));
  }

  void Copy(const Copied& one) {
    const bool of_check = one.keyed == std::string("champion_check");
    Execute(fmt::format(
        "INSERT INTO main.{0} ({1}, {2}) SELECT m.new, {2} FROM source.{0} AS s JOIN {3} AS m ON m.old = s.{1} {4}", one.table,
        one.keyed, one.columns, of_check ? "check_map" : "run_map", of_check ? "" : "WHERE NOT m.present"));
  }

  void CopyCandidates() {
    Execute(fmt::format(
        "INSERT INTO main.candidate_row SELECT m.new, s.candidate, s.generation, s.idx, s.template, s.operator, s.genome_hash, "
        "{}, "
        "iif(s.edits IS NULL, NULL, (SELECT json_group_array((SELECT new FROM text_map WHERE old = e.value)) FROM "
        "json_each(s.edits) AS e)) FROM source.candidate_row AS s JOIN run_map AS m ON m.old = s.run WHERE NOT m.present "
        "ORDER BY m.new, s.candidate",
        NewText("head")));
    const std::string rest = OtherColumns(db_, "evaluation_row", {"run", "message", "log", "condition", "shared_run"});
    Execute(fmt::format(
        "INSERT INTO main.evaluation_row (run, message, log, condition, shared_run, {0}) SELECT m.new, {1}, {2}, (SELECT "
        "n.condition FROM main.condition AS n JOIN source.condition AS o USING (device, device_name, l2) WHERE o.condition = "
        "s.condition), (SELECT new FROM run_map WHERE old = s.shared_run), {0} FROM source.evaluation_row AS s JOIN run_map AS m "
        "ON m.old = s.run WHERE NOT m.present ORDER BY m.new, s.candidate",
        rest, NewText("message"), NewText("log")));
    const std::string cases = OtherColumns(db_, "case_row", {"run", "launches"});
    Execute(
        fmt::format("INSERT INTO main.case_row (run, launches, {0}) SELECT m.new, {1}, {0} FROM source.case_row AS s JOIN "
                    "run_map AS m ON m.old = s.run WHERE NOT m.present ORDER BY m.new, s.candidate, s.position",
                    cases, NewText("launches")));
  }

  void CopyChecks() {
    const std::string rest = OtherColumns(db_, "champion_check", {"champion_check", "run"});
    Execute(
        fmt::format("INSERT INTO main.champion_check (champion_check, run, {0}) SELECT k.new, m.new, {0} FROM "
                    "source.champion_check AS s JOIN check_map AS k ON k.old = s.champion_check JOIN run_map AS m ON "
                    "m.old = s.run ORDER BY k.new",
                    rest));
    const std::string cases = OtherColumns(db_, "champion_case", {"champion_check"});
    Execute(
        fmt::format("INSERT INTO main.champion_case (champion_check, {0}) SELECT k.new, {0} FROM source.champion_case AS s "
                    "JOIN check_map AS k ON k.old = s.champion_check",
                    cases));
  }

  SQLite::Database& db_;
};

void RemoveDatabase(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::error_code ignored;
    std::filesystem::remove(path + suffix, ignored);
  }
}

MergeResult MergeInto(SQLite::Database& db, const std::vector<std::string>& databases) {
  MergeResult result;
  Merger merger(db);
  for (const std::string& path : databases) {
    OpenForReading(path).reset();  // of the newest version from now on
    Explaining(path, [&] {
      Statement attach(db, "ATTACH ? AS source");
      attach.bind(1, path);
      attach.exec();
      SQLite::Transaction transaction(db);
      merger.Add(path, result);
      transaction.commit();
      db.exec("DETACH source");
    });
  }
  result.candidates = db.execAndGet("SELECT count(*) FROM candidate_row").getInt64();
  return result;
}

}  // namespace

MergeResult MergeDatabases(const std::vector<std::string>& databases, const std::string& out) {
  std::error_code failed;
  if (std::filesystem::exists(out, failed))
    throw UsageError(fmt::format("{}: exists already; name a new file, or remove it first", out));
  for (const std::string& path : databases) OpenForReading(path).reset();
  try {
    const auto db = OpenForWriting(out, kBusyTimeout, Migrations());
    MergeResult result = Explaining(out, [&] { return MergeInto(*db, databases); });
    return result;
  } catch (const Error&) {
    RemoveDatabase(out);
    throw;
  }
}

}  // namespace evo
