#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

// Device memory with guard bytes on both sides, which show a write outside, and a copy on the device of everything that must not
// change. Owns both; `memory` must outlive it.
class GuardedBuffer {
 public:
  enum class Copy { kGuards, kGuardsAndContents };

  // The guards hold a pattern made from `seed`. Check ok() before use: there may not have been enough memory. With `place`, the
  // buffer lies there, in TotalBytes(bytes) of memory that another object owns.
  GuardedBuffer(DeviceMemory& memory, std::size_t bytes, std::uint64_t seed, Copy copy = Copy::kGuards, Address place = 0);
  // The bytes of a buffer and its guards.
  static std::size_t TotalBytes(std::size_t bytes);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  bool ok() const { return base_ != 0 && copy_ != 0; }
  Address address() const;
  std::size_t bytes() const { return bytes_; }
  // The address of the copied contents. Precondition: made with kGuardsAndContents.
  Address copied_contents() const;

  // Writes the guards and, if given, the contents, here and in the copy.
  DeviceStatus Reset(const std::vector<std::byte>* contents);
  // Writes the guards, and the contents if they were copied, as they were last set.
  DeviceStatus Restore();
  // Adds one or two inspections that find equal bytes unless the guards, or on demand the contents, were overwritten.
  void AppendInspections(std::vector<Inspection>& inspections, bool contents) const;
  // Whether the byte at this offset from the first guard is part of the contents.
  bool Contains(std::uint64_t offset) const;
  // The contents, without the guards.
  DeviceStatus Read(std::vector<std::byte>& contents) const;

 private:
  std::size_t GuardOffset() const;  // of the second guard in the copy

  DeviceMemory* memory_;
  Address base_ = 0;
  bool owns_base_ = true;
  Address copy_ = 0;
  std::size_t bytes_;
  Copy kind_;
  std::vector<std::byte> guard_;
};

}  // namespace evo
