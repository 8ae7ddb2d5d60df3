// Which launches SourceRuns has, and what they pass.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr std::size_t kMostBlockSteps = 8;
constexpr int kMatrices = 3;

bool PointsToConstants(const std::string& type) {
  const std::string pointee = type.substr(0, type.find('*'));
  return pointee.find("const") != std::string::npos;
}

}  // namespace

// In silence, if nobody would take it for an attention.
bool SourceRuns::Find() {
  if (tree_.text().find("exp") == std::string::npos) return false;
  const bool found = FindLaunches();
  KeepBytes();
  const auto arguments = std::count_if(buffers_.begin(), buffers_.end(), [&](const auto& one) { return !IsWorkspace(one); });
  // One of them may have queries, keys and values.
  const bool packed = arguments > 1 && arguments < static_cast<std::ptrdiff_t>(buffers_.size());
  if (arguments <= kMatrices && !packed) why_.clear();
  return found && (arguments > kMatrices || packed);
}

bool SourceRuns::FindLaunches() {
  const auto& steps = context_.rendered.steps;
  if (steps.size() > kMostBlockSteps) return false;
  std::string why;
  for (const Step& step : steps) {
    if (step.memset) links_.push_back({nullptr, &*step.memset, -1, {}, {}, nullptr});
    if (step.repeat || step.end) why = "its launches are in a loop";
    if (step.launch && !FindLaunch(*step.launch)) why = why_;
  }
  if (std::any_of(links_.begin(), links_.end(),
                  [&](const Link& link) { return link.kernel >= 0 && IsKnownElsewhere(context_, link.kernel); })) {
    why_.clear();
    return false;
  }
  FindBuffers();
  return why.empty() || Refuse(why);
}

bool SourceRuns::FindOnly(const LaunchDirective& launch) {
  modes_.alone = true;
  const bool found = FindLaunch(launch);
  FindBuffers();
  return found;
}

bool SourceRuns::FindLaunch(const LaunchDirective& launch) {
  Link link{&launch, nullptr, -1, {}, {}, nullptr};
  for (const int function : Functions(tree_)) {
    const SyntaxNode& node = tree_.node(function);
    if (IsKernel(tree_, function) && node.name == launch.kernel && node.kind_name == "FunctionDecl" && !node.children.empty() &&
        tree_.node(node.children.back()).kind_name == "CompoundStmt")
      link.kernel = function;
  }
  if (link.kernel < 0) return Refuse(fmt::format("{} is a template, or not in the source", launch.kernel));
  std::size_t place = 0;
  for (const int child : tree_.node(link.kernel).children) {
    const SyntaxNode& parameter = tree_.node(child);
    if (parameter.kind_name != "ParmDecl" || place >= launch.arguments.size()) continue;
    const std::string& argument = launch.arguments[place++];
    if (parameter.type.find('*') != std::string::npos) {
      link.buffers[child] = argument;
      if (!PointsToConstants(parameter.type)) changed_.insert(argument);
      continue;
    }
    const LaunchArgumentText text = ParseLaunchArgument(argument);
    const std::string type = WithoutConst(parameter.type);
    if ((type == "float" || type == "double") && text.kind != LaunchArgumentText::Kind::kStruct)
      link.reals.emplace(child, Expression::Parse(text.text));
  }
  if (modes_.sums) AddConstants(link);
  AddDeviceVariables(link);
  if (!launch.cluster.empty() || launch.cooperative || launch.when)
    return links_.push_back(std::move(link)), Refuse(fmt::format("{} is not launched as all launches are", launch.kernel));
  link.runs = std::make_unique<LaunchRuns>(context_, launch, link.kernel, -1, std::set<int>{});
  link.runs->AllowTurns(kMostLaunchedTurns);
  if (modes_.sums) link.runs->TellSums();
  if (modes_.words) link.runs->given().words = ComputesInWords(tree_, link.kernel);
  const std::string refusal = link.runs->refusal();
  for (const std::string& name : link.runs->names()) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
  }
  links_.push_back(std::move(link));
  return refusal.empty() || Refuse(fmt::format("{}: {}", launch.kernel, refusal));
}

}  // namespace evo
