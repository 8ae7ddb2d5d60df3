#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "report/report_data.h"

namespace evo {

// Candidates told in words: what each changed against its parent, its verdict and its times.
class DescribedCandidates {
 public:
  // The arguments must outlive it.
  DescribedCandidates(const History& history, RunId run, const ReportTools& tools)
      : history_(history), run_(run), tools_(tools) {}

  // One that is damaged or missing is left out.
  void Add(CandidateId id);
  nlohmann::json Take() { return std::move(json_); }

 private:
  const CandidateRecord* Find(CandidateId id);

  const History& history_;
  RunId run_;
  const ReportTools& tools_;
  std::map<CandidateId, std::optional<CandidateRecord>> known_;
  nlohmann::json json_ = nlohmann::json::object();
};

}  // namespace evo
