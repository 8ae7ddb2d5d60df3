#include "mutators/analysis/scans/row_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "kernel_templates/launch_argument.h"
#include "mutators/analysis/grid_runs/grid_run.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Rows and elements of them: parts of a block, one element, several rounds of a block of 1024 threads, many rows.
constexpr std::pair<std::int64_t, std::int64_t> kRowTrials[] = {{3, 37},   {1, 1},  {5, 256}, {2, 1025},
                                                                {2, 5003}, {70, 3}, {1, 64}};
// Of a size that decides how many elements one row has.
constexpr std::int64_t kBoundedTrials[] = {37, 1, 256, 1025, 5003, 64, 2, 700};
// A single block scans no more.
constexpr std::int64_t kManyElements = 1 << 22, kMostOfOneRow = 1 << 16;
constexpr std::int64_t kFewestOfRow = 4;
// Rows of so many elements at least are right where longer ones need more threads than a block has.
constexpr std::int64_t kFewestBounded = 256;
constexpr const char* kElementsAtOnce = "elements at once that do not begin at a multiple";

class RowScanFinder {
 public:
  explicit RowScanFinder(const MutationContext& context) : present_(context.genome.parameters), source_(context), run_(context) {}

  std::optional<PartScan> Find() {
    if (!source_.resembles_work() || source_.has_loop() || source_.sizes().size() > 2) return std::nullopt;
    for (const LaunchDirective* launch : source_.launches()) {
      if (launch->when || launch->cooperative || !launch->cluster.empty()) return std::nullopt;
    }
    if (source_.sizes().empty()) return FindNumbers();
    if (source_.sizes().size() == 1) return FindBounded();
    const std::string first = *source_.sizes().begin(), second = *source_.sizes().rbegin();
    for (const auto& [rows, size] : {std::pair(first, second), std::pair(second, first)}) {
      if (HoldsForMultiples(rows, size, 1) ||
          (last_.find(kElementsAtOnce) != std::string::npos && HoldsForMultiples(rows, size, 4)))
        return Found();
    }
    return std::nullopt;
  }

  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why) {
    last_ = why;
    if (why_.empty()) why_ = std::move(why);
    return false;
  }

  // Rows of multiples of so many elements, such as those that are loaded at once.
  bool HoldsForMultiples(const std::string& rows, const std::string& size, std::int64_t multiple) {
    found_ = {};
    found_.rows = rows;
    found_.size = size;
    if (multiple > 1) found_.when = fmt::format("{} % {} == 0", size, multiple);
    std::int64_t right = 0, wrong = 0;
    const auto is_scan = [&](const auto& trial) {
      last_.clear();
      const std::int64_t elements = trial.second * multiple;
      const bool found = IsScan(trial.first, elements);
      if (found) right = std::max(right, elements);
      // A block of as many threads as a row has elements.
      const bool longer = right >= kFewestBounded && elements > right;
      const bool too_wide = !found && longer && last_.ends_with(" threads");
      if (too_wide && wrong == 0) wrong = elements;
      return found || too_wide;
    };
    if (!std::all_of(std::begin(kRowTrials), std::end(kRowTrials), is_scan)) return false;
    return wrong == 0 || (multiple == 1 && FindMostOfRow(right, wrong));
  }

  // Rows of more elements than a block may have threads are none.
  bool FindMostOfRow(std::int64_t right, std::int64_t wrong) {
    while (wrong - right > 1) {
      const std::int64_t middle = right + (wrong - right) / 2;
      (IsScan(2, middle) ? right : wrong) = middle;
    }
    found_.when = fmt::format("{} <= {}", found_.size, right);
    return IsScan(1, right) && IsScan(3, right / 2 + 1) && IsScan(2, right - 1);
  }

  PartScan Found() {
    bool hidden = false;
    found_.parameters = source_.Deciding(names_, hidden);
    found_.kernels = source_.Kernels();
    found_.functions = source_.AllFunctions();
    return found_;
  }

  // No size decides anything: so many elements as it stores, in rows of one length.
  std::optional<PartScan> FindNumbers() {
    const auto is_scan = [&](const GridTrace& trace, const GridMemory& output) {
      const auto elements = static_cast<std::int64_t>(output.cells.size());
      const std::int64_t length = FirstRow(trace, output);
      if (length < kFewestOfRow || elements % length != 0) return Refuse(fmt::format("{} has no prefix sums", output.name));
      found_.rows = std::to_string(elements / length);
      found_.size = std::to_string(length);
      return IsScanOf(trace, output, elements / length, length);
    };
    return IsScanWith({present_, "", 0}, is_scan) ? std::optional(Found()) : std::nullopt;
  }

  // How many elements have the sum of all before them.
  std::int64_t FirstRow(const GridTrace& trace, const GridMemory& output) const {
    const auto input =
        std::find_if(trace.buffers.begin(), trace.buffers.end(), [&](const GridMemory& one) { return one.name == found_.input; });
    std::uint64_t sum = 0;
    std::int64_t at = 0;
    for (const GridCell& cell : output.cells) {
      const std::uint64_t element = FingerprintOf(input->fingerprints + at);
      if (static_cast<std::uint64_t>(cell.number) != (found_.exclusive ? sum : sum + element)) break;
      sum += element;
      ++at;
    }
    return at;
  }

  // One row of so many elements as an expression of launch lines says, which are never many.
  std::optional<PartScan> FindBounded() {
    const std::string size = *source_.sizes().begin();
    for (const Expression& length : ExpressionsOf(size)) {
      const auto length_with = [&](std::int64_t number) {
        Variables variables = ToVariables(present_);
        variables[size] = Number::Integer(number);
        try {
          return length.EvaluateInteger(variables);
        } catch (const Error&) {
          return std::int64_t{-1};
        }
      };
      if (length_with(kManyElements) < 1 || length_with(kManyElements) > kMostOfOneRow) continue;
      found_ = {};
      found_.rows = "1";
      found_.size = length.text();
      const auto is_scan = [&](std::int64_t number) {
        const auto is_row = [&](const GridTrace& trace, const GridMemory& output) {
          return IsScanOf(trace, output, 1, length_with(number));
        };
        return IsScanWith({present_, size, number}, is_row);
      };
      if (std::all_of(std::begin(kBoundedTrials), std::end(kBoundedTrials), is_scan)) return Found();
    }
    return std::nullopt;
  }

  // What launch lines pass as integers that are computed of a size.
  std::vector<Expression> ExpressionsOf(const std::string& size) const {
    std::vector<Expression> all;
    for (const LaunchDirective* launch : source_.launches()) {
      for (const std::string& text : launch->arguments) {
        try {
          const Expression expression = Expression::Parse(ParseLaunchArgument(text).text);
          if (expression.text() != size && ContainsName(expression.text(), size)) all.push_back(expression);
        } catch (const Error&) {
          continue;
        }
      }
    }
    return all;
  }

  static bool IsStoredIn(const GridMemory& memory) {
    return std::any_of(memory.cells.begin(), memory.cells.end(), [](const GridCell& cell) { return cell.write.launch >= 0; });
  }

  bool IsScan(std::int64_t rows, std::int64_t size) {
    GridSetting setting{present_, found_.size, size};
    setting.parameters[found_.rows] = rows;
    const bool found = IsScanWith(
        setting, [&](const GridTrace& trace, const GridMemory& output) { return IsScanOf(trace, output, rows, size); });
    names_.erase(found_.rows);
    return found;
  }

  // Whether what a run stores is a scan. The first run finds the arrays.
  template <typename IsIt>
  bool IsScanWith(GridSetting setting, IsIt is_it) {
    setting.open = true;
    setting.axes = true;
    const GridTrace trace = run_.Run(setting);
    names_.insert(trace.names.begin(), trace.names.end());
    if (!trace.refusal.empty()) return Refuse(trace.refusal);
    if (trace.has_tickets) return Refuse("its blocks wait for each other");
    const GridMemory* output = nullptr;
    for (const GridMemory& buffer : trace.buffers) {
      if (buffer.workspace || !IsStoredIn(buffer)) continue;
      if (output != nullptr)
        return Refuse(fmt::format("it stores into {} and {}, and both are results", output->name, buffer.name));
      output = &buffer;
    }
    if (output == nullptr) return Refuse("it stores nothing");
    if (!IsPartScanType(output->type)) return Refuse(fmt::format("its elements are of {}", output->type));
    if (!found_.input.empty()) return output->name == found_.output && is_it(trace, *output);
    for (const GridMemory& buffer : trace.buffers) {
      if (buffer.fingerprints < 0 || !AreSummedAs(buffer.type, output->type)) continue;
      for (const bool exclusive : {false, true}) {
        found_.input = buffer.name;
        found_.output = output->name;
        found_.type = output->type;
        found_.input_type = buffer.type == output->type ? "" : buffer.type;
        found_.exclusive = exclusive;
        if (is_it(trace, *output)) return true;
      }
    }
    found_.input.clear();
    return Refuse(trace.unknown.empty() ? fmt::format("{} has no prefix sums of its rows", output->name) : trace.unknown);
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
      // In place, the first element may stay as it is.
      const bool kept = &*input == &output && !found_.exclusive && cell.write.launch < 0 && sum == 0;
      if ((!is_read || !is_sum) && !kept) return false;
      sum += element;
    }
    return true;
  }

  const Parameters& present_;
  GridSource source_;
  GridRun run_;
  PartScan found_;
  std::set<std::string> names_;
  std::string why_, last_;  // the first reason, and that of the last run that had one
};

}  // namespace

std::optional<PartScan> AsRowScan(const MutationContext& context, std::string& why) {
  RowScanFinder finder(context);
  auto found = finder.Find();
  if (!found) why = finder.why();
  return found;
}

}  // namespace evo
