#include "mutators/analysis/rows/row_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "mutators/analysis/attention/attention_check.h"
#include "mutators/analysis/rows/row_search.h"
#include "mutators/analysis/rows/row_trials.h"
#include "mutators/analysis/source/constant_value.h"

namespace evo {
namespace {

constexpr std::int64_t kMostTriedLength = 1 << 16;
constexpr std::int64_t kMostTriedThreads = 1 << 17;  // of a launch
constexpr std::int64_t kFewRows = 67;
// Beyond these, a number that data is compared with stands for an infinity.
constexpr double kLikeInfinity = 1e4;
// Of rows that have a limit.
constexpr std::int64_t kMostLimit = 4096;

// The most that a launch has.
std::int64_t MostOfLaunches(const SourceRuns& runs, const LaunchRuns::Sizes& sizes,
                            std::int64_t (*of)(const LaunchRuns::Setting&)) {
  std::int64_t most = 0;
  for (const SourceRuns::Link& link : runs.links()) {
    const auto setting = link.runs ? link.runs->SettingOf(sizes) : std::nullopt;
    if (setting) most = std::max(most, of(*setting));
  }
  return most;
}
std::int64_t ThreadsOf(const LaunchRuns::Setting& one) { return one.block[0] * one.block[1] * one.block[2]; }
std::int64_t LongestAxisOf(const LaunchRuns::Setting& one) { return *std::max_element(one.grid.begin(), one.grid.end()); }
std::int64_t AllThreadsOf(const LaunchRuns::Setting& one) { return one.Threads(); }

// Whether what a search has found holds for other elements and sizes.
class RowsConfirmation {
 public:
  // The arguments must outlive the object.
  RowsConfirmation(const MutationContext& context, RowSearch& search) : context_(context), search_(search) {}

  // Other elements and sizes.
  bool Confirm() {
    const std::string x = search_.guess().of_outputs.front().front().x.name;
    const LaunchRuns::Sizes s0 = search_.sizes().Choice(0), s1 = search_.sizes().Choice(1);
    LaunchTrial trial = search_.Trial(s1);
    for (const double times : {1e-3, 40.0, 1e-6}) {
      trial.times[x] = times;
      if (!search_.StillHolds(trial, fmt::format("with elements times {}", times))) return false;
    }
    trial = search_.Trial(s0);
    trial.elements[x] = 0;
    if (!search_.StillHolds(trial, "with elements of zero")) return false;
    trial = search_.Trial(s1);
    trial.chosen[x] = {{1, -std::numeric_limits<double>::infinity()}};
    if (search_.guess().exponential && !search_.StillHolds(trial, "with an element of minus infinity")) return false;
    return ConfirmSizes() && ConfirmLabels() && ConfirmComparisons() && Combine();
  }

  RowsOfLaunches Rows() const { return {found_, Needed(), limit_}; }

 private:
  LaunchRuns::Sizes FewSizes() const {
    LaunchRuns::Sizes few;
    for (const std::string& name : search_.runs().names())
      few[name] = search_.sizes().AtLeast(name, search_.guess().Names(name) ? 2 : 1);
    return few;
  }

  bool ConfirmSizes() {
    LaunchRuns::Sizes ones;
    for (const std::string& name : search_.runs().names()) ones[name] = search_.sizes().AtLeast(name, 1);
    if (!search_.StillHolds(search_.Trial(ones), "with the smallest sizes")) return false;
    const std::int64_t largest = std::max({search_.knowledge().largest_number, search_.runs().LargestArgument(),
                                           MostOfLaunches(search_.runs(), FewSizes(), ThreadsOf),
                                           MostOfLaunches(search_.runs(), FewSizes(), LongestAxisOf)});
    if (largest >= kMostTriedLength)
      return search_.Refuse(fmt::format("it has the number {}, and rows as long are not tried", largest));
    for (const std::string& name : search_.runs().names()) {
      if (search_.guess().Names(name)) {
        LaunchRuns::Sizes many = FewSizes();
        // All rows have a part in one sum.
        const bool adds = search_.guess().of_outputs.front().front().stored.front().adds;
        const bool is_length =
            std::find(search_.guess().length.begin(), search_.guess().length.end(), name) != search_.guess().length.end();
        many[name] = search_.sizes().AtLeast(name, adds && !is_length ? std::min(largest + 3, kFewRows) : largest + 3);
        // Rows are all alike, but a grid may be of fewer.
        const std::int64_t longest = MostOfLaunches(search_.runs(), FewSizes(), LongestAxisOf);
        for (std::int64_t rows = std::max(kFewRows, longest + 3);
             !is_length && rows > longest && MostOfLaunches(search_.runs(), many, AllThreadsOf) > kMostTriedThreads; rows /= 2)
          many[name] = search_.sizes().AtLeast(name, rows);
        LaunchTrial trial = search_.Trial(many);
        trial.samples = !adds;
        if (!search_.StillHolds(trial, fmt::format("where {} is {}", name, many[name])) && (!is_length || !FindLimit(name)))
          return false;
        continue;
      }
      for (const std::int64_t number : {0, 1}) {
        LaunchRuns::Sizes sizes = search_.sizes().Choice(1);
        sizes[name] = number;
        if (!search_.StillHolds(search_.Trial(sizes), fmt::format("where {} is {}", name, number))) return false;
      }
    }
    return true;
  }

