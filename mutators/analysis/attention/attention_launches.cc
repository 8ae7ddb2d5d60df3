#include "mutators/analysis/attention/attention_launches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/attention/attention_depth.h"
#include "mutators/analysis/attention/attention_guess.h"
#include "mutators/analysis/attention/derived_sizes.h"
#include "mutators/analysis/attention/launched_scale.h"
#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/grid_runs/trial_sizes.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr const char* kNotInLaunches =
    "what its kernels leave is not softmax(scale * query * key) * value with matrices of heads, rows and columns";
constexpr const char* kNotWithOthers = "with other sizes, what its kernels leave is no attention";
// Elements of a matrix: more take too long.
constexpr std::int64_t kMostLineElements = 1'000'000;
// What queries are multiplied by, so that scores are far from zero.
constexpr double kLargeQueries = 40;
constexpr std::size_t kMatricesRead = 3;
constexpr std::int64_t kElementsOfVector = 4;

constexpr double kInfiniteElement = std::numeric_limits<double>::infinity();

using TriedSizes = LaunchRuns::Sizes;

// Of a buffer of queries, keys and values: queries of one, and keys of minus infinity.
BufferContents KeysOfInfinity(const AttentionShape& shape) {
  BufferContents contents;
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      for (std::int64_t d = 0; d < shape.depth; ++d) {
        contents[shape.IndexIn(AttentionShape::Part::kQueries, head, row, shape.rows, d)] = 1;
        contents[shape.IndexIn(AttentionShape::Part::kKeys, head, row, shape.rows, d)] = -kInfiniteElement;
      }
    }
  }
  return contents;
}

std::string NotInLaunches(std::size_t outputs) {
  return outputs == 1 ? kNotInLaunches
                      : fmt::format("{}, or another output has nothing known of each row's scores", kNotInLaunches);
}

class LaunchesFinder {
 public:
  explicit LaunchesFinder(const MutationContext& context) : context_(context), tree_(context.tree), runs_(context) {}

  std::optional<AttentionOfLaunches> Find(std::string& why) {
    if (runs_.Find() && runs_.names().size() <= kMostLaunchSizes && FindGuesses() && RunOthers() && RunUnweighted()) {
      Name();
      return found_;
    }
    // In silence, if few would take it for one.
    const auto is_argument = [&](const std::string& buffer) { return !runs_.IsWorkspace(buffer); };
    const auto& buffers = runs_.buffers();
    const bool few = std::count_if(buffers.begin(), buffers.end(), is_argument) <= static_cast<std::ptrdiff_t>(kMatricesRead);
    why = few && guesses_.empty() ? "" : why_.empty() ? runs_.why() : why_;
    return std::nullopt;
  }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // With the sizes as they are, or with multiples of a unit.
  bool FindGuesses() {
    std::vector<TrialSizes::Units> units = UnitsInLaunches(context_, runs_.names());
    const DerivedSizes derived(tree_, runs_);
    std::string first_why, refused_why;  // of what ran, and of what did not
    const std::size_t suggested = units.size();
    for (std::size_t i = 0; i < units.size(); ++i) {
      sizes_ = MatrixSizes(TrialSizes(runs_.names(), units[i]), derived);
      LaunchedRun run;
      const LaunchTrial trial{sizes_.Choice(0), {}, {}};
      if (!runs_.Run(trial, run)) {
        if (refused_why.empty()) refused_why = runs_.why();
        if (runs_.is_final()) return Refuse(runs_.why());
        AddUnitsOfVectors(units);
      } else if (ReadsMatrices(run)) {
        Learn(run);
        guesses_.clear();
        for (const AttentionGuess& guess :
             GuessesIn({runs_.names(), inputs_, outputs_, derived.numbers(), derived.Quotients()}, trial.sizes, run))
          AddIfItHolds(guess, trial, run);
        const bool once = !guesses_.empty();
        if (once && Holds({sizes_.Choice(1), {}, {}})) return true;
        if (first_why.empty())
          first_why = !once ? NotInLaunches(outputs_.size()) : guesses_.empty() ? kNotWithOthers : runs_.why();
      } else if (tree_.text().find("float4") == std::string::npos) {
        return false;
      } else if (i + 1 == suggested) {
        // Rows too short for a vector are none.
        for (auto& one : UnitsOfVectors(runs_.names(), kElementsOfVector)) units.push_back(std::move(one));
      }
      if (i + 1 != suggested) continue;
      for (auto& one : UnitsOfDivisors(tree_, runs_.names())) units.push_back(std::move(one));
      for (auto& one : UnitsOfOne(context_, runs_.names(), knowledge_.names)) units.push_back(std::move(one));
    }
    return Refuse(first_why.empty() ? refused_why : first_why);
  }

