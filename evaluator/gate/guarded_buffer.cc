#include "evaluator/gate/guarded_buffer.h"

#include <algorithm>
#include <utility>

#include "core/rng.h"

namespace evo {
namespace {

// No instruction needs more.
constexpr std::size_t kAlignment = 512;

std::size_t RoundUp(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::size_t CopyOffset(std::size_t guard_bytes, std::size_t bytes) { return RoundUp(bytes + 2 * guard_bytes, kAlignment); }

}  // namespace

std::size_t GuardedBuffer::TotalBytes(const BufferLayout& layout, std::size_t bytes, Copy copy) {
  const std::size_t guard = layout.guard_bytes;
  const std::size_t first = CopyOffset(guard, bytes);
  return copy == Copy::kGuards ? first : first + RoundUp(bytes + guard, kAlignment);
}

GuardedBuffer::GuardedBuffer(DeviceMemory& memory, std::size_t bytes, std::uint64_t seed, Copy copy, Address place)
    : memory_(&memory), bytes_(bytes), kind_(copy), guard_bytes_(memory.layout().guard_bytes), base_(place) {
  const BufferLayout layout = memory.layout();
  const auto own = [&](std::size_t size) {
    const Address address = memory.Allocate(size);
    if (address != 0) owned_.push_back(address);
    return address;
  };
  if (guard_bytes_ == 0) {
    base_ = own(bytes);
    if (copy == Copy::kGuardsAndContents) copy_ = own(bytes);
    return;
  }
  const std::size_t unit = place == 0 ? layout.unit_bytes : 1;
  const std::size_t total = RoundUp(TotalBytes(layout, bytes, copy), unit);
  if (place == 0) base_ = own(total);
  if (base_ == 0) return;
  Rng rng(seed);
  const auto guard = [&](Address begin, Address end) { guards_.push_back({begin, end - begin, rng.Next()}); };
  guard(base_, address());
  if (copy == Copy::kGuardsAndContents) {
    copy_ = base_ + CopyOffset(guard_bytes_, bytes);
    guard(address() + bytes, copy_);
    guard(copy_ + bytes, base_ + total);
  } else {
    guard(address() + bytes, base_ + total);
  }
  memory.Guard(address(), bytes_);
}

GuardedBuffer::~GuardedBuffer() {
  for (const Address address : owned_) memory_->Free(address);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : memory_(other.memory_),
      bytes_(other.bytes_),
      kind_(other.kind_),
      guard_bytes_(other.guard_bytes_),
      base_(std::exchange(other.base_, 0)),
      copy_(std::exchange(other.copy_, 0)),
      owned_(std::exchange(other.owned_, {})),
      guards_(std::exchange(other.guards_, {})) {}

DeviceStatus GuardedBuffer::WriteGuards() {
  DeviceStatus status;
  for (const Guard& guard : guards_) {
    if (status.ok()) status = memory_->Poison({guard.address, guard.bytes, {guard.seed, true}});
  }
  return status;
}

DeviceStatus GuardedBuffer::Reset(const std::vector<std::byte>* contents) {
  DeviceStatus status = WriteGuards();
  if (contents == nullptr) return status;
  if (status.ok()) status = memory_->Write(address(), *contents);
  // From one place of the device to another: the way there takes a hundred times as long.
  if (status.ok() && kind_ == Copy::kGuardsAndContents) status = memory_->Copy({copy_, address(), bytes_});
  return status;
}

DeviceStatus GuardedBuffer::Restore() {
  DeviceStatus status = WriteGuards();
  if (status.ok() && kind_ == Copy::kGuardsAndContents) status = memory_->Copy({address(), copy_, bytes_});
  return status;
}

std::size_t GuardedBuffer::AppendInspections(std::vector<Inspection>& inspections, bool contents) const {
  for (const Guard& guard : guards_)
    inspections.push_back({Inspection::Kind::kPattern, guard.address, guard.seed, guard.bytes, Dtype::kU8, false});
  if (contents) inspections.push_back({Inspection::Kind::kEqual, address(), copy_, bytes_, Dtype::kU8, true});
  return guards_.size() + (contents ? 1 : 0);
}

DeviceStatus GuardedBuffer::Read(std::vector<std::byte>& contents) const {
  contents.resize(bytes_);
  return memory_->Read(contents, address());
}

}  // namespace evo
