#include "evaluator/gate/input_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <future>

#include "core/digest.h"
#include "core/rng.h"
#include "evaluator/gate/input_generator.h"

namespace evo {
namespace {

// All bits set is a NaN in every floating-point dtype.
constexpr std::uint8_t kNanByte = 0xff;
// cudaMalloc aligns to this, and no instruction needs more.
constexpr std::size_t kAlignment = 512;
// A page of the GPU's virtual memory.
constexpr std::size_t kPageBytes = 2 << 20;
constexpr std::int64_t kLargeArgument = 1 << 16;  // elements

bool HasOutput(const Argument& argument) { return argument.role == Role::kOut || argument.role == Role::kInOut; }
bool HasInput(const Argument& argument) { return argument.role == Role::kIn || argument.role == Role::kInOut; }
std::uint8_t PoisonOf(const Argument& argument, std::uint8_t sentinel) {
  return IsFloating(argument.dtype) ? kNanByte : sentinel;
}

DeviceStatus NoMemory(const std::string& name, std::size_t bytes) {
  return {Outcome::kResourceLimit, fmt::format("{} bytes for {} do not fit into the device's memory", bytes, name), false};
}

}  // namespace

DrawnArguments DrawArguments(const Task& task, const Case& sizes, int generator, std::uint64_t seed) {
  const Variables variables = CaseVariables(task, sizes);
  // Each case and generator has a random stream of its own. From one stream they would draw the same numbers, scaled, and an
  // answer to one would answer others.
  const std::uint64_t stream = seed ^ std::stoull(Digest(sizes.name).substr(0, 16), nullptr, 16);
  const auto draw = [&](std::size_t i) {
    const Argument& argument = task.arguments[i];
    const Generator& chosen = argument.generators[static_cast<std::size_t>(generator) % argument.generators.size()];
    const std::int64_t row = argument.shape.back().EvaluateInteger(variables);
    return GenerateInput(chosen, argument.dtype, ElementCount(argument, variables), row, variables,
                         Rng(stream, i + 1, static_cast<std::uint64_t>(generator)).Next());
  };
  // Large arguments are drawn in parallel: a normal number takes 50 ns, so that drawing takes longer than starting a thread.
  std::vector<std::future<std::vector<std::byte>>> drawing(task.arguments.size());
  for (std::size_t i = 0; i < drawing.size(); ++i) {
    if (!HasInput(task.arguments[i])) continue;
    const bool large = ElementCount(task.arguments[i], variables) > kLargeArgument;
    drawing[i] = std::async(large ? std::launch::async | std::launch::deferred : std::launch::deferred, draw, i);
  }
  DrawnArguments drawn(drawing.size());
  for (std::size_t i = 0; i < drawing.size(); ++i) {
    if (drawing[i].valid()) drawn[i] = drawing[i].get();
  }
  return drawn;
}

InputSet::InputSet(Device& device, const Task& task, const Case& sizes)
    : device_(device), task_(task), sizes_(sizes), variables_(CaseVariables(task, sizes)) {}

std::variant<std::unique_ptr<InputSet>, Failure> InputSet::Make(Device& device, const Task& task, const Case& sizes,
                                                                const DrawnArguments& drawn, std::uint64_t seed,
                                                                Program& reference) {
  std::unique_ptr<InputSet> set(new InputSet(device, task, sizes));
  if (DeviceStatus status = set->Place(drawn, seed); !status.ok()) return ToFailure(status);
  if (DeviceStatus status = set->RunReference(reference); !status.ok()) return ToFailure(status);
  return set;
}

std::variant<std::unique_ptr<InputSet>, Failure> InputSet::Copy(std::uint64_t guard_seed) const {
  std::unique_ptr<InputSet> set(new InputSet(device_, task_, sizes_));
  set->original_ = original_;
  if (DeviceStatus status = set->Allocate(guard_seed, true); !status.ok()) return ToFailure(status);
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    const GuardedBuffer& original = bound_[i].buffer;
    Bound& copy = set->bound_[i];
    if (DeviceStatus status = copy.buffer.Reset(nullptr); !status.ok()) return ToFailure(status);
    copy.reference = bound_[i].reference;
    if (!HasInput(*copy.argument)) continue;
    for (const Address to : {copy.buffer.address(), copy.buffer.copied_contents()}) {
      if (DeviceStatus status = device_.memory().Copy({to, original.copied_contents(), original.bytes()}); !status.ok())
        return ToFailure(status);
    }
  }
  return set;
}

