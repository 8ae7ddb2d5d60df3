#include "evaluator/device/cpu/shared_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace evo {
namespace {

constexpr std::size_t kStaticSharedBytes = 48 * 1024;
constexpr std::size_t kSlotAlignment = 128;
constexpr int kPoison = 0xff;

std::size_t RoundUp(std::size_t bytes) { return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment; }

// Address space that nobody may touch yet.
char* Reserve(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw Error("no memory for the cpu device's shared memory; free some");
  return static_cast<char*>(memory);
}

}  // namespace

SharedMemory::SharedMemory()
    : arena_(Reserve(kArenaBytes)),
      static_(arena_ + kGap),
      dynamic_(static_ + kStaticArea + kGap),
      records_(reinterpret_cast<std::uintptr_t>(arena_), kArenaBytes) {
  if (!records_.ok()) throw Error("no memory for the cpu device's shared memory; free some");
  ::mprotect(static_, kStaticArea, PROT_READ | PROT_WRITE);
  ::mprotect(dynamic_, kDynamicArea, PROT_READ | PROT_WRITE);
}

SharedMemory::~SharedMemory() { ::munmap(arena_, kArenaBytes); }

void SharedMemory::BeginLaunch(std::size_t dynamic_bytes, bool spaced) {
  spaced_ = spaced;
  dynamic_bytes_ = dynamic_bytes;
  placed_ = declared_ = granted_ = last_ = 0;
  places_.clear();
  variables_.clear();
}

void SharedMemory::Poison() {
  std::memset(static_, kPoison, placed_);
  std::memset(dynamic_, kPoison, dynamic_bytes_);
}

char* SharedMemory::Static(unsigned slot, std::size_t bytes) {
  const auto [place, inserted] = places_.try_emplace({slot, bytes}, static_ + placed_);
  if (!inserted) return place->second;
  const std::size_t rounded = RoundUp(bytes);
  declared_ = granted_ + bytes;
  if (declared_ > kStaticSharedBytes || placed_ + rounded > kStaticArea) return nullptr;
  granted_ = std::min(granted_ + rounded, kStaticSharedBytes);
  std::memset(place->second, kPoison, rounded);
  variables_.push_back({reinterpret_cast<std::uintptr_t>(place->second), bytes});
  placed_ = std::min(placed_ + rounded + (spaced_ ? kSlotAlignment : 0), kStaticArea);
  return place->second;
}

bool SharedMemory::Holds(std::uintptr_t address, std::size_t bytes) {
  const auto inside = [&](std::uintptr_t begin, std::size_t size) {
    return address - begin < size && bytes <= size - (address - begin);
  };
  if (inside(reinterpret_cast<std::uintptr_t>(dynamic_), dynamic_bytes_)) return true;
  if (last_ < variables_.size() && inside(variables_[last_].begin, variables_[last_].bytes)) return true;
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (!inside(variables_[i].begin, variables_[i].bytes)) continue;
    last_ = i;
    return true;
  }
  return false;
}

std::string SharedMemory::Describe(std::uintptr_t address) const {
  const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_);
  const auto offset = [&](std::uintptr_t begin) { return static_cast<std::ptrdiff_t>(address - begin); };
  if (address >= dynamic - kGap / 2 || variables_.empty())
    return fmt::format("offset {} of {} bytes of dynamic shared memory", offset(dynamic), dynamic_bytes_);
  const Variable* nearest = &variables_.front();
  for (const Variable& variable : variables_) {
    if (variable.begin <= address) nearest = &variable;
  }
  return fmt::format("offset {} of a shared variable of {} bytes", offset(nearest->begin), nearest->bytes);
}

}  // namespace evo
