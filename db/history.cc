#include "db/history.h"

#include <fmt/format.h>

#include "db/database.h"
#include "db/record_rows.h"
#include "db/rows.h"

namespace evo {
namespace {

using SQLite::Statement;

// The count of generations leaves out those that a minimisation made.
std::string SelectRuns() {
  return fmt::format(
      "SELECT run, {}, status, status_message, started_at, coalesce(ended_at, ''), "
      "(SELECT count(*) FROM generation AS g WHERE g.run = run.run AND NOT EXISTS (SELECT 1 FROM candidate_row AS c "
      "WHERE c.run = g.run AND c.generation = g.generation AND c.idx = 0 AND c.operator = 'minimise')), "
      "(SELECT coalesce(sum(evaluated), 0) FROM generation AS g WHERE g.run = run.run), "
      "(SELECT coalesce(sum(valid), 0) FROM generation AS g WHERE g.run = run.run) FROM run",
      ColumnList<RunRecord>());
}

RunSummary ReadRunRow(Statement& row) {
  RunSummary run;
  int column = 1;
  run.record = ReadRecord<RunRecord>(row, column);
  run.record.id = row.getColumn(0).getInt64();
  run.status = ParseRunStatus(row.getColumn(column++).getString());
  for (std::string* text : {&run.status_message, &run.started_at, &run.ended_at}) *text = row.getColumn(column++).getString();
  for (int* count : {&run.generations_done, &run.evaluated, &run.valid}) *count = row.getColumn(column++).getInt();
  return run;
}

void ReadRunParts(SQLite::Database& db, RunRecord& record) {
  Statement templates(db,
                      "SELECT name, digest, text FROM run_template JOIN template USING (digest) WHERE run = ? ORDER BY position");
  templates.bind(1, record.id);
  while (templates.executeStep()) {
    record.templates.push_back(
        {templates.getColumn(0).getString(), templates.getColumn(1).getString(), templates.getColumn(2).getString()});
  }
  Statement operators(db, "SELECT operator, weight FROM run_operator WHERE run = ?");
  operators.bind(1, record.id);
  while (operators.executeStep()) record.operators[operators.getColumn(0).getString()] = operators.getColumn(1).getDouble();
}

}  // namespace

History::History(std::string path) : History(path, [path](const Damage& damage) { throw Damaged(path, damage); }) {}
History::History(std::string path, OnDamage damaged)
    : path_(std::move(path)), db_(OpenForReading(path_)), damaged_(std::move(damaged)) {}
History::~History() = default;

OnDamage History::Once() const {
  return [this](const Damage& damage) {
    if (reported_.insert(Describe(path_, damage)).second) damaged_(damage);
  };
}

OnDamage History::Throwing() const {
  return [this](const Damage& damage) { throw Damaged(path_, damage); };
}

std::vector<RunSummary> History::Runs() const {
  return Explaining(path_, [&] {
    std::vector<RunSummary> runs;
    Statement row(*db_, SelectRuns() + " ORDER BY run");
    while (row.executeStep())
      LeavingOut({row.getColumn(0).getInt64(), {}, "the run's row"}, [&] { runs.push_back(ReadRunRow(row)); });
    for (RunSummary& run : runs) ReadRunParts(*db_, run.record);
    return runs;
  });
}

std::vector<RunTitle> History::LatestTitles(std::size_t most) const {
  return Explaining(path_, [&] {
    Statement row(*db_,
                  "SELECT run, task, device_name, started_at FROM (SELECT * FROM run ORDER BY run DESC LIMIT ?) ORDER BY run");
    row.bind(1, static_cast<std::int64_t>(most));
    std::vector<RunTitle> titles;
    while (row.executeStep()) {
      titles.push_back({row.getColumn(0).getInt64(), row.getColumn(1).getString(), row.getColumn(2).getString(),
                        row.getColumn(3).getString()});
    }
    return titles;
  });
}

RunSummary History::FindRun(std::optional<RunId> run) const {
  return Explaining(path_, [&] {
    Statement row(*db_, SelectRuns() + " WHERE ?1 IS NULL OR run = ?1 ORDER BY run DESC LIMIT 1");
    if (run) row.bind(1, *run);
    if (!row.executeStep()) {
      if (run) throw UsageError(fmt::format("{}: there is no run {}; `evo history --runs` lists them", path_, *run));
      throw UsageError(fmt::format("{}: no run in it yet; `evo run --db {}` makes one", path_, path_));
    }
    try {
      RunSummary found = ReadRunRow(row);
      ReadRunParts(*db_, found.record);
      return found;
    } catch (const Error& error) {
      throw Damaged(path_, {row.getColumn(0).getInt64(), {}, error.what()});
    }
  });
}

std::optional<MinimisedVariant> History::Minimised(RunId run, CandidateId id) const {
  return Explaining(path_, [&]() -> std::optional<MinimisedVariant> {
    Statement row(*db_,
                  "SELECT m.champion, iif(json_valid(c.genome), json_array_length(c.genome, '$.edits'), 0) FROM minimised AS m "
                  "JOIN candidate AS c ON c.run = m.run AND c.candidate = m.champion WHERE m.run = ? AND m.candidate = ? "
                  "ORDER BY m.champion DESC LIMIT 1");
    row.bind(1, run);
    row.bind(2, id);
    if (!row.executeStep()) return std::nullopt;
    MinimisedVariant variant{row.getColumn(0).getInt64(), row.getColumn(1).getInt(), {}};
    Statement edit(*db_,
                   "SELECT coalesce(without, 0), coalesce(outcome, ''), worth FROM edit_worth WHERE run = ? AND candidate = ? "
                   "ORDER BY position");
    edit.bind(1, run);
    edit.bind(2, id);
    while (edit.executeStep()) {
      variant.edits.push_back(
          {edit.getColumn(0).getInt64(), ParseOutcome(edit.getColumn(1).getString()), RealOrNan(edit.getColumn(2))});
    }
    return variant;
  });
}

std::vector<EfficiencyRow> History::Efficiency(RunId run, CandidateId id) const {
  return Explaining(path_, [&] {
    std::vector<EfficiencyRow> rows;
    Statement row(*db_,
                  "SELECT case_name, gb_per_s * 1e9, tflop_per_s * 1e12, memory_share, arithmetic_share FROM efficiency "
                  "WHERE run = ? AND candidate = ? ORDER BY position");
    row.bind(1, run);
    row.bind(2, id);
    while (row.executeStep()) {
      rows.push_back({row.getColumn(0).getString(), RealOrNan(row.getColumn(1)), RealOrNan(row.getColumn(2)),
                      RealOrNan(row.getColumn(3)), RealOrNan(row.getColumn(4))});
    }
    return rows;
  });
}

std::vector<MachineState> History::Machines(RunId run) const {
  return Explaining(path_, [&] {
    Statement row(*db_, fmt::format("SELECT {} FROM machine WHERE run = ? ORDER BY machine", ColumnList<MachineState>()));
    row.bind(1, run);
    std::vector<MachineState> machines;
    LeavingOut({run, {}, "a measurement of its machine"}, [&] { machines = ReadAll<MachineState>(row); });
    return machines;
  });
}

std::vector<GenerationRow> History::Generations(RunId run) const {
  return Explaining(path_, [&] {
    std::vector<GenerationRow> generations;
    Statement row(*db_,
                  "SELECT generation, evaluated, valid, duplicates, best_ns, best_so_far_ns FROM progress WHERE run = ? "
                  "ORDER BY generation");
    row.bind(1, run);
    while (row.executeStep()) {
      generations.push_back({row.getColumn(0).getInt(),
                             row.getColumn(1).getInt(),
                             row.getColumn(2).getInt(),
                             row.getColumn(3).getInt(),
                             RealOrNan(row.getColumn(4)),
                             RealOrNan(row.getColumn(5)),
                             {}});
    }
    Statement outcomes(
        *db_, "SELECT generation, outcome, candidates FROM generation_outcome WHERE run = ? ORDER BY generation, outcome");
    outcomes.bind(1, run);
    std::size_t at = 0;
    while (outcomes.executeStep()) {
      const int number = outcomes.getColumn(0).getInt();
      while (at < generations.size() && generations[at].generation < number) ++at;
      if (at < generations.size() && generations[at].generation == number)
        generations[at].outcomes[outcomes.getColumn(1).getString()] = outcomes.getColumn(2).getInt();
      else
        Once()({run, {}, fmt::format("its generation {} is missing", number)});
    }
    return generations;
  });
}

std::vector<OperatorRow> History::Operators(RunId run) const {
  return Explaining(path_, [&] {
    std::vector<OperatorRow> operators;
    Statement row(*db_,
                  "SELECT operator, children, valid, faster_than_parent, best_gain, inapplicable FROM operator_success "
                  "WHERE run = ? AND operator <> 'minimise' ORDER BY children DESC, operator");
    row.bind(1, run);
    while (row.executeStep()) {
      operators.push_back({row.getColumn(0).getString(), row.getColumn(1).getInt(), row.getColumn(2).getInt(),
                           row.getColumn(3).getInt(), RealOrNan(row.getColumn(4)), row.getColumn(5).getInt()});
    }
    return operators;
  });
}

std::vector<RewardRow> History::Rewards(std::optional<RunId> run) const {
  return Explaining(path_, [&] {
    std::vector<RewardRow> rewards;
    // With one condition for both, SQLite would go through the operators of all runs for those of one.
    const std::string of = run ? "run = ?1"
                               : "run NOT IN (SELECT run FROM run WHERE json_valid(options) AND json_type(options, '$.replay') "
                                 "IS NOT NULL)";
    Statement row(*db_,
                  "SELECT operator, sum(tries) AS n, sum(valid), sum(neutral), sum(improving), sum(gains), max(best_gain), "
                  "sum(inapplicable) FROM operator_reward WHERE operator <> 'minimise' AND " +
                      of + " GROUP BY operator ORDER BY n DESC, operator");
    if (run) row.bind(1, *run);
    while (row.executeStep()) {
      rewards.push_back({row.getColumn(0).getString(), row.getColumn(1).getInt(), row.getColumn(2).getInt(),
                         row.getColumn(3).getInt(), row.getColumn(4).getInt(), row.getColumn(5).getDouble(),
                         RealOrNan(row.getColumn(6)), row.getColumn(7).getInt()});
    }
    return rewards;
  });
}

StageClocks History::TotalClocks(RunId run) const {
  return Explaining(path_, [&] {
    std::vector<std::string> totals;
    for (const std::string& name : ColumnNames<StageClocks>()) totals.push_back(fmt::format("total({})", name));
    Statement row(*db_, fmt::format("SELECT {} FROM evaluation WHERE run = ?", fmt::join(totals, ", ")));
    row.bind(1, run);
    return ReadAll<StageClocks>(row).at(0);
  });
}

}  // namespace evo
