#include "kernel_templates/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "core/error.h"

namespace evo {
namespace {

constexpr std::int64_t kMostBlocksX = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostBlocksYZ = 65535;
constexpr std::int64_t kMostThreads = 1024;  // of a block; also of its x and its y
constexpr std::int64_t kMostThreadsZ = 64;
// A cluster of more than eight blocks needs an attribute of the kernel, and no device takes more than sixteen.
constexpr std::int64_t kMostBlocksOfACluster = 16;

class Planner {
 public:
  Planner(const KernelTemplate& rendered, const Parameters& parameters, const Task& task, const Case& sizes)
      : rendered_(rendered), task_(task), variables_(CaseVariables(task, sizes)) {
    for (const auto& [name, value] : parameters) {
      CheckNew(name, "parameter");
      variables_[name] = Number::Integer(value);
    }
  }

  LaunchPlan Plan() {
    LaunchPlan plan;
    for (const Workspace& workspace : rendered_.workspaces) {
      CheckNew(workspace.name, "workspace");
      plan.workspaces.push_back(PlanWorkspace(workspace));
    }
    bool launches = false;
    for (const Step& step : rendered_.steps) {
      place_ = step.launch ? fmt::format("line {}, {}: ", step.launch->line, step.launch->kernel)
                           : fmt::format("line {}: ", step.memset->line);
      if (step.memset) {
        plan.steps.emplace_back(PlanMemset(*step.memset));
      } else if (!step.launch->when || IsTrue(step.launch->when->Evaluate(variables_))) {
        plan.steps.emplace_back(PlanLaunch(*step.launch));
        launches = true;
      }
    }
    place_.clear();
    if (!launches) throw Error("nothing is launched: when(..) is zero on every launch line");
    return plan;
  }

  // The place in the template that a failure message begins with.
  const std::string& place() const { return place_; }

 private:
  static bool IsTrue(const Number& value) { return value.AsReal() != 0; }

  const Argument* FindArgument(std::string_view name) const {
    const auto found =
        std::find_if(task_.arguments.begin(), task_.arguments.end(), [&](const Argument& a) { return a.name == name; });
    return found == task_.arguments.end() ? nullptr : &*found;
  }

  bool IsWorkspace(std::string_view name) const {
    return std::any_of(rendered_.workspaces.begin(), rendered_.workspaces.end(),
                       [&](const Workspace& w) { return w.name == name; });
  }

  void CheckNew(const std::string& name, std::string_view what) const {
    if (FindArgument(name) != nullptr || variables_.contains(name)) {
      throw Error(fmt::format("the {} '{}' has the name of a size, an argument or a parameter", what, name));
    }
  }

  PlannedWorkspace PlanWorkspace(const Workspace& workspace) const {
    // ElementCount takes an argument; only the name and the shape matter.
    Argument shape;
    shape.name = workspace.name;
    shape.shape = workspace.shape;
    return {workspace.name, workspace.dtype, ElementCount(shape, variables_)};
  }

  PlannedMemset PlanMemset(const MemsetDirective& memset) const {
    const Argument* argument = FindArgument(memset.buffer);
    const bool writable = argument != nullptr && (argument->role == Role::kOut || argument->role == Role::kInOut);
    if (!writable && !IsWorkspace(memset.buffer)) {
      throw Error(fmt::format("evo:memset: '{}' is neither a workspace nor an output", memset.buffer));
    }
    return {memset.buffer, memset.value};
  }

  std::uint32_t Extent(const Expression& expression, std::string_view what, std::int64_t most) const {
    const std::int64_t value = expression.EvaluateInteger(variables_);
    if (value < 1 || value > most) throw Error(fmt::format("{} is {}; it must be 1 to {}", what, value, most));
    return static_cast<std::uint32_t>(value);
  }

