#include "mutators/parallelism/histograms/partial_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/grid_runs/grid_run.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/scans/launches_alone.h"

namespace evo {
namespace {

bool PassesBuffer(const LaunchDirective& launch, const std::string& argument) {
  return std::find(launch.arguments.begin(), launch.arguments.end(), argument) != launch.arguments.end();
}

// The one launch that reads a workspace which another one fills, behind that and outside of loops; null if others name it.
const LaunchDirective* OnlyReaderOf(const MutationContext& context, const LaunchDirective& filling,
                                    const std::string& workspace) {
  const LaunchDirective* reader = nullptr;
  bool filled = false;
  for (const Step& step : context.rendered.steps) {
    if (step.repeat || (step.memset && step.memset->buffer == workspace)) return nullptr;
    if (!step.launch) continue;
    if (&*step.launch == &filling) {
      filled = true;
    } else if (PassesBuffer(*step.launch, workspace)) {
      if (reader != nullptr || !filled || step.launch->when) return nullptr;
      reader = &*step.launch;
    }
  }
  return reader;
}

// Elements of all parts, and the size that gives so many, of a run.
constexpr std::int64_t kMostPartElements = 100'000;
constexpr std::int64_t kMostTriedSize = std::int64_t{1} << 40;

// Runs the launch that adds up.
class AdditionRun {
 public:
  AdditionRun(const MutationContext& context, const LaunchDirective& adding, PartialCounts& found)
      : alone_(context, adding), source_(alone_.context()), run_(alone_.context()), found_(found) {}

  // Whether it stores sums of so many parts as the other launch has blocks, whatever the size.
  bool AddsUp(const Expression& blocks, std::int64_t threads) {
    if (source_.sizes().size() > 1) return false;
    if (source_.size().empty()) {
      if (!AddsUpAt(blocks, 1)) return false;
    } else {
      // As many parts at last as a run takes: more than there are threads, so that each has to take several.
      std::int64_t most = 1;
      while (most < kMostTriedSize && 2 * PartsOf(blocks, most) * found_.bins <= kMostPartElements) most *= 2;
      if (PartsOf(blocks, most) <= threads) return false;
      for (const std::int64_t size : {std::int64_t{1}, std::int64_t{37}, std::int64_t{999}, most}) {
        if (size <= most && !AddsUpAt(blocks, size)) return false;
      }
    }
    bool hidden = false;
    found_.parameters = source_.Deciding(names_, hidden);
    return true;
  }

 private:
  // How many blocks count for a size; 0 if that is not known.
  std::int64_t PartsOf(const Expression& blocks, std::int64_t size) const {
    Variables variables = ToVariables(alone_.context().genome.parameters);
    if (!source_.size().empty()) variables[source_.size()] = Number::Integer(size);
    try {
      return blocks.EvaluateInteger(variables);
    } catch (const Error&) {
      return 0;
    }
  }

  bool AddsUpAt(const Expression& blocks, std::int64_t size) {
    GridSetting setting{alone_.context().genome.parameters, source_.size(), size};
    setting.open = true;
    const GridTrace trace = run_.Run(setting);
    names_.insert(trace.names.begin(), trace.names.end());
    if (!trace.refusal.empty() || trace.has_tickets) return false;
    const std::int64_t parts = PartsOf(blocks, size);
    if (parts < 1) return false;
    const GridMemory *partial = nullptr, *total = nullptr;
    for (const GridMemory& buffer : trace.buffers) {
      const auto is_stored = [](const GridCell& cell) { return cell.write.launch >= 0; };
      if (buffer.name == found_.partial) partial = &buffer;
      if (buffer.workspace || std::none_of(buffer.cells.begin(), buffer.cells.end(), is_stored)) continue;
      if (total != nullptr) return false;
      total = &buffer;
    }
    if (partial == nullptr || total == nullptr || total == partial || partial->fingerprints < 0) return false;
    if (partial->type != total->type || (total->type != "int" && total->type != "unsigned int")) return false;
    if (!found_.total.empty() && found_.total != total->name) return false;
    found_.total = total->name;
    found_.type = total->type;
    if (static_cast<std::int64_t>(total->cells.size()) != found_.bins) return false;
    if (static_cast<std::int64_t>(partial->cells.size()) > parts * found_.bins) return false;
    for (std::int64_t bin = 0; bin < found_.bins; ++bin) {
      std::uint64_t sum = 0;
      for (std::int64_t part = 0; part < parts; ++part) sum += FingerprintOf(partial->fingerprints + part * found_.bins + bin);
      const GridCell& cell = total->cells[static_cast<std::size_t>(bin)];
      if (cell.write.launch < 0 || cell.known == Knowledge::kUnknown || static_cast<std::uint64_t>(cell.number) != sum)
        return false;
    }
    return true;
  }