  // Sizes that elements which are accessed at once divide.
  void AddUnitsOfVectors(std::vector<TrialSizes::Units>& units) {
    const std::int64_t each = runs_.misaligned();
    const auto is_known = [&](const auto& one) { return one.size() > 1 && one.begin()->second == each; };
    if (each < 2 || std::any_of(units.begin(), units.end(), is_known)) return;
    for (auto& one : UnitsOfVectors(runs_.names(), each)) units.push_back(std::move(one));
  }

  // What nobody stores is read of three buffers. In silence, if not.
  bool ReadsMatrices(const LaunchedRun& run) {
    inputs_.clear();
    for (const auto& [buffer, elements] : run.read) {
      const auto stored = run.stored.find(buffer);
      if (stored == run.stored.end() || stored->second.empty()) inputs_.push_back(buffer);
    }
    outputs_.clear();
    for (const auto& [buffer, elements] : run.stored) {
      if (!runs_.IsWorkspace(buffer) && !elements.empty()) outputs_.push_back(buffer);
    }
    return run.knowledge.exponential && (inputs_.size() == kMatricesRead || inputs_.size() == 1) && !outputs_.empty();
  }

  void Learn(const LaunchedRun& run) {
    knowledge_.names.insert(run.knowledge.names.begin(), run.knowledge.names.end());
    knowledge_.largest_number = std::max(knowledge_.largest_number, run.knowledge.largest_number);
    for (const auto& [number, seen] : run.compared) {
      auto& [less, more] = compared_[number];
      less = less || seen.first, more = more || seen.second;
    }
  }

  void AddIfItHolds(AttentionGuess guess, const LaunchTrial& trial, const LaunchedRun& run) {
    guess.scales = ScalesThatHold(runs_, guess, trial, run);
    if (!guess.scales.empty() && FindStatistics(runs_, outputs_, trial, run, guess)) guesses_.push_back(std::move(guess));
  }

  // Whether some guesses hold for another run, too; the others go.
  bool Holds(const LaunchTrial& trial) {
    LaunchedRun run;
    if (!runs_.Run(trial, run)) return false;
    Learn(run);
    std::erase_if(guesses_, [&](AttentionGuess& guess) {
      if (!run.stored.contains(guess.o) || !guess.HasLastRow(trial.sizes, run) ||
          (!trial.samples && !guess.HasElements(trial.sizes, run)))
        return true;
      guess.scales = ScalesThatHold(runs_, guess, trial, run);
      return guess.scales.empty() || !FindStatistics(runs_, outputs_, trial, run, guess);
    });
    return !guesses_.empty();
  }

  // The same, with what to say if none does.
  bool StillHolds(const LaunchTrial& trial, const std::string& why) {
    if (Holds(trial)) return true;
    return Refuse(guesses_.empty() ? why : runs_.why());
  }

