#include "mutators/analysis/attention/attention_definition.h"

#include <algorithm>
#include <cmath>

namespace evo {
namespace {

// Numbers of kernels have seven digits, such as 1.44269504f. Errors count as a part of the largest element of a row.
constexpr double kElementTolerance = 2e-5;

}  // namespace

AttentionDefinition::Row AttentionDefinition::RowOf(double scale, std::int64_t head, std::int64_t row) const {
  using enum AttentionShape::Part;
  const std::int64_t seen = shape_.SeenBy(row);
  const bool known = last_.head == head && last_.row == row;
  if (!known) last_ = {head, row, {}};
  Row found;
  double largest = -INFINITY, sum = 0;
  for (std::int64_t key = 0; key < seen; ++key) {
    if (!known) {
      double dot = 0;
      for (std::int64_t d = 0; d < shape_.depth; ++d)
        dot += q_(shape_.IndexIn(kQueries, head, row, d)) * k_(shape_.IndexIn(kKeys, head, key, d));
      last_.sums.push_back(dot);
    }
    const double term = term_ ? term_(head, row, key) : 0, dot = last_.sums[static_cast<std::size_t>(key)];
    if (term > -INFINITY) found.empty = false;
    found.weights.push_back(term > -INFINITY ? (scaled_ ? (dot + term) * scale : dot * scale + term) : term);
    largest = std::max(largest, found.weights.back());
  }
  for (double& weight : found.weights) sum += weight = std::exp(weight - largest);
  for (double& weight : found.weights) weight /= sum;
  found.largest = largest;
  found.log_sum = largest + std::log(sum);
  return found;
}

bool AttentionDefinition::HoldsFor(const BufferContents& stored, double scale, std::int64_t head, std::int64_t row) const {
  const Row weights = RowOf(scale, head, row);
  // An error is permitted up to a part of the largest value, and no value differs from what is stored by more than that: so the
  // first element that is too far from its value refuses the row.
  double stored_most = 0;
  for (std::int64_t d = 0; d < shape_.value_depth; ++d) {
    const auto element = stored.find(shape_.OutputIndex(head, row, d));
    if (element != stored.end() && std::isfinite(element->second))
      stored_most = std::max(stored_most, std::fabs(element->second));
  }
  const double most_error = 2 * kElementTolerance * stored_most;
  double largest = 0, error = 0;
  for (std::int64_t d = 0; d < shape_.value_depth; ++d) {
    const auto element = stored.find(shape_.OutputIndex(head, row, d));
    if (element == stored.end()) continue;
    if (weights.empty) {
      if (!std::isnan(element->second)) return false;
      continue;
    }
    double value = 0;
    for (std::size_t key = 0; key < weights.weights.size(); ++key) {
      if (weights.weights[key] > 0)
        value +=
            weights.weights[key] * v_(shape_.IndexIn(AttentionShape::Part::kValues, head, static_cast<std::int64_t>(key), d));
    }
    if (!std::isfinite(element->second)) return false;
    largest = std::max(largest, std::fabs(value));
    error = std::max(error, std::fabs(value - element->second));
    if (error > most_error) return false;
  }
  return error <= kElementTolerance * largest;
}

bool AttentionDefinition::HoldsFor(const BufferContents& stored, double scale) const {
  for (std::int64_t head = 0; head < shape_.heads; ++head) {
    for (std::int64_t row = 0; row < shape_.rows; ++row) {
      const std::int64_t first = shape_.OutputIndex(head, row, 0);
      const auto element = stored.lower_bound(first);
      if (element == stored.end() || element->first >= first + shape_.value_depth) continue;
      if (!HoldsFor(stored, scale, head, row)) return false;
    }
  }
  return !stored.empty() && stored.begin()->first >= 0 &&
         stored.rbegin()->first < shape_.heads * shape_.rows * shape_.value_depth;
}

std::vector<AttentionDefinition::Statistics> AttentionDefinition::StatisticsOf(
    std::vector<Statistics> choices, const std::map<std::string, BufferContents>& stored,
    const std::map<std::string, Elements>& starts, double scale) const {
  for (const auto& [row, any] : stored.begin()->second) {
    std::map<std::string, double> numbers, begins;
    for (const auto& [buffer, elements] : stored) {
      const auto number = elements.find(row);
      if (number == elements.end() || elements.size() != stored.begin()->second.size()) return {};
      numbers[buffer] = number->second;
    }
    for (const auto& [buffer, elements] : starts) begins[buffer] = elements(row);
    if (row < 0 || row >= shape_.heads * shape_.rows) return {};
    const Row scores = RowOf(scale, row / shape_.rows, row % shape_.rows);
    std::erase_if(
        choices, [&](const Statistics& which) { return !AreStatistics(which, numbers, begins, scores.log_sum, scores.largest); });
  }
  return choices;
}

}  // namespace evo
