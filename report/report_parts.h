#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report_data.h"
#include "report/report_rows.h"

namespace evo {

// Parts of the report's document, for report/report_data.cc.

// A number with six digits, which no chart exceeds; null if it is not known.
nlohmann::json JsonNumber(double value);

// Texts that many candidates share, each once: columns hold their numbers.
class TextTable {
 public:
  int Add(const std::string& text);
  const nlohmann::json& texts() const { return texts_; }

 private:
  std::map<std::string, int> numbers_;
  nlohmann::json texts_ = nlohmann::json::array();
};

// Sources of related candidates, which share most of their lines.
class SourceTable {
 public:
  void Add(CandidateId id, std::string_view source);
  // {"lines": [text...], "of": {"12": [number of a line...]}}
  nlohmann::json ToJson() const;

 private:
  TextTable lines_;
  nlohmann::json of_ = nlohmann::json::object();
};

// A lower bound of the score of any kernel, by what the task declares and what was measured of the machine; kNoValue if either
// is not known.
double CeilingNs(const CandidateRecord& baseline, const std::vector<EfficiencyRow>& efficiency);

// The candidates, column by column.
nlohmann::json CandidateColumns(const ReportRows& rows, RunId run, std::int64_t total, std::int64_t stride,
                                const std::vector<CandidateId>& also);

// Best so far: candidate, seconds since the start, score, and the band of the samples' percentiles 10 and 90.
nlohmann::json ProgressColumns(const History& history, const ReportRows& rows, RunId run);

// The steps of a story; their sources are added to `sources`.
nlohmann::json StoryJson(const Story& story, SourceTable& sources);

// The verdict on the champion and its evidence, in words and as data.
nlohmann::json CheckJson(const CandidateRecord& champion, const ReportTools& tools);

}  // namespace evo
