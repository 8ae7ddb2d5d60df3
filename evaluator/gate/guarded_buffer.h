#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

// Device memory with guard bytes on both sides, so that a write outside is seen, and a copy on the device of what must not
// change. Owns both; `memory` must outlive it.
class GuardedBuffer {
 public:
  enum class Copy { kGuards, kGuardsAndContents };

  // The guards hold a pattern made from `seed`. Check ok() before use: there may not have been enough memory. It lies at `place`
  // if that is given: TotalBytes(bytes) of memory that is somebody else's.
  GuardedBuffer(DeviceMemory& memory, std::size_t bytes, std::uint64_t seed, Copy copy = Copy::kGuards, Address place = 0);
  // With its guards.
  static std::size_t TotalBytes(std::size_t bytes);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  bool ok() const { return base_ != 0 && copy_ != 0; }
  Address address() const;
  std::size_t bytes() const { return bytes_; }
  // Of the copied contents. Precondition: made with them.
  Address copied_contents() const;

  // Writes the guards and, if given, the contents; also into the copy.
  DeviceStatus Reset(const std::vector<std::byte>* contents);
  // Guards, and the contents where they were copied, as they were last set.
  DeviceStatus Restore();
  // What must be equal for nothing to have been overwritten: the guards, and on demand the contents. One or two inspections.
  void AppendInspections(std::vector<Inspection>& inspections, bool contents) const;
  // Whether a byte counted from the first guard's start is one of the contents.
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
