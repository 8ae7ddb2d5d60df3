#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "evaluator/gate/guarded_buffer.h"
#include "evaluator/gate/input_generator.h"
#include "evaluator/reference/reference.h"

namespace evo {
namespace {

// Launches the program over buffers that `place_of` finds for each argument.
template <typename PlaceOf>
std::optional<Failure> Launch(Device& device, Program& program, const Task& task, const Case& sizes,
                              const std::vector<Reference::Place>& places, PlaceOf place_of) {
  auto made = LaunchBinding::Make(device, program, task, sizes);
  if (auto* failure = std::get_if<Failure>(&made)) {
    failure->of_reference = program.ImageFor(sizes.sizes) == nullptr;
    return *failure;
  }
  const auto find = [&](const std::string& name) -> BufferPlace {
    const auto found = std::find_if(places.begin(), places.end(), [&](const auto& one) { return one.argument->name == name; });
    return found == places.end() ? BufferPlace{} : place_of(*found);
  };
  const LaunchBinding& binding = std::get<LaunchBinding>(made);
  for (const DeviceCopy& copy : binding.FillConstants(find)) {
    if (DeviceStatus status = device.memory().Copy(copy); !status.ok()) return ToFailure(status);
  }
  const Sequence sequence = binding.Bind(find);
  if (DeviceStatus status = device.Run(*binding.image().loaded, sequence, 0); !status.ok()) return ToFailure(status);
  return std::nullopt;
}

// What outputs hold before the two runs of a baseline. The second kind shows what the first run has not written.
constexpr std::uint8_t kBefore = 0xff;
constexpr std::uint8_t kBeforeSecond = 0x5a;

// An output of the baseline, before it becomes doubles.
struct Output {
  const Reference::Place* place;
  GuardedBuffer buffer;
  std::vector<std::byte> written;

  std::size_t element_bytes() const { return ByteSize(place->argument->dtype); }
  // Whether element `i` of these bytes is as it was before.
  bool IsUntouched(const std::vector<std::byte>& bytes, std::size_t i, std::uint8_t before) const {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(i * element_bytes());
    return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(element_bytes()),
                       [&](std::byte b) { return b == std::byte{before}; });
  }
};

DeviceStatus Fill(Device& device, const Output& output, std::uint8_t before) {
  const GuardedBuffer& buffer = output.buffer;
  const BufferPlace& drawn = output.place->contents;
  if (drawn.bytes > 0) return device.memory().Copy({buffer.address(), drawn.address, buffer.bytes()});
  return device.memory().Fill({buffer.address(), buffer.bytes(), before});
}

// An element that neither run has written. A value that happens to be what was there before differs in the other run.
std::optional<Failure> FindUnwritten(const Output& output, const std::vector<std::byte>& second) {
  if (output.place->contents.bytes > 0) return std::nullopt;
  for (std::size_t i = 0; i < second.size() / output.element_bytes(); ++i) {
    if (!output.IsUntouched(output.written, i, kBefore) || !output.IsUntouched(second, i, kBeforeSecond)) continue;
    return Failure{Outcome::kUnsupported,
                   fmt::format("the baseline does not write element {} of {}", i, output.place->argument->name), false, true};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Failure> KernelReference::Compute(Device& device, const Task& task, const Case& sizes,
                                                const std::vector<Place>& places) {
  return Launch(device, program_, task, sizes, places,
                [](const Place& place) { return place.answer.bytes > 0 ? place.answer : place.contents; });
}

std::optional<Failure> BaselineReference::Compute(Device& device, const Task& task, const Case& sizes,
                                                  const std::vector<Place>& places) {
  std::vector<Output> outputs;
  for (const Place& place : places) {
    if (place.answer.bytes == 0) continue;
    const std::size_t bytes = place.answer.bytes / sizeof(double) * ByteSize(place.argument->dtype);
    outputs.push_back({&place, GuardedBuffer(device.memory(), bytes, outputs.size() + 1), {}});
    const GuardedBuffer& buffer = outputs.back().buffer;
    if (!buffer.ok())
      return Failure{Outcome::kResourceLimit, place.argument->name + " of the baseline does not fit into the device's memory"};
  }
  const auto run = [&](std::uint8_t before) -> std::optional<Failure> {
    for (const Output& output : outputs) {
      if (DeviceStatus status = Fill(device, output, before); !status.ok()) return ToFailure(status);
    }
    return Launch(device, program_, task, sizes, places, [&](const Place& place) -> BufferPlace {
      const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const Output& one) { return one.place == &place; });
      return found == outputs.end() ? place.contents : BufferPlace{found->buffer.address(), found->buffer.bytes()};
    });
  };
  const auto read = [&](const Output& output, std::vector<std::byte>& into) {
    into.resize(output.buffer.bytes());
    return device.memory().Read(into, output.buffer.address());
  };
  if (auto failure = run(kBefore)) return failure;
  for (Output& output : outputs) {
    if (DeviceStatus status = read(output, output.written); !status.ok()) return ToFailure(status);
  }
  if (auto failure = run(kBeforeSecond)) return failure;
  for (const Output& output : outputs) {
    std::vector<std::byte> second;
    if (DeviceStatus status = read(output, second); !status.ok()) return ToFailure(status);
    if (auto failure = FindUnwritten(output, second)) return failure;
    const std::vector<double> values = ToDoubles(output.written, output.place->argument->dtype);
    const DeviceStatus status = device.memory().Write(output.place->answer.address, std::as_bytes(std::span(values)));
    if (!status.ok()) return ToFailure(status);
  }
  return std::nullopt;
}

}  // namespace evo
