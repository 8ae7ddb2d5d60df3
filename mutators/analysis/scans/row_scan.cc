#include "mutators/analysis/scans/row_scan.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/grid_runs/grid_run.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/numbers/fingerprint.h"

namespace evo {
namespace {

// Rows and elements of them: parts of a block, one element, several rounds of a block of 1024 threads, many rows.
constexpr std::pair<std::int64_t, std::int64_t> kRowTrials[] = {{3, 37},   {1, 1},  {5, 256}, {2, 1025},
                                                                {2, 5003}, {70, 3}, {1, 64}};

class RowScanFinder {
 public:
  explicit RowScanFinder(const MutationContext& context) : present_(context.genome.parameters), source_(context), run_(context) {}

  std::optional<PartScan> Find() {
    if (!source_.works_together() || source_.has_loop() || source_.sizes().size() != 2) return std::nullopt;
    for (const LaunchDirective* launch : source_.launches()) {
      if (launch->when || launch->cooperative || !launch->cluster.empty()) return std::nullopt;
    }
    const std::string first = *source_.sizes().begin(), second = *source_.sizes().rbegin();
    for (const auto& [rows, size] : {std::pair(first, second), std::pair(second, first)}) {
      found_ = {};
      found_.rows = rows;
      found_.size = size;
      const auto is_scan = [&](const auto& trial) { return IsScan(trial.first, trial.second); };
      if (!std::all_of(std::begin(kRowTrials), std::end(kRowTrials), is_scan)) continue;
      bool hidden = false;
      found_.parameters = source_.Deciding(names_, hidden);
      found_.kernels = source_.Kernels();
      found_.functions = source_.AllFunctions();
      return found_;
    }
    return std::nullopt;
  }

 private:
  static bool IsStoredIn(const GridMemory& memory) {
    return std::any_of(memory.cells.begin(), memory.cells.end(), [](const GridCell& cell) { return cell.write.launch >= 0; });
  }

  bool IsScan(std::int64_t rows, std::int64_t size) {
    GridSetting setting{present_, found_.size, size};
    setting.parameters[found_.rows] = rows;
    setting.open = true;
    const GridTrace trace = run_.Run(setting);
    names_.insert(trace.names.begin(), trace.names.end());
    names_.erase(found_.rows);
    if (!trace.refusal.empty() || trace.has_tickets) return false;
    const GridMemory* output = nullptr;
    for (const GridMemory& buffer : trace.buffers) {
      if (buffer.workspace || !IsStoredIn(buffer)) continue;
      if (output != nullptr) return false;
      output = &buffer;
    }
    if (output == nullptr || !IsPartScanType(output->type)) return false;
    if (!found_.input.empty()) return output->name == found_.output && IsScanOf(trace, *output, rows, size);
    for (const GridMemory& buffer : trace.buffers) {
      if (buffer.fingerprints < 0 || buffer.type != output->type) continue;
      for (const bool exclusive : {false, true}) {
        found_.input = buffer.name;
        found_.output = output->name;
        found_.type = output->type;
        found_.exclusive = exclusive;
        if (IsScanOf(trace, *output, rows, size)) return true;
      }
    }
    found_.input.clear();
    return false;
  }

  bool IsScanOf(const GridTrace& trace, const GridMemory& output, std::int64_t rows, std::int64_t size) const {
    const auto input =
        std::find_if(trace.buffers.begin(), trace.buffers.end(), [&](const GridMemory& one) { return one.name == found_.input; });
    const auto elements = static_cast<std::size_t>(rows * size);
    if (input == trace.buffers.end() || output.cells.size() != elements || input->cells.size() > elements) return false;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < elements; ++i) {
      const std::uint64_t element = FingerprintOf(input->fingerprints + static_cast<std::int64_t>(i));
      if (static_cast<std::int64_t>(i) % size == 0) sum = 0;
      const GridCell& cell = output.cells[i];
      // All is read, so that it is there.
      const bool is_read = i < input->cells.size() && input->cells[i].read.launch >= 0;
      const bool is_sum = cell.write.launch >= 0 && cell.known != Knowledge::kUnknown &&
                          static_cast<std::uint64_t>(cell.number) == (found_.exclusive ? sum : sum + element);
      if (!is_read || !is_sum) return false;
      sum += element;
    }
    return true;
  }

  const Parameters& present_;
  GridSource source_;
  GridRun run_;
  PartScan found_;
  std::set<std::string> names_;
};

}  // namespace

std::optional<PartScan> AsRowScan(const MutationContext& context) { return RowScanFinder(context).Find(); }

}  // namespace evo
