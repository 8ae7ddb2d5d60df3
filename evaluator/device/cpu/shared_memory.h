#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "evaluator/device/cpu/shadow.h"
#include "evaluator/device/cpu/shared_variables.h"
#include "evaluator/device/pattern.h"

namespace evo {

// The shared memory of the running block: its static variables and the dynamic part.
class SharedMemory {
 public:
  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // `spaced` keeps static variables apart, so that an index beyond one variable does not hit the next.
  void BeginLaunch(std::size_t dynamic_bytes, bool spaced);
  // Overwrites everything that an earlier launch may have used. From here on blocks begin with this pattern.
  void Scrub(const DevicePattern& pattern);
  // Overwrites what the block has declared so far.
  void Poison();

  char* dynamic() { return dynamic_; }
  // Null when the block's static variables take more than a block may have; Declared() is how much.
  char* Static(unsigned slot, std::size_t bytes);
  // Static bytes asked for so far, each variable rounded up to its alignment.
  std::size_t Declared() const { return statics_.declared(); }
  // The part of it that the block has got.
  std::size_t Granted() const { return statics_.granted(); }

  bool Near(std::uintptr_t address) const { return address - reinterpret_cast<std::uintptr_t>(arena_) < kArenaBytes; }
  // Within the dynamic part or within one static variable.
  bool Holds(std::uintptr_t address, std::size_t bytes);
  // "offset 516 of a static array of 512 bytes": relative to the nearest part below the address, or to the first part.
  std::string Describe(std::uintptr_t address) const;
  Shadow& Records() { return records_; }

 private:
  // At least this many bytes of the pattern.
  const char* Image(std::size_t bytes);

  // A stretch of the pattern, from which it is copied: every kind of it then takes equally long to write while a kernel is timed.
  struct PatternImage {
    DevicePattern pattern;
    std::vector<char> bytes;
  };
  static constexpr std::size_t kStaticArea = 512 * 1024;  // with the gaps
  static constexpr std::size_t kGap = 64 * 1024;
  // It begins at a multiple of this: descriptors of wgmma have the lower 18 bits of an address, to which a kernel may add.
  static constexpr std::size_t kDynamicArea = 256 * 1024;
  static constexpr std::size_t kArenaBytes = kGap + kStaticArea + kGap + 2 * kDynamicArea + kGap;

  char* arena_;
  char* static_;
  char* dynamic_;
  Shadow records_;
  PatternImage image_;
  std::size_t dynamic_bytes_ = 0;
  SharedVariables statics_;
};

}  // namespace evo
