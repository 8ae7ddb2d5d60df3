#include "mutators/analysis/row_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention_check.h"
#include "mutators/analysis/attention_launch_runs.h"
#include "mutators/analysis/attention_launch_sizes.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/row_candidates.h"
#include "mutators/analysis/row_trials.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

constexpr const char* kNoRows = "what its kernels leave is no softmax, norm, sum, extreme or loss of rows that is known";
constexpr std::int64_t kMostTriedLength = 1 << 16;
constexpr std::int64_t kMostTriedThreads = 1 << 17;  // of a launch
constexpr std::int64_t kUsualVector = 4;
constexpr std::int64_t kFewRows = 67;
// Beyond these, a number that data is compared with stands for an infinity.
constexpr double kLikeInfinity = 1e4;
constexpr std::size_t kMostTriedSettings = 16;
// What is no rows with two choices of sizes is none with others, and shall be left soon.
constexpr std::size_t kMostUnlike = 2;
constexpr std::int64_t kMostTurnsOfGuesses = 200'000;
// Of rows that have a limit.
constexpr std::int64_t kMostLimit = 4096;

class RowsFinder {
 public:
  explicit RowsFinder(const MutationContext& context) : context_(context), tree_(context.tree), runs_(context), sizes_({}, {}) {}

  std::optional<RowsOfLaunches> Find(std::string& why) {
    if (IsOther()) return std::nullopt;
    if (!runs_.FindLaunches() || runs_.names().size() > kMostLaunchSizes || runs_.names().empty()) {
      why = runs_.why();
      return std::nullopt;
    }
    if (DescribeBuffers() && FindFirst() && Confirm()) return RowsOfLaunches{found_, Needed(), limit_};
    why = why_;
    return std::nullopt;
  }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // Products on tensor cores and the like are no rows, and take long to run.
  bool IsOther() const {
    const std::string& code = CodeOf(tree_);
    return ContainsName(code, "wmma") || code.find("asm") != std::string::npos || ContainsName(code, "double") || !Combines();
  }

  // Whether real numbers are combined at all, by an operator, a function, a shuffle or an atomic.
  bool Combines() const {
    const auto is_real = [&](int node) {
      const std::string& type = tree_.node(node).type;
      return type.find("float") != std::string::npos || type.find("half") != std::string::npos ||
             type.find("bfloat16") != std::string::npos;
    };
    for (int node = 0; node < static_cast<int>(tree_.nodes().size()); ++node) {
      const std::string& kind = tree_.node(node).kind_name;
      if (kind == "CallExpr") {
        const std::string_view callee = LibraryCallee(tree_, node);
        for (const char* name : {"max", "min", "exp", "sqrt", "__shfl", "atomic", "log", "fma"})
          if (callee.find(name) != std::string_view::npos) return true;
        continue;
      }
      const auto& sides = tree_.node(node).children;
      if (!IsAssignment(tree_, node) || sides.size() != 2 || !is_real(sides[0])) continue;
      if (tree_.Operator(node) != "=" || tree_.Text(sides[1]).find(tree_.Text(sides[0])) != std::string_view::npos) return true;
    }
    return false;
  }

  // The types of all buffers, and numbers for what launch lines pass as real numbers. In silence, for others.
  bool DescribeBuffers() {
    double real = 0.07;
    for (const AttentionLaunchRuns::Link& link : runs_.links()) {
      for (const auto& [parameter, buffer] : link.buffers) {
        const std::string& type = tree_.node(parameter).type;
        std::string pointee = WithoutConst(type.substr(0, type.find('*')));
        while (!pointee.empty() && pointee.back() == ' ') pointee.pop_back();
        const auto [known, fresh] = types_.try_emplace(buffer, pointee);
        if (!fresh && known->second != pointee) return false;
        if (pointee == "int" || pointee == "long" || pointee == "long long")
          integers_.insert(buffer);
        else if (pointee != "float" && pointee != "__half" && pointee != "__nv_bfloat16")
          return runs_.IsWorkspace(buffer);
      }
      for (const auto& [parameter, argument] : link.reals) {
        const auto names = argument.Names();
        if (names.empty()) continue;
        if (reals_.try_emplace(argument.text(), real).second) real += 0.21;
      }
    }
    return true;
  }

