#include <algorithm>
#include <memory>

#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {

bool SourceRuns::IsWorkspace(const std::string& name) const {
  const auto& workspaces = context_.rendered.workspaces;
  return std::any_of(workspaces.begin(), workspaces.end(), [&](const auto& one) { return one.name == name; });
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
