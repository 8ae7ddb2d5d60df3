#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "evaluator/device/cpu/shadow.h"

namespace evo {

// A range within one allocation that kernels may touch.
struct MemoryRange {
  std::uintptr_t allocated = 0;  // where the allocation begins
  std::size_t allocated_bytes = 0;
  std::uintptr_t begin = 0;  // where the kernels' part begins
  std::size_t bytes = 0;
  bool constant = false;
  std::unique_ptr<Shadow> shadow;  // of the kernels' part, made when it is first needed

  bool Holds(std::uintptr_t address, std::size_t count) const {
    return address - begin < bytes && count <= bytes - (address - begin);
  }
  // Makes the shadow if there is none. Null if there is no memory for it.
  Shadow* Records();
};

// All memory that kernels may get, with exact bounds, by address. Pointers to ranges stay valid until the range is removed.
class MemoryMap {
 public:
  void Add(std::uintptr_t begin, std::size_t bytes, bool constant = false);
  // Kernels may touch only this part of the allocation that holds it.
  void Guard(std::uintptr_t begin, std::size_t bytes);
  void Remove(std::uintptr_t begin);

  // The range whose allocation holds the address, or else the nearest range; null if there are no ranges.
  MemoryRange* Nearest(std::uintptr_t address);

 private:
  std::map<std::uintptr_t, MemoryRange> ranges_;  // by the allocation's begin
};

}  // namespace evo
