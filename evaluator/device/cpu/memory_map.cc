#include "evaluator/device/cpu/memory_map.h"

#include <iterator>

namespace evo {

Shadow* MemoryRange::Records() {
  if (shadow == nullptr) shadow = std::make_unique<Shadow>(begin & ~std::uintptr_t{3}, bytes + begin % 4);
  return shadow->ok() ? shadow.get() : nullptr;
}

void MemoryMap::Add(std::uintptr_t begin, std::size_t bytes, bool constant) {
  MemoryRange range;
  range.allocated = range.begin = begin;
  range.allocated_bytes = range.bytes = bytes;
  range.constant = constant;
  ranges_[begin] = std::move(range);
}

void MemoryMap::Guard(std::uintptr_t begin, std::size_t bytes) {
  MemoryRange* range = Nearest(begin);
  if (range == nullptr || begin < range->allocated || begin - range->allocated + bytes > range->allocated_bytes) return;
  range->begin = begin;
  range->bytes = bytes;
  range->shadow.reset();
}

void MemoryMap::Remove(std::uintptr_t begin) { ranges_.erase(begin); }

MemoryRange* MemoryMap::Nearest(std::uintptr_t address) {
  if (ranges_.empty()) return nullptr;
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return &after->second;
  MemoryRange& before = std::prev(after)->second;
  if (after == ranges_.end() || address - before.allocated < before.allocated_bytes) return &before;
  const std::uintptr_t behind = address - (before.allocated + before.allocated_bytes);
  return after->first - address < behind ? &after->second : &before;
}

}  // namespace evo
