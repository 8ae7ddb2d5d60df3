#include "kernel_templates/plan_scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace evo {

PlanScope::PlanScope(const KernelTemplate& rendered, const Parameters& parameters, const Task& task, const Case& sizes)
    : rendered_(rendered), task_(task), variables_(CaseVariables(task, sizes)) {
  for (const auto& [name, value] : parameters) {
    CheckNew(name, "parameter");
    Set(name, value);
  }
  for (const auto& [name, value] : ValuesFor(rendered.size_macros, sizes.sizes)) {
    // A macro may have the name of the size whose value it has.
    if (!sizes.sizes.contains(name)) CheckNew(name, "size macro");
    Set(name, value);
  }
}

void PlanScope::CheckNew(const std::string& name, std::string_view what) const {
  if (FindArgument(name) != nullptr || variables_.contains(name))
    throw Error(fmt::format("the {} '{}' has the name of a size, an argument or a parameter", what, name));
}

const Argument* PlanScope::FindArgument(std::string_view name) const {
  const auto found =
      std::find_if(task_.arguments.begin(), task_.arguments.end(), [&](const Argument& one) { return one.name == name; });
  return found == task_.arguments.end() ? nullptr : &*found;
}

const Workspace* PlanScope::FindWorkspace(std::string_view name) const {
  const auto found = std::find_if(rendered_.workspaces.begin(), rendered_.workspaces.end(),
                                  [&](const Workspace& one) { return one.name == name; });
  return found == rendered_.workspaces.end() ? nullptr : &*found;
}

BufferShape PlanScope::ShapeOf(const Argument& argument) const { return {argument.dtype, ElementCount(argument, variables_)}; }

BufferShape PlanScope::ShapeOf(const Workspace& workspace) const {
  // ElementCount takes an argument; only the name and the shape matter.
  Argument shape;
  shape.name = workspace.name;
  shape.shape = workspace.shape;
  return {workspace.dtype, ElementCount(shape, variables_)};
}

void PlanScope::Swap(const std::string& first, const std::string& second) {
  const std::string other = Current(second);
  current_[second] = Current(first);
  current_[first] = other;
}

const std::string& PlanScope::Current(const std::string& name) const {
  const auto found = current_.find(name);
  return found == current_.end() ? name : found->second;
}

}  // namespace evo
