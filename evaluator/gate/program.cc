#include "evaluator/gate/program.h"

#include "core/error.h"

namespace evo {

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
  for (const DeviceRange& range : program.loaded->State())
    program.state.push_back({Inspection::Kind::kHash, range.address, 0, range.bytes});
  if (program.state.empty()) return program;
  const Inspected inspected = device.Inspect(program.state);
  if (!inspected.status.ok()) return ToFailure(inspected.status);
  for (const InspectionResult& seen : inspected.results) program.loaded_state.push_back(seen.hash);
  return program;
}

}  // namespace evo
