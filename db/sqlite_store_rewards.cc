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
        "SELECT c.bottleneck, c.operator, c.outcome = 'ok' AND NOT c.neutral, c.parent_ns, c.score_ns FROM run AS r JOIN "
        "child_by_class AS c USING (run) WHERE r.status = 'finished' AND r.device = ? AND r.device_name = ? AND c.bottleneck IS "
        "NOT NULL AND c.operator <> 'minimise' AND NOT coalesce(json_valid(r.options) AND "
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
