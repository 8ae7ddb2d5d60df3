#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

bool SourceRuns::IsWorkspace(const std::string& name) const {
  if (name.starts_with(kDeviceVariable)) return true;
  const auto& workspaces = context_.rendered.workspaces;
  return std::any_of(workspaces.begin(), workspaces.end(), [&](const auto& one) { return one.name == name; });
}

bool SourceRuns::IsHalved(const std::string& size) const {
  return std::any_of(links_.begin(), links_.end(), [&](const Link& link) {
    if (link.launch == nullptr || link.kernel < 0 || link.launch->block.empty() || link.launch->block[0].text() != size)
      return false;
    const std::string_view code = tree_.Text(link.kernel);
    return code.find("blockDim.x / 2") != std::string_view::npos || code.find("blockDim.x >> 1") != std::string_view::npos;
  });
}

void SourceRuns::FindBuffers() {
  std::set<std::string> buffers;
  for (const Link& link : links_) {
    for (const auto& [parameter, buffer] : link.buffers) buffers.insert(buffer);
  }
  buffers_.assign(buffers.begin(), buffers.end());
}

void SourceRuns::AddConstants(Link& link) const {
  for (const ConstantDirective& constant : context_.rendered.constants) {
    for (const int variable : NodesOfKind(tree_, "VarDecl")) {
      if (tree_.node(variable).name == constant.variable && tree_.node(variable).function < 0)
        link.buffers[variable] = constant.argument;
    }
  }
}

// Variables at file scope that begin as zeros, such as a ticket that blocks draw.
void SourceRuns::AddDeviceVariables(Link& link) {
  for (const int variable : NodesOfKind(tree_, "VarDecl")) {
    const SyntaxNode& node = tree_.node(variable);
    if (node.function >= 0 || !IsDeviceVariable(tree_, variable) || tree_.UsesOf(variable).empty()) continue;
    const int value = node.children.back();
    const bool set = !tree_.node(value).kind_name.starts_with("attribute") && tree_.node(value).kind_name != "TypeRef";
    const std::string_view text = tree_.Text(value);
    const bool zero = text.find_first_not_of("0.fFuUlL{} ") == std::string_view::npos;
    if (node.type.find('*') != std::string::npos || (set && (!zero || tree_.node(value).kind_name == "CallExpr"))) continue;
    link.buffers[variable] = std::string(kDeviceVariable) + node.name;
    changed_.insert(link.buffers[variable]);
  }
}

// What a launch finds there is what the next run of the program finds there.
bool SourceRuns::KeepsDeviceVariables(const LaunchedRun& run) {
  for (const auto& [buffer, elements] : run.stored) {
    if (!buffer.starts_with(kDeviceVariable)) continue;
    const auto read = run.read.find(buffer);
    const auto updated = run.updated.find(buffer);
    for (const auto& [index, value] : elements) {
      const bool found = (read != run.read.end() && read->second.contains(index)) ||
                         (updated != run.updated.end() && updated->second.contains(index));
      if (found && value != 0)
        return Refuse(fmt::format("it leaves another number in {} than it finds there", buffer.substr(kDeviceVariable.size())));
    }
  }
  return true;
}

std::string SourceRuns::BufferOf(int declaration) const {
  for (const Link& link : links_) {
    if (const auto buffer = link.buffers.find(declaration); buffer != link.buffers.end()) return buffer->second;
  }
  return "";
}

std::int64_t SourceRuns::LargestArgument() const {
  std::int64_t largest = 0;
  Variables values;
  for (const auto& [name, value] : context_.genome.parameters) values[name] = Number::Integer(value);
  for (const Link& link : links_) {
    if (!link.runs) continue;
    for (const auto& [parameter, argument] : link.runs->arguments()) {
      const auto names = argument.Names();
      if (std::all_of(names.begin(), names.end(), [&](const auto& name) { return values.contains(name); }))
        largest = std::max(largest, argument.EvaluateInteger(values));
    }
  }
  return largest;
}

int SourceRuns::NumberOf(const std::string& buffer) const {
  return static_cast<int>(std::find(buffers_.begin(), buffers_.end(), buffer) - buffers_.begin());
}

std::function<double(std::int64_t)> SourceRuns::ElementsOf(const LaunchTrial& trial, const std::string& buffer) const {
  if (const auto all = trial.elements.find(buffer); all != trial.elements.end())
    return [number = all->second](std::int64_t) { return number; };
  const auto times = trial.times.find(buffer);
  const auto drawn = [buffer = NumberOf(buffer), factor = times == trial.times.end() ? 1.0 : times->second](std::int64_t index) {
    return factor * RandomElement(buffer, index);
  };
  const auto chosen = trial.chosen.find(buffer);
  if (chosen == trial.chosen.end()) return drawn;
  return [contents = std::make_shared<const BufferContents>(chosen->second), drawn](std::int64_t index) {
    const auto known = contents->find(index);
    return known == contents->end() ? drawn(index) : known->second;
  };
}

void SourceRuns::KeepBytes() {
  for (Link& link : links_) {
    for (const auto& [parameter, buffer] : link.buffers) {
      const std::string& type = tree_.node(parameter).type;
      const std::string pointed = type.substr(0, type.find('*'));
      const bool bytes = pointed.find("char") != std::string::npos || pointed.find("bool") != std::string::npos;
      if (bytes && link.runs) link.runs->given().integer_bytes.insert(parameter);
    }
  }
}

}  // namespace evo
