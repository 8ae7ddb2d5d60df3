#include "kernel_templates/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "kernel_templates/launch_argument.h"

namespace evo {
namespace {

constexpr std::int64_t kMostBlocksX = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostBlocksYZ = 65535;
constexpr std::int64_t kMostThreads = 1024;  // of a block; also of its x and its y
constexpr std::int64_t kMostThreadsZ = 64;
// A cluster of more than eight blocks needs an attribute of the kernel, and no device takes more than sixteen.
constexpr std::int64_t kMostBlocksOfACluster = 16;
// Of all loops together: a timed sequence waits in the driver's queue, which holds 1,024 launches with those that prepare it.
constexpr std::int64_t kMostSteps = 400;

class Planner {
 public:
  Planner(const KernelTemplate& rendered, const Parameters& parameters, const Task& task, const Case& sizes)
      : rendered_(rendered), task_(task), variables_(CaseVariables(task, sizes)) {
    for (const auto& [name, value] : parameters) {
      CheckNew(name, "parameter");
      variables_[name] = Number::Integer(value);
    }
    for (const auto& [name, value] : ValuesFor(rendered.size_macros, sizes.sizes)) {
      // A macro may have the name of the size whose value it has.
      if (!sizes.sizes.contains(name)) CheckNew(name, "size macro");
      variables_[name] = Number::Integer(value);
    }
  }

  LaunchPlan Plan() {
    LaunchPlan plan;
    for (const Workspace& workspace : rendered_.workspaces) {
      CheckNew(workspace.name, "workspace");
      plan.workspaces.push_back(PlanWorkspace(workspace));
    }
    for (const ConstantDirective& constant : rendered_.constants) {
      place_ = fmt::format("line {}: evo:constant {}: ", constant.line, constant.variable);
      plan.constants.push_back(PlanConstant(constant));
    }
    AddSteps(0, plan);
    place_.clear();
    const auto is_launch = [](const auto& step) { return std::holds_alternative<PlannedLaunch>(step); };
    if (std::none_of(plan.steps.begin(), plan.steps.end(), is_launch))
      throw Error("nothing is launched: when(..) is zero on every launch line, or a loop has no iteration");
    return plan;
  }

  // The place in the template that a failure message begins with.
  const std::string& place() const { return place_; }

 private:
  static bool IsTrue(const Number& value) { return value.AsReal() != 0; }

  // Adds the steps from `at` on to the end of their loop, or all. Returns what follows.
  std::size_t AddSteps(std::size_t at, LaunchPlan& plan) {
    for (; at < rendered_.steps.size() && !rendered_.steps[at].end; ++at) {
      const Step& step = rendered_.steps[at];
      if (step.repeat) {
        at = AddLoop(*step.repeat, at + 1, plan);
      } else if (step.memset) {
        place_ = fmt::format("line {}: ", step.memset->line);
        plan.steps.emplace_back(PlanMemset(*step.memset));
      } else if (step.launch) {
        place_ = fmt::format("line {}, {}: ", step.launch->line, step.launch->kernel);
        if (!step.launch->when || IsTrue(step.launch->when->Evaluate(variables_)))
          plan.steps.emplace_back(PlanLaunch(*step.launch));
      }
      if (plan.steps.size() > kMostSteps)
        throw Error(fmt::format("more than {} launches and memsets with those of loops; repeat fewer times", kMostSteps));
    }
    return at;
  }

  // Adds the iterations of a loop whose steps begin at `first`. Returns the place of its end.
  std::size_t AddLoop(const RepeatDirective& repeat, std::size_t first, LaunchPlan& plan) {
    place_ = fmt::format("line {}: ", repeat.line);
    CheckNew(repeat.step, "name of a step");
    const std::int64_t count = repeat.count.EvaluateInteger(variables_);
    if (count < 0 || count > kMostSteps)
      throw Error(fmt::format("evo:repeat: the count is {}; it must be 0 to {}", count, kMostSteps));
    for (const SwapDirective& swap : repeat.swaps) CheckSwap(swap);
    std::size_t end = first;
    for (int depth = 0; depth > 0 || !rendered_.steps[end].end; ++end)
      depth += rendered_.steps[end].repeat ? 1 : rendered_.steps[end].end ? -1 : 0;
    for (std::int64_t step = 0; step < count; ++step) {
      variables_[repeat.step] = Number::Integer(step);
      AddSteps(first, plan);
      for (const SwapDirective& swap : repeat.swaps) {
        const std::string other = Current(swap.second);
        current_[swap.second] = Current(swap.first);
        current_[swap.first] = other;
      }
    }
    variables_.erase(repeat.step);
    return end;
  }

  // The buffer that has this name after the swaps so far.
  const std::string& Current(const std::string& name) const {
    const auto found = current_.find(name);
    return found == current_.end() ? name : found->second;
  }

