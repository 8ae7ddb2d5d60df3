#include "mutators/analysis/attention/attention_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "mutators/analysis/attention/attention_depth.h"
#include "mutators/analysis/attention/attention_guess.h"
#include "mutators/analysis/attention/derived_sizes.h"
#include "mutators/analysis/attention/launch_guesses.h"
#include "mutators/analysis/attention/launches_description.h"
#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/grid_runs/trial_sizes.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// Elements of a matrix: more take too long.
constexpr std::int64_t kMostLineElements = 1'000'000;
// What queries are multiplied by, so that scores are far from zero.
constexpr double kLargeQueries = 40;
constexpr const char* kNotBelowZero = "beside its rows it stores nothing known of scores below zero";
constexpr std::ptrdiff_t kFewArguments = 3;
constexpr std::int64_t kLeastSizes[] = {3, 8};
constexpr double kInfiniteElement = std::numeric_limits<double>::infinity();

using TriedSizes = LaunchRuns::Sizes;

// Of a buffer of queries, keys and values: queries of one, and keys of minus infinity.
BufferContents KeysOfInfinity(const AttentionShape& shape) {
  BufferContents contents;
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t d = 0; d < shape.depth; ++d) {
        contents[shape.IndexIn(AttentionShape::Part::kQueries, head, row, d)] = 1;
        contents[shape.IndexIn(AttentionShape::Part::kKeys, head, row, d)] = -kInfiniteElement;
      }
    }
  }
  return contents;
}

class LaunchesFinder {
 public:
  explicit LaunchesFinder(const MutationContext& context) : context_(context), guesses_(context), runs_(guesses_.runs()) {}

  std::optional<AttentionOfLaunches> Find(std::string& why) {
    const bool tried = runs_.Find() && runs_.names().size() <= kMostLaunchSizes;
    if (tried && guesses_.Find() && RunOthers() && RunUnweighted() &&
        DescribeAttention(context_, runs_, guess(), guesses_.knowledge().names, found_, why_))
      return found_;
    if (why_.empty()) why_ = guesses_.why();
    // In silence, if few would take it for one.
    const auto is_argument = [&](const std::string& buffer) { return !runs_.IsWorkspace(buffer); };
    const auto& buffers = runs_.buffers();
    const bool few = std::count_if(buffers.begin(), buffers.end(), is_argument) <= kFewArguments;
    why = few && guesses_.all().empty() ? "" : why_.empty() ? runs_.why() : why_;
    return std::nullopt;
  }

 private:
  const AttentionGuess& guess() const { return guesses_.all().front(); }
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // Whether some guesses still hold, with what to say if none does. Sizes that are none of a matrix may be too small for what a
  // run takes for granted.
  bool StillHolds(LaunchTrial trial, const std::string& why) {
    if (guesses_.Holds(trial)) return true;
    const std::string refusal = runs_.why();
    if (!guesses_.all().empty()) {
      const TriedSizes before = trial.sizes;
      trial.sizes = WithRoom(std::move(trial.sizes));
      if (trial.sizes != before && guesses_.Holds(trial)) return true;
    }
    return Refuse(guesses_.all().empty() ? why : refusal);
  }

  // Large scores, more keys and more elements than any number of the code, so that a window or the like would be seen, and other
  // numbers for what is no size of a matrix.
  bool RunOthers() {
    const AttentionGuess guess = this->guess();
    if (!RunFew(guess) ||
        !StillHolds({guesses_.Choice(0), {{guess.q, kLargeQueries}}, {}, sizes().has_units()},
                    "with large scores, what its kernels leave is no attention") ||
        !RunMany(guess) || !RunDeep(guess))
      return false;
    if (!guess.beside.empty() &&
        !StillHolds({guesses_.Choice(0), {}, {{guess.q, 1.0}, {guess.k, kKeysBelowZero}}}, kNotBelowZero))
      return false;
    for (const std::string& name : runs_.names()) {
      if (!guess.Names(name) && !RunWithout(name)) return false;
    }
    for (const auto& [number, seen] : guesses_.compared()) {
      if (!seen.first || !seen.second) return Refuse(fmt::format("it compares a score or a weight with {}", number));
    }
    return true;
  }

