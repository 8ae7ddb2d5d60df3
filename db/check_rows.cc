#include "db/check_rows.h"

#include <fmt/format.h>

#include "db/record_rows.h"

namespace evo {
namespace {

using SQLite::Statement;

std::vector<CaseMeasurement> ReadChampionCases(SQLite::Database& db, std::int64_t check, const char* side) {
  Statement row(db, fmt::format("SELECT {} FROM champion_case WHERE champion_check = ? AND side = ? ORDER BY position",
                                ColumnList<CaseMeasurement>()));
  row.bind(1, check);
  row.bind(2, side);
  return ReadAll<CaseMeasurement>(row);
}

}  // namespace

std::optional<ChampionCheck> ReadLatestCheck(SQLite::Database& db, RunId run, CandidateId id) {
  Statement row(db, fmt::format("SELECT champion_check, {} FROM latest_check WHERE run = ? AND candidate = ?",
                                ColumnList<ChampionCheck>()));
  row.bind(1, run);
  row.bind(2, id);
  if (!row.executeStep()) return std::nullopt;
  const std::int64_t number = row.getColumn(0).getInt64();
  int column = 1;
  auto check = ReadRecord<ChampionCheck>(row, column);
  check.candidate = ReadChampionCases(db, number, "candidate");
  check.baseline = ReadChampionCases(db, number, "baseline");
  Statement held_out(db, "SELECT case_name FROM held_out_case WHERE champion_check = ? ORDER BY position");
  held_out.bind(1, number);
  while (held_out.executeStep()) check.held_out_cases.push_back(held_out.getColumn(0).getString());
  Statement covered(db, "SELECT kind, what, reason FROM verified_domain WHERE champion_check = ? ORDER BY position");
  covered.bind(1, number);
  while (covered.executeStep()) {
    const std::string kind = covered.getColumn(0).getString();
    const std::string what = covered.getColumn(1).getString();
    if (kind == "sizes") check.domain.sizes.push_back(what);
    if (kind == "inputs") check.domain.inputs.push_back(what);
    if (kind == "left out") check.domain.left_out.push_back({what, covered.getColumn(2).getString()});
  }
  Statement tools(db,
                  fmt::format("SELECT {} FROM tool_check WHERE champion_check = ? ORDER BY position", ColumnList<ToolResult>()));
  tools.bind(1, number);
  check.tools = ReadAll<ToolResult>(tools);
  Statement counted(db, fmt::format("SELECT {} FROM hardware_counters WHERE champion_check = ? ORDER BY program = 'baseline'",
                                    ColumnList<HardwareCounters>()));
  counted.bind(1, number);
  check.counters = ReadAll<HardwareCounters>(counted);
  Statement stalls(db,
                   fmt::format("SELECT {} FROM stall_line WHERE champion_check = ? ORDER BY position", ColumnList<StallLine>()));
  stalls.bind(1, number);
  check.stalls = ReadAll<StallLine>(stalls);
  return check;
}

}  // namespace evo
