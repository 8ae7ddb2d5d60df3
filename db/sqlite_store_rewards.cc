#include <algorithm>

#include "db/database.h"
#include "db/record_rows.h"
#include "db/sqlite_store.h"

// What a store knows of the rewards of operators in earlier runs.
namespace evo {

using SQLite::Statement;

namespace {

// Of finished runs on a device that measured it, which `condition` selects; `values` are what it binds, then the device.
std::map<std::string, OperatorReward> Rewards(SQLite::Database& db, const std::string& condition,
                                              const std::vector<std::string>& values) {
  Statement row(db,
                "SELECT operator, outcome = 'ok' AND NOT neutral, parent_ns, score_ns FROM operator_child JOIN run USING (run) "
                "WHERE status = 'finished' AND operator <> 'minimise' AND " +
                    condition +
                    " AND run.device = ? AND run.device_name = ? "
                    "AND NOT coalesce(json_valid(run.options) AND json_type(run.options, '$.replay') IS NOT NULL, 0) ORDER BY "
                    "run, candidate");
  int position = 0;
  for (const std::string& value : values) row.bind(++position, value);
  std::map<std::string, OperatorReward> rewards;
  while (row.executeStep()) {
    AddChild(rewards[row.getColumn(0).getString()], row.getColumn(1).getInt() != 0, RealOrNan(row.getColumn(2)),
             RealOrNan(row.getColumn(3)));
  }
  return rewards;
}

// What won on a kernel of the same kind counts as half as many children at most as what won on the kernel itself.
constexpr double kMostOfKind = 10;

}  // namespace

std::map<std::string, OperatorReward> SqliteStore::LoadRewards(const RunRecord& run) {
  return Explaining(path_, [&] {
    return Rewards(*db_, "(task_digest = ? OR task = ?)", {run.task_digest, run.task, run.device, run.device_name});
  });
}

std::map<std::string, OperatorReward> SqliteStore::LoadRewardsOfKind(const RunRecord& run, const std::string& kind) {
  return Explaining(path_, [&] {
    auto rewards = Rewards(*db_, "iif(json_valid(run.options), json_extract(run.options, '$.kernel_kind'), NULL) = ?",
                           {kind, run.device, run.device_name});
    for (auto& [op, reward] : rewards) {
      const double part = std::min(1.0, kMostOfKind / reward.tries);
      reward = {part * reward.tries, part * reward.fresh, part * reward.log_gain};
    }
    return rewards;
  });
}

RewardsByBottleneck SqliteStore::LoadRewardsByBottleneck(const RunRecord& run) {
  return Explaining(path_, [&] {
    Statement row(
        *db_,
        "SELECT coalesce((SELECT k.bottleneck FROM counted_elite AS k WHERE k.run = pe.run AND k.candidate = pe.candidate AND "
        "k.generation < c.generation), pe.bottleneck), c.operator, e.outcome = 'ok' AND NOT coalesce(e.program_digest <> '' AND "
        "e.program_digest = pe.program_digest, 0), pe.score_ns, e.score_ns FROM run AS r JOIN candidate_row AS c USING (run) "
        "JOIN evaluation_row AS e ON e.run = c.run AND e.candidate = c.candidate JOIN parent AS p ON p.run = c.run AND "
        "p.candidate = c.candidate AND p.position = 0 JOIN evaluation_row AS pe ON pe.run = p.run AND pe.candidate = "
        "p.parent WHERE r.status = 'finished' AND r.device = ? AND r.device_name = ? AND pe.bottleneck IS NOT NULL AND "
        "c.operator <> 'minimise' AND e.outcome <> 'cancelled' AND NOT coalesce(json_valid(r.options) AND "
        "json_type(r.options, '$.replay') IS NOT NULL, 0) ORDER BY c.run DESC, c.candidate DESC LIMIT 100000");
    row.bind(1, run.device);
    row.bind(2, run.device_name);
    RewardsByBottleneck rewards;
    while (row.executeStep()) {
      AddChild(rewards[row.getColumn(0).getString()][row.getColumn(1).getString()], row.getColumn(2).getInt() != 0,
               RealOrNan(row.getColumn(3)), RealOrNan(row.getColumn(4)));
    }
    return rewards;
  });
}

}  // namespace evo