  PlannedLaunch PlanLaunch(const LaunchDirective& launch) const {
    PlannedLaunch planned;
    planned.kernel = launch.kernel;
    planned.kernel_expression = launch.kernel_expression;
    planned.cooperative = launch.cooperative;
    constexpr std::string_view kAxes = "xyz";
    for (std::size_t i = 0; i < launch.grid.size(); ++i) {
      planned.grid[i] = Extent(launch.grid[i], fmt::format("grid {}", kAxes[i]), i == 0 ? kMostBlocksX : kMostBlocksYZ);
    }
    for (std::size_t i = 0; i < launch.block.size(); ++i) {
      planned.block[i] = Extent(launch.block[i], fmt::format("block {}", kAxes[i]), i == 2 ? kMostThreadsZ : kMostThreads);
    }
    const std::int64_t threads = std::int64_t{planned.block[0]} * planned.block[1] * planned.block[2];
    if (threads > kMostThreads)
      throw Error(fmt::format("a block has {} threads; at most {} are possible", threads, kMostThreads));
    for (std::size_t i = 0; i < launch.cluster.size(); ++i) {
      planned.cluster[i] = Extent(launch.cluster[i], fmt::format("cluster {}", kAxes[i]), kMostBlocksOfACluster);
      if (planned.grid[i] % planned.cluster[i] != 0) {
        throw Error(fmt::format("grid {} is {}; it must be a multiple of the cluster's {}", kAxes[i], planned.grid[i],
                                planned.cluster[i]));
      }
    }
    const std::int64_t blocks = std::int64_t{planned.cluster[0]} * planned.cluster[1] * planned.cluster[2];
    if (blocks > kMostBlocksOfACluster)
      throw Error(fmt::format("a cluster has {} blocks; at most {} are possible", blocks, kMostBlocksOfACluster));
    const std::int64_t shared = launch.shared.EvaluateInteger(variables_);
    if (shared < 0 || shared > std::numeric_limits<std::int32_t>::max())
      throw Error(fmt::format("shared is {} bytes; it must be 0 to 2147483647", shared));
    planned.shared_bytes = static_cast<std::uint64_t>(shared);
    for (const std::string& text : launch.arguments) planned.arguments.push_back(PlanArgument(text));
    return planned;
  }

  TensorMapUse PlanMap(const TensorMapDirective& map) const {
    CheckNew(map.name, "tensor map");
    try {
      for (const Workspace& workspace : rendered_.workspaces) {
        if (workspace.name == map.buffer)
          return PlanTensorMap(map, workspace.dtype, PlanWorkspace(workspace).elements, variables_);
      }
      const Argument* argument = FindArgument(map.buffer);
      if (argument == nullptr || argument->role == Role::kScalar)
        throw Error(fmt::format("'{}' is neither an argument nor a workspace", map.buffer));
      return PlanTensorMap(map, argument->dtype, ElementCount(*argument, variables_), variables_);
    } catch (const Error& error) {
      throw Error(fmt::format("tensor map {}: {}", map.name, error.what()));
    }
  }

  LaunchArgument PlanArgument(const std::string& text) const {
    if (IsWorkspace(text)) return BufferUse{text};
    for (const TensorMapDirective& map : rendered_.tensor_maps) {
      if (map.name == text) return PlanMap(map);
    }
    if (const Argument* argument = FindArgument(text)) {
      if (argument->role != Role::kScalar) return BufferUse{text};
      return ScalarUse{argument->dtype, variables_.at(text)};
    }
    Number value;
    try {
      value = Expression::Parse(text).Evaluate(variables_);
    } catch (const Error& error) {
      throw Error(fmt::format("argument '{}' is neither an argument of the task nor a workspace nor an expression: {}", text,
                              error.what()));
    }
    if (value.is_real) throw Error(fmt::format("argument '{}' is a real number; only a scalar of the task can pass one", text));
    if (value.integer < std::numeric_limits<std::int32_t>::min() || value.integer > std::numeric_limits<std::int32_t>::max()) {
      throw Error(fmt::format("argument '{}' is {}, which does not fit an int", text, value.integer));
    }
    return ScalarUse{Dtype::kI32, value};
  }

  const KernelTemplate& rendered_;
  const Task& task_;
  Variables variables_;
  std::string place_;
};

}  // namespace

std::variant<LaunchPlan, PlanFailure> PlanLaunches(const KernelTemplate& rendered, const Parameters& parameters, const Task& task,
                                                   const Case& sizes) {
  std::optional<Planner> planner;
  try {
    planner.emplace(rendered, parameters, task, sizes);
    return planner->Plan();
  } catch (const Error& error) {
    return PlanFailure{(planner ? planner->place() : std::string()) + error.what()};
  }
}

}  // namespace evo