  // Large scores, more keys and more elements than any number of the code, so that a window or the like would be seen, and other
  // numbers for what is no size of a matrix.
  bool RunOthers() {
    const AttentionGuess guess = guesses_.front();
    if (!StillHolds({sizes_.Few(runs_.names(), {guess.keys, guess.rows, guess.depth_size}), {}, {}}, kNotWithOthers) ||
        !StillHolds({sizes_.Choice(0), {{guess.q, kLargeQueries}}, {}, sizes_.has_units()},
                    "with large scores, what its kernels leave is no attention") ||
        !RunMany(guess) || !RunDeep(guess))
      return false;
    if (!guess.beside.empty() &&
        !StillHolds({sizes_.Choice(0), {}, {{guess.q, 1.0}, {guess.k, kKeysBelowZero}}}, NotInLaunches(outputs_.size())))
      return false;
    for (const std::string& name : runs_.names()) {
      if (guess.Names(name)) continue;
      for (const std::int64_t number : {0, 1}) {
        TriedSizes sizes = sizes_.Choice(1);
        if (!StillHolds({sizes_.Where(std::move(sizes), name, number), {}, {}}, fmt::format("{} decides what it computes", name)))
          return false;
      }
    }
    for (const auto& [number, seen] : compared_) {
      if (!seen.first || !seen.second) return Refuse(fmt::format("it compares a score or a weight with {}", number));
    }
    return true;
  }

  bool RunMany(const AttentionGuess& guess) {
    const std::int64_t largest = std::max(knowledge_.largest_number, runs_.LargestArgument());
    std::vector<std::string> names = guess.heads;
    names.insert(names.begin(), guess.keys);
    if (!guess.rows.empty() && guess.rows != guess.keys) names.push_back(guess.rows);
    for (const std::string& name : names) {
      if (std::find(runs_.names().begin(), runs_.names().end(), name) == runs_.names().end()) continue;  // a number
      TriedSizes many = sizes_.Where(sizes_.Few(runs_.names(), {guess.keys, guess.rows, guess.depth_size}), name,
                                     sizes_.AtLeast(name, largest + 3));
      const AttentionShape shape = guess.ShapeWith(many);
      if (shape.heads * std::max(shape.rows, shape.keys) * shape.depth > kMostLineElements)
        return Refuse(fmt::format("it has the number {}, and so many keys are not tried", largest));
      if (Holds({many, {}, {}, true})) continue;
      if (guesses_.empty())
        return Refuse(fmt::format("where {} is {}, what its kernels leave is no attention", name, many[name]));
      // Such as scores that a thread keeps in an array.
      const std::int64_t unit = sizes_.AtLeast(name, 1);
      many = sizes_.Where(many, name, std::max<std::int64_t>(1, largest / unit) * unit);
      if (!StillHolds({many, {}, {}, true}, "with many keys, what its kernels leave is no attention")) return false;
    }
    return true;
  }

  bool RunDeep(const AttentionGuess& guess) {
    if (guess.depth_size.empty()) return true;
    const std::int64_t depth = sizes_.AtLeast(guess.depth_size, LargeDepth(knowledge_.largest_number));
    const TriedSizes deep =
        sizes_.Where(sizes_.Few(runs_.names(), {guess.keys, guess.rows, guess.depth_size}), guess.depth_size, depth);
    return StillHolds({deep, {}, {}, true}, fmt::format("with {} elements a row, what its kernels leave is no attention", depth));
  }

  // Without keys, where that can be launched, and with scores of minus infinity: what is no number stays so, and else it must be
  // zero.
  bool RunUnweighted() {
    const AttentionGuess& guess = guesses_.front();
    const TriedSizes none = sizes_.Where(sizes_.Choice(1), guess.keys, 0);
    LaunchedRun empty, infinite;
    if (guess.rows != guess.keys && runs_.Run({none, {}, {}}, empty)) {
      for (const auto& [index, value] : empty.stored[guess.o]) {
        if (std::isnan(value)) continue;
        if (value != 0) return Refuse("a row without keys is neither 0 / 0 nor zero");
        found_.zero = true;
      }
    }
    LaunchTrial trial{sizes_.Choice(1), {}, {}, true};
    if (guess.packed)
      trial.chosen[guess.q] = KeysOfInfinity(guess.ShapeWith(trial.sizes));
    else
      trial.elements = {{guess.q, 1.0}, {guess.k, -kInfiniteElement}};
    if (!runs_.Run(trial, infinite)) return false;
    const BufferContents& rows = infinite.stored[guess.o];
    found_.zero |= std::all_of(rows.begin(), rows.end(), [](const auto& element) { return element.second == 0; });
    return FindTypes();
  }

