#include "engine/map_elites.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace evo {
namespace {

// A multiprocessor has 65,536 registers: 2,048 threads can have 32 each. At the next borders 1,280, 1,024, 640, 512 and 384
// threads fit.
constexpr int kRegisterBorders[] = {32, 48, 64, 96, 128, 168};
// Bytes. More than 48 KiB need an attribute of the kernel. 100 and 164 KiB leave one block per multiprocessor on sm_86 and sm_80.
constexpr int kSharedBorders[] = {0, 8 << 10, 16 << 10, 32 << 10, 48 << 10, 100 << 10, 164 << 10};
constexpr int kOccupancyClasses = 4;

int ClassOf(int value, std::span<const int> borders) {
  if (value < 0) return -1;
  return static_cast<int>(std::lower_bound(borders.begin(), borders.end(), value) - borders.begin());
}

}  // namespace

Cell ResourceCell(const Candidate&, const Evaluation& evaluation) {
  const KernelFacts& facts = evaluation.facts;
  const bool shared_known = facts.static_shared_bytes >= 0 || facts.dynamic_shared_bytes >= 0;
  const int shared = shared_known ? std::max(0, facts.static_shared_bytes) + std::max(0, facts.dynamic_shared_bytes) : -1;
  const int occupancy =
      std::isnan(facts.occupancy) ? -1 : std::min(kOccupancyClasses - 1, static_cast<int>(facts.occupancy * kOccupancyClasses));
  return {ClassOf(facts.registers, kRegisterBorders), ClassOf(shared, kSharedBorders), occupancy};
}

MapElitesPopulation::MapElitesPopulation(std::size_t capacity, CellOf cell_of)
    : capacity_(capacity), cell_of_(std::move(cell_of)), fastest_(capacity) {}

void MapElitesPopulation::Survive(const std::vector<Candidate>& candidates, const std::vector<Evaluation>& evaluations) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (evaluations[i].outcome != Outcome::kOk || !programs_.insert(evaluations[i].program_digest).second) continue;
    const Individual one{candidates[i], evaluations[i].score_ns, evaluations[i].clocks.compile_ms};
    const auto [elite, fresh] = elites_.emplace(cell_of_(candidates[i], evaluations[i]), one);
    if (!fresh && Precedes(one, elite->second)) elite->second = one;
  }
  fastest_.Survive(candidates, evaluations);
  members_.clear();
  std::set<CandidateId> taken;
  for (const auto& [cell, elite] : elites_) {
    members_.push_back(elite);
    taken.insert(elite.candidate.id);
  }
  for (const Individual& one : fastest_.members()) {
    if (members_.size() >= capacity_) break;
    if (taken.insert(one.candidate.id).second) members_.push_back(one);
  }
  std::sort(members_.begin(), members_.end(), Precedes);
}

}  // namespace evo
