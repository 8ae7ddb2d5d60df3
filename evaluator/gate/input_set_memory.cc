#include <atomic>

#include "core/rng.h"
#include "evaluator/gate/input_generator.h"
#include "evaluator/gate/input_set.h"

// The memory of an InputSet: where its arguments lie, and what is there before any program runs.

namespace evo {
namespace {

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
      bound_(device.memory()),
      number_(NextNumber()),
      poisons_(Rng(seed, number_, 0).Next()) {}

DeviceStatus InputSet::Place(const DrawnArguments& drawn, std::uint64_t seed) {
  if (DeviceStatus status = bound_.Allocate(task_, variables_, seed, device_.memory().layout().unit_bytes > 1); !status.ok())
    return status;
  for (BoundArgument& bound : bound_) {
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
  for (BoundArgument& bound : bound_) {
    if (!bound.argument->IsInput()) continue;
    if (DeviceStatus status = bound.buffer.SetCopy(drawn[IndexOf(bound)]); !status.ok()) return status;
  }
  return ProtectCopies(&drawn);
}

// What the host has need not be read again from the device.
DeviceStatus InputSet::ProtectCopies(const DrawnArguments* drawn) {
  auto copies = std::make_shared<ProtectedMemory>();
  std::vector<InspectionResult> known;
  for (const BoundArgument& bound : bound_) {
    if (!bound.argument->IsInput()) continue;
    copies->Add({Inspection::Kind::kHash, bound.buffer.copied_contents(), 0, bound.buffer.bytes()});
    if (drawn == nullptr) continue;
    const auto contents = reinterpret_cast<Address>((*drawn)[IndexOf(bound)].data());
    known.push_back(InspectHere({Inspection::Kind::kHash, contents, 0, bound.buffer.bytes()}));
  }
  protected_.copies = {copies};
  if (drawn == nullptr) return copies->TakeHashes(device_);
  copies->TakeHashes(known);
  return {};
}

// The reference finds an inout argument's values in its output, as doubles; other outputs hold NaN.
DeviceStatus InputSet::FillReferences() {
  for (const BoundArgument& bound : bound_) {
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
