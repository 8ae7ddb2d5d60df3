#include "mutators/analysis/reductions/grid_sum_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "mutators/analysis/numbers/fingerprint.h"

namespace evo {
namespace {

bool WasWritten(const GridCell& cell) { return cell.write.launch >= 0; }

}  // namespace

bool GridSumRuns::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

bool GridSumRuns::Run(const Parameters& parameters, std::int64_t size) {
  GridSetting setting{parameters, size_, size, parameters == present_};
  setting.open = true;
  bool has_tickets = false;
  if (!RunIn(setting, has_tickets)) return false;
  if (!has_tickets) return true;
  const SummedElements first = found_;
  setting.reversed = true;
  return RunIn(setting, has_tickets) && (found_.elements == first.elements || Refuse("its blocks' order matters"));
}

bool GridSumRuns::RunIn(const GridSetting& setting, bool& has_tickets) {
  const GridTrace trace = run_.Run(setting);
  has_tickets = trace.has_tickets;
  names_.insert(trace.names.begin(), trace.names.end());
  const bool outside = trace.refusal.starts_with("it reads or writes outside");
  const bool none = trace.refusal.ends_with("has no blocks or threads");
  only_sums_ = (trace.refusal.empty() || outside || none) && trace.unknown.empty();
  in_blocks_ = outside || none;
  if (!trace.refusal.empty()) return Refuse(trace.refusal);
  std::vector<const GridMemory*> changed;  // what outlives the launches
  for (const GridMemory& buffer : trace.buffers) {
    if (!buffer.workspace && Compared(buffer) != 0 && std::any_of(buffer.cells.begin(), buffer.cells.end(), WasWritten))
      changed.push_back(&buffer);
  }
  const auto is_sum = [&](const GridMemory* output) {
    GridMemory compared;  // where only the first of its elements count
    if (Compared(*output) == 1) {
      compared = *output;
      compared.cells.resize(1);
    }
    return std::any_of(trace.buffers.begin(), trace.buffers.end(), [&](const GridMemory& input) {
      if (input.fingerprints < 0 || input.type.empty() || input.cells.empty()) return false;
      if (&input == output) return !compared.cells.empty() && FindSums(input, compared, false);
      const GridMemory& sums = compared.cells.empty() ? *output : compared;
      return FindSums(input, sums, false) || (!output->filled && FindSums(input, sums, true));
    });
  };
  const auto sum = std::find_if(changed.begin(), changed.end(), is_sum);
  in_blocks_ = sum == changed.end();
  if (in_blocks_) return Refuse(trace.unknown.empty() ? "it stores no sums of consecutive elements" : trace.unknown);
  if (changed.size() == 1) return true;
  const GridMemory* const other = changed[changed.front() == *sum ? 1 : 0];
  nearly_ = nearly_ || other->name == found_.input;
  return Refuse(fmt::format("{} gets the sum of elements of {}, but {} is changed, too, and what is left in it is a result",
                            (*sum)->name, found_.input, other->name));
}

std::optional<std::int64_t> GridSumRuns::Compared(const GridMemory& buffer) const {
  for (const CountedDirective& counted : rendered_.counted) {
    if (counted.argument == buffer.name && counted.elements.Names().empty()) return counted.elements.EvaluateInteger({});
  }
  return std::nullopt;
}

bool GridSumRuns::FindSums(const GridMemory& input, const GridMemory& output, bool adds) {
  std::unordered_map<std::uint64_t, std::int64_t> ends;  // by the sum of all elements before
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i <= input.cells.size(); ++i) {
    ends.emplace(sum, static_cast<std::int64_t>(i));
    sum += FingerprintOf(input.fingerprints + static_cast<std::int64_t>(i));
  }
  found_ = {input.name, output.name, input.type, output.type, adds};
  std::uint64_t before = 0;
  bool last = false;
  const auto written = std::find_if_not(output.cells.begin(), output.cells.end(), WasWritten);
  if (std::any_of(written, output.cells.end(), WasWritten)) return false;
  for (auto cell = output.cells.begin(); cell != written; ++cell) {
    auto number = static_cast<std::uint64_t>(cell->number);
    if (cell->known == Knowledge::kUnknown) return false;
    if (adds) number -= FingerprintOf(output.fingerprints + found_.parts);
    before += number;
    const auto end = ends.find(before);
    const std::int64_t taken = end == ends.end() ? 0 : end->second - found_.elements;
    if (taken == 0 && found_.parts > 0 && std::next(cell) == written) {
      found_.empty = true;
      break;
    }
    if (taken < 1 || last || (found_.parts > 0 && taken > found_.part)) return false;
    last = found_.parts > 0 && taken < found_.part;
    if (found_.parts == 0) found_.part = taken;
    found_.elements += taken;
    ++found_.parts;
  }
  return found_.parts > 0;
}

}  // namespace evo