// Allocates an empty buffer for each argument that has one, in their order.
DeviceStatus InputSet::Allocate(std::uint64_t guard_seed, bool together) {
  const auto bytes_of = [&](const Argument& argument) {
    return argument.role == Role::kScalar
               ? 0
               : static_cast<std::size_t>(ElementCount(argument, variables_)) * ByteSize(argument.dtype);
  };
  const auto taken = [&](const Argument& argument) {
    return argument.role == Role::kScalar
               ? 0
               : (GuardedBuffer::TotalBytes(bytes_of(argument)) + kAlignment - 1) / kAlignment * kAlignment;
  };
  Address place = 0;
  if (together) {
    std::size_t all = kPageBytes;
    for (const Argument& argument : task_.arguments) all += taken(argument);
    block_ = std::make_unique<Block>(device_.memory(), all);
    if (block_->address == 0) return NoMemory("a copy of the inputs", all);
    place = (block_->address + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
  for (std::size_t i = 0; i < task_.arguments.size(); ++i) {
    const Argument& argument = task_.arguments[i];
    if (argument.role == Role::kScalar) continue;
    const auto copy = HasInput(argument) ? GuardedBuffer::Copy::kGuardsAndContents : GuardedBuffer::Copy::kGuards;
    bound_.push_back({&argument, GuardedBuffer(device_.memory(), bytes_of(argument), guard_seed + i + 1, copy, place), nullptr});
    if (!bound_.back().buffer.ok()) return NoMemory(argument.name, bytes_of(argument));
    if (together) place += taken(argument);
  }
  return {};
}

DeviceStatus InputSet::Place(const DrawnArguments& drawn, std::uint64_t seed) {
  if (DeviceStatus status = Allocate(seed, false); !status.ok()) return status;
  for (Bound& bound : bound_) {
    const std::vector<std::byte>& contents = drawn[static_cast<std::size_t>(bound.argument - task_.arguments.data())];
    if (DeviceStatus status = bound.buffer.Reset(HasInput(*bound.argument) ? &contents : nullptr); !status.ok()) return status;
    if (!HasOutput(*bound.argument)) continue;
    if (DeviceStatus status = MakeReferenceBuffer(bound, contents); !status.ok()) return status;
  }
  return {};
}

// The reference finds an inout argument's values in its output, as doubles; other outputs hold NaN.
DeviceStatus InputSet::MakeReferenceBuffer(Bound& bound, const std::vector<std::byte>& drawn) {
  const std::size_t bytes = bound.buffer.bytes() / ByteSize(bound.argument->dtype) * sizeof(double);
  bound.reference = std::make_shared<GuardedBuffer>(device_.memory(), bytes, 0);
  if (!bound.reference->ok()) return NoMemory(bound.argument->name, bytes);
  if (DeviceStatus status = bound.reference->Reset(nullptr); !status.ok()) return status;
  if (bound.argument->role != Role::kInOut) return device_.memory().Fill({bound.reference->address(), bytes, kNanByte});
  const std::vector<double> values = ToDoubles(drawn, bound.argument->dtype);
  return device_.memory().Write(bound.reference->address(), std::as_bytes(std::span(values)));
}

// The reference writes into buffers whose addresses no candidate gets.
DeviceStatus InputSet::RunReference(Program& reference) {
  auto made = LaunchBinding::Make(device_, reference, task_, sizes_);
  if (const auto* failure = std::get_if<Failure>(&made)) return {failure->outcome, failure->message, failure->sticky};
  const Sequence sequence = std::get<LaunchBinding>(made).Bind([&](const std::string& name) -> BufferPlace {
    for (const Bound& bound : bound_) {
      if (bound.argument->name == name && bound.reference) return {bound.reference->address(), bound.reference->bytes()};
    }
    return PlaceOf(name);
  });
  if (DeviceStatus status = device_.Run(*reference.loaded, sequence, 0); !status.ok()) return status;
  std::vector<Inspection> inspections;
  for (const Bound& bound : bound_) {
    if (bound.reference) bound.reference->AppendInspections(inspections, false);
  }
  const Inspected inspected = device_.Inspect(inspections);
  if (!inspected.status.ok()) return inspected.status;
  for (const InspectionResult& seen : inspected.results) {
    if (seen.different > 0) return {Outcome::kCheating, "the reference writes outside its output", false};
  }
  return {};
}

BufferPlace InputSet::PlaceOf(const std::string& name) const {
  const auto found = std::find_if(bound_.begin(), bound_.end(), [&](const Bound& b) { return b.argument->name == name; });
  if (found == bound_.end()) return {};
  return {found->buffer.address(), found->buffer.bytes()};
}

Preparation InputSet::Prepare(std::uint8_t sentinel) {
  if (overwritten_) {
    for (Bound& bound : bound_) bound.buffer.Restore();
    overwritten_ = false;
  }
  Preparation preparation;
  for (const Bound& bound : bound_) {
    const std::size_t bytes = bound.buffer.bytes();
    if (bound.argument->role == Role::kOut) {
      preparation.poison.push_back({bound.buffer.address(), bytes, PoisonOf(*bound.argument, sentinel)});
    } else if (bound.argument->role == Role::kInOut) {
      preparation.restore.push_back({bound.buffer.address(), bound.buffer.copied_contents(), bytes});
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

std::vector<InputSet::View> InputSet::Views() const {
  std::vector<View> views;
  for (const Bound& bound : bound_) {
    views.push_back({bound.argument,
                     {bound.buffer.address(), bound.buffer.bytes()},
                     bound.reference ? bound.reference->address() : 0,
                     HasInput(*bound.argument) ? bound.buffer.copied_contents() : 0});
  }
  return views;
}

std::vector<OutputCheck> InputSet::Checks() const {
  std::vector<OutputCheck> checks;
  for (const Bound& bound : bound_) {
    if (bound.reference) checks.push_back(CheckFor(*bound.argument, variables_));
  }
  return checks;
}

std::vector<std::vector<double>> InputSet::References() const {
  std::vector<std::vector<double>> references;
  for (const Bound& bound : bound_) {
    if (!bound.reference) continue;
    std::vector<double>& values = references.emplace_back(bound.reference->bytes() / sizeof(double));
    device_.memory().Read(std::as_writable_bytes(std::span(values)), bound.reference->address());
  }
  return references;
}

InputSet::Answer InputSet::Inspect(const LaunchBinding* binding, std::span<const Inspection> state) {
  std::vector<Inspection> inspections;
  for (const Bound& bound : bound_) {
    if (bound.reference) {
      const bool exact = bound.argument->check.kind == OutputCheck::Kind::kExact;
      inspections.push_back({Inspection::Kind::kOutput, bound.buffer.address(), bound.reference->address(), bound.buffer.bytes(),
                             bound.argument->dtype, exact});
      inspections.push_back({Inspection::Kind::kHash, bound.buffer.address(), 0, bound.buffer.bytes(), Dtype::kU8, false});
    }
    bound.buffer.AppendInspections(inspections, bound.argument->role == Role::kIn);
  }
  const std::size_t own = inspections.size();
  if (binding != nullptr) binding->AppendInspections(inspections);
  const std::size_t workspaces = inspections.size() - own;
  inspections.insert(inspections.end(), state.begin(), state.end());
  const Inspected inspected = device_.Inspect(inspections);
  Answer answer;
  answer.status = inspected.status;
  if (!answer.status.ok()) return answer;
  answer.difference.acceptable = true;
  std::size_t next = 0;
  for (const Bound& bound : bound_) {
    const Argument& argument = *bound.argument;
    if (bound.reference) {
      const std::uint64_t elements = bound.buffer.bytes() / ByteSize(argument.dtype);
      const std::size_t output = answer.outputs.size();
      const Allowance allowance = output < allowances_.size() ? allowances_[output] : Allowance{};
      const Difference one = Judge(inspected.results[next++], elements, CheckFor(argument, variables_), allowance, argument.name,
                                   [&](std::uint64_t i) { return ValuesAt(bound, i); });
      answer.outputs.push_back(one);
      answer.difference.ratio = std::max(answer.difference.ratio, one.ratio);
      // std::max would lose an error that is not a number.
      if (!(one.l2 <= answer.difference.l2)) answer.difference.l2 = one.l2;
      if (!(one.max <= answer.difference.max)) answer.difference.max = one.max;
      if (!one.acceptable && answer.difference.acceptable) {
        answer.difference.acceptable = false;
        answer.difference.message = one.message;
      }
      answer.hashes.push_back(inspected.results[next++].hash);
    }
    // An input is inspected as one range from guard to guard, other arguments as two guards.
    const std::size_t guards = argument.role == Role::kIn ? 1 : 2;
    for (std::size_t i = 0; i < guards; ++i) {
      const InspectionResult& seen = inspected.results[next++];
      if (seen.different == 0) continue;
      overwritten_ = true;
      if (!answer.violation.empty()) continue;
      const bool inside = argument.role == Role::kIn && bound.buffer.Contains(seen.first);
      answer.violation = fmt::format("{} {}", inside ? "changed its input" : "wrote outside", argument.name);
    }
  }
  if (binding != nullptr && answer.violation.empty()) {
    const std::string workspace = binding->Overwritten(std::span(inspected.results).subspan(own, workspaces));
    if (!workspace.empty()) answer.violation = fmt::format("wrote outside its workspace {}", workspace);
  }
  for (const InspectionResult& seen : std::span(inspected.results).subspan(own + workspaces)) answer.state.push_back(seen.hash);
  return answer;
}

std::pair<double, double> InputSet::ValuesAt(const Bound& bound, std::uint64_t index) const {
  const std::size_t size = ByteSize(bound.argument->dtype);
  std::vector<std::byte> value(size);
  double wanted = 0;
  device_.memory().Read(value, bound.buffer.address() + index * size);
  device_.memory().Read(std::as_writable_bytes(std::span(&wanted, 1)), bound.reference->address() + index * sizeof(double));
  return {ToDoubles(value, bound.argument->dtype).front(), wanted};
}

}  // namespace evo
