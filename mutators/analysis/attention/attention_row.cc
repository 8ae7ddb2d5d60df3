#include "mutators/analysis/attention/attention_row.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace evo {
namespace {

using RowElements = std::map<std::int64_t, ThreadTrace::Access>;

// Numbers of kernels have seven digits, such as 1.44269504f.
constexpr double kRowTolerance = 2e-5;
// A key's weight, as a part of the largest, from which on an error of its score is seen.
constexpr double kTellingWeight = 0.01;

std::vector<double> ElementValues(const RowElements& elements) {
  std::vector<double> values;
  for (const auto& [index, access] : elements) values.push_back(access.value);
  return values;
}

// Which keys a row sees, and which keys the elements are of that a thread has read.
class RowKeys {
 public:
  RowKeys(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row) : roles_(roles), row_(row) {
    if (roles.window > 0) lower_ = std::max<std::int64_t>(0, row - roles.window + 1);
    if (roles.mask < 0) return;
    const auto mask = trace.loaded.find(roles.mask);
    if (mask == trace.loaded.end()) return;
    masked_ = mask->second.size();
    std::int64_t key = masked_ == InWindow() ? lower_ : 0;
    for (const auto& [index, loaded] : mask->second) {
      if ((loaded.value == 0) == roles.shows_zero) shown_.push_back(key);
      ++key;
    }
  }

  bool Sees(std::int64_t key) const {
    if (key < lower_ || (roles_.causal && key > row_)) return false;
    return roles_.mask < 0 || std::binary_search(shown_.begin(), shown_.end(), key);
  }

  // The keys of so many rows: all from the first one on, those of the window, or those that a mask shows.
  std::vector<std::int64_t> Of(std::size_t count) const {
    if (roles_.mask >= 0 && count != masked_ && count == shown_.size()) return shown_;
    std::vector<std::int64_t> keys(count);
    std::iota(keys.begin(), keys.end(), count == InWindow() ? lower_ : 0);
    return keys;
  }

 private:
  std::size_t InWindow() const { return lower_ == 0 ? 0 : static_cast<std::size_t>(row_ + 1 - lower_); }

  const AttentionRoles& roles_;
  std::int64_t row_, lower_ = 0;
  std::size_t masked_ = 0;
  std::vector<std::int64_t> shown_;
};

// The place of a key in an ascending list; nullopt if it is not there.
std::optional<std::size_t> PlaceOfKey(const std::vector<std::int64_t>& keys, std::int64_t key) {
  const auto at = std::lower_bound(keys.begin(), keys.end(), key);
  if (at == keys.end() || *at != key) return std::nullopt;
  return static_cast<std::size_t>(at - keys.begin());
}

double Distance(const AttentionRoles& roles, std::int64_t key, std::int64_t row) {
  const auto distance = static_cast<double>(key - row);
  return roles.term.kind == ScoreTerm::Kind::kAbsoluteDistance ? std::fabs(distance) : distance;
}

}  // namespace

std::optional<AttentionRow> AttentionRowOf(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row) {
  for (const int parameter : {roles.q, roles.k, roles.v}) {
    if (!trace.reads.contains(parameter)) return std::nullopt;
  }
  const auto stored = trace.stores.find(roles.o);
  const bool has_buffer = roles.term.buffer >= 0;
  if (trace.stores.size() != 1 || stored == trace.stores.end() || trace.reads.size() != (has_buffer ? 4u : 3u) ||
      (has_buffer && !trace.reads.contains(roles.term.buffer)))
    return std::nullopt;
  const auto depth = static_cast<std::size_t>(roles.depth);
  const auto q = ElementValues(trace.reads.at(roles.q)), k = ElementValues(trace.reads.at(roles.k));
  AttentionRow found;
  found.values = ElementValues(trace.reads.at(roles.v));
  found.stored = ElementValues(stored->second);
  if (q.size() != depth || found.stored.size() != depth || k.size() % depth != 0) return std::nullopt;
  const std::vector<double> added = has_buffer ? ElementValues(trace.reads.at(roles.term.buffer)) : std::vector<double>{1.0};
  const bool by_key = roles.term.kind == ScoreTerm::Kind::kElement;
  if (has_buffer && !by_key && added.size() != 1) return std::nullopt;
  const RowKeys all(trace, roles, row);
  const auto keys = all.Of(k.size() / depth), of_values = all.Of(found.values.size() / depth), of_added = all.Of(added.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!all.Sees(keys[i])) continue;
    const auto value = PlaceOfKey(of_values, keys[i]), term = by_key ? PlaceOfKey(of_added, keys[i]) : 0;
    if (!value || !term) return std::nullopt;
    found.keys.push_back(keys[i]);
    found.dots.push_back(std::inner_product(q.begin(), q.end(), k.begin() + static_cast<std::ptrdiff_t>(i * depth), 0.0));
    found.terms.push_back(roles.term.kind == ScoreTerm::Kind::kNone ? 0
                          : by_key                                  ? added[*term]
                                                                    : added[0] * Distance(roles, keys[i], row));
    found.rows.push_back(*value * depth);
  }
  if (found.keys.empty()) return std::nullopt;
  return found;
}

bool AttentionRow::IsDefined(double scale, double factor, std::size_t from) const {
  std::vector<double> weights;
  double largest = -INFINITY, sum = 0, size = 0, difference = 0;
  for (std::size_t i = from; i < dots.size(); ++i) {
    weights.push_back(dots[i] * scale + terms[i] * factor);
    largest = std::max(largest, weights.back());
  }
  for (double& weight : weights) sum += weight = std::exp(weight - largest);
  for (const double element : stored) size += element * element;
  // Most factors are refuted by one element.
  const double most = kRowTolerance * kRowTolerance * size;
  for (std::size_t d = 0; d < stored.size(); ++d) {
    double mixed = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) mixed += weights[i] * values[rows[from + i] + d];
    const double error = mixed / sum - stored[d];
    difference += error * error;
    if (!(difference <= most)) return false;
  }
  return std::isfinite(difference);
}

double AttentionRow::Largest(double scale, double factor) const {
  double largest = -INFINITY;
  for (std::size_t i = 0; i < dots.size(); ++i) largest = std::max(largest, dots[i] * scale + terms[i] * factor);
  return largest;
}

double AttentionRow::LogSum(double scale, double factor) const {
  const double largest = Largest(scale, factor);
  double sum = 0;
  for (std::size_t i = 0; i < dots.size(); ++i) sum += std::exp(dots[i] * scale + terms[i] * factor - largest);
  return largest + std::log(sum);
}

bool AttentionRow::TellsScores(double scale, double factor) const {
  std::vector<double> scores;
  for (std::size_t i = 0; i < dots.size(); ++i) scores.push_back(dots[i] * scale + terms[i] * factor);
  std::sort(scores.begin(), scores.end());
  return scores.size() > 1 && std::exp(scores[scores.size() - 2] - scores.back()) > kTellingWeight;
}

}  // namespace evo
