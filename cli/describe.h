#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "db/history.h"

namespace evo {

// Words and JSON for what the history holds; one place, so that every command says the same.

// "4.640"; "-" if not known.
std::string Microseconds(double nanoseconds);
// "1.58"; "-" if not known.
std::string Ratio(double value);
// "BLOCK=64 WARPS=4"; "none" if there are no parameters.
std::string Describe(const Parameters& parameters);
// One line, at most `width` characters, control characters and runs of white space as one space.
std::string OneLine(const std::string& text, std::size_t width);
// "use_fmaf: replace IfStmt in scale by `y[i] = 2 * x[i];`", on one line.
std::string Describe(const Edit& edit);
// What a candidate changed against its first parent: its operator, its new parameter values and the edits it added or lost.
std::string DescribeStep(const Candidate& candidate, const Candidate* parent);
// "verified (memcheck, racecheck clean), held-out ok (ragged, huge)", "held-out ok (ragged)", "not checked", "failed: wrong_result: ...".
std::string Verdict(const CandidateRecord& record);

// Whether it holds on the held-out cases and a tool at least found nothing.
bool IsVerified(const CandidateRecord& record);

// How much faster than the baseline: from the interleaved champion check where there is one, else from the two scores.
struct Speedup {
  double value = kNoValue;
  bool from_check = false;
};
Speedup SpeedupOver(const std::optional<CandidateRecord>& baseline, const CandidateRecord& record);
std::string Describe(const Speedup& speedup);

// Without samples and source.
nlohmann::ordered_json ToJson(const CandidateRecord& record);
nlohmann::ordered_json ToJson(const RunSummary& run);
// One line a value, text that is not UTF-8 replaced, a line end at the end.
std::string Dump(const nlohmann::ordered_json& json);

}  // namespace evo
