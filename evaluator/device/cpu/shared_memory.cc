#include "evaluator/device/cpu/shared_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "evaluator/device/cpu/resident_pages.h"

namespace evo {
namespace {

constexpr std::size_t kStaticSharedBytes = 48 * 1024;
constexpr std::size_t kSlotAlignment = 128;

std::size_t RoundUp(std::size_t bytes) { return (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment; }

// Address space that may not be accessed yet.
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
  statics_ = {};
  last_ = 0;
  places_.clear();
  variables_.clear();
}

const char* SharedMemory::Image(std::size_t bytes) {
  if (image_.bytes.size() < bytes) {
    image_.bytes.resize(RoundUp(bytes));
    FillHere({reinterpret_cast<std::uintptr_t>(image_.bytes.data()), image_.bytes.size(), image_.pattern});
  }
  return image_.bytes.data();
}

void SharedMemory::Scrub(const DevicePattern& pattern) {
  const std::size_t used = image_.bytes.size();
  image_ = {pattern, {}};
  Image(used);
  const std::vector<char> page = PageOf(pattern);
  FillTouchedPages(static_, kStaticArea, page);
  FillTouchedPages(dynamic_, kDynamicArea, page);
}

void SharedMemory::Poison() {
  const char* image = Image(std::max(statics_.placed, dynamic_bytes_));
  std::memcpy(static_, image, statics_.placed);
  std::memcpy(dynamic_, image, dynamic_bytes_);
}

char* SharedMemory::Static(unsigned slot, std::size_t bytes) {
  const auto [place, inserted] = places_.try_emplace({slot, bytes}, static_ + statics_.placed);
  if (!inserted) return place->second;
  const std::size_t rounded = RoundUp(bytes);
  statics_.declared = statics_.granted + bytes;
  if (statics_.declared > kStaticSharedBytes || statics_.placed + rounded > kStaticArea) return nullptr;
  statics_.granted = std::min(statics_.granted + rounded, kStaticSharedBytes);
  std::memcpy(place->second, Image(rounded), rounded);
  variables_.push_back({reinterpret_cast<std::uintptr_t>(place->second), bytes});
  statics_.placed = std::min(statics_.placed + rounded + (spaced_ ? kSlotAlignment : 0), kStaticArea);
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
