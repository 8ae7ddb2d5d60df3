#include "report/described_candidates.h"

#include "core/error.h"
#include "report/report_parts.h"
#include "story/words.h"

namespace evo {
namespace {

using nlohmann::json;

constexpr std::size_t kLogLength = 4'000;

json DescribedJson(const CandidateRecord& record, const Candidate* parent, const ReportTools& tools) {
  const Evaluation& e = record.evaluation;
  json one = {{"change", DescribeStep(record.candidate, parent)},
              {"verdict", tools.verdict ? tools.verdict(record) : ""},
              {"edits", record.candidate.genome.edits.size()}};
  json cases = json::array();
  for (const CaseMeasurement& m : e.cases)
    cases.push_back({{"name", m.name},
                     {"median_ns", JsonNumber(m.median_ns)},
                     {"p10_ns", JsonNumber(m.p10_ns)},
                     {"p90_ns", JsonNumber(m.p90_ns)}});
  one["cases"] = std::move(cases);
  if (!record.candidate.dropped.empty()) one["dropped"] = record.candidate.dropped;
  return one;
}

}  // namespace

void DescribedCandidates::Add(CandidateId id) {
  const CandidateRecord* record = Find(id);
  if (record == nullptr) return;
  const std::vector<CandidateId>& parents = record->candidate.parents;
  const CandidateRecord* parent = parents.empty() ? nullptr : Find(parents.front());
  json_[std::to_string(id)] = DescribedJson(*record, parent == nullptr ? nullptr : &parent->candidate, tools_);
}

// Null if it is damaged or missing.
const CandidateRecord* DescribedCandidates::Find(CandidateId id) {
  const auto found = known_.find(id);
  if (found != known_.end()) return found->second ? &*found->second : nullptr;
  std::optional<CandidateRecord>& record = known_[id];
  try {
    record = history_.FindCandidate(run_, id);
    for (CaseMeasurement& m : record->evaluation.cases) m.samples = {};
  } catch (const Error&) {
    record.reset();
  }
  return record ? &*record : nullptr;
}

json CandidateData(const std::string& database, RunId run, CandidateId id, const ReportTools& tools) {
  const History history(database, [](const Damage&) {});
  const RunSummary summary = history.FindRun(run);
  const CandidateRecord record = history.FindCandidate(run, id);
  std::optional<CandidateRecord> parent;
  if (!record.candidate.parents.empty()) {
    try {
      parent = history.FindCandidate(run, record.candidate.parents.front());
    } catch (const Error&) {  // told without its parent
    }
  }
  json one = DescribedJson(record, parent ? &parent->candidate : nullptr, tools);
  one["message"] = record.evaluation.message.substr(0, kLogLength);
  one["log"] = record.evaluation.log.substr(0, kLogLength);
  try {
    if (tools.render_once) one["source"] = tools.render_once(summary.record, record);
  } catch (const Error& error) {
    one["no_source"] = error.what();
  }
  return one;
}

}  // namespace evo
