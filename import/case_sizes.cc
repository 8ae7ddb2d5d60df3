#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "core/error.h"
#include "core/expression.h"
#include "import/draft_names.h"
#include "import/task_draft.h"
#include "kernel_templates/launch_line.h"

namespace evo {
namespace {

// Sizes up to this one are structure (channels, heads, a filter's width) and the same in every case.
constexpr std::int64_t kStructural = 32;
// No other size is made smaller than this, so that a case has several blocks.
constexpr std::int64_t kSmallest = 64;
// Loop bodies of a case on the cpu device, about 10 ms of a plain kernel there, and of the small and the held-out case.
constexpr double kCpuWork = 1 << 19;
constexpr double kSmallWork = 1 << 15;
constexpr double kHeldOutCpuWork = 1 << 17;
// A case for a GPU has at least so many elements in all arguments (some 40 us on one with 4 TB/s) or so many loop bodies (some
// 3 ms at 5 Tflop/s), and is not grown beyond that.
constexpr double kGpuElements = 1 << 25;
constexpr double kGpuWork = 8e9;
// What a case has at most: 1 GiB of fp32, and some 100 ms.
constexpr double kMostElements = 1 << 28;
constexpr double kMostWork = 2.5e11;

constexpr std::string_view kLaunch = "launch ";
constexpr std::array<std::int64_t, 3> kMostBlocks{2147483647, 65535, 65535};
constexpr double kMostAlongZ = 64;         // threads of a block
constexpr double kMostShared = 48 * 1024;  // bytes that every device gives a block

std::int64_t RoundedDown(std::int64_t value, std::int64_t multiple) { return std::max(multiple, value / multiple * multiple); }

std::int64_t Legal(std::int64_t value, const DraftSize& size) {
  const std::int64_t rounded = RoundedDown(value, size.multiple);
  return size.power_of_two ? static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rounded))) : rounded;
}

// How much of it there is: 1 << k of an exponent k.
std::int64_t Extent(const DraftCase& sizes, const DraftSize& size) {
  const std::int64_t value = sizes.at(size.name);
  return size.exponent ? std::int64_t{1} << std::clamp<std::int64_t>(value, 0, 40) : value;
}

class CaseChooser {
 public:
  explicit CaseChooser(TaskDraft& draft) : draft_(draft) {
    for (const std::string& step : draft.steps) {
      if (step.starts_with(kLaunch)) AddLaunch(std::string_view(step).substr(kLaunch.size()));
    }
  }

  // A size that nothing in the program says and that makes an argument smaller is the width of a window, as K of `n - K + 1` is.
  void NarrowWindows() {
    DraftCase host;
    for (const DraftSize& size : draft_.sizes) host[size.name] = size.value;
    for (DraftSize& size : draft_.sizes) {
      if (size.known || size.given || size.exponent || size.multiple > 1 || size.power_of_two) continue;
      DraftCase wider = host;
      ++wider[size.name];
      const auto narrows = [&](const std::string& dimension) {
        const auto before = Value(dimension, host), after = Value(dimension, wider);
        return before && after && *after < *before;
      };
      const bool window = std::any_of(draft_.arguments.begin(), draft_.arguments.end(), [&](const DraftArgument& one) {
        return std::any_of(one.shape.begin(), one.shape.end(), narrows);
      });
      if (window) size.value = kUnknownWindow;
    }
  }

  void Run() {
    DraftCase host;
    // What must be a multiple and is none is rounded up, as the host does.
    for (const DraftSize& size : draft_.sizes) host[size.name] = (size.value + size.multiple - 1) / size.multiple * size.multiple;
    host = WithBlocks(host);
    const DraftCase search =
        Grown(Shrunk(host, [&](const DraftCase& c) { return Elements(c) > kMostElements || Work(c) > kMostWork; }));
    DraftCases& cases = draft_.cases;
    cases.search = search;
    cases.search_cpu = Shrunk(search, [&](const DraftCase& c) { return CpuWork(c) > kCpuWork; });
    cases.small = Ragged(Shrunk(cases.search_cpu, [&](const DraftCase& c) { return CpuWork(c) > kSmallWork; }), 3);
    const double half = Work(search) / 2;
    cases.held_out = {Ragged(Shrunk(search, [&](const DraftCase& c) { return Work(c) > half; }), 5)};
    if (search != host && std::all_of(draft_.sizes.begin(), draft_.sizes.end(), [](const auto& s) { return s.known; }))
      cases.held_out.push_back(host);
    cases.held_out_cpu = Ragged(Shrunk(cases.search_cpu, [&](const DraftCase& c) { return CpuWork(c) > kHeldOutCpuWork; }), 5);
    KeepConditions();
    Note(host, search);
    double elements = 0;
    for (const DraftArgument& argument : draft_.arguments) {
      if (argument.role == "out" || argument.role == "inout") elements = std::max(elements, ElementsOf(argument, host));
    }
    draft_.each_adds = elements * Value(draft_.terms, host).value_or(1) <= 2 * Value(draft_.work, host).value_or(1) ||
                       Value(draft_.terms, host).value_or(1) <= kStructural;
  }

