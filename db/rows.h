#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/store.h"

namespace evo {

// Between C++ values and rows, for the store and for the history alike. NaN and -1 ("not known") are NULL.

std::string_view ToString(RunStatus status);
RunStatus ParseRunStatus(std::string_view text);

std::string EncodeSamples(const std::vector<std::uint32_t>& samples);
std::vector<std::uint32_t> DecodeSamples(std::string_view blob);

// Binds NULL for a negative value.
void BindKnown(SQLite::Statement& statement, int position, int value);
int IntOrUnknown(const SQLite::Column& column);
double RealOrNan(const SQLite::Column& column);

// The columns weight .. operations, in the order of kCaseColumns, which begins with case_name.
inline constexpr const char* kCaseColumns =
    "case_name, weight, median_ns, p10_ns, p90_ns, busy_ns, wall_ns, tick_ns, discarded, max_error, l2_error, pruned, samples, "
    "outliers, sm_low_mhz, sm_high_mhz, throttle_reason, launches, bytes, operations";
inline constexpr int kCaseColumnCount = 20;
// Binds to parameters first .. first + kCaseColumnCount - 1.
void BindCase(SQLite::Statement& statement, int first, const CaseMeasurement& measurement);
// Reads columns 0 .. kCaseColumnCount - 1.
CaseMeasurement ReadCase(SQLite::Statement& row);

struct StoredCandidate {
  Candidate candidate;  // without its source
  Evaluation evaluation;
};

// Candidates of a run that meet `condition`, an SQL expression over candidate AS c and evaluation AS e (constant text, never a
// user's), in the order `order`. Throws Error for a row that this version cannot understand.
std::vector<StoredCandidate> ReadCandidates(SQLite::Database& db, RunId run, const std::string& condition,
                                            const std::string& order, const std::vector<std::string>& values);

}  // namespace evo
