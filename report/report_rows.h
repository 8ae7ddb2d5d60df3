#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/store.h"

namespace SQLite {
class Database;
}

namespace evo {

// One candidate as a chart draws it. What is not known is NaN, -1 or empty.
struct ReportRow {
  CandidateId id = 0;
  int generation = 0;
  std::string op;
  std::string template_name;
  std::string parameters;  // JSON object; empty if the genome cannot be read
  std::string outcome;
  std::string message;  // cut
  double score_ns = kNoValue;
  CandidateId parent = 0;  // the first; 0: none
  CandidateId second_parent = 0;
  int registers = -1;
  int spill_bytes = -1;
  double occupancy = kNoValue;
  double compile_ms = 0;
  double check_ms = 0;                 // loading and checking
  double time_ms = 0;                  // timing and checking again
  bool copied = false;                 // its evaluation was copied from an equal program
  double memory_share = kNoValue;      // the largest over the cases, 0 to 1
  double arithmetic_share = kNoValue;  // likewise
  Bottleneck bottleneck = Bottleneck::kNone;
};

// A candidate that was faster than all before it, of those that no check refuted.
struct Improvement {
  CandidateId id = 0;
  double score_ns = kNoValue;
};

struct GenerationTime {
  int generation = 0;
  std::int64_t evaluated = 0;
  double seconds = 0;  // from the start of the run to when it was recorded
};

// A case of a candidate on the roofline.
struct RooflinePoint {
  CandidateId id = 0;
  std::string case_name;
  double median_ns = kNoValue;
  double bytes = kNoValue;
  double operations = kNoValue;
};

// Inputs on which candidates were refuted.
struct RefutingInputs {
  std::string case_name;
  int generator = -1;
  std::string inputs;
  std::int64_t candidates = 0;
};

// The statements of the report that History has no function for: read-only, of one moment. Every function throws Error if the
// file cannot be read.
class ReportRows {
 public:
  explicit ReportRows(std::string path);
  ~ReportRows();

  // The number of candidates, and the largest id.
  std::int64_t Count(RunId run) const;
  std::int64_t LargestId(RunId run) const;
  // In the order of their ids: every `stride`-th, and those of `also`, which is sorted.
  void Candidates(RunId run, std::int64_t stride, const std::vector<CandidateId>& also,
                  const std::function<void(ReportRow&&)>& each) const;
  std::vector<Improvement> Improvements(RunId run) const;
  // The fastest that are ok, fastest first.
  std::vector<CandidateId> Fastest(RunId run, std::size_t most) const;
  // The ids and their first parents, back to the templates; each once, sorted. Circles end where they close.
  std::vector<CandidateId> WithAncestors(RunId run, const std::vector<CandidateId>& ids) const;
  std::vector<GenerationTime> GenerationTimes(RunId run) const;
  std::vector<CandidateId> Checked(RunId run) const;
  std::vector<RooflinePoint> Roofline(RunId run, const std::vector<CandidateId>& ids) const;
  std::vector<RefutingInputs> Refuting(RunId run) const;
  // Numbers of what is stored of a run; of the latest if `run` is 0.
  std::string Version(RunId run) const;

 private:
  std::string path_;
  std::unique_ptr<SQLite::Database> db_;
};

}  // namespace evo
