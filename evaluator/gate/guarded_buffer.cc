#include "evaluator/gate/guarded_buffer.h"

#include <algorithm>
#include <utility>

#include "core/rng.h"

namespace evo {
namespace {

// Wide enough for a whole block of 1024 threads that each write one float beyond the end; a multiple of every alignment in use.
constexpr std::size_t kGuardBytes = 4096;

}  // namespace

GuardedBuffer::GuardedBuffer(DeviceMemory& memory, std::size_t bytes, std::uint64_t seed)
    : memory_(&memory), base_(memory.Allocate(bytes + 2 * kGuardBytes)), bytes_(bytes), guard_(kGuardBytes) {
  Rng rng(seed);
  for (std::byte& b : guard_) b = static_cast<std::byte>(rng.Next());
  if (base_ != 0) memory.Guard(address(), bytes_);
}

GuardedBuffer::~GuardedBuffer() {
  if (base_ != 0) memory_->Free(base_);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : memory_(other.memory_), base_(std::exchange(other.base_, 0)), bytes_(other.bytes_), guard_(std::move(other.guard_)) {}

Address GuardedBuffer::address() const { return base_ + kGuardBytes; }

DeviceStatus GuardedBuffer::Reset(const std::vector<std::byte>* contents) {
  DeviceStatus status = memory_->Write(base_, guard_);
  if (status.ok() && contents != nullptr) status = memory_->Write(address(), *contents);
  if (status.ok()) status = memory_->Write(address() + bytes_, guard_);
  return status;
}

GuardedBuffer::Contents GuardedBuffer::Read() const {
  Contents contents;
  std::vector<std::byte> all(bytes_ + 2 * kGuardBytes);
  contents.status = memory_->Read(all, base_);
  if (!contents.status.ok()) return contents;
  const auto payload = all.begin() + kGuardBytes;
  const auto end = payload + static_cast<std::ptrdiff_t>(bytes_);
  contents.guards_intact = std::equal(guard_.begin(), guard_.end(), all.begin()) && std::equal(guard_.begin(), guard_.end(), end);
  contents.bytes.assign(payload, end);
  return contents;
}

}  // namespace evo
