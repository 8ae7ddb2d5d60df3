#include "evaluator/gate/input_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/rng.h"
#include "evaluator/gate/input_generator.h"

namespace evo {
namespace {

// All bits set is a NaN in every floating-point dtype.
constexpr std::uint8_t kNanByte = 0xff;

bool HasOutput(const Argument& argument) { return argument.role == Role::kOut || argument.role == Role::kInOut; }
bool HasInput(const Argument& argument) { return argument.role == Role::kIn || argument.role == Role::kInOut; }
std::uint8_t PoisonOf(const Argument& argument, std::uint8_t sentinel) { return IsFloating(argument.dtype) ? kNanByte : sentinel; }

DeviceStatus NoMemory(const std::string& name, std::size_t bytes) {
  return {Outcome::kResourceLimit, fmt::format("{} bytes for {} do not fit into the device's memory", bytes, name), false};
}

}  // namespace

InputSet::InputSet(Device& device, const Task& task, const Case& sizes)
    : device_(device), task_(task), sizes_(sizes), variables_(CaseVariables(task, sizes)) {}

std::variant<std::unique_ptr<InputSet>, Failure> InputSet::Make(Device& device, const Task& task, const Case& sizes, int generator,
                                                                std::uint64_t seed, Program& reference) {
  std::unique_ptr<InputSet> set(new InputSet(device, task, sizes));
  if (DeviceStatus status = set->Draw(generator, seed); !status.ok()) return ToFailure(status);
  if (DeviceStatus status = set->RunReference(reference); !status.ok()) return ToFailure(status);
  return set;
}

DeviceStatus InputSet::Draw(int generator, std::uint64_t seed) {
  std::uint64_t position = 0;
  for (const Argument& argument : task_.arguments) {
    ++position;
    if (argument.role == Role::kScalar) continue;
    const std::int64_t elements = ElementCount(argument, variables_);
    const std::size_t bytes = static_cast<std::size_t>(elements) * ByteSize(argument.dtype);
    Bound bound{&argument, GuardedBuffer(device_.memory(), bytes, seed + position), {}, nullptr, {}};
    if (!bound.buffer.ok()) return NoMemory(argument.name, bytes);
    if (DeviceStatus status = bound.buffer.Reset(nullptr); !status.ok()) return status;
    if (HasInput(argument)) {
      const Generator& chosen = argument.generators[static_cast<std::size_t>(generator) % argument.generators.size()];
      const std::int64_t row = argument.shape.back().EvaluateInteger(variables_);
      bound.original = GenerateInput(chosen, argument.dtype, elements, row, variables_, Rng(seed, position, 0).Next());
      if (DeviceStatus status = bound.buffer.Reset(&bound.original); !status.ok()) return status;
    }
    if (argument.role == Role::kInOut) {
      bound.pristine = std::make_unique<GuardedBuffer>(device_.memory(), bytes, seed + position);
      if (!bound.pristine->ok()) return NoMemory(argument.name, bytes);
      if (DeviceStatus status = bound.pristine->Reset(&bound.original); !status.ok()) return status;
    }
    bound_.push_back(std::move(bound));
  }
  return {};
}

// What the reference finds in its output: an inout argument's values as doubles, otherwise NaN.
std::vector<std::byte> InputSet::ReferenceStart(const Bound& bound) {
  const std::size_t elements = bound.buffer.bytes() / ByteSize(bound.argument->dtype);
  std::vector<std::byte> start(elements * sizeof(double), std::byte{kNanByte});
  if (bound.argument->role == Role::kInOut) {
    const std::vector<double> values = ToDoubles(bound.original, bound.argument->dtype);
    std::memcpy(start.data(), values.data(), start.size());
  }
  return start;
}

// The reference writes doubles, into buffers that no candidate ever sees.
DeviceStatus InputSet::RunReference(Program& reference) {
  auto made = LaunchBinding::Make(device_, reference, task_, sizes_);
  if (const auto* failure = std::get_if<Failure>(&made)) return {failure->outcome, failure->message, failure->sticky};
  const LaunchBinding& binding = std::get<LaunchBinding>(made);
  std::map<std::string, GuardedBuffer> outputs;
  for (const Bound& bound : bound_) {
    if (!HasOutput(*bound.argument)) continue;
    const std::size_t bytes = bound.buffer.bytes() / ByteSize(bound.argument->dtype) * sizeof(double);
    const auto [place, inserted] = outputs.emplace(bound.argument->name, GuardedBuffer(device_.memory(), bytes, 0));
    if (!place->second.ok()) return NoMemory(bound.argument->name, bytes);
    const std::vector<std::byte> start = ReferenceStart(bound);
    if (DeviceStatus status = place->second.Reset(&start); !status.ok()) return status;
  }
  const Sequence sequence = binding.Bind([&](const std::string& name) -> BufferPlace {
    const auto output = outputs.find(name);
    return output == outputs.end() ? PlaceOf(name) : BufferPlace{output->second.address(), output->second.bytes()};
  });
  if (DeviceStatus status = device_.Run(*reference.loaded, sequence, 0); !status.ok()) return status;
  for (Bound& bound : bound_) {
    if (!HasOutput(*bound.argument)) continue;
    const GuardedBuffer::Contents contents = outputs.at(bound.argument->name).Read();
    if (!contents.status.ok()) return contents.status;
    if (!contents.guards_intact) return {Outcome::kCheating, "the reference writes outside its output", false};
    bound.reference = ToDoubles(contents.bytes, Dtype::kF64);
  }
  return {};
}

BufferPlace InputSet::PlaceOf(const std::string& name) const {
  const auto found = std::find_if(bound_.begin(), bound_.end(), [&](const Bound& b) { return b.argument->name == name; });
  if (found == bound_.end()) return {};
  return {found->buffer.address(), found->buffer.bytes()};
}

DeviceStatus InputSet::Reset(std::uint8_t sentinel) {
  for (Bound& bound : bound_) {
    DeviceStatus status;
    if (bound.argument->role == Role::kOut) {
      status = bound.buffer.Reset(nullptr);
      if (status.ok()) status = device_.memory().Fill({bound.buffer.address(), bound.buffer.bytes(), PoisonOf(*bound.argument, sentinel)});
    } else if (bound.argument->role == Role::kInOut) {
      status = bound.buffer.Reset(&bound.original);
    }
    if (!status.ok()) return status;
  }
  return {};
}

Preparation InputSet::TimedPreparation(std::uint8_t sentinel) const {
  Preparation preparation;
  for (const Bound& bound : bound_) {
    if (bound.argument->role == Role::kOut) {
      preparation.poison.push_back({bound.buffer.address(), bound.buffer.bytes(), PoisonOf(*bound.argument, sentinel)});
    } else if (bound.argument->role == Role::kInOut) {
      preparation.restore.push_back({bound.buffer.address(), bound.pristine->address(), bound.buffer.bytes()});
    }
  }
  return preparation;
}

std::vector<DeviceTouch> InputSet::Touches() const {
  std::vector<DeviceTouch> touches;
  for (const Bound& bound : bound_) {
    if (HasInput(*bound.argument)) touches.push_back({bound.buffer.address(), bound.buffer.bytes()});
  }
  return touches;
}

std::size_t InputSet::Footprint() const {
  std::size_t bytes = 0;
  for (const Bound& bound : bound_) bytes += bound.buffer.bytes();
  return bytes;
}

InputSet::Answer InputSet::Read() const {
  Answer answer;
  for (const Bound& bound : bound_) {
    GuardedBuffer::Contents contents = bound.buffer.Read();
    if (!contents.status.ok()) {
      answer.status = contents.status;
      return answer;
    }
    const std::string& name = bound.argument->name;
    if (!contents.guards_intact && answer.violation.empty()) answer.violation = fmt::format("wrote outside {}", name);
    if (bound.argument->role == Role::kIn && contents.bytes != bound.original && answer.violation.empty()) {
      answer.violation = fmt::format("changed its input {}", name);
    }
    if (HasOutput(*bound.argument)) answer.outputs.push_back(std::move(contents.bytes));
  }
  return answer;
}

Difference InputSet::Judge(const Answer& answer) const {
  Difference worst;
  worst.acceptable = true;
  std::size_t next = 0;
  for (const Bound& bound : bound_) {
    if (!HasOutput(*bound.argument)) continue;
    const Argument& argument = *bound.argument;
    const Difference difference = Compare(ToDoubles(answer.outputs[next++], argument.dtype), bound.reference, argument.check, argument.name);
    // Not "std::max": an error that is not a number must not be lost.
    if (!(difference.l2 <= worst.l2)) worst.l2 = difference.l2;
    if (!(difference.max <= worst.max)) worst.max = difference.max;
    if (!difference.acceptable && worst.acceptable) {
      worst.acceptable = false;
      worst.message = difference.message;
    }
  }
  return worst;
}

}  // namespace evo