  LaunchTrial Trial(const LaunchRuns::Sizes& sizes) const {
    LaunchTrial trial{sizes, {}, {}, false, reals_, {}};
    for (const std::string& buffer : integers_) trial.chosen[buffer] = LabelsBelow(2);
    return trial;
  }

  // Sizes with which all launches run and leave what some forms leave.
  bool FindFirst() {
    std::vector<AttentionLaunchSizes::Units> units = UnitsInLaunches(context_, runs_.names());
    std::string refused;
    bool ran = false;
    const std::size_t suggested = units.size();
    std::set<std::int64_t> together;
    std::size_t unlike = 0;  // runs that left something else
    for (std::size_t i = 0; i < std::min(units.size(), kMostTriedSettings); ++i) {
      sizes_ = AttentionLaunchSizes(runs_.names(), units[i]);
      LaunchedRun run;
      const LaunchTrial trial = Trial(sizes_.Choice(0));
      if (runs_.Run(trial, run)) {
        ran = true;
        Learn(run);
        for (RowCandidates& guess : GuessesOf(trial.sizes, run)) {
          if (!Holds(guess, trial, run) || !HoldsFor(guess, Trial(sizes_.Choice(1)))) continue;
          guess_ = std::move(guess);
          return true;
        }
        if (++unlike >= kMostUnlike || runs_.turns() > kMostTurnsOfGuesses) break;
      } else {
        if (refused.empty()) refused = runs_.why();
        if (runs_.is_final()) return Refuse(runs_.why());
        if (const std::int64_t each = runs_.misaligned(); each > 1 && together.insert(each).second) {
          for (auto& one : UnitsOfVectors(runs_.names(), each)) units.push_back(std::move(one));
        }
      }
      if (i + 1 != suggested) continue;
      if (CodeOf(tree_).find("4") != std::string::npos && together.insert(kUsualVector).second) {
        for (auto& one : UnitsOfVectors(runs_.names(), kUsualVector)) units.push_back(std::move(one));
      }
      for (auto& one : UnitsOfOne(context_, runs_.names(), knowledge_.names)) units.push_back(std::move(one));
    }
    return Refuse(ran || refused.empty() ? kNoRows : refused);
  }

  std::vector<RowCandidates> GuessesOf(const LaunchRuns::Sizes& sizes, const LaunchedRun& run) const {
    RowsSeen seen;
    for (const auto& [buffer, elements] : run.read) {
      if (!runs_.IsWorkspace(buffer) && !integers_.contains(buffer))
        seen.inputs[buffer] = static_cast<std::int64_t>(elements.size());
    }
    for (const auto& [buffer, elements] : run.stored) {
      if (runs_.IsWorkspace(buffer) || elements.empty()) continue;
      seen.outputs[buffer] = static_cast<std::int64_t>(elements.size());
      if (run.filled.contains(buffer)) seen.filled.insert(buffer);
    }
    for (const std::string& buffer : integers_) {
      if (!run.stored.contains(buffer) || run.stored.at(buffer).empty()) seen.labels.push_back(buffer);
    }
    seen.types = types_;
    seen.sizes = sizes;
    return RowCandidatesIn(context_, runs_.links(), seen);
  }

  // Whether some candidates for each output leave what was left; the others go.
  bool Holds(RowCandidates& guess, const LaunchTrial& trial, const LaunchedRun& run) const {
    return std::all_of(guess.of_outputs.begin(), guess.of_outputs.end(), [&](std::vector<RowKernelText>& candidates) {
      const std::string& output = candidates.front().stored.front().buffer.name;
      if (!run.stored.contains(output)) return false;
      KeepMatching(context_, runs_.buffers(), trial, run.stored.at(output), candidates);
      return !candidates.empty();
    });
  }

  bool HoldsFor(RowCandidates& guess, const LaunchTrial& trial) {
    LaunchedRun run;
    if (!runs_.Run(trial, run)) return Refuse(runs_.why());
    Learn(run);
    return Holds(guess, trial, run) || Refuse(kNoRows);
  }

  void Learn(const LaunchedRun& run) {
    knowledge_.names.insert(run.knowledge.names.begin(), run.knowledge.names.end());
    knowledge_.largest_number = std::max(knowledge_.largest_number, run.knowledge.largest_number);
    for (const auto& [number, seen] : run.compared) {
      auto& [less, more] = compared_[number];
      less = less || seen.first, more = more || seen.second;
    }
  }

