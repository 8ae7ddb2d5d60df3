#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "evaluator/device/cpu/shadow.h"

namespace evo {

// A range that kernels may touch, within one allocation.
struct MemoryRange {
  std::uintptr_t allocated = 0;  // where the allocation begins
  std::size_t allocated_bytes = 0;
  std::uintptr_t begin = 0;  // where the kernels' part begins
  std::size_t bytes = 0;
  bool constant = false;
  std::unique_ptr<Shadow> shadow;  // of the kernels' part, from the first time on that it is needed

  bool Holds(std::uintptr_t address, std::size_t count) const {
    return address - begin < bytes && count <= bytes - (address - begin);
  }
  // Makes it if there is none. Null if there is no memory for it.
  Shadow* Records();
};

// All memory that a kernel may be given: exact bounds by address. Ranges stay where they are until they are removed.
class MemoryMap {
 public:
  void Add(std::uintptr_t begin, std::size_t bytes, bool constant = false);
  // Kernels may touch only this part of the allocation that holds it.
  void Guard(std::uintptr_t begin, std::size_t bytes);
  void Remove(std::uintptr_t begin);

  // The range whose allocation holds the address, or else the nearest one; null if there is none at all.
  MemoryRange* Nearest(std::uintptr_t address);

 private:
  std::map<std::uintptr_t, MemoryRange> ranges_;  // by where the allocation begins
};

}  // namespace evo