 private:
  // Values of parameters with which the host would make other launches in some case are left out.
  void KeepConditions() {
    if (draft_.conditions.empty()) return;
    std::vector<DraftCase> all = draft_.cases.held_out;
    for (const DraftCase* one : {&draft_.cases.small, &draft_.cases.search, &draft_.cases.search_cpu, &draft_.cases.held_out_cpu})
      all.push_back(*one);
    for (DraftParameter& parameter : draft_.parameters) {
      const std::int64_t present = parameter.value;
      std::erase_if(parameter.values, [&](std::int64_t value) {
        parameter.value = value;
        return value != present && !std::all_of(all.begin(), all.end(), [&](const DraftCase& one) { return HasBlocks(one); });
      });
      parameter.value = present;
    }
  }

  std::optional<double> Value(const std::string& expression, const DraftCase& sizes) const {
    Variables variables;
    for (const auto& [name, value] : sizes) variables[name] = Number::Integer(value);
    for (const DraftParameter& parameter : draft_.parameters) variables[parameter.name] = Number::Integer(parameter.value);
    try {
      return Expression::Parse(expression).Evaluate(variables).AsReal();
    } catch (const Error&) {
      return std::nullopt;  // the loader says it
    }
  }

  double ElementsOf(const DraftArgument& argument, const DraftCase& sizes) const {
    double count = argument.role == "scalar" ? 0 : 1;
    for (const std::string& dimension : argument.shape) count *= Value(dimension, sizes).value_or(1);
    return count;
  }

  double Elements(const DraftCase& sizes) const {
    double total = 0;
    for (const DraftArgument& argument : draft_.arguments) total += ElementsOf(argument, sizes);
    return total;
  }

  // At least the elements of the largest argument.
  double Work(const DraftCase& sizes) const {
    double work = Value(draft_.work, sizes).value_or(1);
    for (const DraftArgument& argument : draft_.arguments) work = std::max(work, ElementsOf(argument, sizes));
    return work;
  }

  double CpuWork(const DraftCase& sizes) const {
    return Work(sizes) + (draft_.barriers.empty() ? 0 : Value(draft_.barriers, sizes).value_or(0));
  }

  void AddLaunch(std::string_view line) {
    LaunchLine parts;
    try {
      parts = ParseLaunchLine(line);
    } catch (const Error&) {
      return;  // the loader says it
    }
    const auto dimensions = [&](std::string_view clause) {
      const LaunchClause* const found = parts.Find(clause);
      return found != nullptr && found->inside ? SplitAtCommas(found->inside->Of(line)) : std::vector<std::string>{};
    };
    const auto shared = dimensions("shared");
    launches_.push_back({dimensions("grid"), dimensions("block"), shared.empty() ? "0" : shared.front()});
  }

  // Whether any device can have these launches.
  bool CanLaunch(const DraftCase& sizes) const {
    return std::all_of(launches_.begin(), launches_.end(), [&](const Launch& launch) {
      double threads = 1;
      for (const std::string& dimension : launch.block) threads *= Value(dimension, sizes).value_or(1);
      bool fits =
          threads <= kMostThreads && (launch.block.size() < 3 || Value(launch.block[2], sizes).value_or(1) <= kMostAlongZ);
      for (std::size_t i = 0; i < std::min(launch.grid.size(), kMostBlocks.size()); ++i)
        fits = fits && Value(launch.grid[i], sizes).value_or(1) <= static_cast<double>(kMostBlocks[i]);
      return fits && Value(launch.shared, sizes).value_or(0) <= kMostShared;
    });
  }

  // Whether every argument has elements, the host makes these launches, and every launch has a block, and every block a thread,
  // as far as that is known before the loops of launches run.
  bool HasBlocks(const DraftCase& sizes) const {
    const auto holds = [&](const std::string& condition) { return Value(condition, sizes).value_or(1) != 0; };
    if (!std::all_of(draft_.conditions.begin(), draft_.conditions.end(), holds)) return false;
    const auto is_there = [&](const std::string& dimension) { return Value(dimension, sizes).value_or(1) >= 1; };
    const auto has_elements = [&](const DraftArgument& one) { return std::all_of(one.shape.begin(), one.shape.end(), is_there); };
    if (!std::all_of(draft_.arguments.begin(), draft_.arguments.end(), has_elements)) return false;
    return std::all_of(launches_.begin(), launches_.end(), [&](const Launch& launch) {
      return std::all_of(launch.grid.begin(), launch.grid.end(), is_there) &&
             std::all_of(launch.block.begin(), launch.block.end(), is_there);
    });
  }

