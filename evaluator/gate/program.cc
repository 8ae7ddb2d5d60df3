#include "evaluator/gate/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/digest.h"
#include "core/error.h"

namespace evo {
namespace {

// None where the image does not have the variable: then nothing reads it.
std::vector<DeviceRange> PlacesOf(const LoadedImage& image, const std::string& variable) {
  for (const CompiledKernel& compiled : image.compiled.variables) {
    if (compiled.expression == variable) return image.loaded->Places(compiled.symbol);
  }
  return {};
}

// The parts of the ranges that no filled variable covers.
std::vector<DeviceRange> Without(std::vector<DeviceRange> ranges, const std::vector<std::vector<DeviceRange>>& filled) {
  for (const auto& places : filled) {
    for (const DeviceRange& place : places) {
      std::vector<DeviceRange> left;
      for (const DeviceRange& range : ranges) {
        const Address end = range.address + range.bytes;
        const Address place_end = place.address + place.bytes;
        if (place_end <= range.address || end <= place.address) {
          left.push_back(range);
          continue;
        }
        if (range.address < place.address) left.push_back({range.address, place.address - range.address});
        if (place_end < end) left.push_back({place_end, end - place_end});
      }
      ranges = std::move(left);
    }
  }
  return ranges;
}

std::optional<Failure> Load(Device& device, const KernelTemplate& rendered, std::size_t placements, LoadedImage& image) {
  LoadResult loaded = device.Load(image.compiled, placements);
  if (!loaded.status.ok()) return ToFailure(loaded.status);
  image.loaded = std::move(loaded.program);
  for (const ConstantDirective& constant : rendered.constants) image.filled.push_back(PlacesOf(image, constant.variable));
  for (const DeviceRange& range : Without(image.loaded->State(), image.filled))
    image.state.push_back({Inspection::Kind::kHash, range.address, 0, range.bytes});
  if (image.state.empty()) return std::nullopt;
  const Inspected inspected = device.Inspect(image.state);
  if (!inspected.status.ok()) return ToFailure(inspected.status);
  for (const InspectionResult& seen : inspected.results) image.loaded_state.push_back(seen.hash);
  return std::nullopt;
}

// The device is as it was, and other images may fit.
bool DoesNotFit(const Failure& failure) {
  return !failure.sticky && (failure.outcome == Outcome::kUnsupported || failure.outcome == Outcome::kResourceLimit);
}

// None where an expression has no value.
std::optional<SizeValues> ValuesOf(const KernelTemplate& rendered, const Sizes& sizes) {
  try {
    return ValuesFor(rendered.size_macros, sizes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Failure ToFailure(const DeviceStatus& status) { return {status.outcome, status.message, status.sticky}; }

std::variant<Program, Failure> LoadProgram(Device& device, const std::string& source, CompiledProgram compiled,
                                           std::size_t placements) {
  Program program;
  try {
    program.rendered = ParseTemplate("candidate", source);
  } catch (const Error& error) {
    return Failure{Outcome::kLaunchError, error.what()};
  }
  // A rendered source carries its parameter values as the defaults of its own #defines.
  program.parameters = program.rendered.space.Defaults();
  std::vector<CompiledProgram> others = std::exchange(compiled.others, {});
  others.insert(others.begin(), std::move(compiled));
  for (CompiledProgram& one : others) {
    LoadedImage image;
    image.compiled = std::move(one);
    auto failure = Load(device, program.rendered, placements, image);
    if (!failure) {
      program.images.push_back(std::move(image));
    } else if (!program.images.empty() && DoesNotFit(*failure)) {
      program.refused.emplace_back(image.compiled.sizes, *std::move(failure));
    } else {
      return *std::move(failure);
    }
  }
  return program;
}

const LoadedImage* Program::ImageFor(const Sizes& sizes) const {
  const auto wanted = ValuesOf(rendered, sizes);
  const auto found =
      std::find_if(images.begin(), images.end(), [&](const LoadedImage& image) { return image.compiled.sizes == wanted; });
  return found == images.end() ? nullptr : &*found;
}

Failure Program::WhyNoImage(const Sizes& sizes) const {
  const auto wanted = ValuesOf(rendered, sizes);
  const auto found = std::find_if(refused.begin(), refused.end(), [&](const auto& one) { return one.first == wanted; });
  if (found != refused.end()) return found->second;
  return {Outcome::kLaunchError, fmt::format("sizes are compiled in, and this was not compiled with {}",
                                             wanted ? ToText(*wanted) : "what follows from these")};
}

std::string ImageDigest(const CompiledProgram& program) {
  if (program.sizes.empty() && program.others.empty()) return Digest(program.image);
  std::string all = ToText(program.sizes) + "\n" + Digest(program.image);
  for (const CompiledProgram& other : program.others) all += fmt::format("\n{}\n{}", ToText(other.sizes), Digest(other.image));
  return Digest(all);
}

}  // namespace evo