  // Rows that a warp or a block has at once are no longer than that.
  bool FindLimit(const std::string& name) {
    if (search_.guess().length.size() != 1 || search_.guess().outer == search_.guess().length) return false;
    std::set<std::int64_t> limits{32};
    for (const std::int64_t times : {1, 2, 4, 8, 16, 32})
      limits.insert(times * MostOfLaunches(search_.runs(), FewSizes(), ThreadsOf));
    const std::string why = search_.why();
    const std::int64_t unit = search_.sizes().AtLeast(name, 1);
    for (auto limit = limits.rbegin(); limit != limits.rend(); ++limit) {
      if (*limit % unit != 0 || *limit > kMostLimit) continue;
      LaunchRuns::Sizes sizes = FewSizes();
      sizes[name] = *limit;
      if (!search_.StillHolds(search_.Trial(sizes), why)) continue;
      sizes[name] += unit;
      if (search_.StillHolds(search_.Trial(sizes), why)) break;
      limit_ = fmt::format("{} <= {}", name, *limit);
      return true;
    }
    return search_.Refuse(why);
  }

  bool ConfirmLabels() {
    const std::string labels = search_.guess().of_outputs.front().front().labels.name;
    if (labels.empty()) return true;
    const LaunchRuns::Sizes sizes = search_.sizes().Choice(1);
    LaunchTrial trial = search_.Trial(sizes);
    const std::int64_t length = search_.guess().LengthWith(sizes);
    for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{-100}, length, length - 1}) {
      trial.chosen[labels] = LabelsOf(number);
      if (!search_.StillHolds(trial, fmt::format("with the label {}", number))) return false;
    }
    return true;
  }

  bool ConfirmComparisons() {
    for (const auto& [number, seen] : search_.compared()) {
      if ((!seen.first || !seen.second) && std::fabs(number) < kLikeInfinity && number != 0)
        return search_.Refuse(fmt::format("it compares what it computes with {}", number));
    }
    return true;
  }

  // One kernel for all outputs: what there is once for a row first, since elements may be stored over those that were read.
  bool Combine() {
    found_ = search_.guess().of_outputs.front().front();
    found_.stored.clear();
    const auto turn_of = [&](const RowKernelText::Stored& one) {
      return !one.form.of_element ? 0 : one.buffer.name != found_.x.name && one.buffer.name != found_.second.name ? 1 : 2;
    };
    for (const int turn : {0, 1, 2}) {
      for (const auto& candidates : search_.guess().of_outputs) {
        const RowKernelText& one = candidates.front();
        if (turn_of(one.stored.front()) != turn) continue;
        if (!found_.TakeFrom(one)) return search_.Refuse("its outputs are of different forms");
      }
    }
    for (const std::size_t choice : {0u, 1u}) {
      const LaunchTrial trial = search_.Trial(search_.sizes().Choice(choice));
      LaunchedRun run;
      if (!search_.runs().Run(trial, run)) return search_.Refuse(search_.runs().why());
      const auto stored = RowResultsOf(context_, search_.runs().buffers(), {found_}, trial).front();
      for (const RowKernelText::Stored& one : found_.stored) {
        const auto left = stored.find(one.buffer.name);
        if (left == stored.end() || !AreNear(run.stored[one.buffer.name], left->second)) return search_.Refuse(kNoRows);
      }
    }
    return true;
  }

  // A limit comes from the block's threads.
  Parameters Needed() const {
    const std::string names = fmt::format("{}", fmt::join(search_.knowledge().names, " "));
    return limit_.empty() ? ParametersBehind(context_, names) : context_.genome.parameters;
  }

  const MutationContext& context_;
  RowSearch& search_;
  RowKernelText found_;
  std::string limit_;
};

}  // namespace

std::optional<RowsOfLaunches> AsRowsOfLaunches(const MutationContext& context, std::string& why) {
  RowSearch search(context);
  RowsConfirmation confirmation(context, search);
  if (search.Find() && confirmation.Confirm()) return confirmation.Rows();
  why = search.why();
  return std::nullopt;
}

}  // namespace evo
