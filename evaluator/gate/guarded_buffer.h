#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

// Device memory with guard bytes on both sides, so that a write outside is seen. Owns the memory; `memory` must outlive it.
class GuardedBuffer {
 public:
  // The guards hold a pattern made from `seed`. Check ok() before use: there may not have been enough memory.
  GuardedBuffer(DeviceMemory& memory, std::size_t bytes, std::uint64_t seed);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  bool ok() const { return base_ != 0; }
  Address address() const;
  std::size_t bytes() const { return bytes_; }

  // Writes the guards and, if given, the contents.
  DeviceStatus Reset(const std::vector<std::byte>* contents);

  struct Contents {
    DeviceStatus status;
    std::vector<std::byte> bytes;      // without the guards
    bool guards_intact = false;
  };
  Contents Read() const;

 private:
  DeviceMemory* memory_;
  Address base_ = 0;
  std::size_t bytes_;
  std::vector<std::byte> guard_;
};

}  // namespace evo
