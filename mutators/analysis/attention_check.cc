#include "mutators/analysis/attention_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace evo {
namespace {

using Elements = std::map<std::int64_t, ThreadTrace::Access>;

// Numbers of kernels have seven digits, such as 1.44269504f.
constexpr double kTolerance = 2e-5;
constexpr double kLog2 = 0.693147180559945;

std::vector<double> ValuesOf(const Elements& elements) {
  std::vector<double> values;
  for (const auto& [index, access] : elements) values.push_back(access.value);
  return values;
}

// The row of the output by definition. Elements of matrices follow each other by rows.
std::vector<double> Defined(const std::vector<double>& q, const std::vector<double>& k, const std::vector<double>& v,
                            std::size_t keys, double scale) {
  const std::size_t depth = q.size();
  std::vector<double> scores;
  for (std::size_t key = 0; key < keys; ++key) {
    double sum = 0;
    for (std::size_t d = 0; d < depth; ++d) sum += q[d] * k[key * depth + d];
    scores.push_back(sum * scale);
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  double weights = 0;
  std::vector<double> row(depth);
  for (std::size_t key = 0; key < keys; ++key) {
    const double weight = std::exp(scores[key] - largest);
    weights += weight;
    for (std::size_t d = 0; d < depth; ++d) row[d] += weight * v[key * depth + d];
  }
  for (double& value : row) value /= weights;
  return row;
}

bool IsClose(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference += (a[i] - b[i]) * (a[i] - b[i]), size += b[i] * b[i];
  return std::isfinite(difference) && difference <= kTolerance * kTolerance * size;
}

// What scores may be multiplied by in all: nothing, a factor, or two, of which one may turn e into a power of two.
std::map<std::string, double> Scales(const ThreadTrace& trace) {
  std::map<std::string, double> scales{{"1.0f", 1.0}};
  const auto add = [&](const std::string& text, double value) {
    if (!std::isfinite(value) || value == 0) return;
    scales.try_emplace(text, value);
    if (trace.base_two) scales.try_emplace(fmt::format("{} * 0.69314718f", text), value * kLog2);
  };
  for (const auto& [text, value] : trace.factors) add(text, value);
  for (const auto& [text, value] : trace.factors) {
    for (const auto& [other, times] : trace.factors) {
      if (text < other) add(fmt::format("{} * {}", text, other), value * times);
    }
  }
  return scales;
}

// The expressions with fewer words first.
std::vector<std::pair<std::string, double>> ByLength(const std::map<std::string, double>& scales) {
  std::vector<std::pair<std::string, double>> sorted(scales.begin(), scales.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  return sorted;
}

bool AreLimitsVoid(const ThreadTrace& trace) { return std::all_of(trace.limits.begin(), trace.limits.end(), IsLimitVoid); }

std::size_t KeysOf(std::size_t read, bool causal, std::int64_t row) {
  return causal ? std::min(read, static_cast<std::size_t>(row) + 1) : read;
}

}  // namespace

bool IsLimitVoid(const std::pair<double, double>& limit) {
  const auto [data, number] = limit;
  return number <= -1e4 || (std::abs(number) <= 1e-6 && data >= 0.999);
}

std::optional<AttentionRoles> RolesIn(const ThreadTrace& trace, std::int64_t row) {
  if (trace.stores.size() != 1 || trace.reads.size() != 3) return std::nullopt;
  AttentionRoles roles;
  roles.o = trace.stores.begin()->first;
  const std::size_t depth = trace.stores.begin()->second.size();
  roles.depth = static_cast<std::int64_t>(depth);
  std::vector<int> others;
  for (const auto& [parameter, elements] : trace.reads) {
    if (elements.size() == depth)
      roles.q = parameter;
    else if (elements.size() % depth == 0)
      others.push_back(parameter);
  }
  if (roles.q < 0 || others.size() != 2 || !AreLimitsVoid(trace)) return std::nullopt;
  const auto scales = ByLength(Scales(trace));
  for (const bool swapped : {false, true}) {
    roles.k = others[swapped ? 1 : 0];
    roles.v = others[swapped ? 0 : 1];
    for (const bool causal : {false, true}) {
      roles.causal = causal;
      for (const auto& scale : scales) {
        roles.scale = scale.first;
        if (Computes(trace, roles, row)) return roles;
      }
    }
  }
  return std::nullopt;
}

std::int64_t KeysRead(const ThreadTrace& trace, const AttentionRoles& roles) {
  const auto read = trace.reads.find(roles.k);
  return read == trace.reads.end() ? 0 : static_cast<std::int64_t>(read->second.size()) / roles.depth;
}

bool Computes(const ThreadTrace& trace, const AttentionRoles& roles, std::int64_t row) {
  for (const int parameter : {roles.q, roles.k, roles.v}) {
    if (!trace.reads.contains(parameter)) return false;
  }
  const auto stored = trace.stores.find(roles.o);
  if (trace.reads.size() != 3 || trace.stores.size() != 1 || stored == trace.stores.end() || !AreLimitsVoid(trace)) return false;
  const auto depth = static_cast<std::size_t>(roles.depth);
  const auto q = ValuesOf(trace.reads.at(roles.q)), k = ValuesOf(trace.reads.at(roles.k)), v = ValuesOf(trace.reads.at(roles.v));
  const std::size_t keys = KeysOf(k.size() / depth, roles.causal, row);
  if (q.size() != depth || stored->second.size() != depth || k.size() % depth != 0 || keys == 0 || v.size() < keys * depth)
    return false;
  const auto scales = Scales(trace);
  const auto is_scale = [&](double scale) { return IsClose(ValuesOf(stored->second), Defined(q, k, v, keys, scale)); };
  if (const auto known = scales.find(roles.scale); known != scales.end()) return is_scale(known->second);
  // Without forms, expressions of parameters have numbers in them.
  return std::any_of(scales.begin(), scales.end(), [&](const auto& scale) { return is_scale(scale.second); });
}

}  // namespace evo
