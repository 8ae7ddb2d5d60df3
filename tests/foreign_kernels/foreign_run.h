#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/device/device.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/launch_plan.h"
#include "tests/foreign_kernels/foreign_source.h"

namespace evo {

// The buffers of a foreign kernel and of what a mutator made of it, by name, on a device.
class ForeignBuffers {
 public:
  explicit ForeignBuffers(DeviceMemory& memory) : memory_(memory) {}
  ~ForeignBuffers() {
    for (const auto& [name, place] : places_) memory_.Free(place.address);
  }
  ForeignBuffers(const ForeignBuffers&) = delete;
  ForeignBuffers& operator=(const ForeignBuffers&) = delete;

  Address AddressOf(const std::string& name) const { return places_.at(name).address; }

  void Fill(const std::string& name, std::uint8_t value) {
    const DeviceRange& place = places_.at(name);
    EXPECT_TRUE(memory_.Fill({place.address, place.bytes, value}).ok()) << name;
  }
  void AddFilled(const std::string& name, std::size_t bytes, std::uint8_t value) {
    places_[name] = {memory_.Allocate(bytes), bytes};
    Fill(name, value);
  }
  void Add(const std::string& name, std::span<const std::byte> contents) {
    places_[name] = {memory_.Allocate(contents.size()), contents.size()};
    EXPECT_TRUE(memory_.Write(places_[name].address, contents).ok()) << name;
  }
  std::vector<std::byte> Read(const std::string& name) {
    std::vector<std::byte> contents(places_.at(name).bytes);
    EXPECT_TRUE(memory_.Read(contents, places_.at(name).address).ok()) << name;
    return contents;
  }

 private:
  DeviceMemory& memory_;
  std::map<std::string, DeviceRange> places_;
};

inline DeviceLaunch BindForeign(const PlannedLaunch& planned, const CompileResult& compiled, const ForeignBuffers& buffers) {
  DeviceLaunch launch{0, planned.grid, planned.block, planned.cluster, planned.shared_bytes, planned.cooperative, {}};
  while (compiled.program.kernels.at(launch.kernel).expression != planned.kernel_expression) ++launch.kernel;
  const auto bind = [&](const auto& argument, auto& list) {
    if (const auto* buffer = std::get_if<BufferUse>(&argument))
      list.emplace_back(buffers.AddressOf(buffer->name));
    else
      list.emplace_back(std::get<ScalarUse>(argument));
  };
  for (const LaunchArgument& argument : planned.arguments) {
    if (const auto* passed = std::get_if<StructUse>(&argument)) {
      DeviceStruct fields;
      for (const auto& field : passed->fields) bind(field, fields.fields);
      launch.arguments.emplace_back(fields);
    } else if (const auto* map = std::get_if<TensorMapUse>(&argument)) {
      launch.arguments.emplace_back(DeviceTensorMap{buffers.AddressOf(map->buffer), *map});
    } else {
      bind(argument, launch.arguments);
    }
  }
  return launch;
}

// What the launches of a source leave in the outputs, or why it cannot be run.
struct ForeignResult {
  DeviceStatus status;
  std::vector<double> outputs;
};

// Runs `source`, which was made from the kernel `foreign`.
inline ForeignResult RunForeign(Device& device, const std::string& foreign, const Task& task, const std::string& source,
                                const CompileResult& compiled, std::uint64_t schedule) {
  const LoadResult loaded = device.Load(compiled.program, 1);
  if (!loaded.status.ok()) return {loaded.status, {}};
  const KernelTemplate rendered = ParseTemplate("child", source);
  const auto planned = PlanLaunches(rendered, rendered.space.Defaults(), task, task.small);
  if (const auto* failure = std::get_if<PlanFailure>(&planned)) return {{Outcome::kLaunchError, failure->message}, {}};
  const LaunchPlan& plan = std::get<LaunchPlan>(planned);
  std::mt19937 random(5);
  ForeignBuffers buffers(device.memory());
  const auto described = BuffersOf(foreign);
  const Variables variables = CaseVariables(task, task.small);
  for (std::size_t i = 0; i < described.size(); ++i) {
    const auto elements = static_cast<std::size_t>(ElementCount(task.arguments[i], variables));
    if (described[i].drawn)
      buffers.Add(described[i].name, Drawn(described[i], elements, random));
    else
      buffers.AddFilled(described[i].name, elements * ByteSize(described[i].dtype), 0);
  }
  for (const PlannedWorkspace& workspace : plan.workspaces)
    buffers.AddFilled(workspace.name, static_cast<std::size_t>(workspace.elements) * ByteSize(workspace.dtype), 0xA5);
  // `__constant__` variables that buffers fill.
  for (std::size_t i = 0; i < plan.constants.size(); ++i) {
    const Address from = buffers.AddressOf(std::get<BufferUse>(plan.constants[i].source).name);
    for (const DeviceRange& variable : loaded.program->Places(compiled.program.variables.at(i).symbol))
      EXPECT_TRUE(device.memory().Copy({variable.address, from, variable.bytes}).ok());
  }
  for (const auto& step : plan.steps) {
    if (const auto* fill = std::get_if<PlannedMemset>(&step)) {
      buffers.Fill(fill->buffer, static_cast<std::uint8_t>(fill->value));
      continue;
    }
    const DeviceLaunch launch = BindForeign(std::get<PlannedLaunch>(step), compiled, buffers);
    const DeviceStatus status = device.Run(*loaded.program, {launch}, schedule);
    if (!status.ok()) return {status, {}};
  }
  ForeignResult result;
  for (std::size_t i = 0; i < described.size(); ++i) {
    const ForeignBuffer& buffer = described[i];
    if (!buffer.out) continue;
    std::vector<std::byte> bytes = buffers.Read(buffer.name);
    bytes.resize(static_cast<std::size_t>(CountedElements(task.arguments[i], variables)) * ByteSize(buffer.dtype));
    Append(buffer, bytes, result.outputs);
  }
  return result;
}

// What the launches leave in the outputs; empty, and a failure of the test, if it cannot be run.
inline std::vector<double> ForeignOutputs(Device& device, const std::string& foreign, const Task& task, const std::string& source,
                                          const CompileResult& compiled, std::uint64_t schedule) {
  const ForeignResult result = RunForeign(device, foreign, task, source, compiled, schedule);
  EXPECT_TRUE(result.status.ok()) << result.status.message << "\n" << source;
  return result.outputs;
}

}  // namespace evo
