#include "evaluator/device/cpu/shared_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "evaluator/device/cpu/resident_pages.h"

namespace evo {
namespace {

// Address space that may not be accessed yet.
char* Reserve(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw Error("no memory for the cpu device's shared memory; free some");
  return static_cast<char*>(memory);
}

char* AtMultipleOf(std::size_t bytes, char* address) {
  return address + (bytes - reinterpret_cast<std::uintptr_t>(address) % bytes) % bytes;
}

}  // namespace

SharedMemory::SharedMemory()
    : arena_(Reserve(kArenaBytes)),
      static_(arena_ + kGap),
      dynamic_(AtMultipleOf(kDynamicArea, static_ + kStaticArea + kGap)),
      records_(reinterpret_cast<std::uintptr_t>(arena_), kArenaBytes),
      statics_(static_, kStaticArea) {
  if (!records_.ok()) throw Error("no memory for the cpu device's shared memory; free some");
  ::mprotect(static_, kStaticArea, PROT_READ | PROT_WRITE);
  ::mprotect(dynamic_, kDynamicArea, PROT_READ | PROT_WRITE);
}

SharedMemory::~SharedMemory() { ::munmap(arena_, kArenaBytes); }

void SharedMemory::BeginLaunch(std::size_t dynamic_bytes, bool spaced) {
  dynamic_bytes_ = dynamic_bytes;
  statics_.BeginLaunch(spaced);
}

const char* SharedMemory::Image(std::size_t bytes) {
  if (image_.bytes.size() < bytes) {
    image_.bytes.resize(SharedVariables::RoundUp(bytes));
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
  const char* image = Image(std::max(statics_.placed(), dynamic_bytes_));
  std::memcpy(static_, image, statics_.placed());
  std::memcpy(dynamic_, image, dynamic_bytes_);
}

char* SharedMemory::Static(unsigned slot, std::size_t bytes) {
  const auto [place, is_new] = statics_.Place(slot, bytes);
  if (!is_new) return place;
  const std::size_t rounded = SharedVariables::RoundUp(bytes);
  std::memcpy(place, Image(rounded), rounded);
  return place;
}

bool SharedMemory::Holds(std::uintptr_t address, std::size_t bytes) {
  const SharedVariables::Variable dynamic{reinterpret_cast<std::uintptr_t>(dynamic_), dynamic_bytes_};
  return dynamic.Holds(address, bytes) || statics_.Hold(address, bytes);
}

std::string SharedMemory::Describe(std::uintptr_t address) const {
  const auto dynamic = reinterpret_cast<std::uintptr_t>(dynamic_);
  const auto offset = [&](std::uintptr_t begin) { return static_cast<std::ptrdiff_t>(address - begin); };
  const SharedVariables::Variable* nearest = statics_.Nearest(address);
  if (address >= dynamic - kGap / 2 || nearest == nullptr)
    return fmt::format("offset {} of {} bytes of dynamic shared memory", offset(dynamic), dynamic_bytes_);
  return fmt::format("offset {} of a shared variable of {} bytes", offset(nearest->begin), nearest->bytes);
}

}  // namespace evo
