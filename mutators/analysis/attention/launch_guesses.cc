#include "mutators/analysis/attention/launch_guesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

constexpr const char* kNotInLaunches =
    "what its kernels leave is not softmax(scale * query * key) * value with matrices of heads, rows and columns";
constexpr std::size_t kMatricesRead = 3;
constexpr std::int64_t kElementsOfVector = 4;
// Choices of sizes that are tried where integers in memory decide something, each with several numbers for them.
constexpr int kMostOfIntegers = 4;

template <typename Elements>
std::int64_t ElementsRead(const std::map<std::string, Elements>& buffers, const std::string& buffer) {
  const auto found = buffers.find(buffer);
  return found == buffers.end() ? 0 : static_cast<std::int64_t>(found->second.size());
}

std::string NotInLaunches(std::size_t outputs) {
  return outputs == 1 ? kNotInLaunches
                      : fmt::format("{}, or another output has nothing known of each row's scores", kNotInLaunches);
}

}  // namespace

bool LaunchGuesses::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// With the sizes as they are, or with multiples of a unit.
bool LaunchGuesses::Find() {
  std::vector<TrialSizes::Units> units = UnitsInLaunches(context_, runs_.names());
  const DerivedSizes derived(tree_, runs_);
  std::string first_why, refused_why;  // of what ran, and of what did not
  const std::size_t suggested = units.size();
  int of_integers = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    sizes_ = MatrixSizes(TrialSizes(runs_.names(), units[i]), derived);
    extra_ = {};
    const Tried tried = Try();
    if (tried == Tried::kHolds) return true;
    if (extra_.integers && ++of_integers >= kMostOfIntegers)
      return Refuse(fmt::format("integers of {} decide what it computes", extra_.buffer));
    if (tried == Tried::kRefused) {
      if (refused_why.empty()) refused_why = runs_.why();
      if (runs_.is_final()) return Refuse(first_why.empty() ? runs_.why() : first_why);
      AddUnitsOfVectors(units);
    } else if (tried == Tried::kNone || tried == Tried::kNotTwice) {
      if (first_why.empty())
        first_why = tried == Tried::kNone ? NotInLaunches(outputs_.size()) : all_.empty() ? kNotWithOthers : runs_.why();
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

LaunchGuesses::Tried LaunchGuesses::Try() {
  all_.clear();
  LaunchedRun run;
  const LaunchTrial trial = With({Choice(0), {}, {}});
  if (!runs_.Run(trial, run)) {
    knowledge_.names.insert(run.knowledge.names.begin(), run.knowledge.names.end());
    return !runs_.integers().empty() && extra_.buffer.empty() ? TryIntegers(runs_.integers()) : Tried::kRefused;
  }
  if (!ReadsMatrices(run)) return Tried::kNoMatrices;
  Learn(run);
  if (inputs_.size() > kMatricesRead) return TryAdded();
  return Confirm(run, trial);
}

// With one buffer of integers: how many keys there are, or which of them are hidden. At first none is.
LaunchGuesses::Tried LaunchGuesses::TryIntegers(std::string buffer) {
  Tried best = Tried::kRefused;
  std::set<std::int64_t> shown{1, 0};
  for (const auto& [name, size] : Choice(0)) shown.insert(size);
  bool flags = false;
  for (const SourceRuns::Link& link : runs_.links()) {
    for (const auto& [parameter, name] : link.buffers)
      flags = flags || (name == buffer && tree_.node(parameter).type.find("bool") != std::string::npos);
  }
  if (flags) shown = {1, 0};
  const Extra hidden{std::move(buffer), true, 0, flags};
  for (auto number = shown.rbegin(); number != shown.rend(); ++number) {
    extra_ = hidden;
    extra_.shown = static_cast<double>(*number);
    const Tried tried = Try();
    if (tried == Tried::kHolds) return tried;
    best = std::max(best, tried);
  }
  return best;
}

// With one buffer of real numbers that are added to scores, which at first are zero.
LaunchGuesses::Tried LaunchGuesses::TryAdded() {
  const std::vector<std::string> inputs = inputs_;
  Tried best = Tried::kNone;
  for (const std::string& buffer : inputs) {
    extra_ = {buffer, false, 0, false};
    all_.clear();
    LaunchedRun run;
    const LaunchTrial trial = With({Choice(0), {}, {}});
    if (!runs_.Run(trial, run) || !ReadsMatrices(run)) continue;
    const Tried tried = Confirm(run, trial);
    if (tried == Tried::kHolds) return tried;
    best = std::max(best, tried);
  }
  return best;
}

// The guesses that hold for a run in which no key is hidden and nothing is added to scores, and for others.
LaunchGuesses::Tried LaunchGuesses::Confirm(const LaunchedRun& run, const LaunchTrial& trial) {
  all_.clear();
  const DerivedSizes& derived = sizes_.derived();
  std::vector<std::string> inputs = inputs_;
  std::erase(inputs, extra_.buffer);
  ScalesOfRun scales(run.knowledge);
  for (AttentionGuess& guess : GuessesIn(
           {runs_.names(), inputs, outputs_, derived.numbers(), derived.Quotients(), derived.increments()}, trial.sizes, run))
    AddIfItHolds(std::move(guess), trial, run, scales);
  if (all_.empty()) return Tried::kNone;
  if (extra_.buffer.empty()) return Holds({Choice(1), {}, {}}) ? Tried::kHolds : Tried::kNotTwice;
  const std::int64_t elements =
      extra_.integers ? ElementsRead(run.integers, extra_.buffer) : ElementsRead(run.read, extra_.buffer);
  // Those of one kind in one run.
  std::map<std::pair<ScoreExtra::Kind, bool>, std::vector<AttentionGuess>> kinds;
  for (const AttentionGuess& guess : all_) {
    for (const ScoreExtra& extra :
         PossibleExtras(extra_.buffer, extra_.integers, elements, guess.heads, guess.ShapeWith(trial.sizes), trial.sizes)) {
      auto& guesses = kinds[{extra.kind, extra.shows_zero}];
      guesses.push_back(guess);
      guesses.back().extra = extra;
    }
  }
  for (auto& [kind, guesses] : kinds) {
    std::stable_partition(guesses.begin(), guesses.end(), [](const AttentionGuess& one) { return one.extra.by_row; });
    all_ = std::move(guesses);
    if (Holds({Choice(0), {}, {}}) && Holds({Choice(1), {}, {}})) return Tried::kHolds;
  }
  return Tried::kNone;
}

LaunchRuns::Sizes LaunchGuesses::Fit(LaunchRuns::Sizes sizes) const {
  for (const std::string& name : runs_.names()) {
    if (!runs_.IsHalved(name)) continue;
    const auto number = static_cast<std::uint64_t>(std::max<std::int64_t>(1, sizes.at(name)));
    sizes = sizes_.Where(std::move(sizes), name, static_cast<std::int64_t>(std::bit_ceil(number)));
  }
  return sizes;
}

LaunchTrial LaunchGuesses::With(LaunchTrial trial, HiddenKeys hidden) const {
  if (extra_.buffer.empty()) return trial;
  if (all_.empty() || all_.front().extra.kind == ScoreExtra::Kind::kNone)
    trial.elements[extra_.buffer] = extra_.shown;
  else if (extra_.integers)
    trial.chosen[extra_.buffer] = ContentsOf(all_.front().extra, all_.front().ShapeWith(trial.sizes), hidden, extra_.flags);
  return trial;
}

// Sizes that elements which are accessed at once divide.
void LaunchGuesses::AddUnitsOfVectors(std::vector<TrialSizes::Units>& units) {
  const std::int64_t each = runs_.misaligned();
  const auto is_known = [&](const auto& one) { return one.size() > 1 && one.begin()->second == each; };
  if (each < 2 || std::any_of(units.begin(), units.end(), is_known)) return;
  for (auto& one : UnitsOfVectors(runs_.names(), each)) units.push_back(std::move(one));
}

// What nobody stores is read of three buffers. In silence, if not.
bool LaunchGuesses::ReadsMatrices(const LaunchedRun& run) {
  inputs_.clear();
  for (const auto& [buffer, elements] : run.read) {
    const auto stored = run.stored.find(buffer);
    if (stored == run.stored.end() || stored->second.empty()) inputs_.push_back(buffer);
  }
  outputs_.clear();
  for (const auto& [buffer, elements] : run.stored) {
    if (!runs_.IsWorkspace(buffer) && !elements.empty()) outputs_.push_back(buffer);
  }
  // Beside integers, or with something that is added to scores.
  const std::size_t most = kMatricesRead + (extra_.integers ? 0 : 1);
  return run.knowledge.exponential && ((inputs_.size() >= kMatricesRead && inputs_.size() <= most) || inputs_.size() == 1) &&
         !outputs_.empty();
}

void LaunchGuesses::Learn(const LaunchedRun& run) {
  knowledge_.names.insert(run.knowledge.names.begin(), run.knowledge.names.end());
  knowledge_.largest_number = std::max(knowledge_.largest_number, run.knowledge.largest_number);
  for (const auto& [number, seen] : run.compared) {
    auto& [less, more] = compared_[number];
    less = less || seen.first, more = more || seen.second;
  }
}

void LaunchGuesses::AddIfItHolds(AttentionGuess guess, const LaunchTrial& trial, const LaunchedRun& run, ScalesOfRun& scales) {
  guess.scales = ScalesThatHold(runs_, guess, trial, run, scales);
  if (!guess.scales.empty() && FindStatistics(runs_, outputs_, trial, run, guess)) all_.push_back(std::move(guess));
}

bool LaunchGuesses::Holds(const LaunchTrial& plain) {
  LaunchedRun run;
  const LaunchTrial trial = With(plain);
  if (!runs_.Run(trial, run)) return false;
  Learn(run);
  ScalesOfRun scales(run.knowledge);
  std::erase_if(all_, [&](AttentionGuess& guess) {
    if (!run.stored.contains(guess.o) || !guess.HasLastRow(trial.sizes, run) ||
        (!trial.samples && !extra_.integers && !guess.HasElements(trial.sizes, run)))
      return true;
    guess.scales = ScalesThatHold(runs_, guess, trial, run, scales);
    return guess.scales.empty() || !FindStatistics(runs_, outputs_, trial, run, guess);
  });
  return !all_.empty();
}

}  // namespace evo
