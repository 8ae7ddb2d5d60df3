#include "evaluator/session/bare_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/rng.h"
#include "evaluator/gate/input_generator.h"

namespace evo {
namespace {

constexpr std::int64_t kDrawnElements = 1 << 20;
constexpr std::uint8_t kPoison = 0xff;  // a NaN in every floating-point dtype

bool DrawnOneByOne(const Generator& generator) {
  using Kind = Generator::Kind;
  return generator.kind == Kind::kNormal || generator.kind == Kind::kUniform || generator.kind == Kind::kConstant ||
         generator.kind == Kind::kSparse || generator.kind == Kind::kIndex;
}

std::size_t BytesOf(const Argument& argument, const Variables& variables) {
  return static_cast<std::size_t>(ElementCount(argument, variables)) * ByteSize(argument.dtype);
}

std::vector<std::byte> Draw(const Argument& argument, const Variables& variables, std::uint64_t seed) {
  const Generator& generator = argument.generators.front();
  const std::int64_t elements = ElementCount(argument, variables);
  const std::int64_t drawn = DrawnOneByOne(generator) ? std::min(elements, kDrawnElements) : elements;
  const std::int64_t row = argument.shape.back().EvaluateInteger(variables);
  std::vector<std::byte> contents = GenerateInput(generator, argument.dtype, drawn, row, variables, seed);
  const std::size_t period = contents.size();
  contents.resize(BytesOf(argument, variables));
  for (std::size_t at = period; at < contents.size(); at += period)
    std::memcpy(contents.data() + at, contents.data(), std::min(period, contents.size() - at));
  return contents;
}

}  // namespace

std::size_t BareInputs::Bytes(const Task& task, const Case& sizes) {
  const Variables variables = CaseVariables(task, sizes);
  std::size_t bytes = 0;
  for (const Argument& argument : task.arguments) {
    if (argument.role != Role::kScalar) bytes += BytesOf(argument, variables);
  }
  return bytes;
}

std::variant<std::unique_ptr<BareInputs>, Failure> BareInputs::Make(Device& device, const Task& task, const Case& sizes,
                                                                    std::uint64_t seed) {
  const Variables variables = CaseVariables(task, sizes);
  std::unique_ptr<BareInputs> inputs(new BareInputs(device.memory()));
  for (const Argument& argument : task.arguments) {
    if (argument.role == Role::kScalar) continue;
    const std::size_t bytes = BytesOf(argument, variables);
    const Address address = device.memory().Allocate(bytes);
    if (address == 0)
      return Failure{Outcome::kResourceLimit, fmt::format("{} bytes for {} do not fit into the memory", bytes, argument.name)};
    Buffer& buffer = inputs->buffers_.emplace_back(Buffer{argument.name, {address, bytes}, {}});
    // No reference runs here: what it would derive is zero, which is legal for indices, too.
    if (!argument.derived.empty()) buffer.contents.resize(bytes);
    if (!argument.generators.empty()) buffer.contents = Draw(argument, variables, Rng(seed, inputs->buffers_.size(), 0).Next());
  }
  return inputs;
}

BareInputs::~BareInputs() {
  for (const Buffer& buffer : buffers_) memory_.Free(buffer.place.address);
}

BufferPlace BareInputs::PlaceOf(const std::string& name) const {
  const auto found = std::find_if(buffers_.begin(), buffers_.end(), [&](const Buffer& buffer) { return buffer.name == name; });
  return found == buffers_.end() ? BufferPlace{} : found->place;
}

DeviceStatus BareInputs::Reset() {
  for (const Buffer& buffer : buffers_) {
    DeviceStatus status = buffer.contents.empty() ? memory_.Fill({buffer.place.address, buffer.place.bytes, kPoison})
                                                  : memory_.Write(buffer.place.address, buffer.contents);
    if (!status.ok()) return status;
  }
  return {};
}

std::optional<Failure> RunBare(Device& device, Program& program, const Task& task, const Case& sizes, std::uint64_t seed) {
  auto made = BareInputs::Make(device, task, sizes, seed);
  if (const auto* failure = std::get_if<Failure>(&made)) return *failure;
  BareInputs& inputs = *std::get<std::unique_ptr<BareInputs>>(made);
  auto bound = LaunchBinding::Make(device, program, task, sizes);
  if (const auto* failure = std::get_if<Failure>(&bound)) return *failure;
  const LaunchBinding& binding = std::get<LaunchBinding>(bound);
  if (DeviceStatus status = inputs.Reset(); !status.ok()) return ToFailure(status);
  Preparation preparation;
  preparation.poison = binding.PoisonWith({});
  const auto place_of = [&](const std::string& name) { return inputs.PlaceOf(name); };
  preparation.restore = binding.FillConstants(place_of);
  if (DeviceStatus status = device.Prepare(preparation); !status.ok()) return ToFailure(status);
  const Sequence sequence = binding.Bind(place_of);
  if (DeviceStatus status = device.Run(*binding.image().loaded, sequence, 0); !status.ok()) return ToFailure(status);
  return std::nullopt;
}

}  // namespace evo
