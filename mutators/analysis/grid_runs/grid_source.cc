#include "mutators/analysis/grid_runs/grid_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {

GridSource::GridSource(const MutationContext& context) : context_(context), tree_(context.tree) {
  FindLaunches();
  if (resembles_work()) FindSize();
}

int GridSource::KernelNamed(const std::string& launched) const {
  const std::string name = launched.substr(launched.rfind(':') + 1);
  for (const int function : Functions(tree_)) {
    if (tree_.node(function).name == name && IsKernel(tree_, function)) return function;
  }
  return -1;
}

void GridSource::FindLaunches() {
  for (const Step& step : context_.rendered.steps) {
    resembles_ = resembles_ || step.repeat.has_value();
    has_loop_ = has_loop_ || step.repeat.has_value();
    if (!step.launch) continue;
    launches_.push_back(&*step.launch);
    const int kernel = KernelNamed(step.launch->kernel);
    if (kernel < 0) {
      defined_ = false;
      return;
    }
    for (const int node : Subtree(tree_, kernel)) {
      const std::string& kind = tree_.node(node).kind_name;
      resembles_ = resembles_ || kind == "ForStmt" || kind == "WhileStmt" || kind == "DoStmt";
    }
    const bool together = Cooperates(tree_, kernel);
    resembles_ = resembles_ || together;
  }
}

void GridSource::AddNames(const Expression& expression, std::set<std::string>& names) const {
  for (const std::string& name : expression.Names()) {
    if (!context_.genome.parameters.contains(name)) names.insert(name);
  }
}

// Names of sizes in an argument of a kernel that is a number.
void GridSource::AddArgument(const std::string& text, std::set<std::string>& names) {
  try {
    const LaunchArgumentText argument = ParseLaunchArgument(text);
    const Expression expression = Expression::Parse(argument.text);
    AddNames(expression, names);
    const bool cast = argument.kind == LaunchArgumentText::Kind::kCast;
    wide_ = wide_ || (cast && ByteSize(argument.type.dtype) == 8 && !expression.Names().empty());
  } catch (const Error&) {
    names.insert(text);
  }
}

void GridSource::FindSize() {
  std::set<std::string> names;
  for (const LaunchDirective* launch : launches_) {
    for (const auto* dimensions : {&launch->grid, &launch->block}) {
      for (const Expression& expression : *dimensions) AddNames(expression, names);
    }
    AddNames(launch->shared, names);
    std::size_t at = 0;
    for (const int child : tree_.node(KernelNamed(launch->kernel)).children) {
      const SyntaxNode& parameter = tree_.node(child);
      if (parameter.kind_name != "ParmDecl" || at >= launch->arguments.size()) continue;
      const std::string type = WithoutConst(parameter.type);
      const std::string& text = launch->arguments[at++];
      if (type.find('*') == std::string::npos && type != "float" && type != "double") AddArgument(text, names);
    }
  }
  for (const Workspace& workspace : context_.rendered.workspaces) {
    for (const Expression& expression : workspace.shape) AddNames(expression, names);
  }
  for (const SizeMacro& macro : context_.rendered.size_macros) AddNames(macro.value, names);
  for (const Step& step : context_.rendered.steps) {
    if (step.repeat) AddNames(step.repeat->count, names);
  }
  for (const Step& step : context_.rendered.steps) {
    if (step.repeat) names.erase(step.repeat->step);
  }
  if (names.size() == 1) size_ = *names.begin();
  sizes_ = std::move(names);
}

std::vector<std::string> GridSource::Kernels() const {
  std::vector<std::string> names;
  for (const LaunchDirective* launch : launches_) {
    if (std::find(names.begin(), names.end(), launch->kernel) == names.end()) names.push_back(launch->kernel);
  }
  return names;
}

Parameters GridSource::Deciding(const std::set<std::string>& names, bool& hidden) const {
  const SearchSpace& space = context_.rendered.space;
  const auto& present = context_.genome.parameters;
  const auto declared = [&](const std::string& name) {
    return std::any_of(space.parameters.begin(), space.parameters.end(), [&](const Parameter& one) { return one.name == name; });
  };
  Parameters deciding;
  for (const std::string& name : names) {
    if (declared(name) && present.contains(name)) {
      deciding[name] = present.at(name);
      continue;
    }
    for (const auto& [behind, value] : ParametersBehind(context_, name)) {
      deciding[behind] = value;
      hidden = true;
    }
  }
  for (const Parameter& parameter : space.parameters) {
    const auto is_named = [&](const LaunchDirective* launch) {
      std::string all = fmt::format("{} ", launch->shared.text());
      for (const auto* dimensions : {&launch->grid, &launch->block}) {
        for (const Expression& expression : *dimensions) all += expression.text() + " ";
      }
      for (const std::string& argument : launch->arguments) all += argument + " ";
      if (launch->when) all += launch->when->text();
      return ContainsName(all, parameter.name);
    };
    if (present.contains(parameter.name) && std::any_of(launches_.begin(), launches_.end(), is_named))
      deciding[parameter.name] = present.at(parameter.name);
  }
  return deciding;
}

std::vector<Parameters> GridSource::OtherSettings(const Parameters& deciding, std::size_t most) const {
  const SearchSpace& space = context_.rendered.space;
  const Parameters& present = context_.genome.parameters;
  std::vector<Parameters> settings{present};
  for (const Parameter& parameter : space.parameters) {
    if (!deciding.contains(parameter.name) || settings.size() > most * 8) continue;
    std::vector<Parameters> more;
    for (const Parameters& setting : settings) {
      for (const std::int64_t value : parameter.values) {
        more.push_back(setting);
        more.back()[parameter.name] = value;
      }
    }
    settings = std::move(more);
  }
  std::erase_if(settings, [&](const Parameters& one) { return space.Violated(one) || one == present; });
  return settings;
}

std::vector<int> GridSource::AllFunctions() const {
  std::set<int> functions;
  for (const int function : Functions(tree_)) {
    const auto named = [&](const LaunchDirective* launch) {
      return launch->kernel.substr(launch->kernel.rfind(':') + 1) == tree_.node(function).name;
    };
    if (std::any_of(launches_.begin(), launches_.end(), named)) functions.insert(function);
  }
  for (std::size_t before = 0; before != functions.size();) {
    before = functions.size();
    for (const int function : Functions(tree_)) {
      const auto& uses = tree_.UsesOf(function);
      const auto gone = [&](int use) { return functions.contains(tree_.node(use).function); };
      if (!uses.empty() && std::all_of(uses.begin(), uses.end(), gone)) functions.insert(function);
    }
  }
  return {functions.begin(), functions.end()};
}

}  // namespace evo
