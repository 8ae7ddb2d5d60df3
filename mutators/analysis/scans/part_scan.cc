#include "mutators/analysis/scans/part_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/grid_runs/grid_run.h"
#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/numbers/fingerprint.h"
#include "mutators/analysis/numbers/integer_arithmetic.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// An odd number of elements; of which there are several parts, and the same for large blocks.
constexpr std::int64_t kPartScanned = 5003;
constexpr std::int64_t kPartScannedAtLast = 20'011;
// Shorter parts are no scan that one would look for.
constexpr std::int64_t kShortestPart = 4;

bool IsStored(const GridCell& cell) { return cell.write.launch >= 0; }

class PartScanFinder {
 public:
  explicit PartScanFinder(const MutationContext& context)
      : context_(context), present_(context.genome.parameters), source_(context), run_(context) {}

  std::variant<PartScan, std::string> Find() {
    found_.size = source_.size();
    if (!source_.resembles_work() || source_.has_loop() || found_.size.empty()) return "";
    for (const LaunchDirective* launch : source_.launches()) {
      if (launch->when || launch->cooperative || !launch->cluster.empty()) return "";
    }
    FindUnit();
    if (!FindPerSize()) return why_;
    if (!Learn(kPartScanned / found_.per_size) && !Learn(kPartScannedAtLast / found_.per_size)) return why_;
    const std::int64_t most = (found_.part + found_.per_size - 1) / found_.per_size;  // sizes of one part
    if (found_.unit > 1 && most % found_.unit != 0) return "its last part is of fewer elements";
    for (const std::int64_t size : {most, most + 1, 3 * most + 5}) {
      if (!IsAsFound(size)) return why_;
    }
    if (found_.unit > 1) {
      found_.when = fmt::format("{} >= {}", found_.size, most);
      return Found();
    }
    // Steps that follow the size and not the part may be too few of them below.
    const bool of_few = IsAsFound(1) && (most < 3 || (IsAsFound(most / 2 + 1) && IsAsFound(most - 1)));
    if (!of_few) found_.when = fmt::format("{} >= {}", found_.size, most);
    return Found();
  }

 private:
  PartScan Found() {
    bool hidden = false;
    found_.parameters = source_.Deciding(names_, hidden);
    found_.kernels = source_.Kernels();
    found_.functions = source_.AllFunctions();
    return found_;
  }

  // A grid of `n / 256` blocks.
  void FindUnit() {
    constexpr std::int64_t kLargestUnit = 1 << 12;
    Variables variables = ToVariables(present_);
    const auto has_blocks = [&](std::int64_t size) {
      variables[found_.size] = Number::Integer(size);
      return std::all_of(source_.launches().begin(), source_.launches().end(), [&](const LaunchDirective* launch) {
        try {
          return launch->grid[0].EvaluateInteger(variables) > 0;
        } catch (const Error&) {
          return true;
        }
      });
    };
    if (has_blocks(1) || !has_blocks(kLargestUnit)) return;
    std::int64_t without = 1, with = kLargestUnit;
    while (with - without > 1) {
      const std::int64_t middle = without + (with - without) / 2;
      (has_blocks(middle) ? with : without) = middle;
    }
    found_.unit = with;
  }

  std::int64_t Counted(std::int64_t size) const { return size / found_.unit * found_.unit * found_.per_size; }

  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool Run(std::int64_t size, GridTrace& trace) {
    GridSetting setting{present_, found_.size, size};
    setting.open = true;
    trace = run_.Run(setting);
    names_.insert(trace.names.begin(), trace.names.end());
    if (!trace.refusal.empty()) return Refuse(trace.refusal);
    return !trace.has_tickets || Refuse("its blocks wait for each other");
  }

  static std::vector<const GridMemory*> Stored(const GridTrace& trace) {
    std::vector<const GridMemory*> stored;
    for (const GridMemory& buffer : trace.buffers) {
      if (!buffer.workspace && std::any_of(buffer.cells.begin(), buffer.cells.end(), IsStored)) stored.push_back(&buffer);
    }
    return stored;
  }

  static std::int64_t CountOf(const GridMemory& buffer) {
    return std::count_if(buffer.cells.begin(), buffer.cells.end(), IsStored);
  }

  bool FindPerSize() {
    const std::int64_t few = found_.unit > 1 ? found_.unit : 37;
    GridTrace trace;
    if (!Run(few, trace)) return false;
    std::int64_t most = 0;
    for (const GridMemory* buffer : Stored(trace)) most = std::max(most, CountOf(*buffer));
    if (most > 0 && most % few == 0) found_.per_size = most / few;
    return true;
  }

