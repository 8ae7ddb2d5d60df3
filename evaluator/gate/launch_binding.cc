#include "evaluator/gate/launch_binding.h"

#include <fmt/format.h>

#include <algorithm>

#include "evaluator/device/scalar_bytes.h"

namespace evo {
namespace {

std::size_t Memsets(const LaunchPlan& plan) {
  return static_cast<std::size_t>(std::count_if(plan.steps.begin(), plan.steps.end(),
                                                [](const auto& step) { return std::holds_alternative<PlannedMemset>(step); }));
}

}  // namespace

std::variant<LaunchBinding, Failure> LaunchBinding::Make(Device& device, const Program& program, const Task& task,
                                                         const Case& sizes) {
  auto planned = PlanLaunches(program.rendered, program.parameters, task, sizes);
  if (const auto* failure = std::get_if<PlanFailure>(&planned)) return Failure{Outcome::kResourceLimit, failure->message};
  LaunchBinding binding;
  binding.plan_ = std::move(std::get<LaunchPlan>(planned));
  binding.image_ = program.ImageFor(sizes.sizes);
  if (binding.image_ == nullptr) return program.WhyNoImage(sizes.sizes);
  const auto& kernels = binding.image_->compiled.kernels;
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
  if (auto failure = binding.AddConstants(device, program)) return *failure;
  return binding;
}

// Finds the variables, and puts scalars into memory from which they can be filled.
std::optional<Failure> LaunchBinding::AddConstants(Device& device, const Program& program) {
  for (std::size_t i = 0; i < plan_.constants.size(); ++i) {
    const PlannedConstant& constant = plan_.constants[i];
    filled_.push_back(image_->filled.at(i));
    for (const DeviceRange& place : filled_.back()) {
      if (place.bytes == constant.bytes) continue;
      return Failure{Outcome::kLaunchError,
                     fmt::format("evo:constant {0} = {1}: the variable has {2} bytes, {1} has {3}; both must be the same",
                                 constant.variable, program.rendered.constants[i].argument, place.bytes, constant.bytes)};
    }
    const auto* scalar = std::get_if<ScalarUse>(&constant.source);
    if (scalar == nullptr) continue;
    const auto bytes = ArgumentBytes(*scalar);
    if (!bytes) return Failure{Outcome::kLaunchError, fmt::format("evo:constant {}: the value does not fit", constant.variable)};
    GuardedBuffer& buffer = scalars_.emplace_back(device.memory(), bytes->size(), workspaces_.size() + scalars_.size() + 1,
                                                  GuardedBuffer::Copy::kGuardsAndContents);
    if (!buffer.ok()) return Failure{Outcome::kResourceLimit, "the device has no memory left for a scalar"};
    if (DeviceStatus status = buffer.Reset(&*bytes); !status.ok()) return ToFailure(status);
  }
  return std::nullopt;
}

std::vector<DeviceCopy> LaunchBinding::FillConstants(const PlaceOf& place_of) const {
  std::vector<DeviceCopy> copies;
  auto scalar = scalars_.begin();
  for (std::size_t i = 0; i < plan_.constants.size(); ++i) {
    const auto* buffer = std::get_if<BufferUse>(&plan_.constants[i].source);
    const Address from = buffer != nullptr ? place_of(buffer->name).address : (scalar++)->address();
    for (const DeviceRange& place : filled_[i]) copies.push_back({place.address, from, place.bytes});
  }
  return copies;
}

Sequence LaunchBinding::Bind(const PlaceOf& place_of) const {
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
      } else if (const auto* fields = std::get_if<StructUse>(&argument)) {
        DeviceStruct whole;
        for (const auto& field : fields->fields) {
          if (const auto* one = std::get_if<BufferUse>(&field))
            whole.fields.emplace_back(place(one->name).address);
          else
            whole.fields.emplace_back(std::get<ScalarUse>(field));
        }
        launch.arguments.emplace_back(std::move(whole));
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
  const std::vector<std::size_t> first = FirstLaunches(plan_);
  const bool repeats = first.size() + Memsets(plan_) < plan_.steps.size();
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    const auto& step = plan_.steps[i];
    // Of loops the first iteration.
    if (repeats && std::find(first.begin(), first.end(), i) == first.end()) continue;
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
  if (repeats) text += fmt::format("; {} launches and memsets with those of loops", plan_.steps.size());
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
  for (const GuardedBuffer& buffer : scalars_) buffer.AppendInspections(inspections, true);
}

std::string LaunchBinding::Overwritten(std::span<const InspectionResult> seen) const {
  std::vector<Inspection> counted;
  const auto overwritten = [&](const GuardedBuffer& buffer, bool contents) {
    const std::size_t own = buffer.AppendInspections(counted, contents);
    const auto of_buffer = seen.first(own);
    seen = seen.subspan(own);
    return std::any_of(of_buffer.begin(), of_buffer.end(), [](const InspectionResult& one) { return one.different > 0; });
  };
  for (std::size_t i = 0; i < workspaces_.size(); ++i) {
    if (overwritten(workspaces_[i], false)) return fmt::format("outside its workspace {}", plan_.workspaces[i].name);
  }
  for (const GuardedBuffer& buffer : scalars_) {
    if (overwritten(buffer, true)) return "to the value of a scalar that evo:constant reads";
  }
  return {};
}

}  // namespace evo