  // One of the sizes that nothing in the program says, smaller or larger, such that there are blocks, `grid(64 / parts)`, and
  // none is too large. One that is smaller than a block is the same in every case.
  DraftCase WithBlocks(const DraftCase& sizes) {
    if (HasBlocks(sizes) && CanLaunch(sizes)) return sizes;
    constexpr int kMostDoublings = 24;
    for (DraftSize& size : draft_.sizes) {
      if (size.known || size.given) continue;
      std::vector<std::int64_t> values;
      for (std::int64_t value = size.value / 2; value >= 1; value /= 2) values.push_back(value);
      for (int step = 1; step <= kMostDoublings && size.value << step < kMostBlocks[0]; ++step)
        values.push_back(size.value << step);
      for (const std::int64_t value : values) {
        DraftCase other = sizes;
        other[size.name] = value < size.multiple ? value : Legal(value, size);
        if (!HasBlocks(other) || !CanLaunch(other)) continue;
        size.fixed = size.fixed || value < size.multiple;
        return other;
      }
    }
    return sizes;
  }

  // Halves the largest size that may shrink while there is too much of it.
  template <typename TooMuch>
  DraftCase Shrunk(DraftCase sizes, const TooMuch& too_much) const {
    std::set<std::string> fixed;
    while (too_much(sizes)) {
      const DraftSize* largest = nullptr;
      for (const DraftSize& size : draft_.sizes) {
        if (size.fixed || Extent(sizes, size) / 2 < std::max(kSmallest, size.multiple) || fixed.contains(size.name)) continue;
        if (largest == nullptr || Extent(sizes, size) > Extent(sizes, *largest)) largest = &size;
      }
      if (largest == nullptr) break;
      DraftCase smaller = sizes;
      smaller[largest->name] = largest->exponent ? sizes[largest->name] - 1 : Legal(sizes[largest->name] / 2, *largest);
      // One that changes little, such as a number of steps, keeps its value.
      const bool less = CpuWork(smaller) < 0.9 * CpuWork(sizes) || Elements(smaller) < 0.9 * Elements(sizes);
      if (less && (HasBlocks(smaller) || !HasBlocks(sizes))) {
        sizes = std::move(smaller);
      } else {
        fixed.insert(largest->name);
      }
    }
    return sizes;
  }

  // Whether it is only how many blocks there are.
  bool IsGrid(const std::string& name) const {
    return std::any_of(launches_.begin(), launches_.end(), [&](const Launch& launch) {
      return std::find(launch.grid.begin(), launch.grid.end(), name) != launch.grid.end();
    });
  }

  // Doubles the smallest size that may grow until a large GPU has enough to do.
  DraftCase Grown(DraftCase sizes) const {
    std::set<std::string> fixed;
    while (Elements(sizes) < kGpuElements && Work(sizes) < kGpuWork) {
      const DraftSize* smallest = nullptr;
      for (const DraftSize& size : draft_.sizes) {
        if (size.given || size.fixed || Extent(sizes, size) <= kStructural || fixed.contains(size.name)) continue;
        if (IsGrid(size.name) && draft_.sizes.size() > 1) continue;
        if (smallest == nullptr || Extent(sizes, size) < Extent(sizes, *smallest)) smallest = &size;
      }
      if (smallest == nullptr) break;
      DraftCase larger = sizes;
      larger[smallest->name] = smallest->exponent ? larger[smallest->name] + 1 : larger[smallest->name] * 2;
      const bool adds = Elements(larger) > Elements(sizes) && Elements(larger) <= kMostElements && Work(larger) <= 4 * kGpuWork;
      if (adds && CanLaunch(larger) && HasBlocks(larger)) {
        sizes = std::move(larger);
      } else {
        fixed.insert(smallest->name);
      }
    }
    return sizes;
  }

  // No multiples of block sizes where any value is legal; else another multiple.
  DraftCase Ragged(DraftCase sizes, std::int64_t odd) const {
    for (const DraftSize& size : draft_.sizes) {
      std::int64_t& value = sizes[size.name];
      if (value <= kStructural || size.fixed) continue;
      const std::int64_t plain = value;
      const bool had_blocks = HasBlocks(sizes);
      if (size.ragged && size.multiple == 1 && !size.power_of_two) {
        value = std::max<std::int64_t>(kStructural + 1, value - value / 8 - odd);
        if (value % 2 == 0) ++value;
      } else {
        value = Legal(value - value / 4, size);
      }
      if (had_blocks && !HasBlocks(sizes)) value = plain;
    }
    return sizes;
  }

  void Note(const DraftCase& host, const DraftCase& search) const {
    std::vector<std::string> changed;
    std::vector<std::string> keep;
    for (const DraftSize& size : draft_.sizes) {
      if (!size.known || host.at(size.name) == search.at(size.name)) continue;
      changed.push_back(fmt::format("{} = {} instead of {}", size.name, search.at(size.name), size.value));
      keep.push_back(fmt::format("--set {}={}", size.name, size.value));
    }
    if (changed.empty()) return;
    draft_.notes.push_back(fmt::format("timed on a GPU with {}, so that it runs for 20 us to 5 ms; {} keeps the host's",
                                       fmt::join(changed, ", "), fmt::join(keep, " ")));
  }

  struct Launch {
    std::vector<std::string> grid, block;  // expressions
    std::string shared;
  };
  TaskDraft& draft_;
  std::vector<Launch> launches_;
};

}  // namespace

void ChooseCases(TaskDraft& draft) {
  CaseChooser chooser(draft);
  chooser.NarrowWindows();
  chooser.Run();
}

}  // namespace evo
