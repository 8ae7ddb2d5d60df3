// One fuzz target as a libFuzzer program: scripts/fuzz builds it with clang and runs it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const evo::FuzzTarget* const target = evo::FindFuzzTarget(EVO_FUZZ_TARGET);
  if (target == nullptr) std::abort();
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
