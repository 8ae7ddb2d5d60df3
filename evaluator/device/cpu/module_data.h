#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace evo {

// A part of a loaded shared object's memory.
struct ModuleSegment {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool variable = false;  // still writable after loading: .data and .bss, not what the dynamic linker fills in
};

// Of a library opened with dlopen that was linked with -z relro -z now.
std::vector<ModuleSegment> SegmentsOf(void* library);

}  // namespace evo
