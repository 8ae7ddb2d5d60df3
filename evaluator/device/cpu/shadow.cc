#include "evaluator/device/cpu/shadow.h"

#include <sys/mman.h>

namespace evo {
namespace {

std::size_t CellBytes(std::size_t bytes) { return (bytes + 4) * sizeof(ShadowCell); }
std::size_t GrainBytes(std::size_t bytes) { return bytes / 4 + 1; }

// Zero pages take no memory until they are written.
void* Map(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

Shadow::Shadow(std::uintptr_t begin, std::size_t bytes)
    : begin_(begin),
      bytes_(bytes),
      cells_(static_cast<ShadowCell*>(Map(CellBytes(bytes)))),
      grain_(static_cast<unsigned char*>(Map(GrainBytes(bytes)))) {}

Shadow::~Shadow() {
  if (cells_ != nullptr) ::munmap(cells_, CellBytes(bytes_));
  if (grain_ != nullptr) ::munmap(grain_, GrainBytes(bytes_));
}

}  // namespace evo