  bool StillHolds(const LaunchTrial& trial, const std::string& why) {
    LaunchedRun run;
    if (!runs_.Run(trial, run)) return Refuse(fmt::format("{}: {}", why, runs_.why()));
    Learn(run);
    RowCandidates kept = guess_;
    if (!Holds(kept, trial, run)) return Refuse(fmt::format("{}, what its kernels leave is something else", why));
    guess_ = std::move(kept);
    return true;
  }

  // Other elements and sizes.
  bool Confirm() {
    const std::string x = guess_.of_outputs.front().front().x.name;
    const LaunchRuns::Sizes s0 = sizes_.Choice(0), s1 = sizes_.Choice(1);
    LaunchTrial trial = Trial(s1);
    for (const double times : {1e-3, 40.0, 1e-6}) {
      trial.times[x] = times;
      if (!StillHolds(trial, fmt::format("with elements times {}", times))) return false;
    }
    trial = Trial(s0);
    trial.elements[x] = 0;
    if (!StillHolds(trial, "with elements of zero")) return false;
    trial = Trial(s1);
    trial.chosen[x] = {{1, -std::numeric_limits<double>::infinity()}};
    if (guess_.exponential && !StillHolds(trial, "with an element of minus infinity")) return false;
    return ConfirmSizes() && ConfirmLabels() && ConfirmComparisons() && Combine();
  }

  LaunchRuns::Sizes FewSizes() const {
    LaunchRuns::Sizes few;
    for (const std::string& name : runs_.names()) few[name] = sizes_.AtLeast(name, guess_.Names(name) ? 2 : 1);
    return few;
  }

  bool ConfirmSizes() {
    LaunchRuns::Sizes ones;
    for (const std::string& name : runs_.names()) ones[name] = sizes_.AtLeast(name, 1);
    if (!StillHolds(Trial(ones), "with the smallest sizes")) return false;
    const std::int64_t largest =
        std::max({knowledge_.largest_number, runs_.LargestArgument(), ThreadsOfBlocks(), BlocksOfAxes()});
    if (largest >= kMostTriedLength) return Refuse(fmt::format("it has the number {}, and rows as long are not tried", largest));
    for (const std::string& name : runs_.names()) {
      if (guess_.Names(name)) {
        LaunchRuns::Sizes many = FewSizes();
        // All rows have a part in one sum.
        const bool adds = guess_.of_outputs.front().front().stored.front().adds;
        const bool is_length = std::find(guess_.length.begin(), guess_.length.end(), name) != guess_.length.end();
        many[name] = sizes_.AtLeast(name, adds && !is_length ? std::min(largest + 3, kFewRows) : largest + 3);
        // Rows are all alike, but a grid may be of fewer.
        if (!is_length && !MayRun(many)) many[name] = sizes_.AtLeast(name, std::max(kFewRows, BlocksOfAxes() + 3));
        LaunchTrial trial = Trial(many);
        trial.samples = !adds;
        if (!StillHolds(trial, fmt::format("where {} is {}", name, many[name])) && (!is_length || !FindLimit(name))) return false;
        continue;
      }
      for (const std::int64_t number : {0, 1}) {
        LaunchRuns::Sizes sizes = sizes_.Choice(1);
        sizes[name] = number;
        if (!StillHolds(Trial(sizes), fmt::format("where {} is {}", name, number))) return false;
      }
    }
    return true;
  }

  // The most that a launch has, with few rows.
  std::int64_t MostOf(std::int64_t (*of)(const LaunchRuns::Setting&), const LaunchRuns::Sizes& sizes) const {
    std::int64_t most = 0;
    for (const AttentionLaunchRuns::Link& link : runs_.links()) {
      const auto setting = link.runs ? link.runs->SettingOf(sizes) : std::nullopt;
      if (setting) most = std::max(most, of(*setting));
    }
    return most;
  }
  std::int64_t ThreadsOfBlocks() const {
    return MostOf([](const auto& one) { return one.block[0] * one.block[1] * one.block[2]; }, FewSizes());
  }
  std::int64_t BlocksOfAxes() const {
    return MostOf([](const auto& one) { return *std::max_element(one.grid.begin(), one.grid.end()); }, FewSizes());
  }
  bool MayRun(const LaunchRuns::Sizes& sizes) const {
    return MostOf([](const auto& one) { return one.Threads(); }, sizes) <= kMostTriedThreads;
  }

