#include "evaluator/gate/guarded_buffer.h"

#include <utility>

#include "core/rng.h"

namespace evo {
namespace {

// A guard is wide enough for a whole block of 1024 threads that each write one float beyond the end, and a multiple of every
// alignment in use.
constexpr std::size_t kGuardBytes = 4096;

}  // namespace

GuardedBuffer::GuardedBuffer(DeviceMemory& memory, std::size_t bytes, std::uint64_t seed, Copy copy, Address place)
    : memory_(&memory),
      base_(place != 0 ? place : memory.Allocate(TotalBytes(bytes))),
      owns_base_(place == 0),
      bytes_(bytes),
      kind_(copy),
      guard_(kGuardBytes) {
  if (base_ != 0) copy_ = memory.Allocate(GuardOffset() + kGuardBytes);
  Rng rng(seed);
  for (std::byte& b : guard_) b = static_cast<std::byte>(rng.Next());
  if (base_ != 0) memory.Guard(address(), bytes_);
  if (copy_ != 0) memory.Guard(copy_, 0);
}

GuardedBuffer::~GuardedBuffer() {
  if (base_ != 0 && owns_base_) memory_->Free(base_);
  if (copy_ != 0) memory_->Free(copy_);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : memory_(other.memory_),
      base_(std::exchange(other.base_, 0)),
      owns_base_(other.owns_base_),
      copy_(std::exchange(other.copy_, 0)),
      bytes_(other.bytes_),
      kind_(other.kind_),
      guard_(std::move(other.guard_)) {}

std::size_t GuardedBuffer::TotalBytes(std::size_t bytes) { return bytes + 2 * kGuardBytes; }

Address GuardedBuffer::address() const { return base_ + kGuardBytes; }
Address GuardedBuffer::copied_contents() const { return copy_ + kGuardBytes; }
std::size_t GuardedBuffer::GuardOffset() const { return kGuardBytes + (kind_ == Copy::kGuardsAndContents ? bytes_ : 0); }

DeviceStatus GuardedBuffer::Reset(const std::vector<std::byte>* contents) {
  DeviceStatus status = memory_->Write(copy_, guard_);
  if (status.ok()) status = memory_->Write(copy_ + GuardOffset(), guard_);
  if (status.ok() && contents != nullptr) status = memory_->Write(address(), *contents);
  if (status.ok() && contents != nullptr && kind_ == Copy::kGuardsAndContents)
    status = memory_->Write(copied_contents(), *contents);
  if (status.ok()) status = memory_->Write(base_, guard_);
  if (status.ok()) status = memory_->Write(address() + bytes_, guard_);
  return status;
}

DeviceStatus GuardedBuffer::Restore() {
  if (kind_ == Copy::kGuardsAndContents) return memory_->Copy({base_, copy_, TotalBytes(bytes_)});
  DeviceStatus status = memory_->Copy({base_, copy_, kGuardBytes});
  if (status.ok()) status = memory_->Copy({address() + bytes_, copy_ + GuardOffset(), kGuardBytes});
  return status;
}

void GuardedBuffer::AppendInspections(std::vector<Inspection>& inspections, bool contents) const {
  const auto equal = [&](Address address, Address other, std::size_t bytes) {
    inspections.push_back({Inspection::Kind::kEqual, address, other, bytes, Dtype::kU8, true});
  };
  if (contents && kind_ == Copy::kGuardsAndContents) return equal(base_, copy_, TotalBytes(bytes_));
  equal(base_, copy_, kGuardBytes);
  equal(address() + bytes_, copy_ + GuardOffset(), kGuardBytes);
}

bool GuardedBuffer::Contains(std::uint64_t offset) const { return offset >= kGuardBytes && offset - kGuardBytes < bytes_; }

DeviceStatus GuardedBuffer::Read(std::vector<std::byte>& contents) const {
  contents.resize(bytes_);
  return memory_->Read(contents, address());
}

}  // namespace evo