  LaunchAlone alone_;
  GridSource source_;
  GridRun run_;
  PartialCounts& found_;
  std::set<std::string> names_;
};

}  // namespace

std::optional<PartialCounts> PartialCountsOf(const MutationContext& context, const LaunchDirective& counting, int kernel,
                                             const std::string& parameter, std::int64_t bins) {
  std::size_t argument = 0;
  for (const int child : context.tree.node(kernel).children) {
    const SyntaxNode& node = context.tree.node(child);
    if (node.kind_name == "ParmDecl" && node.name == parameter) break;
    argument += node.kind_name == "ParmDecl" ? 1 : 0;
  }
  if (argument >= counting.arguments.size() || counting.grid.size() != 1 || counting.when) return std::nullopt;
  PartialCounts found;
  found.kernel = counting.kernel;
  found.partial = counting.arguments[argument];
  found.bins = bins;
  const auto& workspaces = context.rendered.workspaces;
  const auto is_it = [&](const Workspace& one) { return one.name == found.partial; };
  if (std::none_of(workspaces.begin(), workspaces.end(), is_it)) return std::nullopt;
  if (std::count(counting.arguments.begin(), counting.arguments.end(), found.partial) != 1) return std::nullopt;
  const LaunchDirective* const adding = OnlyReaderOf(context, counting, found.partial);
  if (adding == nullptr || adding->kernel == counting.kernel) return std::nullopt;
  const auto launches = [&](const Step& step) { return step.launch && step.launch->kernel == adding->kernel; };
  if (std::count_if(context.rendered.steps.begin(), context.rendered.steps.end(), launches) != 1) return std::nullopt;
  found.adding = adding->kernel;
  constexpr std::int64_t kLargestAddingBlock = 1024;
  std::int64_t threads = kLargestAddingBlock;
  try {
    threads = adding->block[0].EvaluateInteger(ToVariables(context.genome.parameters));
  } catch (const Error&) {
    // As many as a block may have.
  }
  if (!AdditionRun(context, *adding, found).AddsUp(counting.grid[0], threads)) return std::nullopt;
  // What is counted must not be where the sums go, and nobody in between may see them.
  bool between = false;
  for (const Step& step : context.rendered.steps) {
    if (step.launch && &*step.launch == adding) break;
    if (between &&
        ((step.launch && PassesBuffer(*step.launch, found.total)) || (step.memset && step.memset->buffer == found.total)))
      return std::nullopt;
    between = between || (step.launch && &*step.launch == &counting);
  }
  return PassesBuffer(counting, found.total) ? std::nullopt : std::optional(found);
}

KernelTemplate WithoutPartialCounts(KernelTemplate rendered, const std::vector<PartialCounts>& all) {
  for (const PartialCounts& one : all) {
    std::erase_if(rendered.steps, [&](const Step& step) { return step.launch && step.launch->kernel == one.adding; });
    std::erase_if(rendered.workspaces, [&](const Workspace& workspace) { return workspace.name == one.partial; });
    for (Step& step : rendered.steps) {
      if (!step.launch || step.launch->kernel != one.kernel) continue;
      std::replace(step.launch->arguments.begin(), step.launch->arguments.end(), one.partial, one.total);
    }
  }
  return rendered;
}

void LeaveOutPartialCounts(const MutationContext& without, const std::vector<PartialCounts>& all, Proposal& proposal) {
  for (const PartialCounts& one : all) {
    if (proposal.launch.empty() || proposal.launch.front().kernel != one.kernel) continue;
    const std::string name = UnusedName(without.tree.text(), "clear_counts");
    proposal.changes.push_back({GridSource(without).KernelNamed(one.kernel), Placement::kBefore,
                                fmt::format("__global__ void {0}({1}* counts) {{\n"
                                            "  for (int i = threadIdx.x; i < {2}; i += 256) counts[i] = 0;\n"
                                            "}}\n\n",
                                            name, one.type, one.bins)});
    proposal.launch.insert(proposal.launch.begin(),
                           {one.kernel, "before", fmt::format("launch {}({}) grid(1) block(256)", name, one.total)});
    proposal.launch.push_back({one.adding, "removed", ""});
    for (const auto& [parameter, value] : one.parameters) proposal.parameters[parameter] = value;
    return;
  }
}

}  // namespace evo
