#include "evaluator/gate/program.h"

#include "core/error.h"

namespace evo {
namespace {

// None where the image does not have the variable: then nothing reads it.
std::vector<DeviceRange> PlacesOf(const Program& program, const std::string& variable) {
  for (const CompiledKernel& compiled : program.compiled.variables) {
    if (compiled.expression == variable) return program.loaded->Places(compiled.symbol);
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
  program.compiled = std::move(compiled);
  LoadResult loaded = device.Load(program.compiled, placements);
  if (!loaded.status.ok()) return ToFailure(loaded.status);
  program.loaded = std::move(loaded.program);
  for (const ConstantDirective& constant : program.rendered.constants)
    program.filled.push_back(PlacesOf(program, constant.variable));
  for (const DeviceRange& range : Without(program.loaded->State(), program.filled))
    program.state.push_back({Inspection::Kind::kHash, range.address, 0, range.bytes});
  if (program.state.empty()) return program;
  const Inspected inspected = device.Inspect(program.state);
  if (!inspected.status.ok()) return ToFailure(inspected.status);
  for (const InspectionResult& seen : inspected.results) program.loaded_state.push_back(seen.hash);
  return program;
}

}  // namespace evo
