// The part of History that reads candidates.

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "db/check_rows.h"
#include "db/counted_rows.h"
#include "db/database.h"
#include "db/history.h"
#include "db/rows.h"

namespace evo {
namespace {

using SQLite::Statement;

struct Selection {
  std::string condition = kEveryCandidate;
  std::string order;
  std::vector<std::string> values;
};

Selection Selected(const CandidateFilter& filter) {
  Selection selection;
  const auto require = [&](const char* column, std::string value) {
    selection.condition += fmt::format(" AND {} = ?", column);
    selection.values.push_back(std::move(value));
  };
  if (filter.outcome) require("e.outcome", std::string(ToString(*filter.outcome)));
  if (!filter.op.empty()) require("c.operator", filter.op);
  if (!filter.template_name.empty()) require("c.template", filter.template_name);
  // A template is evaluated at its defaults in the first generation.
  if (filter.op == "default") selection.condition += " AND c.generation = 0";
  selection.order = filter.fastest_first ? "e.score_ns IS NULL, e.score_ns, c.candidate" : kById;
  return selection;
}

// The class by counters takes the place of the other one, as in the view candidate_class.
void UseCount(const StoredCount& stored, CandidateRecord& record) {
  Evaluation& evaluation = record.evaluation;
  record.count = {stored.generation, stored.elite, {evaluation.bottleneck, std::move(evaluation.evidence)}};
  evaluation.bottleneck = stored.elite.bottleneck;
  evaluation.evidence = stored.elite.evidence;
}

}  // namespace

void History::Visit(RunId run, const std::string& condition, const std::string& order, const std::vector<std::string>& values,
                    const OnDamage& damaged, const std::function<void(CandidateRecord)>& visit) const {
  Explaining(path_, [&] {
    std::set<CandidateId> checked;
    Statement check(*db_, "SELECT DISTINCT candidate FROM champion_check WHERE run = ?");
    check.bind(1, run);
    while (check.executeStep()) checked.insert(check.getColumn(0).getInt64());
    const std::map<CandidateId, StoredCount> counted = ReadCounted(*db_, run);
    VisitCandidates(*db_, run, condition, order, values, damaged, [&](StoredCandidate stored) {
      const CandidateId id = stored.candidate.id;
      stored.candidate.genome = stored.genome.Whole();
      CandidateRecord record{std::move(stored.candidate), std::move(stored.evaluation), std::nullopt};
      if (const auto found = counted.find(id); found != counted.end()) UseCount(found->second, record);
      if (checked.contains(id))
        LeavingOut({run, id, "its champion check"}, [&] { record.check = ReadLatestCheck(*db_, run, id); });
      visit(std::move(record));
    });
  });
}

std::vector<CandidateRecord> History::Read(RunId run, const std::string& condition, const std::string& order,
                                           const std::vector<std::string>& values, const OnDamage& damaged) const {
  std::vector<CandidateRecord> records;
  Visit(run, condition, order, values, damaged, [&](CandidateRecord record) { records.push_back(std::move(record)); });
  return records;
}

std::optional<CandidateRecord> History::ReadOne(RunId run, CandidateId id, const OnDamage& damaged) const {
  std::vector<CandidateRecord> found =
      Read(run, "c.candidate = CAST(? AS INTEGER)", "c.candidate", {std::to_string(id)}, damaged);
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

CandidateRecord History::FindCandidate(RunId run, CandidateId id) const {
  std::optional<CandidateRecord> found = ReadOne(run, id, Throwing());
  if (!found) {
    throw UsageError(fmt::format("{}: run {} has no candidate {}; `evo export --csv --run {}` lists all", path_, run, id, run));
  }
  return std::move(*found);
}

std::vector<CandidateRecord> History::Candidates(RunId run, const CandidateFilter& filter) const {
  const Selection selected = Selected(filter);
  return Read(run, selected.condition, selected.order, selected.values, Once());
}

void History::VisitAll(RunId run, const std::function<void(const CandidateRecord&)>& visit) const {
  Visit(run, kEveryCandidate, kById, {}, Once(), [&](const CandidateRecord& record) { visit(record); });
}

std::vector<CandidateRecord> History::Fastest(RunId run, int count) const {
  const std::vector<CandidateId> ids = Explaining(path_, [&] {
    Statement row(*db_,
                  "SELECT candidate FROM evaluation_row AS e WHERE run = ?1 AND outcome = 'ok' AND NOT EXISTS (SELECT 1 FROM "
                  "verdict AS v WHERE v.run = ?1 AND v.candidate = e.candidate AND v.verdict = 'failed') "
                  "ORDER BY score_ns, candidate LIMIT ?2");
    row.bind(1, run);
    row.bind(2, count);
    std::vector<CandidateId> found;
    while (row.executeStep()) found.push_back(row.getColumn(0).getInt64());
    return found;
  });
  std::vector<CandidateRecord> records;
  for (const CandidateId id : ids) {
    if (std::optional<CandidateRecord> found = ReadOne(run, id, Once())) records.push_back(std::move(*found));
  }
  return records;
}

std::vector<std::string> History::CaseNames(RunId run) const {
  return Explaining(path_, [&] {
    Statement row(*db_, "SELECT case_name FROM case_row WHERE run = ? GROUP BY case_name ORDER BY min(candidate), min(position)");
    row.bind(1, run);
    std::vector<std::string> names;
    while (row.executeStep()) names.push_back(row.getColumn(0).getString());
    return names;
  });
}

std::set<std::string> History::ParameterNames(RunId run) const {
  return Explaining(path_, [&] {
    Statement row(*db_,
                  "SELECT DISTINCT p.key FROM text AS t, json_each(iif(json_valid(t.content), t.content, '{}'), '$.parameters') "
                  "AS p WHERE t.text IN (SELECT DISTINCT head FROM candidate_row WHERE run = ?)");
    row.bind(1, run);
    std::set<std::string> names;
    while (row.executeStep()) names.insert(row.getColumn(0).getString());
    return names;
  });
}

std::optional<CandidateRecord> History::Best(RunId run) const {
  const std::optional<CandidateId> best = Explaining(path_, [&]() -> std::optional<CandidateId> {
    Statement row(*db_, "SELECT candidate FROM best WHERE run = ?");
    row.bind(1, run);
    return row.executeStep() ? std::optional<CandidateId>(row.getColumn(0).getInt64()) : std::nullopt;
  });
  if (!best) return std::nullopt;
  std::optional<CandidateRecord> found = ReadOne(run, *best, Once());
  if (found) return found;
  std::vector<CandidateRecord> ranked = Ranked(run);
  if (ranked.empty()) return std::nullopt;
  return std::move(ranked.front());
}

// In the order of the view `best`, but for the times of minimised champions.
std::vector<CandidateRecord> History::Ranked(RunId run) const {
  const std::string verdict =
      "coalesce((SELECT verdict FROM verdict AS v WHERE v.run = c.run AND v.candidate = c.candidate), '')";
  return Read(
      run, fmt::format("e.outcome = 'ok' AND {} <> 'failed'", verdict),
      fmt::format("CASE {} WHEN 'verified' THEN 0 WHEN 'held-out ok' THEN 1 ELSE 2 END, e.score_ns, c.candidate", verdict), {},
      Once());
}

std::optional<CandidateRecord> History::Baseline(RunId run) const {
  std::vector<CandidateRecord> found =
      Read(run, "c.generation = 0 AND c.operator = 'default' AND c.template = (SELECT baseline FROM run WHERE run.run = c.run)",
           "c.candidate LIMIT 1", {}, Once());
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::vector<CandidateRecord> History::Lineage(RunId run, CandidateId id) const {
  std::vector<CandidateRecord> line{FindCandidate(run, id)};
  // Parents have smaller ids than their children; the check ends the loop even if the table is damaged.
  while (!line.back().candidate.parents.empty() && line.back().candidate.parents.front() < line.back().candidate.id) {
    const CandidateId parent = line.back().candidate.parents.front();
    bool is_damaged = false;
    std::optional<CandidateRecord> found = ReadOne(run, parent, [&](const Damage& damage) {
      is_damaged = true;
      Once()(damage);
    });
    if (!found && !is_damaged) Once()({run, line.back().candidate.id, fmt::format("its parent {} is missing", parent)});
    if (!found) break;
    line.push_back(std::move(*found));
  }
  return {line.rbegin(), line.rend()};
}

}  // namespace evo
