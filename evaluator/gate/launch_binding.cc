#include "evaluator/gate/launch_binding.h"

#include <fmt/format.h>

#include <algorithm>

namespace evo {
std::variant<LaunchBinding, Failure> LaunchBinding::Make(Device& device, const Program& program, const Task& task,
                                                         const Case& sizes) {
  auto planned = PlanLaunches(program.rendered, program.parameters, task, sizes);
  if (const auto* failure = std::get_if<PlanFailure>(&planned)) return Failure{Outcome::kResourceLimit, failure->message};
  LaunchBinding binding;
  binding.plan_ = std::move(std::get<LaunchPlan>(planned));
  const auto& kernels = program.compiled.kernels;
  for (const auto& step : binding.plan_.steps) {
    std::size_t kernel = 0;
    if (const auto* launch = std::get_if<PlannedLaunch>(&step)) {
      const auto found =
          std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k.expression == launch->kernel_expression; });
      if (found == kernels.end()) {
        return Failure{Outcome::kLaunchError, fmt::format("kernel {} is not in the compiled image", launch->kernel_expression)};
      }
      kernel = static_cast<std::size_t>(found - kernels.begin());
    }
    binding.kernel_of_step_.push_back(kernel);
  }
  for (const PlannedWorkspace& workspace : binding.plan_.workspaces) {
    const auto bytes = static_cast<std::size_t>(workspace.elements) * ByteSize(workspace.dtype);
    binding.workspaces_.emplace_back(device.memory(), bytes, binding.workspaces_.size() + 1);
    GuardedBuffer& buffer = binding.workspaces_.back();
    if (!buffer.ok()) {
      return Failure{Outcome::kResourceLimit,
                     fmt::format("workspace {} of {} bytes does not fit into the device's memory", workspace.name, bytes)};
    }
    if (DeviceStatus status = buffer.Reset(nullptr); !status.ok()) return ToFailure(status);
  }
  return binding;
}

Sequence LaunchBinding::Bind(const std::function<BufferPlace(const std::string&)>& place_of) const {
  const auto place = [&](const std::string& name) -> BufferPlace {
    for (std::size_t i = 0; i < workspaces_.size(); ++i) {
      if (plan_.workspaces[i].name == name) return {workspaces_[i].address(), workspaces_[i].bytes()};
    }
    return place_of(name);
  };
  Sequence sequence;
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    if (const auto* memset = std::get_if<PlannedMemset>(&plan_.steps[i])) {
      const BufferPlace where = place(memset->buffer);
      sequence.emplace_back(DeviceFill{where.address, where.bytes, static_cast<std::uint8_t>(memset->value)});
      continue;
    }
    const auto& planned = std::get<PlannedLaunch>(plan_.steps[i]);
    DeviceLaunch launch{
        kernel_of_step_[i], planned.grid, planned.block, planned.cluster, planned.shared_bytes, planned.cooperative, {}};
    for (const LaunchArgument& argument : planned.arguments) {
      if (const auto* buffer = std::get_if<BufferUse>(&argument)) {
        launch.arguments.emplace_back(place(buffer->name).address);
      } else if (const auto* map = std::get_if<TensorMapUse>(&argument)) {
        launch.arguments.emplace_back(DeviceTensorMap{place(map->buffer).address, *map});
      } else {
        launch.arguments.emplace_back(std::get<ScalarUse>(argument));
      }
    }
    sequence.emplace_back(std::move(launch));
  }
  return sequence;
}

std::uint64_t LaunchBinding::Threads() const {
  const auto product = [](const std::array<std::uint32_t, 3>& e) { return std::uint64_t{e[0]} * e[1] * e[2]; };
  std::uint64_t threads = 0;
  for (const auto& step : plan_.steps) {
    if (const auto* launch = std::get_if<PlannedLaunch>(&step)) threads += product(launch->grid) * product(launch->block);
  }
  return threads;
}

std::uint64_t LaunchBinding::MostBlocks() const {
  std::uint64_t most = 0;
  for (const auto& step : plan_.steps) {
    const auto* launch = std::get_if<PlannedLaunch>(&step);
    if (launch != nullptr) most = std::max(most, std::uint64_t{launch->grid[0]} * launch->grid[1] * launch->grid[2]);
  }
  return most;
}

std::string LaunchBinding::Describe() const {
  const auto extent = [](const std::array<std::uint32_t, 3>& e) { return fmt::format("{}x{}x{}", e[0], e[1], e[2]); };
  std::string text;
  for (const auto& step : plan_.steps) {
    if (!text.empty()) text += "; ";
    if (const auto* memset = std::get_if<PlannedMemset>(&step)) {
      text += fmt::format("memset {}", memset->buffer);
      continue;
    }
    const auto& launch = std::get<PlannedLaunch>(step);
    text += fmt::format("{} grid {} block {} shared {}", launch.kernel_expression, extent(launch.grid), extent(launch.block),
                        launch.shared_bytes);
    if (launch.cluster[0] > 0) text += " cluster " + extent(launch.cluster);
    if (launch.cooperative) text += " cooperative";
  }
  return text;
}

std::vector<DevicePoison> LaunchBinding::PoisonWith(const Poison& poison) const {
  std::vector<DevicePoison> fills;
  for (std::size_t i = 0; i < workspaces_.size(); ++i) {
    const GuardedBuffer& buffer = workspaces_[i];
    fills.push_back(
        {buffer.address(), buffer.bytes(), PatternOf(poison.workspaces, plan_.workspaces[i].dtype, poison.seed + i + 1)});
  }
  return fills;
}

void LaunchBinding::AppendInspections(std::vector<Inspection>& inspections) const {
  for (const GuardedBuffer& buffer : workspaces_) buffer.AppendInspections(inspections, false);
}

std::string LaunchBinding::Overwritten(std::span<const InspectionResult> seen) const {
  std::vector<Inspection> counted;
  for (std::size_t i = 0; i < workspaces_.size(); ++i) {
    for (std::size_t left = workspaces_[i].AppendInspections(counted, false); left > 0; --left) {
      if (seen.front().different > 0) return plan_.workspaces[i].name;
      seen = seen.subspan(1);
    }
  }
  return {};
}

}  // namespace evo
