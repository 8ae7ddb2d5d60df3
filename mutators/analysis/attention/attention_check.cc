#include "mutators/analysis/attention/attention_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "mutators/analysis/attention/attention_row.h"

namespace evo {
namespace {

constexpr double kLog2 = 0.693147180559945;
constexpr std::string_view kLog2Text = "0.69314718f", kTimesText = " * ";
// Of what a row stores beside its elements: the numbers of kernels have seven digits.
constexpr double kStatisticTolerance = 2e-5;
// Numbers that data is multiplied by, of which products of two may be one factor. Distances of keys are many more.
constexpr std::size_t kMostProducts = 32;

// The expressions with fewer words first.
std::vector<std::pair<std::string, double>> ByLength(const std::map<std::string, double>& scales) {
  std::vector<std::pair<std::string, double>> sorted(scales.begin(), scales.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  return sorted;
}

bool AreLimitsVoid(const ThreadTrace& trace) { return std::all_of(trace.limits.begin(), trace.limits.end(), IsLimitVoid); }

// What a term may be multiplied by: the same, with either sign.
std::map<std::string, double> FactorsOfTerms(const ThreadTrace& trace) {
  std::map<std::string, double> factors;
  std::map<std::string, double> scales = ScalesIn(trace);
  if (trace.base_two) scales.try_emplace(std::string(kLog2Text), kLog2);
  for (const auto& [text, value] : scales) {
    factors.try_emplace(text, value);
    factors.try_emplace(text == "1.0f" ? "-1.0f" : fmt::format("-({})", text), -value);
  }
  return factors;
}

// What such an expression is among what a thread has multiplied data by; nullopt if it did not.
std::optional<double> FactorNamed(const ThreadTrace& trace, std::string_view text) {
  if (text == "1.0f" || text == "-1.0f") return text.front() == '-' ? -1.0 : 1.0;
  if (text == kLog2Text && trace.base_two) return kLog2;
  if (text.starts_with("-(") && text.ends_with(")") && !trace.factors.contains(std::string(text))) {
    const auto value = FactorNamed(trace, text.substr(2, text.size() - 3));
    return value ? std::optional(-*value) : std::nullopt;
  }
  for (const auto& [one, value] : trace.factors) {
    if (!text.starts_with(one)) continue;
    std::string_view rest = text.substr(one.size());
    if (rest.empty()) return value;
    if (!rest.starts_with(kTimesText)) continue;
    rest.remove_prefix(kTimesText.size());
    if (const auto other = FactorNamed(trace, rest); other && rest != text) return value * *other;
  }
  return std::nullopt;
}

// Of a scale and a term's factor, all that an expression may be: what it says or, without forms, anything, since expressions of
// parameters have numbers in them then.
std::vector<double> PossibleFactors(const ThreadTrace& trace, const std::string& text, bool of_term) {
  if (const auto value = FactorNamed(trace, text)) return {*value};
  std::vector<double> values;
  for (const auto& [other, value] : of_term ? FactorsOfTerms(trace) : ScalesIn(trace)) values.push_back(value);
  return values;
}

std::vector<double> PossibleTermFactors(const ThreadTrace& trace, const AttentionRoles& roles) {
  if (roles.term.kind == ScoreTerm::Kind::kNone) return {0};
  std::vector<double> factors = PossibleFactors(trace, roles.term.factor, true);
  // A distance that is the same for all rows of a window is a number itself.
  if (factors.size() > 1) factors.push_back(roles.term.value);
  return factors;
}

std::map<int, double> StoredBeside(const ThreadTrace& trace) {
  std::map<int, double> stored;
  for (const auto& [buffer, elements] : trace.beside) stored[buffer] = elements.begin()->second.value;
  return stored;
}

// Empty if what a row stores beside its elements is nothing known.
std::map<int, ScoreStatistic> StatisticsBeside(const ThreadTrace& trace, const AttentionRow& row, double scale, double factor) {
  const auto stored = StoredBeside(trace);
  for (const auto& which : PossibleStatistics(stored)) {
    if (AreStatistics(which, stored, trace.beside_starts, row.LogSum(scale, factor), row.Largest(scale, factor))) return which;
  }
  return {};
}

// The ways in which the buffers other than `extra` are queries, keys and values.
std::vector<AttentionRoles> MatricesIn(const ThreadTrace& trace, int extra) {
  std::vector<AttentionRoles> ways;
  if (trace.stores.size() != 1 || trace.reads.size() != (extra < 0 ? 3u : 4u) || !AreLimitsVoid(trace)) return ways;
  AttentionRoles roles;
  roles.o = trace.stores.begin()->first;
  const std::size_t depth = trace.stores.begin()->second.size();
  roles.depth = static_cast<std::int64_t>(depth);
  std::vector<int> others;
  for (const auto& [parameter, elements] : trace.reads) {
    if (parameter == extra) continue;
    if (elements.size() == depth)
      roles.q = parameter;
    else if (elements.size() % depth == 0)
      others.push_back(parameter);
  }
  if (roles.q < 0 || others.size() != 2) return ways;
  for (const bool swapped : {false, true}) {
    roles.k = others[swapped ? 1 : 0];
    roles.v = others[swapped ? 0 : 1];
    for (const bool causal : {false, true}) {
      roles.causal = causal;
      ways.push_back(roles);
    }
  }
  return ways;
}

// The scale and the term's factor with which the keys of a row, from this one on, are those of what a thread stored.
std::optional<std::pair<double, double>> FactorsIn(const ThreadTrace& trace, const AttentionRoles& roles, const AttentionRow& row,
                                                   std::size_t from, std::optional<double> only = {}) {
  const std::vector<double> factors = PossibleTermFactors(trace, roles);
  for (const double scale : only ? std::vector{*only} : PossibleFactors(trace, roles.scale, false)) {
    for (const double factor : factors) {
      if (row.IsDefined(scale, factor, from)) return std::pair(scale, factor);
    }
  }
  return std::nullopt;
}

}  // namespace

bool IsStatistic(ScoreStatistic statistic, double stored, double log_sum, double largest) {
  const double expected = statistic == ScoreStatistic::kLogSum    ? log_sum
                          : statistic == ScoreStatistic::kLargest ? largest
                                                                  : std::exp(log_sum - largest);
  return std::fabs(stored - expected) <= kStatisticTolerance * (1 + std::fabs(expected));
}

std::map<std::string, double> ScalesIn(const ThreadTrace& trace) {
  std::map<std::string, double> scales{{"1.0f", 1.0}};
  const auto add = [&](const std::string& text, double value) {
    if (!std::isfinite(value) || value == 0) return;
    scales.try_emplace(text, value);
    if (trace.base_two) scales.try_emplace(fmt::format("{}{}{}", text, kTimesText, kLog2Text), value * kLog2);
  };
  for (const auto& [text, value] : trace.factors) add(text, value);
  if (trace.factors.size() > kMostProducts) return scales;
  for (const auto& [text, value] : trace.factors) {
    for (const auto& [other, times] : trace.factors) {
      if (text < other) add(fmt::format("{} * {}", text, other), value * times);
    }
  }
  return scales;
}

std::optional<AttentionRoles> RolesIn(const ThreadTrace& trace, std::int64_t row, int mask, bool shows_zero) {
  const auto scales = ByLength(ScalesIn(trace));
  for (AttentionRoles& roles : MatricesIn(trace, -1)) {
    roles.mask = mask;
    roles.shows_zero = shows_zero;
    const auto computed = AttentionRowOf(trace, roles, row);
    for (const auto& [text, scale] : scales) {
      if (!computed || !computed->IsDefined(scale, 0)) continue;
      roles.scale = text;
      roles.beside = StatisticsBeside(trace, *computed, scale, 0);
      return roles;
    }
  }
  return std::nullopt;
}

std::optional<AttentionRoles> RolesWithTerm(const ThreadTrace& trace, std::int64_t row, int mask, bool shows_zero) {
  using enum ScoreTerm::Kind;
  const auto scales = ByLength(ScalesIn(trace)), factors = ByLength(FactorsOfTerms(trace));
  std::vector<int> buffers{-1};
  if (trace.reads.size() == 4) {
    buffers.clear();
    for (const auto& [parameter, elements] : trace.reads) buffers.push_back(parameter);
  }
  for (const int buffer : buffers) {
    const bool one = buffer < 0 || trace.reads.at(buffer).size() == 1;
    for (AttentionRoles& roles : MatricesIn(trace, buffer)) {
      roles.mask = mask;
      roles.shows_zero = shows_zero;
      for (const ScoreTerm::Kind kind : one ? std::vector{kDistance, kAbsoluteDistance} : std::vector{kElement}) {
        roles.term = {kind, buffer, ""};
        const auto computed = AttentionRowOf(trace, roles, row);
        for (const auto& [text, scale] : scales) {
          for (const auto& [factor, value] : factors) {
            if (!computed || !computed->IsDefined(scale, value) || !computed->TellsScores(scale, value)) continue;
            roles.scale = text;
            roles.term.factor = factor;
            roles.term.value = value;
            roles.beside = StatisticsBeside(trace, *computed, scale, value);
            return roles;
          }
        }
      }
    }
  }
  return std::nullopt;
}

std::int64_t KeysRead(const ThreadTrace& trace, const AttentionRoles& roles) {
  const auto read = trace.reads.find(roles.k);
  return read == trace.reads.end() ? 0 : static_cast<std::int64_t>(read->second.size()) / roles.depth;
}

bool Computes(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row, std::optional<double> scale) {
  const auto computed = AttentionRowOf(trace, roles, row);
  const auto factors = computed && AreLimitsVoid(trace) ? FactorsIn(trace, roles, *computed, 0, scale) : std::nullopt;
  if (!factors) return false;
  return AreStatistics(roles.beside, StoredBeside(trace), trace.beside_starts, computed->LogSum(factors->first, factors->second),
                       computed->Largest(factors->first, factors->second));
}

std::optional<std::int64_t> WindowIn(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row) {
  AttentionRoles with_window = roles;
  // The loop begins with the window, or scores before it are hidden.
  const std::int64_t read = KeysRead(trace, roles);
  if (read > 0 && read <= row) {
    with_window.window = read;
    return Computes(trace, with_window, row) ? std::optional(read) : std::nullopt;
  }
  const auto all = AttentionRowOf(trace, roles, row);
  if (!all || !AreLimitsVoid(trace)) return std::nullopt;
  for (std::size_t from = all->keys.size() - 1; from > 0; --from) {
    if (FactorsIn(trace, roles, *all, from)) return static_cast<std::int64_t>(all->keys.size() - from);
  }
  return std::nullopt;
}

bool ComputesMean(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row) {
  AttentionRoles shown = roles;
  shown.mask = -1;
  const auto computed = AttentionRowOf(trace, shown, row);
  return computed && AreLimitsVoid(trace) && computed->IsDefined(0, 0);
}

std::optional<double> ScaleIn(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row) {
  const auto computed = AttentionRowOf(trace, roles, row);
  const auto factors = computed ? FactorsIn(trace, roles, *computed, 0) : std::nullopt;
  return factors ? std::optional(factors->first) : std::nullopt;
}

bool ComputesHidden(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row, double hidden) {
  AttentionRoles all = roles;
  all.mask = -1;
  const auto shown = AttentionRowOf(trace, roles, row);
  auto scores = AttentionRowOf(trace, all, row);
  if (!shown || !scores || !AreLimitsVoid(trace)) return false;
  const std::vector<double> dots = scores->dots, terms = scores->terms;
  const std::vector<double> factors = PossibleTermFactors(trace, roles);
  for (const double scale : PossibleFactors(trace, roles.scale, false)) {
    for (const double factor : factors) {
      for (std::size_t i = 0; i < dots.size(); ++i) {
        const bool is_shown = std::binary_search(shown->keys.begin(), shown->keys.end(), scores->keys[i]);
        scores->dots[i] = is_shown ? dots[i] * scale + terms[i] * factor : hidden;
      }
      if (scores->IsDefined(1, 0)) return true;
    }
  }
  return false;
}

}  // namespace evo
