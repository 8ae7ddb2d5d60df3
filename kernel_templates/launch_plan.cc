#include "kernel_templates/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "kernel_templates/argument_planner.h"
#include "kernel_templates/plan_scope.h"

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
      : rendered_(rendered), scope_(rendered, parameters, task, sizes), arguments_(rendered, scope_) {}

  LaunchPlan Plan() {
    LaunchPlan plan;
    for (const Workspace& workspace : rendered_.workspaces) {
      scope_.CheckNew(workspace.name, "workspace");
      plan.workspaces.push_back({workspace.name, workspace.dtype, scope_.ShapeOf(workspace).elements});
    }
    for (const CountedDirective& counted : rendered_.counted) {
      place_ = fmt::format("line {}: evo:counted {}: ", counted.line, counted.argument);
      CheckCounted(counted);
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
        if (!step.launch->when || step.launch->when->Evaluate(scope_.variables()).AsReal() != 0)
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
    scope_.CheckNew(repeat.step, "name of a step");
    const std::int64_t count = repeat.count.EvaluateInteger(scope_.variables());
    if (count < 0 || count > kMostSteps)
      throw Error(fmt::format("evo:repeat: the count is {}; it must be 0 to {}", count, kMostSteps));
    for (const SwapDirective& swap : repeat.swaps) CheckSwap(swap);
    std::size_t end = first;
    for (int depth = 0; depth > 0 || !rendered_.steps[end].end; ++end)
      depth += rendered_.steps[end].repeat ? 1 : rendered_.steps[end].end ? -1 : 0;
    for (std::int64_t step = 0; step < count; ++step) {
      scope_.Set(repeat.step, step);
      AddSteps(first, plan);
      for (const SwapDirective& swap : repeat.swaps) scope_.Swap(swap.first, swap.second);
    }
    scope_.Remove(repeat.step);
    return end;
  }

  void CheckSwap(const SwapDirective& swap) {
    place_ = fmt::format("line {}: evo:swap: ", swap.line);
    const auto shape_of = [&](const std::string& name) -> BufferShape {
      for (const TensorMapDirective& map : rendered_.tensor_maps) {
        if (map.buffer == name) throw Error(fmt::format("the tensor map {} is of {}, and would stay so", map.name, name));
      }
      if (const Workspace* workspace = scope_.FindWorkspace(name)) return scope_.ShapeOf(*workspace);
      const Argument* argument = scope_.FindArgument(name);
      if (argument == nullptr || argument->role == Role::kScalar || argument->role == Role::kIn)
        throw Error(fmt::format("'{}' is neither a workspace nor an output, which kernels may write", name));
      return scope_.ShapeOf(*argument);
    };
    const BufferShape first = shape_of(swap.first), second = shape_of(swap.second);
    if (first == second) return;
    throw Error(fmt::format("{} has {} elements of {}, {} has {} of {}; both must be the same", swap.first, first.elements,
                            ToString(first.dtype), swap.second, second.elements, ToString(second.dtype)));
  }

  // It may not promise that fewer elements are compared than are.
  void CheckCounted(const CountedDirective& counted) const {
    const Argument* argument = scope_.FindArgument(counted.argument);
    if (argument == nullptr || !argument->IsOutput()) throw Error("it is no output of the task");
    const std::int64_t said = counted.elements.EvaluateInteger(scope_.variables());
    const std::int64_t compared = CountedElements(*argument, scope_.variables());
    if (said < compared)
      throw Error(fmt::format("the task compares {} elements of it, not {}; its \"counted\" must say so, too", compared, said));
  }

  PlannedConstant PlanConstant(const ConstantDirective& constant) const {
    const Argument* argument = scope_.FindArgument(constant.argument);
    if (argument == nullptr || (argument->role != Role::kIn && argument->role != Role::kScalar))
      throw Error(fmt::format("'{}' is neither an input nor a scalar of the task", constant.argument));
    const std::size_t size = ByteSize(argument->dtype);
    if (argument->role == Role::kScalar)
      return {constant.variable, ScalarUse{argument->dtype, scope_.variables().at(constant.argument)}, size};
    return {constant.variable, BufferUse{constant.argument}, static_cast<std::size_t>(scope_.ShapeOf(*argument).elements) * size};
  }

  PlannedMemset PlanMemset(const MemsetDirective& memset) const {
    const Argument* argument = scope_.FindArgument(memset.buffer);
    const bool writable = argument != nullptr && (argument->role == Role::kOut || argument->role == Role::kInOut);
    if (!writable && scope_.FindWorkspace(memset.buffer) == nullptr) {
      throw Error(fmt::format("evo:memset: '{}' is neither a workspace nor an output", memset.buffer));
    }
    return {scope_.Current(memset.buffer), memset.value};
  }

  std::uint32_t Extent(const Expression& expression, std::string_view what, std::int64_t most) const {
    const std::int64_t value = expression.EvaluateInteger(scope_.variables());
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
    const std::int64_t shared = launch.shared.EvaluateInteger(scope_.variables());
    if (shared < 0 || shared > std::numeric_limits<std::int32_t>::max())
      throw Error(fmt::format("shared is {} bytes; it must be 0 to 2147483647", shared));
    planned.shared_bytes = static_cast<std::uint64_t>(shared);
    for (const std::string& text : launch.arguments) planned.arguments.push_back(arguments_.Plan(text));
    return planned;
  }

  const KernelTemplate& rendered_;
  PlanScope scope_;
  ArgumentPlanner arguments_;  // with scope_
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
