#include "db/counted_rows.h"

#include <fmt/format.h>

#include <string>

#include "db/record_rows.h"

namespace evo {

using SQLite::Statement;

void WriteCounted(SQLite::Database& db, RunId run, const GenerationRecord& record) {
  if (record.counted.empty()) return;
  Statement there(db, "SELECT 1 FROM counted_elite WHERE run = ? AND candidate = ?");
  RecordInsert<HardwareCounters> insert(db, "counted_elite", {"run", "candidate", "generation", "bottleneck", "evidence"});
  for (const CountedElite& one : record.counted) {
    there.reset();
    there.bind(1, run);
    there.bind(2, one.candidate);
    if (there.executeStep()) continue;
    insert(one.counters, run, one.candidate, record.generation, std::string(ToString(one.bottleneck)), one.evidence);
  }
}

std::map<CandidateId, StoredCount> ReadCounted(SQLite::Database& db, RunId run) {
  Statement row(db, fmt::format("SELECT candidate, generation, bottleneck, evidence, {} FROM counted_elite WHERE run = ?",
                                ColumnList<HardwareCounters>()));
  row.bind(1, run);
  std::map<CandidateId, StoredCount> counted;
  while (row.executeStep()) {
    const CandidateId id = row.getColumn(0).getInt64();
    StoredCount& stored = counted[id];
    stored.generation = row.getColumn(1).getInt();
    stored.elite.candidate = id;
    ReadValue(row.getColumn(2), {"bottleneck"}, stored.elite.bottleneck);
    stored.elite.evidence = row.getColumn(3).getString();
    int column = 4;
    stored.elite.counters = ReadRecord<HardwareCounters>(row, column);
  }
  return counted;
}

}  // namespace evo
