#include "mutators/analysis/scans/other_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace evo {
namespace {

constexpr std::size_t kMostSizesOfScan = 3;
// What a size without a number may be: elements of a block or of a thread. The first tells what the scan is.
constexpr std::int64_t kOtherNumbers[] = {512, 100, 8, 2048};
constexpr std::int64_t kOtherMultiples[] = {512, 1024, 2048};
constexpr std::int64_t kOtherMultiple = 512;

// `2048` of `#define SECTION 2048`.
std::optional<std::int64_t> NumberInText(const std::string& text, const std::string& name) {
  const std::string begin = fmt::format("#define {} ", name);
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return std::nullopt;
  std::size_t first = text.find_first_not_of(" (", at + begin.size());
  if (first == std::string::npos) return std::nullopt;
  const std::string_view line = std::string_view(text).substr(first, text.find('\n', first) - first);
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  const std::string_view rest = line.substr(static_cast<std::size_t>(stop - line.data()));
  if (error != std::errc{} || rest.find_first_not_of(" )uUlL\r") != std::string_view::npos) return std::nullopt;
  return number;
}

// But for how many elements there may be at most.
bool IsSame(const PrefixScan& a, const PrefixScan& b) {
  return a.input == b.input && a.output == b.output && a.total_to == b.total_to && a.type == b.type &&
         a.exclusive == b.exclusive && a.total == b.total && a.last_unread == b.last_unread &&
         a.powers_of_two == b.powers_of_two && a.multiple == b.multiple && a.only == b.only;
}

}  // namespace

std::variant<PrefixScan, std::string> ScanOfOneSize(const MutationContext& context, const std::set<std::string>& sizes,
                                                    const FindScanOfSize& find) {
  std::string first;
  if (sizes.size() > kMostSizesOfScan) return fmt::format("its launch lines name {} sizes", sizes.size());
  for (const std::string& size : sizes) {
    Parameters others;
    std::vector<std::string> free, conditions;
    for (const std::string& other : sizes) {
      if (other == size) continue;
      if (const auto number = NumberInText(context.tree.text(), other)) {
        others[other] = *number;
        conditions.push_back(fmt::format("{} == {}", other, *number));
      } else {
        free.push_back(other);
      }
    }
    if (free.size() > 1) continue;
    const auto with = [&](std::int64_t number) {
      Parameters all = others;
      if (!free.empty()) all[free.front()] = number;
      return find(size, all);
    };
    auto found = with(kOtherNumbers[0]);
    auto* const scan = std::get_if<PrefixScan>(&found);
    if (scan == nullptr) {
      const std::string& why = std::get<std::string>(found);
      if (first.empty() && !why.empty()) first = fmt::format("if {} is the number of elements, {}", size, why);
      continue;
    }
    const auto is_same_with = [&](std::int64_t number) {
      const auto again = with(number);
      const auto* const other = std::get_if<PrefixScan>(&again);
      // So many sums of blocks, each of as many elements as that size says.
      const std::int64_t most = scan->most / kOtherNumbers[0] * number;
      return other != nullptr && IsSame(*scan, *other) && other->most == most;
    };
    if (!free.empty() && scan->most % kOtherNumbers[0] != 0) {
      first = fmt::format("it is a scan of so many {} only as {} allows", size, free.front());
      continue;
    }
    const auto all_same = [&](const auto& numbers) {
      return std::all_of(std::begin(numbers) + 1, std::end(numbers), is_same_with);
    };
    if (!free.empty() && !all_same(kOtherNumbers)) {
      if (!all_same(kOtherMultiples)) {
        first = fmt::format("it is a scan of {} elements for some values of {} only", size, free.front());
        continue;
      }
      conditions.push_back(fmt::format("{} % {} == 0", free.front(), kOtherMultiple));
    }
    if (!free.empty() && scan->most > 0) {
      conditions.push_back(fmt::format("{} <= {} * {}", size, scan->most / kOtherNumbers[0], free.front()));
      scan->most = 0;
    }
    scan->other_when = fmt::format("{}", fmt::join(conditions, " && "));
    return found;
  }
  return first;
}

}  // namespace evo
