#include "db/upkeep.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <filesystem>

#include "core/digest.h"
#include "db/database.h"
#include "db/history.h"

namespace evo {
namespace {

using SQLite::Statement;
using Say = std::function<void(const std::string&)>;

constexpr const char* kCountOperators =
    "SELECT run, operator, sum(children), sum(ok), sum(faster), sum(tries), sum(valid), sum(neutral), sum(improving) "
    "FROM counted_operator GROUP BY run, operator";

// The first column of each row is a line.
void SayRows(SQLite::Database& db, const std::string& sql, const Say& say) {
  Statement row(db, sql);
  while (row.executeStep()) say(row.getColumn(0).getString());
}

void CheckFile(SQLite::Database& db, const Say& say) {
  SayRows(db, "SELECT 'the file: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'", say);
  SayRows(db,
          "SELECT 'table ' || \"table\" || ': ' || count(*) || ' rows refer to rows of ' || parent || ' that are missing' "
          "FROM pragma_foreign_key_check GROUP BY \"table\", parent",
          say);
}

void CheckTemplates(SQLite::Database& db, const Say& say) {
  Statement row(db, "SELECT digest, text FROM template");
  while (row.executeStep()) {
    if (Digest(row.getColumn(1).getString()) != row.getColumn(0).getString())
      say(fmt::format("template {}: its text is not the one that was stored", row.getColumn(0).getString()));
  }
}

void CheckSums(SQLite::Database& db, const Say& say) {
  SayRows(db,
          "SELECT 'run ' || g.run || ': its generation ' || g.generation || ' had ' || g.evaluated || ' candidates, ' || g.valid "
          "|| ' of them ok, and has ' || count(c.candidate) || ', ' || total(e.outcome = 'ok') "
          "FROM generation AS g LEFT JOIN candidate_row AS c ON c.run = g.run AND c.generation = g.generation "
          "LEFT JOIN evaluation_row AS e ON e.run = c.run AND e.candidate = c.candidate GROUP BY g.run, g.generation "
          "HAVING count(c.candidate) <> g.evaluated OR total(e.outcome = 'ok') <> g.valid",
          say);
  SayRows(db,
          "SELECT DISTINCT 'run ' || run || ': the sums of its generation ' || generation || ' are not those of its candidates; "
          "`evo db vacuum` counts again' FROM (SELECT * FROM (SELECT * FROM counted_outcome EXCEPT SELECT * FROM "
          "generation_outcome) UNION ALL SELECT * FROM (SELECT * FROM generation_outcome EXCEPT SELECT * FROM counted_outcome))",
          say);
  SayRows(db,
          fmt::format("SELECT DISTINCT 'run ' || run || ': the sums of its operator ' || operator || ' are not those of its "
                      "candidates; `evo db vacuum` counts again' FROM ({} EXCEPT SELECT run, operator, children, ok, faster, "
                      "tries, valid, neutral, improving FROM operator_total)",
                      kCountOperators),
          say);
}

int RemoveUnusedTexts(SQLite::Database& db) {
  return db.exec(
      "DELETE FROM text WHERE text NOT IN (SELECT head FROM candidate_row UNION SELECT e.value FROM candidate_row AS c, "
      "json_each(iif(json_valid(c.edits), c.edits, '[]')) AS e WHERE e.value IS NOT NULL UNION SELECT message FROM "
      "evaluation_row "
      "WHERE message IS NOT NULL UNION SELECT log FROM evaluation_row WHERE log IS NOT NULL UNION SELECT launches FROM case_row "
      "WHERE launches IS NOT NULL)");
}

void CountAgain(SQLite::Database& db) {
  db.exec("DELETE FROM generation_outcome");
  db.exec("INSERT INTO generation_outcome SELECT o.* FROM counted_outcome AS o JOIN generation AS g USING (run, generation)");
  db.exec("DELETE FROM operator_total");
  db.exec(
      "INSERT INTO operator_total SELECT run, operator, sum(children), sum(ok), sum(faster), sum(tries), sum(valid), "
      "sum(neutral), "
      "sum(improving), sum(gains), max(best_gain), 0 FROM counted_operator WHERE run IN (SELECT run FROM run) GROUP BY run, "
      "operator");
  db.exec(
      "INSERT INTO operator_total SELECT run, operator, 0, 0, 0, 0, 0, 0, 0, 0, NULL, sum(times) FROM operator_inapplicable "
      "WHERE run IN (SELECT run FROM run) GROUP BY run, operator ON CONFLICT DO UPDATE SET inapplicable = excluded.inapplicable");
}

std::int64_t Bytes(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? 0 : static_cast<std::int64_t>(size);
}

}  // namespace

void CheckDatabase(const std::string& path, const Say& say) {
  const auto db = OpenForReading(path);
  Explaining(path, [&] {
    CheckFile(*db, say);
    CheckTemplates(*db, say);
    CheckSums(*db, say);
  });
  const History history(path, [&](const Damage& damage) {
    say(fmt::format("run {}{}: {}", damage.run, damage.candidate ? fmt::format(", candidate {}", *damage.candidate) : "",
                    damage.what));
  });
  for (const RunSummary& run : history.Runs()) history.VisitAll(run.record.id, [](const CandidateRecord&) {});
}

VacuumResult VacuumDatabase(const std::string& path) {
  OpenForReading(path).reset();  // refuses what is no database of ours
  return Explaining(path, [&] {
    VacuumResult result;
    const auto db = OpenForWriting(path, kBusyTimeout, Migrations());
    db->exec("PRAGMA wal_checkpoint(TRUNCATE)");
    result.bytes_before = Bytes(path);
    // Nothing refers to what is removed; looking for it in every row, once for each text, would take hours.
    db->exec("PRAGMA foreign_keys = OFF");
    {
      SQLite::Transaction transaction(*db, SQLite::TransactionBehavior::IMMEDIATE);
      result.texts_removed = RemoveUnusedTexts(*db);
      CountAgain(*db);
      transaction.commit();
    }
    db->exec("VACUUM");
    db->exec("PRAGMA wal_checkpoint(TRUNCATE)");
    result.bytes_after = Bytes(path);
    return result;
  });
}

}  // namespace evo