  void CheckSwap(const SwapDirective& swap) {
    place_ = fmt::format("line {}: evo:swap: ", swap.line);
    const auto kind_of = [&](const std::string& name) -> std::pair<Dtype, std::int64_t> {
      for (const TensorMapDirective& map : rendered_.tensor_maps) {
        if (map.buffer == name) throw Error(fmt::format("the tensor map {} is of {}, and would stay so", map.name, name));
      }
      for (const Workspace& workspace : rendered_.workspaces) {
        if (workspace.name == name) return {workspace.dtype, PlanWorkspace(workspace).elements};
      }
      const Argument* argument = FindArgument(name);
      if (argument == nullptr || argument->role == Role::kScalar || argument->role == Role::kIn)
        throw Error(fmt::format("'{}' is neither a workspace nor an output, which kernels may write", name));
      return {argument->dtype, ElementCount(*argument, variables_)};
    };
    const auto [dtype, elements] = kind_of(swap.first);
    const auto [other_dtype, other_elements] = kind_of(swap.second);
    if (dtype == other_dtype && elements == other_elements) return;
    throw Error(fmt::format("{} has {} elements of {}, {} has {} of {}; both must be the same", swap.first, elements,
                            ToString(dtype), swap.second, other_elements, ToString(other_dtype)));
  }

  PlannedConstant PlanConstant(const ConstantDirective& constant) const {
    const Argument* argument = FindArgument(constant.argument);
    if (argument == nullptr || (argument->role != Role::kIn && argument->role != Role::kScalar))
      throw Error(fmt::format("'{}' is neither an input nor a scalar of the task", constant.argument));
    const std::size_t size = ByteSize(argument->dtype);
    if (argument->role == Role::kScalar)
      return {constant.variable, ScalarUse{argument->dtype, variables_.at(constant.argument)}, size};
    return {constant.variable, BufferUse{constant.argument},
            static_cast<std::size_t>(ElementCount(*argument, variables_)) * size};
  }

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
    return {Current(memset.buffer), memset.value};
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
    planned.line = launch.line;
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
    for (const TensorMapDirective& map : rendered_.tensor_maps) {
      if (map.name == text) return PlanMap(map);
    }
    const LaunchArgumentText argument = ParseLaunchArgument(text);
    if (argument.kind != LaunchArgumentText::Kind::kStruct)
      return std::visit([](auto&& use) { return LaunchArgument(std::move(use)); }, PlanField(argument));
    StructUse use;
    for (const LaunchArgumentText& field : argument.fields) use.fields.push_back(PlanField(field));
    return use;
  }

  std::variant<BufferUse, ScalarUse> PlanField(const LaunchArgumentText& written) const {
    const std::string& text = written.text;
    if (written.kind == LaunchArgumentText::Kind::kCast) return PlanCast(written);
    if (IsWorkspace(text)) return BufferUse{Current(text)};
    if (const Argument* argument = FindArgument(text)) {
      if (argument->role != Role::kScalar) return BufferUse{Current(text)};
      return ScalarUse{argument->dtype, variables_.at(text)};
    }
    const Number value = ValueOf(text);
    if (value.is_real)
      throw Error(fmt::format("argument '{0}' is a real number, and expressions are passed as int; write f32({0})", text));
    if (value.integer < std::numeric_limits<std::int32_t>::min() || value.integer > std::numeric_limits<std::int32_t>::max()) {
      throw Error(fmt::format("argument '{0}' is {1}, which does not fit an int; write i64({0}) if the kernel takes one", text,
                              value.integer));
    }
    return ScalarUse{Dtype::kI32, value};
  }

  ScalarUse PlanCast(const LaunchArgumentText& written) const {
    const Number value = ValueOf(written.text);
    if (written.type.boolean) return {Dtype::kU8, Number::Integer(IsTrue(value) ? 1 : 0)};
    return {written.type.dtype, value};
  }

  Number ValueOf(const std::string& text) const {
    try {
      return Expression::Parse(text).Evaluate(variables_);
    } catch (const Error& error) {
      throw Error(fmt::format("argument '{}' is neither an argument of the task nor a workspace nor an expression: {}", text,
                              error.what()));
    }
  }

  const KernelTemplate& rendered_;
  const Task& task_;
  Variables variables_;
  std::map<std::string, std::string> current_;  // the buffer of each name that was swapped
  std::string place_;
};

}  // namespace

std::vector<std::size_t> FirstLaunches(const LaunchPlan& plan) {
  std::vector<std::size_t> first;
  std::set<int> lines;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto* launch = std::get_if<PlannedLaunch>(&plan.steps[i]);
    if (launch != nullptr && lines.insert(launch->line).second) first.push_back(i);
  }
  return first;
}

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
