#include "mutators/analysis/scans/swapped_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/error.h"
#include "mutators/analysis/grid_runs/grid_run.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/scans/part_scan.h"

namespace evo {
namespace {

// Powers of two, what is around them, and some more than blocks have threads: with even and odd numbers of turns.
constexpr std::int64_t kSwappedSizes[] = {37, 1, 2, 3, 4, 5, 8, 9, 64, 65, 128, 129, 255, 256, 257, 1024, 1025, 2100};

class SwappedScanFinder {
 public:
  explicit SwappedScanFinder(const MutationContext& context)
      : context_(context), present_(context.genome.parameters), source_(context), run_(context) {}

  std::optional<SwappedScan> Find() {
    if (!FindLoop()) return std::nullopt;
    PrefixScan& scan = found_.scan;
    for (const auto& [input, output] : {std::pair(swap_.first, swap_.second), std::pair(swap_.second, swap_.first)}) {
      scan.input = input;
      scan.output = output;
      const auto is_scan = [&](std::int64_t size) { return IsScan(size); };
      if (!std::all_of(std::begin(kSwappedSizes), std::end(kSwappedSizes), is_scan)) continue;
      bool hidden = false;
      scan.parameters = source_.Deciding(names_, hidden);
      scan.functions = source_.AllFunctions();
      return found_;
    }
    return std::nullopt;
  }

 private:
  // The source is one loop, of one launch and one exchange of two buffers that are no scratch.
  bool FindLoop() {
    const auto& steps = context_.rendered.steps;
    if (steps.size() != 3 || !steps[0].repeat || !steps[1].launch || !steps[2].end || source_.size().empty()) return false;
    if (steps[0].repeat->swaps.size() != 1 || !context_.rendered.workspaces.empty()) return false;
    const LaunchDirective& launch = *steps[1].launch;
    if (launch.when || launch.cooperative || !launch.cluster.empty()) return false;
    count_ = steps[0].repeat->count;
    const auto names = count_.Names();
    if (std::find(names.begin(), names.end(), source_.size()) == names.end()) return false;
    swap_ = steps[0].repeat->swaps.front();
    PrefixScan& scan = found_.scan;
    scan.launch = &launch;
    scan.kernel = source_.KernelNamed(launch.kernel);
    scan.repeated = true;
    scan.size = source_.size();
    scan.wide = source_.wide();
    found_.turns = fmt::format("({})", count_.text());
    found_.window = fmt::format("power(2, max({} - 1, 0))", found_.turns);
    return true;
  }

  const GridMemory* Named(const GridTrace& trace, const std::string& name) const {
    const auto found =
        std::find_if(trace.buffers.begin(), trace.buffers.end(), [&](const auto& one) { return one.name == name; });
    return found == trace.buffers.end() ? nullptr : &*found;
  }

  bool IsScan(std::int64_t size) {
    PrefixScan& scan = found_.scan;
    Variables variables = ToVariables(present_);
    variables[scan.size] = Number::Integer(size);
    std::int64_t turns = 0;
    try {
      turns = count_.EvaluateInteger(variables);
    } catch (const Error&) {
      return false;
    }
    const GridTrace trace = run_.Run({present_, scan.size, size});
    names_.insert(trace.names.begin(), trace.names.end());
    if (!trace.refusal.empty() || trace.has_tickets) return false;
    if (turns < 1) return size == 1 && std::none_of(trace.buffers.begin(), trace.buffers.end(), HasStored);
    const GridMemory *const input = Named(trace, scan.input), *const output = Named(trace, scan.output);
    if (input == nullptr || output == nullptr || input->fingerprints < 0 || output->fingerprints < 0) return false;
    if (input->type != output->type || !IsPartScanType(input->type) || (!scan.type.empty() && scan.type != input->type))
      return false;
    scan.type = input->type;
    scan.long_elements = scan.type == "double" || scan.type.find("long") != std::string::npos;
    const auto is_other = [&](const GridMemory& one) { return &one != input && &one != output && HasStored(one); };
    if (std::any_of(trace.buffers.begin(), trace.buffers.end(), is_other)) return false;
    const bool odd = turns % 2 == 1;
    const GridMemory &result = odd ? *output : *input, &other = odd ? *input : *output;
    if (!HasWindows(result, *input, size, size)) return false;
    if (turns == 1) return !HasStored(other);
    return turns < 62 && HasWindows(other, *input, size, std::int64_t{1} << (turns - 1));
  }

  static bool HasStored(const GridMemory& memory) {
    return std::any_of(memory.cells.begin(), memory.cells.end(), [](const GridCell& cell) { return cell.write.launch >= 0; });
  }

  // Whether all elements of a memory are sums of so many elements of the input at most, each with its own as the last.
  static bool HasWindows(const GridMemory& memory, const GridMemory& input, std::int64_t size, std::int64_t window) {
    if (static_cast<std::int64_t>(memory.cells.size()) != size) return false;
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      sum += FingerprintOf(input.fingerprints + i);
      if (i >= window) sum -= FingerprintOf(input.fingerprints + i - window);
      const GridCell& cell = memory.cells[static_cast<std::size_t>(i)];
      if (cell.write.launch < 0 || cell.known == Knowledge::kUnknown || static_cast<std::uint64_t>(cell.number) != sum)
        return false;
    }
    return true;
  }

  const MutationContext& context_;
  const Parameters& present_;
  GridSource source_;
  GridRun run_;
  SwapDirective swap_;
  Expression count_ = Expression::Parse("0");
  SwappedScan found_;
  std::set<std::string> names_;
};

}  // namespace

std::optional<SwappedScan> AsSwappedScan(const MutationContext& context) {
  // Other launches may come before the loop. Behind it, names would depend on the number of turns.
  const auto& steps = context.rendered.steps;
  const std::size_t first = steps.size() < 3 ? 0 : steps.size() - 3;
  const auto is_launch = [](const Step& step) { return step.launch.has_value(); };
  const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(first);
  if (first == 0 || !std::all_of(steps.begin(), begin, is_launch) || !steps[first].repeat || !steps[first + 1].launch)
    return SwappedScanFinder(context).Find();
  const LaunchDirective& launch = *steps[first + 1].launch;
  const auto is_same = [&](const Step& step) { return step.launch && step.launch->kernel == launch.kernel; };
  if (std::count_if(steps.begin(), steps.end(), is_same) != 1) return std::nullopt;
  for (const SwapDirective& swap : steps[first].repeat->swaps) {
    for (const auto& workspace : context.rendered.workspaces) {
      if (workspace.name == swap.first || workspace.name == swap.second) return std::nullopt;
    }
  }
  KernelTemplate rendered = context.rendered;
  rendered.steps.assign(begin, steps.end());
  rendered.workspaces.clear();
  const MutationContext alone{context.kernel_template, context.genome,           context.tree, rendered,
                              context.second_parent,   context.product_elsewhere};
  auto found = SwappedScanFinder(alone).Find();
  if (found) found->scan.launch = &launch;
  return found;
}

}  // namespace evo
