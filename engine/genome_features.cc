#include "engine/genome_features.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace evo {
namespace {

// Octaves per unit of a parameter's coordinate: 16 and 256 are 1 apart, the width that a coordinate should have.
constexpr double kOctaves = 4.0;
// Edits of one operator per unit of the coordinate. The first edit says more than the next, so two are far from none.
constexpr double kEdits = 2.0;

double OnScale(std::int64_t value) {
  const auto number = static_cast<double>(value);
  return std::copysign(std::log2(1 + std::abs(number)), number) / kOctaves;
}

double DivisibilityOnScale(std::int64_t value) { return TimesDivisibleByTwo(value) / kOctaves; }

}  // namespace

GenomeFeatures::GenomeFeatures(const std::vector<Genome>& seeds, std::vector<std::string> operators)
    : operators_(std::move(operators)) {
  std::set<std::string> names;
  for (const Genome& one : seeds) {
    templates_.push_back(one.template_name);
    for (const auto& [name, value] : one.parameters) names.insert(name);
  }
  parameters_.assign(names.begin(), names.end());
  std::sort(operators_.begin(), operators_.end());
  divisibility_tells_.assign(parameters_.size(), false);
}

void GenomeFeatures::Learn(const Parameters& parameters) {
  for (const auto& [name, value] : parameters) values_[name].insert(value);
}

void GenomeFeatures::Update() {
  std::set<std::string> names(parameters_.begin(), parameters_.end());
  for (const auto& [name, values] : values_) names.insert(name);
  parameters_.assign(names.begin(), names.end());
  divisibility_tells_.assign(parameters_.size(), false);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const std::set<std::int64_t>& values = values_[parameters_[i]];
    divisibility_tells_[i] = DivisibilityTells(std::vector(values.begin(), values.end()));
  }
}

std::vector<FeatureKind> GenomeFeatures::Kinds() const {
  std::vector<FeatureKind> kinds(1 + 2 * parameters_.size() + operators_.size(), FeatureKind::kOrdinal);
  kinds.front() = FeatureKind::kCategorical;
  return kinds;
}

Features GenomeFeatures::Of(const Genome& genome) const {
  Features features;
  const auto place = std::find(templates_.begin(), templates_.end(), genome.template_name);
  features.push_back(static_cast<double>(place - templates_.begin()));
  const auto value_of = [&](std::size_t parameter) {
    const auto value = genome.parameters.find(parameters_[parameter]);
    return value == genome.parameters.end() ? 0 : value->second;
  };
  for (std::size_t i = 0; i < parameters_.size(); ++i) features.push_back(OnScale(value_of(i)));
  // What one kind of coordinate says already is 0 in the other, where it changes no distance.
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    features.push_back(divisibility_tells_[i] ? DivisibilityOnScale(value_of(i)) : 0);
  for (const std::string& op : operators_) {
    const auto count = std::count_if(genome.edits.begin(), genome.edits.end(), [&](const Edit& edit) { return edit.op == op; });
    features.push_back(static_cast<double>(count) / kEdits);
  }
  return features;
}

}  // namespace evo
