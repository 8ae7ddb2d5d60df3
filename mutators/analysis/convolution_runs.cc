#include "mutators/analysis/convolution_runs.h"

#include <algorithm>

#include "core/error.h"
#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// More threads of a launch are no small case.
constexpr std::int64_t kMostGrid = std::int64_t{1} << 40;

}  // namespace

ConvolutionRuns::ConvolutionRuns(const MutationContext& context, const LaunchDirective& launch, int kernel, int watched,
                                 std::set<int> noted)
    : context_(context),
      tree_(context.tree),
      launch_(launch),
      kernel_(kernel),
      watched_(watched),
      noted_(std::move(noted)),
      run_(context, kernel, -1) {
  FindSizes();
}

void ConvolutionRuns::AddNames(const Expression& expression) {
  for (const std::string& name : expression.Names()) {
    if (context_.genome.parameters.contains(name)) continue;
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
  }
}

void ConvolutionRuns::FindSizes() {
  std::vector<int> parameters;
  for (const int child : tree_.node(kernel_).children) {
    if (tree_.node(child).kind_name == "ParmDecl") parameters.push_back(child);
  }
  if (parameters.size() != launch_.arguments.size()) {
    refusal_ = "its launch line has another number of arguments";
    return;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string type = WithoutConst(tree_.node(parameters[i]).type);
    if (type.find('*') != std::string::npos || type == "float" || type == "double") continue;
    const LaunchArgumentText argument = ParseLaunchArgument(launch_.arguments[i]);
    if (argument.kind == LaunchArgumentText::Kind::kStruct) {
      refusal_ = "its launch line passes a struct";
      return;
    }
    arguments_.emplace_back(parameters[i], Expression::Parse(argument.text));
    AddNames(arguments_.back().second);
  }
  for (const auto* dimensions : {&launch_.grid, &launch_.block}) {
    for (const Expression& dimension : *dimensions) AddNames(dimension);
  }
}

std::optional<ConvolutionRuns::Setting> ConvolutionRuns::SettingOf(const Sizes& sizes) const {
  Setting setting;
  for (const auto& [name, value] : context_.genome.parameters) setting.values[name] = Number::Integer(value);
  for (const auto& [name, value] : sizes) setting.values[name] = Number::Integer(value);
  try {
    for (const auto& [parameter, expression] : arguments_)
      setting.integers[parameter] = expression.EvaluateInteger(setting.values);
    for (std::size_t axis = 0; axis < launch_.grid.size(); ++axis)
      setting.grid[axis] = launch_.grid[axis].EvaluateInteger(setting.values);
    for (std::size_t axis = 0; axis < launch_.block.size(); ++axis)
      setting.block[axis] = launch_.block[axis].EvaluateInteger(setting.values);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::int64_t threads = 1;
  for (const auto& dimensions : {setting.grid, setting.block}) {
    for (const std::int64_t dimension : dimensions) {
      if (dimension <= 0 || dimension > kMostGrid / threads) return std::nullopt;
      threads *= dimension;
    }
  }
  return setting;
}

std::map<int, std::int64_t> ConvolutionRuns::BuiltinsOf(const Setting& setting, std::int64_t thread) {
  std::map<int, std::int64_t> builtins;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    builtins[BuiltinSymbol("threadIdx", axis)] = thread % setting.block[axis];
    thread /= setting.block[axis];
    builtins[BuiltinSymbol("blockDim", axis)] = setting.block[axis];
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    builtins[BuiltinSymbol("blockIdx", axis)] = thread % setting.grid[axis];
    thread /= setting.grid[axis];
    builtins[BuiltinSymbol("gridDim", axis)] = setting.grid[axis];
  }
  return builtins;
}

ThreadTrace ConvolutionRuns::Run(const Setting& setting, std::int64_t thread, bool symbolic) {
  ThreadSetting one;
  one.integers = setting.integers;
  one.builtins = BuiltinsOf(setting, thread);
  one.symbolic = symbolic;
  one.watched = watched_;
  one.noted = noted_;
  one.addresses = addresses_;
  one.counters = counters_;
  double real = 0.3;
  for (const int child : tree_.node(kernel_).children) {
    if (tree_.node(child).kind_name == "ParmDecl") one.reals[child] = real += 0.11;
  }
  return run_.Run(one);
}

}  // namespace evo
