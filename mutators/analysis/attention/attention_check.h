#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/thread_runs/thread_run.h"

namespace evo {

// What is added to the score of a key: an element of a buffer for this row and key, or how far the key is behind the row, times a
// factor.
struct ScoreTerm {
  enum class Kind : std::uint8_t { kNone, kElement, kDistance, kAbsoluteDistance };
  Kind kind = Kind::kNone;
  int buffer = -1;     // of a distance: its first factor, one element for the row; -1 if there is none
  std::string factor;  // as an expression
  double value = 0;    // of the factor, in the run by which the term was found
};

// What a row may store beside its elements, of its scores: the logarithm of the sum of their exponentials, the largest, and the
// sum of the exponentials of what they are above that. The largest may begin with what its buffer has.
enum class ScoreStatistic : std::uint8_t { kLogSum, kLargest, kWeights };
inline constexpr std::size_t kMostBeside = 2;
// Keys by which scores with queries of one are less than zero, for scales that are not.
inline constexpr double kKeysBelowZero = -0.25;
bool IsStatistic(ScoreStatistic statistic, double stored, double log_sum, double largest);
// All that some buffers may have: no two the same.
template <typename Buffer, typename Any>
std::vector<std::map<Buffer, ScoreStatistic>> PossibleStatistics(const std::map<Buffer, Any>& buffers) {
  std::vector<std::map<Buffer, ScoreStatistic>> all{{}};
  for (const auto& [buffer, any] : buffers) {
    std::vector<std::map<Buffer, ScoreStatistic>> more;
    for (const auto& one : all) {
      for (const auto statistic : {ScoreStatistic::kLogSum, ScoreStatistic::kLargest, ScoreStatistic::kWeights}) {
        if (std::any_of(one.begin(), one.end(), [&](const auto& other) { return other.second == statistic; })) continue;
        more.push_back(one);
        more.back()[buffer] = statistic;
      }
    }
    all = std::move(more);
  }
  return all;
}
// Whether numbers that a row has stored are these. Only the largest may begin with a number.
template <typename Buffer>
bool AreStatistics(const std::map<Buffer, ScoreStatistic>& which, const std::map<Buffer, double>& stored,
                   const std::map<Buffer, double>& starts, double log_sum, double largest) {
  for (const auto& [buffer, start] : starts) {
    const auto one = which.find(buffer);
    if (one == which.end() || one->second != ScoreStatistic::kLargest) return false;
    largest = std::max(largest, start);
  }
  return which.size() == stored.size() && std::all_of(which.begin(), which.end(), [&](const auto& one) {
           return stored.contains(one.first) && IsStatistic(one.second, stored.at(one.first), log_sum, largest);
         });
}

// Which parameters of a kernel are the matrices of an attention, and what it does with them.
struct AttentionRoles {
  int q = -1, k = -1, v = -1, o = -1;
  std::int64_t depth = 0;
  bool causal = false;
  std::string scale;  // as an expression
  ScoreTerm term;
  std::int64_t window = 0;                 // keys that a causal row sees at most, the last of which is its own; 0: all
  int mask = -1;                           // a buffer of integers that hides keys; -1: none
  bool shows_zero = false;                 // whether it shows the keys with zeros, and not the others
  std::map<int, ScoreStatistic> beside{};  // of the buffers with one element for a row
};

// What scores may be multiplied by in all, by its text: nothing, a factor, or two, of which one may turn e into a power of two.
std::map<std::string, double> ScalesIn(const ThreadTrace& trace);
// The roles by which a thread of this row computed what it stored; nullopt if none explain it. With a mask if there is one.
std::optional<AttentionRoles> RolesIn(const ThreadTrace& trace, std::int64_t row, int mask = -1, bool shows_zero = false);
// The same with something that is added to scores.
std::optional<AttentionRoles> RolesWithTerm(const ThreadTrace& trace, std::int64_t row, int mask = -1, bool shows_zero = false);
// Whether a thread of this row computed what these roles say, with this scale if there is one.
bool Computes(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row, std::optional<double> scale = {});
// The window with which it did; nullopt if there is none, or a smaller one would do as well.
std::optional<std::int64_t> WindowIn(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row);
// Whether it stored the mean of the values that the row would see if nothing was hidden by a mask.
bool ComputesMean(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row);
// The same where keys that a mask hides have this score, and count.
bool ComputesHidden(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row, double hidden);
// What scores were multiplied by; nullopt if it did not compute what the roles say.
std::optional<double> ScaleIn(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row);
// The rows of keys that it read.
std::int64_t KeysRead(const ThreadTrace& trace, const AttentionRoles& roles);

}  // namespace evo
