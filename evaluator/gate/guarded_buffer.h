#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evaluator/device/device.h"

namespace evo {

// Device memory with guard bytes on both sides, which show a write outside, and on demand a copy of the contents, which shows a
// change of them. Guards fill all memory around it that a kernel could reach, to the end of the device's unit (BufferLayout).
// They are pseudo-random words from a seed that only the host knows, so there is no copy of them that could be changed, too.
// Owns its memory; `memory` must outlive it.
class GuardedBuffer {
 public:
  enum class Copy { kGuards, kGuardsAndContents };

  // Check ok() before use: there may not have been enough memory. With `place`, the buffer lies there, in
  // TotalBytes(memory.layout(), bytes, copy) of memory that another object owns. Precondition for that: the layout has guards.
  GuardedBuffer(DeviceMemory& memory, std::size_t bytes, std::uint64_t seed, Copy copy = Copy::kGuards, Address place = 0);
  // The bytes of a buffer with its copy and guards, where others lie next to it. A multiple of the alignment of all of them.
  static std::size_t TotalBytes(const BufferLayout& layout, std::size_t bytes, Copy copy = Copy::kGuards);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  bool ok() const { return base_ != 0 && (kind_ == Copy::kGuards || copy_ != 0); }
  Address address() const { return base_ + guard_bytes_; }
  std::size_t bytes() const { return bytes_; }
  // The address of the copied contents. Precondition: made with kGuardsAndContents.
  Address copied_contents() const { return copy_; }

  // Writes the guards and, if given, the contents, here and in the copy.
  DeviceStatus Reset(const std::vector<std::byte>* contents);
  // Writes the guards, and the contents if they were copied, as they were last set.
  DeviceStatus Restore();
  // Sets the copied contents alone: the buffer itself gets them by a copy from there. Precondition: made with kGuardsAndContents.
  DeviceStatus SetCopy(const std::vector<std::byte>& contents) { return memory_->Write(copy_, contents); }
  // Adds inspections of the guards (kPattern), then on demand one of the contents (kEqual, precondition: they were copied). Each
  // finds no difference unless they were overwritten. Their number.
  std::size_t AppendInspections(std::vector<Inspection>& inspections, bool contents) const;
  // The contents, without the guards.
  DeviceStatus Read(std::vector<std::byte>& contents) const;

 private:
  struct Guard {
    Address address;
    std::size_t bytes;
    std::uint64_t seed;
  };
  DeviceStatus WriteGuards();

  DeviceMemory* memory_;
  std::size_t bytes_;
  Copy kind_;
  std::size_t guard_bytes_;
  Address base_ = 0;
  Address copy_ = 0;
  std::vector<Address> owned_;
  std::vector<Guard> guards_;
};

}  // namespace evo
