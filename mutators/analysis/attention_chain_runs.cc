#include "mutators/analysis/attention_chain_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "mutators/analysis/attention_check.h"
#include "mutators/analysis/source_query.h"
#include "mutators/analysis/work_sharing.h"

namespace evo {
namespace {

constexpr std::size_t kMostKernels = 4;
// Threads of a launch: more take too long.
constexpr std::int64_t kMostChainThreads = 1 << 17;
// In place of a unit.
constexpr std::int64_t kSeveralUnits = -1;

}  // namespace

// What one launch does with workspaces and the output. A unit is a thread, or a block whose threads run together.
struct ChainRuns::Accesses {
  std::map<std::string, BufferContents> stored;
  std::map<std::string, std::map<std::int64_t, std::int64_t>> writers, readers;  // units
};
bool ChainRuns::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

bool ChainRuns::IsWorkspace(const std::string& name) const {
  const auto& workspaces = context_.rendered.workspaces;
  return std::any_of(workspaces.begin(), workspaces.end(), [&](const auto& one) { return one.name == name; });
}

// Some launches of kernels that compute an exponential and hand workspaces on. In silence, if there are none.
bool ChainRuns::Find() {
  const auto& steps = context_.rendered.steps;
  if (steps.size() < 2 || steps.size() > kMostKernels || context_.rendered.workspaces.empty() ||
      tree_.text().find("exp") == std::string::npos)
    return false;
  std::set<std::string> names;
  for (const Step& step : steps) {
    if (!step.launch || !step.launch->cluster.empty() || step.launch->cooperative) return false;
    Link link{&*step.launch, -1, {}, nullptr};
    for (const int function : Functions(tree_)) {
      if (IsKernel(tree_, function) && tree_.node(function).name == link.launch->kernel &&
          tree_.node(function).kind_name == "FunctionDecl" &&
          tree_.node(tree_.node(function).children.back()).kind_name == "CompoundStmt")
        link.kernel = function;
    }
    if (link.kernel < 0 || OnlyLaunch(context_.rendered, link.launch->kernel) == nullptr) return false;
    std::size_t place = 0;
    for (const int child : tree_.node(link.kernel).children) {
      if (tree_.node(child).kind_name != "ParmDecl" || place >= link.launch->arguments.size()) continue;
      const std::string& argument = link.launch->arguments[place++];
      if (tree_.node(child).type.find('*') != std::string::npos) link.buffers[child] = argument;
    }
    link.runs = std::make_unique<LaunchRuns>(context_, *link.launch, link.kernel, -1, std::set<int>{});
    if (!link.runs->refusal().empty()) return false;
    for (const std::string& name : link.runs->names()) {
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.push_back(name);
    }
    links_.push_back(std::move(link));
  }
  return true;
}

// All threads of all launches.
bool ChainRuns::Run(const LaunchRuns::Sizes& sizes, ChainRun& run) {
  for (Link& link : links_) {
    const auto setting = link.runs->SettingOf(sizes);
    if (!setting || setting->Threads() > kMostChainThreads) return Refuse("its launches have too many threads to try");
    std::map<int, const BufferContents*> contents;
    for (const auto& [parameter, buffer] : link.buffers) {
      if (IsWorkspace(buffer)) contents[parameter] = &run.stored[buffer];
    }
    link.runs->Provide(contents);
    const std::int64_t unit = link.runs->together() ? setting->block[0] * setting->block[1] * setting->block[2] : 1;
    Accesses accesses;
    for (std::int64_t thread = 0; thread < setting->Threads(); ++thread) {
      const ThreadTrace trace = link.runs->Run(*setting, thread);
      if (!trace.refusal.empty()) return Refuse(fmt::format("{}: {}", link.launch->kernel, trace.refusal));
      if (!Add(link, trace, thread / unit, accesses, run)) return false;
    }
    for (const auto& [buffer, elements] : accesses.stored) {
      for (const auto& [index, value] : elements) {
        const auto& readers = accesses.readers[buffer];
        const auto reader = readers.find(index);
        if (reader != readers.end() && reader->second != accesses.writers[buffer][index])
          return Refuse(fmt::format("{}: threads read what others store", link.launch->kernel));
        run.stored[buffer][index] = value;
      }
    }
  }
  return true;
}

bool ChainRuns::Add(const Link& link, const ThreadTrace& trace, std::int64_t unit, Accesses& accesses, ChainRun& run) {
  for (const auto& [parameter, elements] : trace.stores) {
    const std::string& name = link.buffers.at(parameter);
    for (const auto& [index, access] : elements) {
      if (!accesses.stored[name].try_emplace(index, access.value).second) return Refuse("two threads store the same element");
      accesses.writers[name][index] = unit;
    }
  }
  for (const auto& [parameter, elements] : trace.reads) {
    const std::string& name = link.buffers.at(parameter);
    for (const auto& [index, access] : elements) {
      if (IsWorkspace(name)) {
        const auto [reader, fresh] = accesses.readers[name].try_emplace(index, unit);
        if (reader->second != unit) reader->second = kSeveralUnits;
        continue;
      }
      const auto [known, fresh] = run.read[name].try_emplace(index, access.value);
      if (known->second != access.value) return Refuse(fmt::format("{} is read by two kernels", name));
    }
  }
  run.knowledge.factors.insert(trace.factors.begin(), trace.factors.end());
  run.knowledge.names.insert(trace.names.begin(), trace.names.end());
  for (const auto& limit : trace.limits) {
    if (!IsLimitVoid(limit)) run.knowledge.limits.push_back(limit);
  }
  run.knowledge.largest_number = std::max(run.knowledge.largest_number, trace.largest_number);
  run.knowledge.base_two |= trace.base_two;
  run.knowledge.exponential |= trace.exponential;
  return true;
}

void ChainRuns::Fill(const std::map<std::string, double>& buffers) {
  for (const Link& link : links_) {
    std::map<int, double> elements;
    for (const auto& [parameter, buffer] : link.buffers) {
      if (const auto filled = buffers.find(buffer); filled != buffers.end()) elements[parameter] = filled->second;
    }
    link.runs->Fill(elements);
  }
}

}  // namespace evo
