#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evo {

// A part of a loaded shared object's memory.
struct ModuleSegment {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool variable = false;  // still writable after loading: .data and .bss without what the dynamic linker fills in
};

// The parts of a library that dlopen opened and that was linked with -z relro -z now.
std::vector<ModuleSegment> SegmentsOf(void* library);

}  // namespace evo
