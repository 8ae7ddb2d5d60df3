#include "engine/selection.h"

#include <algorithm>

namespace evo {
namespace {

// Separates the random stream of the parents from that of the child, which is Rng(seed, generation, index).
constexpr std::uint64_t kSelectionStream = 0x73656c6563740000ULL;

// The greatest chance of a member to be drawn, relative to the median's.
constexpr double kMostPreference = 2;

// How often each member is drawn, relative to the median; empty: all equally often.
std::vector<double> Preferences(const std::vector<Individual>& members) {
  std::vector<double> known;
  for (const Individual& member : members) {
    if (member.compile_ms > 0) known.push_back(member.compile_ms);
  }
  if (known.empty()) return {};
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  std::vector<double> preferences;
  for (const Individual& member : members)
    preferences.push_back(member.compile_ms > 0 ? std::min(kMostPreference, *middle / member.compile_ms) : 1);
  return preferences;
}

std::size_t Draw(Rng& rng, std::size_t members, const std::vector<double>& preferences) {
  return preferences.empty() ? rng.Below(members) : rng.Weighted(preferences);
}

void Add(Parents& parents, const Individual& parent) {
  parents.ids.push_back(parent.candidate.id);
  parents.genomes.push_back(parent.candidate.genome);
  parents.sources.push_back(parent.candidate.source);
}

}  // namespace

Parents SelectParents(const std::vector<Individual>& members, int tournament_size, std::uint64_t seed, std::uint64_t generation,
                      std::uint64_t index) {
  Rng rng(seed ^ kSelectionStream, generation, index);
  std::vector<double> preferences = Preferences(members);
  std::size_t first = Draw(rng, members.size(), preferences);
  for (int i = 1; i < tournament_size; ++i) first = std::min(first, Draw(rng, members.size(), preferences));
  Parents parents;
  Add(parents, members[first]);
  if (members.size() == 1) return parents;
  std::size_t second = 0;
  if (preferences.empty()) {
    second = rng.Below(members.size() - 1);
    if (second >= first) ++second;
  } else {
    preferences[first] = 0;
    second = rng.Weighted(preferences);
  }
  Add(parents, members[second]);
  return parents;
}

}  // namespace evo