  bool FindTypes() {
    const AttentionGuess& guess = guesses_.front();
    std::map<int, int> launches;
    for (const SourceRuns::Link& link : runs_.links()) {
      if (link.launch == nullptr) continue;
      ++launches[link.kernel];
      for (const auto& [parameter, buffer] : link.buffers) {
        const std::string type = PointedTo(tree_, parameter);
        if (buffer == guess.o) found_.output = type;
        if (!guess.beside.empty() && guess.beside.front().contains(buffer) && type != "float")
          return Refuse(fmt::format("it stores sums of type {}", type));
        if (buffer != guess.q && buffer != guess.k && buffer != guess.v) continue;
        if (!found_.element.empty() && found_.element != type) return Refuse("its matrices are of two types");
        found_.element = type;
      }
    }
    for (const std::string* type : {&found_.element, &found_.output}) {
      if (*type != "float" && *type != "__half" && *type != "half" && *type != "__nv_bfloat16")
        return Refuse(fmt::format("its elements are {}, and half, bfloat16 and float are known", *type));
    }
    for (const SourceRuns::Link& link : runs_.links()) {
      if (link.launch != nullptr && launches.at(link.kernel) == 1) found_.kernel = link.kernel;
    }
    for (const auto& [kernel, times] : launches) {
      if (kernel != found_.kernel) found_.others.push_back(tree_.node(kernel).name);
    }
    if (found_.kernel < 0) return Refuse("it launches each of its kernels more than once");
    // The text with fewer words.
    std::vector<std::string> scales(guess.scales.begin(), guess.scales.end());
    std::stable_sort(scales.begin(), scales.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    return std::any_of(scales.begin(), scales.end(), [&](const std::string& scale) {
      found_.scale = scale;
      auto passed = PassedFor(tree_, runs_.links(), scale, why_);
      if (!passed) return false;
      found_.of_scale = *std::move(passed);
      return true;
    });
  }

  void Name() {
    const AttentionGuess& guess = guesses_.front();
    found_.q = guess.q, found_.k = guess.k, found_.v = guess.v, found_.o = guess.o;
    const std::vector<std::string> outside = guess.Outside();
    found_.heads = outside.empty() ? "1" : fmt::format("{}", fmt::join(outside, " * "));
    found_.inside = fmt::format("{}", fmt::join(guess.inside, " * "));
    found_.rows = guess.rows, found_.keys = guess.keys;
    found_.depth = guess.depth_size.empty() ? guess.depth : 0;
    found_.depth_size = guess.depth_size;
    found_.causal = guess.causal;
    found_.packed = guess.packed;
    if (!guess.beside.empty()) {
      for (const auto& [buffer, statistic] : guess.beside.front()) found_.beside[statistic] = buffer;
    }
    found_.started = !guess.started.empty();
    found_.parameters = ParametersBehind(context_, fmt::format("{}", fmt::join(knowledge_.names, " ")));
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  SourceRuns runs_;
  MatrixSizes sizes_;
  std::vector<std::string> inputs_, outputs_;
  std::vector<AttentionGuess> guesses_;
  ThreadTrace knowledge_;  // of all runs
  std::map<double, std::pair<bool, bool>> compared_;
  AttentionOfLaunches found_;
  std::string why_;
};

}  // namespace

std::optional<AttentionOfLaunches> AsAttentionOfLaunches(const MutationContext& context, std::string& why) {
  return LaunchesFinder(context).Find(why);
}

}  // namespace evo