  // A size of no matrix: what it is must not matter, but for what a run takes for granted.
  bool RunWithout(const std::string& name) {
    const auto with = [&](std::int64_t number) {
      const LaunchTrial trial{sizes().Where(guesses_.Choice(1), name, number), {}, {}};
      if (guesses_.Holds(trial)) return true;
      return Refuse(guesses_.all().empty() ? fmt::format("{} decides what it computes", name) : runs_.why());
    };
    if (with(0) && with(1)) return true;
    const std::int64_t size = guesses_.Choice(1).at(name);
    return !guesses_.all().empty() && with(size + 1) && with(3 * size);
  }

  // The least sizes, but three keys, rows and elements, or more.
  TriedSizes FewWith(const AttentionGuess& guess) const {
    return guesses_.Fit(
        sizes().Few(runs_.names(), {guess.keys, guess.rows, guess.depth_size, guess.value_size, guess.room}, least_));
  }

  // With few, of which a block may need some more.
  bool RunFew(const AttentionGuess& guess) {
    for (const std::int64_t least : kLeastSizes) {
      least_ = least;
      if (StillHolds({FewWith(guess), {}, {}}, kNotWithOthers)) return why_.clear(), true;
      if (guesses_.all().empty() || runs_.is_too_large()) break;
    }
    return false;
  }

  bool RunMany(const AttentionGuess& guess) {
    const std::int64_t largest = std::max(guesses_.knowledge().largest_number, runs_.LargestArgument());
    std::vector<std::string> names = guess.heads;
    names.insert(names.begin(), guess.keys);
    if (!guess.rows.empty() && guess.rows != guess.keys) names.push_back(guess.rows);
    for (const std::string& name : names) {
      const std::string size = DerivedSizes::SizesOf(name).front();
      if (std::find(runs_.names().begin(), runs_.names().end(), size) == runs_.names().end()) continue;  // a number
      const auto with = [&](std::int64_t number) {
        TriedSizes many = sizes().Where(FewWith(guess), name, number);
        if (name == guess.keys && !guess.room.empty()) many = sizes().Where(std::move(many), guess.room, number);
        return guesses_.Fit(std::move(many));
      };
      const TriedSizes many = with(sizes().AtLeast(size, largest + 3));
      const AttentionShape shape = guess.ShapeWith(many);
      if (shape.heads * std::max(shape.rows, shape.keys) * shape.depth > kMostLineElements)
        return Refuse(fmt::format("it has the number {}, and so many keys are not tried", largest));
      if (StillHolds({many, {}, {}, true},
                     fmt::format("where {} is {}, what its kernels leave is no attention", name, many.at(name))))
        continue;
      const std::int64_t unit = sizes().AtLeast(size, 1);
      if (guesses_.all().empty() || runs_.is_too_large() || !HoldsWithOne(std::max<std::int64_t>(1, largest / unit) * unit, with))
        return false;
    }
    return why_.clear(), true;
  }

  // With the largest of some numbers with which it runs at all: where a thread keeps scores in an array, or a block has a thread
  // for each key, there may be no more.
  template <typename With>
  bool HoldsWithOne(std::int64_t largest, const With& with) {
    constexpr std::size_t kMostTried = 6;
    std::set<std::int64_t, std::greater<>> numbers{largest};
    for (const std::string& name : guesses_.knowledge().names) numbers.insert(ConstantValue(context_.tree, name).value_or(0));
    for (const Step& step : context_.rendered.steps) {
      if (!step.launch) continue;
      Variables values;
      for (const auto& [name, value] : context_.genome.parameters) values[name] = Number::Integer(value);
      for (const Expression& extent : step.launch->block) {
        const auto names = extent.Names();
        if (std::all_of(names.begin(), names.end(), [&](const auto& name) { return values.contains(name); }))
          numbers.insert(extent.EvaluateInteger(values));
      }
    }
    std::size_t tried = 0;
    for (const std::int64_t number : numbers) {
      if (number < 2 || number > largest || ++tried > kMostTried) continue;
      if (guesses_.Holds({with(number), {}, {}, true})) return true;
      if (guesses_.all().empty()) return Refuse("with many keys, what its kernels leave is no attention");
    }
    return Refuse(runs_.why());
  }

