#include "report/report_rows.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "db/database.h"
#include "db/record_rows.h"

namespace evo {
namespace {

using SQLite::Statement;

// Of a message; compilers are verbose, and a report has a hundred thousand of them.
constexpr int kMessageLength = 240;
// Steps back to a template. A line is never as long; a damaged table may go round in circles.
constexpr int kMostAncestors = 10'000;

// Shares of the ceilings, the same as in the view `efficiency`, but joined once for all candidates.
std::string SelectCandidate(const std::string& condition) {
  return fmt::format(
      "SELECT c.candidate, c.generation, c.operator, c.template, iif(json_valid(c.genome), json_extract(c.genome, "
      "'$.parameters'), ''), "
      "e.outcome, substr(e.message, 1, {}), e.score_ns, "
      "(SELECT parent FROM parent AS p WHERE p.run = c.run AND p.candidate = c.candidate AND p.position = 0), "
      "(SELECT parent FROM parent AS p WHERE p.run = c.run AND p.candidate = c.candidate AND p.position = 1), "
      "coalesce(e.registers, -1), coalesce(e.spill_bytes, -1), e.occupancy, coalesce(e.compile_ms, 0), "
      "coalesce(e.load_ms, 0) + coalesce(e.check_ms, 0), coalesce(e.time_ms, 0) + coalesce(e.reverification_ms, 0), "
      "coalesce(e.shared_candidate, 0) <> 0, "
      "CASE WHEN ?2 AND e.score_ns IS NOT NULL THEN (SELECT max(memory_share) FROM efficiency AS f WHERE f.run = c.run AND "
      "f.candidate = c.candidate) END, "
      "CASE WHEN ?2 AND e.score_ns IS NOT NULL THEN (SELECT max(arithmetic_share) FROM efficiency AS f WHERE f.run = c.run AND "
      "f.candidate = c.candidate) END, coalesce((SELECT k.bottleneck FROM candidate_class AS k WHERE k.run = c.run AND "
      "k.candidate = c.candidate), '') "
      "FROM candidate AS c JOIN evaluation AS e USING (run, candidate) WHERE c.run = ?1 AND {}",
      kMessageLength, condition);
}

ReportRow ReadRow(const Statement& row) {
  int at = 0;
  const auto next = [&] { return row.getColumn(at++); };
  ReportRow r;
  r.id = next().getInt64();
  r.generation = next().getInt();
  for (std::string* text : {&r.op, &r.template_name, &r.parameters, &r.outcome, &r.message}) *text = next().getString();
  r.score_ns = RealOrNan(next());
  r.parent = next().getInt64();
  r.second_parent = next().getInt64();
  r.registers = next().getInt();
  r.spill_bytes = next().getInt();
  r.occupancy = RealOrNan(next());
  for (double* ms : {&r.compile_ms, &r.check_ms, &r.time_ms}) *ms = next().getDouble();
  r.copied = next().getInt() != 0;
  r.memory_share = RealOrNan(next());
  r.arithmetic_share = RealOrNan(next());
  r.bottleneck = ParseBottleneck(next().getString()).value_or(Bottleneck::kNone);
  return r;
}

}  // namespace

ReportRows::ReportRows(std::string path) : path_(std::move(path)), db_(OpenForReading(path_)) {}
ReportRows::~ReportRows() = default;

std::int64_t ReportRows::Count(RunId run) const {
  return Explaining(path_, [&] {
    Statement row(*db_, "SELECT coalesce(sum(evaluated), 0) FROM generation WHERE run = ?");
    row.bind(1, run);
    row.executeStep();
    return row.getColumn(0).getInt64();
  });
}

std::int64_t ReportRows::LargestId(RunId run) const {
  return Explaining(path_, [&] {
    Statement row(*db_, "SELECT coalesce(max(candidate), 0) FROM candidate WHERE run = ?");
    row.bind(1, run);
    row.executeStep();
    return row.getColumn(0).getInt64();
  });
}

void ReportRows::Candidates(RunId run, std::int64_t stride, const std::vector<CandidateId>& also,
                            const std::function<void(ReportRow&&)>& each) const {
  Explaining(path_, [&] {
    Statement machine(*db_, "SELECT count(*) FROM machine WHERE run = ?");
    machine.bind(1, run);
    machine.executeStep();
    const int measured = machine.getColumn(0).getInt() > 0 ? 1 : 0;
    const auto visit = [&](Statement& row) {
      row.bind(1, run);
      row.bind(2, measured);
      while (row.executeStep()) each(ReadRow(row));
    };
    if (stride <= 1) {
      Statement all(*db_, SelectCandidate("TRUE ORDER BY c.candidate"));
      visit(all);
      return;
    }
    const std::int64_t last = LargestId(run);
    std::vector<CandidateId> ids = also;
    for (CandidateId id = 1; id <= last; id += stride) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    Statement one(*db_, SelectCandidate("c.candidate = ?3"));
    for (const CandidateId id : ids) {
      one.bind(3, id);
      visit(one);
      one.reset();
    }
  });
}

std::vector<Improvement> ReportRows::Improvements(RunId run) const {
  return Explaining(path_, [&] {
    Statement refuted(*db_, "SELECT candidate FROM verdict WHERE run = ? AND verdict = 'failed'");
    refuted.bind(1, run);
    std::set<CandidateId> wrong;
    while (refuted.executeStep()) wrong.insert(refuted.getColumn(0).getInt64());
    Statement row(*db_, "SELECT candidate, score_ns FROM evaluation WHERE run = ? AND score_ns > 0 ORDER BY candidate");
    row.bind(1, run);
    std::vector<Improvement> found;
    while (row.executeStep()) {
      const Improvement one{row.getColumn(0).getInt64(), row.getColumn(1).getDouble()};
      if ((found.empty() || one.score_ns < found.back().score_ns) && !wrong.contains(one.id)) found.push_back(one);
    }
    return found;
  });
}

std::vector<CandidateId> ReportRows::Fastest(RunId run, std::size_t most) const {
  return Explaining(path_, [&] {
    Statement row(*db_,
                  "SELECT candidate FROM evaluation WHERE run = ? AND outcome = 'ok' AND score_ns > 0 ORDER BY score_ns LIMIT ?");
    row.bind(1, run);
    row.bind(2, static_cast<std::int64_t>(most));
    std::vector<CandidateId> found;
    while (row.executeStep()) found.push_back(row.getColumn(0).getInt64());
    return found;
  });
}

std::vector<CandidateId> ReportRows::WithAncestors(RunId run, const std::vector<CandidateId>& ids) const {
  return Explaining(path_, [&] {
    Statement parent(*db_, "SELECT parent FROM parent WHERE run = ? AND candidate = ? AND position = 0");
    std::set<CandidateId> seen;
    for (CandidateId id : ids) {
      for (int step = 0; step < kMostAncestors && seen.insert(id).second; ++step) {
        parent.reset();
        parent.bind(1, run);
        parent.bind(2, id);
        if (!parent.executeStep()) break;
        id = parent.getColumn(0).getInt64();
      }
    }
    return std::vector<CandidateId>(seen.begin(), seen.end());
  });
}

std::vector<GenerationTime> ReportRows::GenerationTimes(RunId run) const {
  return Explaining(path_, [&] {
    Statement row(*db_,
                  "SELECT g.generation, g.evaluated, coalesce((julianday(g.recorded_at) - julianday(r.started_at)) * 86400, 0) "
                  "FROM generation AS g JOIN run AS r USING (run) WHERE g.run = ? ORDER BY g.generation");
    row.bind(1, run);
    std::vector<GenerationTime> times;
    while (row.executeStep()) {
      const double seconds = std::max(0.0, row.getColumn(2).getDouble());
      times.push_back({row.getColumn(0).getInt(), row.getColumn(1).getInt64(),
                       times.empty() ? seconds : std::max(seconds, times.back().seconds)});
    }
    return times;
  });
}

std::vector<CandidateId> ReportRows::Checked(RunId run) const {
  return Explaining(path_, [&] {
    Statement row(*db_, "SELECT DISTINCT candidate FROM champion_check WHERE run = ? ORDER BY candidate");
    row.bind(1, run);
    std::vector<CandidateId> found;
    while (row.executeStep()) found.push_back(row.getColumn(0).getInt64());
    return found;
  });
}

std::vector<RooflinePoint> ReportRows::Roofline(RunId run, const std::vector<CandidateId>& ids) const {
  return Explaining(path_, [&] {
    Statement row(*db_,
                  "SELECT case_name, median_ns, bytes, operations FROM case_measurement WHERE run = ? AND candidate = ? "
                  "AND median_ns > 0 ORDER BY position");
    std::vector<RooflinePoint> points;
    for (const CandidateId id : ids) {
      row.reset();
      row.bind(1, run);
      row.bind(2, id);
      while (row.executeStep()) {
        points.push_back({id, row.getColumn(0).getString(), RealOrNan(row.getColumn(1)), RealOrNan(row.getColumn(2)),
                          RealOrNan(row.getColumn(3))});
      }
    }
    return points;
  });
}

std::vector<RefutingInputs> ReportRows::Refuting(RunId run) const {
  constexpr int kMost = 100;
  return Explaining(path_, [&] {
    Statement row(*db_,
                  "SELECT failed_case, coalesce(failed_generator, -1), substr(coalesce(failed_inputs, ''), 1, 400), count(*) "
                  "FROM evaluation WHERE run = ? AND failed_case IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT ?");
    row.bind(1, run);
    row.bind(2, kMost);
    std::vector<RefutingInputs> found;
    while (row.executeStep()) {
      found.push_back(
          {row.getColumn(0).getString(), row.getColumn(1).getInt(), row.getColumn(2).getString(), row.getColumn(3).getInt64()});
    }
    return found;
  });
}

std::string ReportRows::Version(RunId run) const {
  return Explaining(path_, [&] {
    Statement row(*db_,
                  "SELECT r.run, r.status, coalesce(r.ended_at, ''), (SELECT coalesce(max(generation), -1) FROM generation AS g "
                  "WHERE g.run = r.run), (SELECT coalesce(sum(evaluated), 0) FROM generation AS g WHERE g.run = r.run), "
                  "(SELECT count(*) FROM champion_check AS k WHERE k.run = r.run), "
                  "(SELECT count(*) FROM minimised AS m WHERE m.run = r.run), (SELECT max(run) FROM run) "
                  "FROM run AS r WHERE r.run = coalesce(nullif(?, 0), (SELECT max(run) FROM run))");
    row.bind(1, run);
    std::string version;
    if (!row.executeStep()) return version;
    for (int i = 0; i < row.getColumnCount(); ++i) version += (i == 0 ? "" : "-") + row.getColumn(i).getString();
    return version;
  });
}

}  // namespace evo