  // Rows that a warp or a block has at once are no longer than that.
  bool FindLimit(const std::string& name) {
    if (guess_.length.size() != 1 || guess_.outer == guess_.length) return false;
    std::set<std::int64_t> limits{32};
    for (const std::int64_t times : {1, 2, 4, 8, 16, 32}) limits.insert(times * ThreadsOfBlocks());
    const std::string why = why_;
    const std::int64_t unit = sizes_.AtLeast(name, 1);
    for (auto limit = limits.rbegin(); limit != limits.rend(); ++limit) {
      if (*limit % unit != 0 || *limit > kMostLimit) continue;
      LaunchRuns::Sizes sizes = FewSizes();
      sizes[name] = *limit;
      if (!StillHolds(Trial(sizes), why)) continue;
      sizes[name] += unit;
      if (StillHolds(Trial(sizes), why)) break;
      limit_ = fmt::format("{} <= {}", name, *limit);
      return true;
    }
    return Refuse(why);
  }

  bool ConfirmLabels() {
    const std::string labels = guess_.of_outputs.front().front().labels.name;
    if (labels.empty()) return true;
    const LaunchRuns::Sizes sizes = sizes_.Choice(1);
    LaunchTrial trial = Trial(sizes);
    const std::int64_t length = guess_.LengthWith(sizes);
    for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{-100}, length, length - 1}) {
      trial.chosen[labels] = LabelsOf(number);
      if (!StillHolds(trial, fmt::format("with the label {}", number))) return false;
    }
    return true;
  }

  bool ConfirmComparisons() {
    for (const auto& [number, seen] : compared_) {
      if ((!seen.first || !seen.second) && std::fabs(number) < kLikeInfinity && number != 0)
        return Refuse(fmt::format("it compares what it computes with {}", number));
    }
    return true;
  }

  // One kernel for all outputs: what there is once for a row first, since elements may be stored over those that were read.
  bool Combine() {
    found_ = guess_.of_outputs.front().front();
    found_.stored.clear();
    const auto turn_of = [&](const RowKernelText::Stored& one) {
      return !one.form.of_element ? 0 : one.buffer.name != found_.x.name && one.buffer.name != found_.second.name ? 1 : 2;
    };
    for (const int turn : {0, 1, 2}) {
      for (const auto& candidates : guess_.of_outputs) {
        const RowKernelText& one = candidates.front();
        if (turn_of(one.stored.front()) != turn) continue;
        if (!found_.TakeFrom(one)) return Refuse("its outputs are of different forms");
      }
    }
    for (const std::size_t choice : {0u, 1u}) {
      const LaunchTrial trial = Trial(sizes_.Choice(choice));
      LaunchedRun run;
      if (!runs_.Run(trial, run)) return Refuse(runs_.why());
      const auto stored = RowResultsOf(context_, runs_.buffers(), {found_}, trial).front();
      for (const RowKernelText::Stored& one : found_.stored) {
        const auto left = stored.find(one.buffer.name);
        if (left == stored.end() || !AreNear(run.stored[one.buffer.name], left->second)) return Refuse(kNoRows);
      }
    }
    return true;
  }

  // A limit comes from the block's threads.
  Parameters Needed() const {
    const std::string names = fmt::format("{}", fmt::join(knowledge_.names, " "));
    return limit_.empty() ? ParametersBehind(context_, names) : context_.genome.parameters;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  AttentionLaunchRuns runs_;
  AttentionLaunchSizes sizes_;
  std::map<std::string, std::string> types_;  // by buffer
  std::set<std::string> integers_;
  std::map<std::string, double> reals_;
  ThreadTrace knowledge_;
  std::map<double, std::pair<bool, bool>> compared_;
  RowCandidates guess_;
  RowKernelText found_;
  std::string limit_, why_;
};

}  // namespace

std::optional<RowsOfLaunches> AsRowsOfLaunches(const MutationContext& context, std::string& why) {
  return RowsFinder(context).Find(why);
}

}  // namespace evo