  // The sizes with more of all that are sizes of no matrix.
  TriedSizes WithRoom(TriedSizes sizes_of_trial) const {
    std::int64_t largest = 0;
    for (const auto& [name, size] : sizes_of_trial) largest = std::max(largest, size);
    for (const std::string& name : runs_.names()) {
      if (!guess().Names(name))
        sizes_of_trial = sizes().Where(std::move(sizes_of_trial), name, sizes().AtLeast(name, largest + 1));
    }
    return sizes_of_trial;
  }

  bool RunDeep(const AttentionGuess& guess) {
    // That of the rows or the keys has been many.
    const auto is_tried = [&](const std::string& size) { return size.empty() || size == guess.keys || size == guess.rows; };
    if (is_tried(guess.depth_size)) return true;
    const std::int64_t depth = sizes().AtLeast(guess.depth_size, LargeDepth(guesses_.knowledge().largest_number));
    const TriedSizes few = FewWith(guess);
    const std::string why = fmt::format("with {} elements a row, what its kernels leave is no attention", depth);
    return StillHolds({guesses_.Fit(sizes().Where(few, guess.depth_size, depth)), {}, {}, true}, why) &&
           (is_tried(guess.value_size) ||
            StillHolds({guesses_.Fit(sizes().Where(few, guess.value_size, depth)), {}, {}, true}, why));
  }

  // Without keys, where that can be launched, and with scores of minus infinity: what is no number stays so, and else it must be
  // zero.
  bool RunUnweighted() {
    const AttentionGuess& guess = this->guess();
    const TriedSizes none = sizes().Where(guesses_.Choice(1), guess.keys, 0);
    LaunchedRun empty, infinite;
    if (guess.rows != guess.keys && none.at(guess.keys) == 0 && !guesses_.has_extra() && runs_.Run({none, {}, {}}, empty)) {
      for (const auto& [index, value] : empty.stored[guess.o]) {
        if (std::isnan(value)) continue;
        if (value != 0) return Refuse("a row without keys is neither 0 / 0 nor zero");
        found_.zero = true;
      }
    }
    LaunchTrial trial{guesses_.Choice(1), {}, {}, true};
    if (guess.packed)
      trial.chosen[guess.q] = KeysOfInfinity(guess.ShapeWith(trial.sizes));
    else
      trial.elements = {{guess.q, 1.0}, {guess.k, -kInfiniteElement}};
    if (!runs_.Run(guesses_.With(trial), infinite)) return false;
    const BufferContents& rows = infinite.stored[guess.o];
    found_.zero |= std::all_of(rows.begin(), rows.end(), [](const auto& element) { return element.second == 0; });
    return !guesses_.hides() || RunHidden(guess);
  }

  // With all keys hidden: no number, zero, or the mean of all values, where hidden keys have a score.
  bool RunHidden(const AttentionGuess& guess) {
    LaunchedRun hidden;
    const LaunchTrial trial = guesses_.With({guesses_.Choice(1), {}, {}}, HiddenKeys::kAll);
    if (!runs_.Run(trial, hidden)) return false;
    const BufferContents& stored = hidden.stored[guess.o];
    const auto all = [&](const auto& is) {
      return !stored.empty() && std::all_of(stored.begin(), stored.end(), [&](const auto& one) { return is(one.second); });
    };
    if (all([](double number) { return number == 0; })) return found_.zero = true;
    if (found_.zero) return Refuse("rows without weights are zero, and others are not");
    if (all([](double number) { return std::isnan(number); })) return true;
    const std::vector<std::string> numbers = LargeNumbersIn(context_.tree);
    AttentionGuess shown = guess;
    shown.extra = {};
    // Causal rows would give the keys behind them some weight, too.
    if (guess.causal || numbers.size() != 1 || !DefinitionOf(runs_, shown, trial).HoldsFor(stored, 0))
      return Refuse("rows of which all keys are hidden are neither 0 / 0 nor zero nor the mean of all values");
    found_.more.hidden = fmt::format("-{}", numbers.front());
    return true;
  }

  const MatrixSizes& sizes() const { return guesses_.sizes(); }

  const MutationContext& context_;
  LaunchGuesses guesses_;
  SourceRuns& runs_;
  AttentionOfLaunches found_;
  std::int64_t least_ = 3;
  std::string why_;
};

}  // namespace

std::optional<AttentionOfLaunches> AsAttentionOfLaunches(const MutationContext& context, std::string& why) {
  return LaunchesFinder(context).Find(why);
}

}  // namespace evo
