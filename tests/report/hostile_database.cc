#include "tests/report/hostile_database.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

namespace evo::testing {

void MakeHostile(const std::filesystem::path& database, RunId run) {
  SQLite::Database db(database.string(), SQLite::OPEN_READWRITE);
  db.exec("PRAGMA foreign_keys = OFF");
  db.exec("PRAGMA ignore_check_constraints = ON");
  const auto set = [&](const std::string& sql, const std::string& text) {
    SQLite::Statement statement(db, sql);
    statement.bind(1, text);
    statement.bind(2, run);
    statement.exec();
  };
  const std::string script = kScript;
  set("UPDATE run SET task = ?1 || '<!--' WHERE run = ?2", script);
  set("UPDATE run SET device_name = ?1, tool_version = ?1, status_message = ?1 WHERE run = ?2",
      "\x1b[2J\x1b]0;owned\x07" + script);
  set("UPDATE evaluation SET message = ?1 || '\u202e \u2028' WHERE run = ?2 AND score_ns IS NULL", "\x1b[31m" + script);
  set("UPDATE candidate SET operator = ?1 WHERE run = ?2 AND candidate IN (3, 5)", "javascript:alert(1)//" + script);
  set("UPDATE case_measurement SET case_name = ?1 WHERE run = ?2 AND position = 0", "__proto__" + script);
  set("UPDATE champion_check SET message = ?1, slowest_inputs = ?1, reference = ?1 WHERE run = ?2", script);
  set("UPDATE evaluation SET failed_case = ?1, failed_generator = 1, failed_seed = '1', failed_inputs = ?1 WHERE run = ?2 AND "
      "candidate = 5",
      script + "|`EVO_REPORT_DATA`|$&");
  constexpr std::size_t kTenMegabytes = 10'000'000;
  set("UPDATE evaluation SET log = ?1 WHERE run = ?2 AND candidate = 4", std::string(kTenMegabytes, '<'));
  // Bytes that are no UTF-8, a genome that is no JSON, a score that is no number, a parent of itself and a circle of two.
  set("UPDATE evaluation SET message = CAST(X'C328FF' AS TEXT) || ?1 WHERE run = ?2 AND candidate = 5", script);
  set("UPDATE candidate SET genome = ?1 WHERE run = ?2 AND candidate = 4", "{" + script);
  set("UPDATE evaluation SET score_ns = 9e999, message = ?1 WHERE run = ?2 AND candidate = 2", script);
  set("UPDATE parent SET parent = 3 WHERE length(?1) >= 0 AND run = ?2 AND candidate = 2", "");
  set("UPDATE parent SET parent = 6 WHERE length(?1) >= 0 AND run = ?2 AND candidate = 7", "");
  set("INSERT INTO parent (run, candidate, position, parent) SELECT ?2, 1, 0, 1 WHERE length(?1) >= 0", "");
}

}  // namespace evo::testing
