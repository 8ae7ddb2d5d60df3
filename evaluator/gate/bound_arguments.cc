#include "evaluator/gate/bound_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/rng.h"

namespace evo {
namespace {

// Where units are smaller, sets begin at a multiple of this.
constexpr std::size_t kLeastUnit = 512;

}  // namespace

DeviceStatus NoMemory(const std::string& name, std::size_t bytes) {
  return {Outcome::kResourceLimit, fmt::format("{} bytes for {} do not fit into the device's memory", bytes, name), false};
}

DeviceStatus BoundArguments::Block::WriteGuards() const {
  for (const DevicePoison& guard : guards) {
    if (DeviceStatus status = memory.Poison(guard); !status.ok()) return status;
  }
  return {};
}

// Allocates the memory for all arguments of a set. Where they begin.
std::variant<Address, DeviceStatus> BoundArguments::AllocateBlock(std::uint64_t guard_seed, std::size_t arguments) {
  const std::size_t unit = std::max(memory_.layout().unit_bytes, kLeastUnit);
  std::size_t all = (arguments + unit - 1) / unit * unit;
  Address begin = 0;
  const auto allocate = [&] {
    block_.reset();
    block_ = std::make_unique<Block>(memory_, all);
    begin = (block_->address + unit - 1) / unit * unit;
  };
  allocate();
  if (begin != block_->address) {
    all += unit;
    allocate();
  }
  if (block_->address == 0) return NoMemory("the inputs", all);
  Rng rng(guard_seed);
  const auto guard = [&](Address from, Address to) {
    if (to > from) block_->guards.push_back({from, to - from, {rng.Next(), true}});
  };
  guard(block_->address, begin);
  guard(begin + arguments, block_->address + all);
  if (DeviceStatus status = block_->WriteGuards(); !status.ok()) return status;
  return begin;
}

DeviceStatus BoundArguments::Allocate(const Task& task, const Variables& variables, std::uint64_t guard_seed, bool together) {
  const BufferLayout layout = memory_.layout();
  const auto bytes_of = [&](const Argument& argument) {
    return static_cast<std::size_t>(ElementCount(argument, variables)) * ByteSize(argument.dtype);
  };
  const auto copy_of = [](const Argument& argument) {
    return argument.IsInput() ? GuardedBuffer::Copy::kGuardsAndContents : GuardedBuffer::Copy::kGuards;
  };
  std::vector<const Argument*> buffers;
  std::size_t all = 0;
  for (const Argument& argument : task.arguments) {
    if (argument.role == Role::kScalar) continue;
    buffers.push_back(&argument);
    all += GuardedBuffer::TotalBytes(layout, bytes_of(argument), copy_of(argument));
  }
  Address place = 0;
  if (together && layout.guard_bytes > 0) {
    const auto begin = AllocateBlock(guard_seed, all);
    if (const auto* status = std::get_if<DeviceStatus>(&begin)) return *status;
    place = std::get<Address>(begin);
  }
  for (const Argument* argument : buffers) {
    const std::size_t bytes = bytes_of(*argument);
    const auto copy = copy_of(*argument);
    const std::uint64_t seed = guard_seed + static_cast<std::size_t>(argument - task.arguments.data()) + 1;
    bound_.push_back({argument, GuardedBuffer(memory_, bytes, seed, copy, place), nullptr});
    if (!bound_.back().buffer.ok()) return NoMemory(argument->name, bytes);
    if (place != 0) place += GuardedBuffer::TotalBytes(layout, bytes, copy);
  }
  return {};
}

std::size_t BoundArguments::AppendInspections(std::vector<Inspection>& inspections) const {
  const std::size_t before = inspections.size();
  for (const BoundArgument& bound : bound_) bound.buffer.AppendInspections(inspections, bound.argument->role == Role::kIn);
  if (block_) {
    for (const DevicePoison& guard : block_->guards)
      inspections.push_back({Inspection::Kind::kPattern, guard.address, guard.pattern.word, guard.bytes, Dtype::kU8, false});
  }
  return inspections.size() - before;
}

std::string BoundArguments::WhatChanged(const Inspection& inspection, const InspectionResult& seen) {
  if (seen.different == 0) return "";
  overwritten_ = true;
  if (inspection.kind == Inspection::Kind::kEqual) {
    const auto changed = std::find_if(bound_.begin(), bound_.end(),
                                      [&](const BoundArgument& bound) { return bound.buffer.address() == inspection.address; });
    return fmt::format("changed its input {}", changed->argument->name);
  }
  // The nearest argument is the likely one.
  const Address at = inspection.address + seen.first;
  const auto distance = [&](const BoundArgument& bound) {
    const Address begin = bound.buffer.address();
    return at < begin ? begin - at : at - std::min(at, begin + bound.buffer.bytes());
  };
  const auto nearest = std::min_element(
      bound_.begin(), bound_.end(), [&](const BoundArgument& a, const BoundArgument& b) { return distance(a) < distance(b); });
  return fmt::format("wrote outside {}", nearest->argument->name);
}

void BoundArguments::Restore() {
  if (!overwritten_) return;
  for (BoundArgument& bound : bound_) bound.buffer.Restore();
  if (block_) block_->WriteGuards();
  overwritten_ = false;
}

}  // namespace evo
