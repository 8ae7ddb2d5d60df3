#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "core/rng.h"
#include "evaluator/gate/input_generator.h"
#include "evaluator/gate/input_set.h"

// The memory of an InputSet: where its arguments lie, and what is there before any program runs.

namespace evo {
namespace {

// Where units are smaller, sets begin at a multiple of this.
constexpr std::size_t kLeastUnit = 512;

DeviceStatus NoMemory(const std::string& name, std::size_t bytes) {
  return {Outcome::kResourceLimit, fmt::format("{} bytes for {} do not fit into the device's memory", bytes, name), false};
}

// Numbers sets over the life of the process: addresses are used again.
std::uint64_t NextNumber() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

InputSet::InputSet(Device& device, const Task& task, const Case& sizes, std::uint64_t seed)
    : device_(device),
      task_(task),
      sizes_(sizes),
      variables_(CaseVariables(task, sizes)),
      number_(NextNumber()),
      poisons_(Rng(seed, number_, 0).Next()) {}

DeviceStatus InputSet::Block::WriteGuards() const {
  for (const DevicePoison& guard : guards) {
    if (DeviceStatus status = memory.Poison(guard); !status.ok()) return status;
  }
  return {};
}

// Allocates the memory for all arguments of a set. Where they begin.
std::variant<Address, Failure> InputSet::AllocateBlock(std::uint64_t guard_seed, std::size_t arguments) {
  const std::size_t unit = std::max(device_.memory().layout().unit_bytes, kLeastUnit);
  std::size_t all = (arguments + unit - 1) / unit * unit;
  Address begin = 0;
  const auto allocate = [&] {
    block_.reset();
    block_ = std::make_unique<Block>(device_.memory(), all);
    begin = (block_->address + unit - 1) / unit * unit;
  };
  allocate();
  if (begin != block_->address) {
    all += unit;
    allocate();
  }
  if (block_->address == 0) return ToFailure(NoMemory("the inputs", all));
  Rng rng(guard_seed);
  const auto guard = [&](Address from, Address to) {
    if (to > from) block_->guards.push_back({from, to - from, {rng.Next(), true}});
  };
  guard(block_->address, begin);
  guard(begin + arguments, block_->address + all);
  if (DeviceStatus status = block_->WriteGuards(); !status.ok()) return ToFailure(status);
  return begin;
}

// Allocates an empty buffer for each argument that has one, in their order.
DeviceStatus InputSet::Allocate(std::uint64_t guard_seed, bool together) {
  const BufferLayout layout = device_.memory().layout();
  const auto bytes_of = [&](const Argument& argument) {
    return static_cast<std::size_t>(ElementCount(argument, variables_)) * ByteSize(argument.dtype);
  };
  const auto copy_of = [](const Argument& argument) {
    return argument.IsInput() ? GuardedBuffer::Copy::kGuardsAndContents : GuardedBuffer::Copy::kGuards;
  };
  std::vector<const Argument*> buffers;
  std::size_t all = 0;
  for (const Argument& argument : task_.arguments) {
    if (argument.role == Role::kScalar) continue;
    buffers.push_back(&argument);
    all += GuardedBuffer::TotalBytes(layout, bytes_of(argument), copy_of(argument));
  }
  Address place = 0;
  if (together && layout.guard_bytes > 0) {
    const auto begin = AllocateBlock(guard_seed, all);
    if (const auto* failure = std::get_if<Failure>(&begin)) return {failure->outcome, failure->message, failure->sticky};
    place = std::get<Address>(begin);
  }
  for (const Argument* argument : buffers) {
    const std::size_t bytes = bytes_of(*argument);
    const auto copy = copy_of(*argument);
    const std::uint64_t seed = guard_seed + static_cast<std::size_t>(argument - task_.arguments.data()) + 1;
    bound_.push_back({argument, GuardedBuffer(device_.memory(), bytes, seed, copy, place), nullptr});
    if (!bound_.back().buffer.ok()) return NoMemory(argument->name, bytes);
    if (place != 0) place += GuardedBuffer::TotalBytes(layout, bytes, copy);
  }
  return {};
}

DeviceStatus InputSet::Place(const DrawnArguments& drawn, std::uint64_t seed) {
  if (DeviceStatus status = Allocate(seed, device_.memory().layout().unit_bytes > 1); !status.ok()) return status;
  for (Bound& bound : bound_) {
    const std::vector<std::byte>& contents = drawn[IndexOf(bound)];
    if (DeviceStatus status = bound.buffer.Reset(bound.argument->IsInput() ? &contents : nullptr); !status.ok()) return status;
    if (!bound.argument->IsOutput()) continue;
    const std::size_t bytes = bound.buffer.bytes() / ByteSize(bound.argument->dtype) * sizeof(double);
    bound.reference = std::make_shared<GuardedBuffer>(device_.memory(), bytes, seed);
    if (!bound.reference->ok()) return NoMemory(bound.argument->name, bytes);
    if (DeviceStatus status = bound.reference->Reset(nullptr); !status.ok()) return status;
  }
  return ProtectCopies(&drawn);
}

DeviceStatus InputSet::Renew(const DrawnArguments& drawn, std::uint64_t seed) {
  number_ = NextNumber();
  poisons_ = PoisonSequence(Rng(seed, number_, 0).Next());
  allowances_.clear();
  other_answers_.clear();
  protected_.answers = nullptr;
  renewed_ = true;
  for (Bound& bound : bound_) {
    if (!bound.argument->IsInput()) continue;
    if (DeviceStatus status = bound.buffer.SetCopy(drawn[IndexOf(bound)]); !status.ok()) return status;
  }
  return ProtectCopies(&drawn);
}

// What the host has need not be read again from the device.
DeviceStatus InputSet::ProtectCopies(const DrawnArguments* drawn) {
  auto copies = std::make_shared<ProtectedMemory>();
  std::vector<InspectionResult> known;
  for (const Bound& bound : bound_) {
    if (!bound.argument->IsInput()) continue;
    copies->Add({Inspection::Kind::kHash, bound.buffer.copied_contents(), 0, bound.buffer.bytes()});
    if (drawn == nullptr) continue;
    const auto contents = reinterpret_cast<Address>((*drawn)[IndexOf(bound)].data());
    known.push_back(InspectHere({Inspection::Kind::kHash, contents, 0, bound.buffer.bytes()}));
  }
  protected_.copies = {copies};
  if (drawn == nullptr) return copies->Remember(device_);
  copies->Remember(known);
  return {};
}

// The reference finds an inout argument's values in its output, as doubles; other outputs hold NaN.
DeviceStatus InputSet::FillReferences() {
  for (const Bound& bound : bound_) {
    if (!bound.reference) continue;
    DeviceStatus status = device_.memory().Poison({bound.reference->address(), bound.reference->bytes(), {}});
    if (status.ok() && bound.argument->role == Role::kInOut) {
      std::vector<std::byte> drawn(bound.buffer.bytes());
      status = device_.memory().Read(drawn, bound.buffer.copied_contents());
      const std::vector<double> values = ToDoubles(drawn, bound.argument->dtype);
      if (status.ok()) status = device_.memory().Write(bound.reference->address(), std::as_bytes(std::span(values)));
    }
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace evo
