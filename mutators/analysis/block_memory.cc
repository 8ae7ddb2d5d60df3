#include "mutators/analysis/block_memory.h"

#include <algorithm>

namespace evo {
namespace {

bool AreSame(const ThreadValue& a, const ThreadValue& b) {
  return a.kind == b.kind && a.integer == b.integer && a.real == b.real && a.memory == b.memory;
}

}  // namespace

BlockElement& BlockMemory::At(std::size_t slot, std::int64_t index) {
  if (index < 0 || index >= kMostDense) return others_[{slot, index}];
  if (slot >= dense_.size()) dense_.resize(slot + 1);
  std::vector<BlockElement>& elements = dense_[slot];
  const auto at = static_cast<std::size_t>(index);
  if (at >= elements.size()) elements.resize(std::max(at + 1, 2 * elements.size()));
  return elements[at];
}

bool BlockMemory::Merge(std::vector<StoredValues>& stored, const std::vector<std::size_t>& threads) {
  bool races = false;
  ++merged_;
  for (const std::size_t thread : threads) {
    for (auto& [place, value] : stored[thread]) {
      BlockElement& element = At(place.first, place.second);
      --element.writers;
      if (element.times == merged_) {
        races = races || !AreSame(element.value, value);
      } else {
        element.times = merged_;
        element.value = std::move(value);
      }
    }
    stored[thread].clear();
  }
  return !races;
}

}  // namespace evo