  // Finds the arrays and the parts in a run that has several of them.
  bool Learn(std::int64_t size) {
    GridTrace trace;
    if (!Run(size, trace)) return false;
    auto stored = Stored(trace);
    if (stored.empty() || stored.size() > 2) return Refuse("it stores into no array, or into more than two");
    if (stored.size() == 2 && CountOf(*stored[0]) < CountOf(*stored[1])) std::swap(stored[0], stored[1]);
    const GridMemory& output = *stored[0];
    found_.output = output.name;
    found_.sums = stored.size() == 2 ? stored[1]->name : "";
    found_.type = output.type;
    if (!IsPartScanType(output.type)) return Refuse(fmt::format("its elements are of {}", output.type));
    for (const GridMemory& buffer : trace.buffers) {
      if (buffer.fingerprints < 0 || !AreSummedAs(buffer.type, output.type) || buffer.name == found_.sums) continue;
      found_.input = buffer.name;
      found_.input_type = buffer.type == output.type ? "" : buffer.type;
      for (const bool exclusive : {false, true}) {
        found_.exclusive = exclusive;
        found_.part = FirstPart(buffer, output);
        found_.whole = CountOf(output) != Counted(size);
        if (found_.part >= kShortestPart && found_.part < size * found_.per_size && IsPartScan(trace, size)) return true;
      }
    }
    return Refuse(trace.unknown.empty() ? fmt::format("{} has no prefix sums of equal parts", found_.output) : trace.unknown);
  }

  // How many elements have the sum of all before them.
  std::int64_t FirstPart(const GridMemory& input, const GridMemory& output) const {
    std::uint64_t sum = 0;
    std::int64_t at = 0;
    for (const GridCell& cell : output.cells) {
      const std::uint64_t element = FingerprintOf(input.fingerprints + at);
      if (!IsStored(cell) || static_cast<std::uint64_t>(cell.number) != (found_.exclusive ? sum : sum + element)) break;
      sum += element;
      ++at;
    }
    return at;
  }

  bool IsAsFound(std::int64_t size) {
    GridTrace trace;
    return Run(size, trace) && IsPartScan(trace, size);
  }

  bool IsPartScan(const GridTrace& trace, std::int64_t size) {
    const auto named = [&](const std::string& name) {
      const auto found =
          std::find_if(trace.buffers.begin(), trace.buffers.end(), [&](const auto& one) { return one.name == name; });
      return found == trace.buffers.end() ? nullptr : &*found;
    };
    const auto wrong = [&] { return Refuse(fmt::format("of {} elements, {} has something else", size, found_.output)); };
    const GridMemory *const input = named(found_.input), *const output = named(found_.output);
    const GridMemory* const sums = found_.sums.empty() ? nullptr : named(found_.sums);
    if (input == nullptr || output == nullptr || Stored(trace).size() > (sums == nullptr ? 1 : 2)) return wrong();
    const std::int64_t bound = Counted(size);
    const std::int64_t elements = found_.whole ? (bound + found_.part - 1) / found_.part * found_.part : bound;
    if (static_cast<std::int64_t>(input->cells.size()) < elements)
      return Refuse(fmt::format("it does not read all of {}", found_.input));
    std::uint64_t sum = 0;
    std::int64_t parts = 0;
    const auto is = [](const GridCell& cell, std::uint64_t number) {
      return IsStored(cell) && cell.known != Knowledge::kUnknown && static_cast<std::uint64_t>(cell.number) == number;
    };
    const auto has = [](const GridMemory& memory, std::int64_t at) { return static_cast<std::size_t>(at) < memory.cells.size(); };
    for (std::int64_t i = 0; i < elements; ++i) {
      const std::uint64_t element = FingerprintOf(input->fingerprints + i);
      // In place, the first element of a part may stay as it is.
      const bool kept = input == output && !found_.exclusive && i % found_.part == 0;
      if (kept && (!has(*output, i) || !IsStored(output->cells[static_cast<std::size_t>(i)]))) {
        sum = element;
      } else {
        if (i % found_.part == 0) sum = 0;
        if (!has(*output, i) || !is(output->cells[static_cast<std::size_t>(i)], found_.exclusive ? sum : sum + element))
          return wrong();
        sum += element;
      }
      if ((i + 1) % found_.part != 0 && i + 1 < elements) continue;
      if (sums != nullptr && (!has(*sums, parts) || !is(sums->cells[static_cast<std::size_t>(parts)], sum)))
        return Refuse(fmt::format("{} has not the sums of the parts", found_.sums));
      ++parts;
    }
    const bool more = CountOf(*output) > elements || (sums != nullptr && CountOf(*sums) != parts);
    return !more || wrong();
  }

  const MutationContext& context_;
  const Parameters& present_;
  GridSource source_;
  GridRun run_;
  PartScan found_;
  std::set<std::string> names_;
  std::string why_;
};

}  // namespace

std::string PartScan::Elements() const {
  const std::string whole_units = unit == 1 ? size : fmt::format("{} / {} * {}", size, unit, unit);
  const std::string all = per_size == 1 ? whole_units : fmt::format("{} * {}", whole_units, per_size);
  return whole ? fmt::format("ceil_div({}, {}) * {}", all, part, part) : all;
}

bool IsPartScanType(const std::string& type) {
  constexpr std::array kTypes{"float"sv, "double"sv,        "int"sv,       "unsigned int"sv,
                              "long"sv,  "unsigned long"sv, "long long"sv, "unsigned long long"sv};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

bool AreSummedAs(const std::string& input, const std::string& sums) {
  return input == sums || (IsNarrowInteger(input) && (sums == "int" || sums == "unsigned int"));
}

std::variant<PartScan, std::string> AsPartScan(const MutationContext& context) { return PartScanFinder(context).Find(); }

}  // namespace evo
