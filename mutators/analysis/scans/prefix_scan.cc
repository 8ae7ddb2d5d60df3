#include "mutators/analysis/scans/prefix_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mutators/analysis/grid_runs/grid_source.h"
#include "mutators/analysis/scans/elements_of_expression.h"
#include "mutators/analysis/scans/other_sizes.h"
#include "mutators/analysis/scans/scan_runs.h"
#include "mutators/analysis/scans/sums_of_blocks.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

// Combinations of parameter values for which a source is run. With more, only the present values count.
constexpr std::size_t kMostScanSettings = 12;
// How many elements it is given at most: where blocks are small enough, there are more of them than a block has threads, so that
// sums of sums are scanned in rounds. More elements are tried if no smaller blocks were.
constexpr std::int64_t kMostScanned = 5'000;
constexpr std::int64_t kMostScannedAtLast = 140'000;
// Of blocks that take many elements each: with the present parameters, and with others.
constexpr std::int64_t kMostOfTiles = 60'000, kMostOfOtherTiles = 13'000;
// A scan of fewer elements at most is not worth another kernel.
constexpr std::int64_t kFewestWorthwhile = 128;
// Of a grid that has whole blocks only.
constexpr std::int64_t kFewestOfBlock = 32;

bool NamesSize(const Expression& expression, const std::string& size) {
  const auto names = expression.Names();
  return std::find(names.begin(), names.end(), size) != names.end();
}

class ScanFinder {
 public:
  // `size`: of several sizes the number of elements, with these values of the others.
  explicit ScanFinder(const MutationContext& context, const std::string& size = "", const Parameters& others = {})
      : context_(context), source_(context), runs_(context, source_.launches(), found_) {
    found_.size = size.empty() ? source_.size() : size;
    found_.other_sizes = others;
  }

  bool has_loop() const { return source_.has_loop(); }

  std::variant<PrefixScan, std::string> Find() {
    if (!FindLaunches()) return why_;
    const Parameters& present = context_.genome.parameters;
    if (const std::int64_t least = runs_.LeastOf(present); least > 1) {
      const bool multiples = FindMultiples(least);
      const std::string why = runs_.why();
      if (!multiples && !FindPowersOfTwo(least)) return why;
      found_.functions = source_.AllFunctions();
      return found_;
    }
    if (!runs_.IsScan(present, kFewScanned)) {
      const std::string why = runs_.why();
      const bool outside = runs_.was_outside();
      if (FindVectors()) return found_;
      // Threads that ask for no bound, where the grid is rounded up.
      const bool whole = outside && !found_.in_loop && FindMultiples(runs_.TileOf(present));
      if (!whole && !FindPowersOfTwo(1) && (!outside || !FindOnly())) return why;
      found_.functions = source_.AllFunctions();
      return found_;
    }
    for (const std::int64_t elements : runs_.Elements(present, MostScanned(), kMostOfTiles)) {
      if (runs_.IsScan(present, elements)) continue;
      if (runs_.left_elements() && FindMost(elements)) break;
      if (elements > kMostScanned && runs_.took_too_long()) continue;
      if (!FindMostOfSums()) return runs_.why();
    }
    if (found_.most == 0 && !FindMostOfSums() && !TryOtherParameters()) return runs_.why();
    found_.functions = source_.AllFunctions();
    return found_;
  }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // A source whose kernels neither work together nor have loops resembles no scan, and gets no reason.
  bool FindLaunches() {
    if (!source_.resembles_work()) return Refuse("");
    found_.in_loop = source_.has_loop();
    if (found_.in_loop && !found_.size.empty() && !LoopsFollowSize())
      return Refuse("they are in a loop, such as one launch for each distance, which does not depend on the number of elements");
    const auto& launches = source_.launches();
    for (const LaunchDirective* launch : launches) {
      const auto same = [&](const LaunchDirective* other) { return other->kernel == launch->kernel; };
      const bool once = std::count_if(launches.begin(), launches.end(), same) == 1;
      if (launch->when || (found_.launch != nullptr && (!once || !found_.repeated))) continue;
      found_.launch = launch;
      found_.repeated = !once;
    }
    if (found_.launch == nullptr) return Refuse("each launch has a condition");
    found_.kernel = source_.KernelNamed(found_.launch->kernel);
    for (const std::string& name : source_.Kernels()) {
      if (name != found_.launch->kernel) found_.others.push_back(name);
    }
    found_.wide = source_.wide();
    return !found_.size.empty() ||
           Refuse(fmt::format("{}", source_.sizes().empty() ? "no size says how many elements there are"
                                                            : "several sizes decide how many elements there are"));
  }

  // How often launches are repeated must not be right for some numbers of elements only.
  bool LoopsFollowSize() const {
    const auto& steps = context_.rendered.steps;
    return std::all_of(steps.begin(), steps.end(),
                       [&](const Step& step) { return !step.repeat || NamesSize(step.repeat->count, found_.size); });
  }

  // The first scan of every course is made for as many elements as its block has threads. What is right for some numbers of
  // elements is used for those only.
  bool FindMost(std::int64_t wrong) {
    const Parameters& present = context_.genome.parameters;
    if (HasConditions()) return false;
    if (wrong > kFewScanned) found_.most = runs_.MostBetween(present, kFewScanned, wrong);
    if (found_.most < kFewestWorthwhile || runs_.IsScan(present, found_.most + 1) || !runs_.left_elements()) return false;
    for (const std::int64_t elements : {std::int64_t{1}, found_.most / 2 + 1, found_.most - 1}) {
      if (!runs_.IsScan(present, elements)) return false;
    }
    bool hidden = false;
    found_.parameters = source_.Deciding(runs_.names(), hidden);
    return true;
  }

  // One block scans the sums of all blocks, and so many of them only.
  bool FindMostOfSums() {
    const Parameters& present = context_.genome.parameters;
    if (HasConditions() || found_.in_loop || found_.multiple > 1 || source_.launches().size() < 2) return false;
    found_.most = MostOfSums(runs_.TileOf(present));
    if (found_.most < kFewestWorthwhile) return found_.most = 0, false;
    const bool tried = found_.most > kMostScannedAtLast || runs_.IsScan(present, found_.most);
    bool hidden = false;
    found_.parameters = source_.Deciding(runs_.names(), hidden);
    if (!tried) found_.most = 0;
    return tried;
  }

  // A grid of `n / threads` blocks, which leaves what a part of a block would take.
  bool FindMultiples(std::int64_t least) {
    if (HasConditions() || least < kFewestOfBlock) return false;
    Forget();
    const Parameters& present = context_.genome.parameters;
    for (const std::int64_t blocks : {3, 1, 2, 5, 8}) {
      if (!runs_.IsScan(present, blocks * least)) return false;
    }
    found_.multiple = least;
    const std::int64_t rounds = (least + 1) * least;
    const bool alone = source_.launches().size() < 2;
    found_.most = alone ? 0 : MostOfSums(least);
    if (found_.most == 0 && !alone && rounds > kMostScannedAtLast) found_.most = kMostScannedAtLast / least * least;
    if (found_.most > 0) {
      if (found_.most <= kMostScannedAtLast && !runs_.IsScan(present, found_.most)) return false;
    } else if (rounds <= kMostScannedAtLast && !runs_.IsScan(present, rounds)) {
      const std::int64_t right = runs_.MostBetween(present, 8, least + 1, least);
      found_.most = right * least;
    }
    bool hidden = false;
    found_.parameters = source_.Deciding(runs_.names(), hidden);
    return true;
  }

  // The most elements for which each launch that scans sums of blocks has all of them; 0 if none has a limit.
  std::int64_t MostOfSums(std::int64_t tile) const {
    std::int64_t all = 0;
    for (const LaunchDirective* launch : source_.launches()) {
      const std::int64_t most = SumsOfBlocks(context_, *launch, found_.size, found_.other_sizes).MostElements(tile);
      if (most > 0 && (all == 0 || most < all)) all = most;
    }
    return all;
  }

  // One block that takes what its threads take together, and does not ask how much that is.
  bool FindOnly() {
    if (HasConditions() || found_.in_loop) return false;
    const Parameters& present = context_.genome.parameters;
    Forget();
    found_.multiple = 1;
    found_.most = 0;
    found_.powers_of_two = false;
    for (const std::int64_t each : {1, 2, 4, 8}) {
      found_.only = each * runs_.ThreadsOf(present);
      if (found_.only < kFewestWorthwhile || !runs_.IsScan(present, found_.only)) continue;
      bool hidden = false;
      found_.parameters = source_.Deciding(runs_.names(), hidden);
      return true;
    }
    found_.only = 0;
    return false;
  }

  // Whether each thread adds up what it stores, so that there are no rounds of anything.
  bool IsOfThreadsAlone() const {
    return source_.launches().size() == 1 && !Cooperates(context_.tree, found_.kernel) && !HasLargeNumbers(CodeOf(context_.tree));
  }

  // Elements that are taken so many at once, as vectors.
  bool FindVectors() {
    if (HasConditions()) return false;
    const Parameters& present = context_.genome.parameters;
    for (const std::int64_t count : {2, 4, 8, 16}) {
      Forget();
      found_.multiple = count;
      if (!runs_.IsScan(present, count * kFewScanned)) continue;
      const auto numbers = runs_.Elements(present, MostScanned(), kMostOfTiles);
      const auto is_scan = [&](std::int64_t elements) { return runs_.IsScan(present, elements); };
      if (!std::all_of(numbers.begin(), numbers.end(), is_scan) || !TryOtherParameters()) break;
      found_.functions = source_.AllFunctions();
      return true;
    }
    Forget();
    found_.multiple = 1;
    return false;
  }

  void Forget() {
    found_.input.clear();
    found_.output.clear();
    found_.also.clear();
    found_.total_to.clear();
    found_.input_type.clear();
    found_.exclusive = found_.total = found_.last_unread = false;
  }

  // One block whose tree halves what is left, with half as many threads as there are elements; or as many as there are blocks of
  // so many elements.
  bool FindPowersOfTwo(std::int64_t block) {
    if (HasConditions() || (block & (block - 1)) != 0) return false;
    Forget();
    found_.multiple = 1;
    const Parameters& present = context_.genome.parameters;
    std::int64_t right = block == 1 ? kFewestWorthwhile : 16 * block;
    for (std::int64_t elements = 1; elements <= right; elements *= 2) {
      const std::int64_t first = right / elements;  // the largest first: it tells which scan it is
      if (first > block && !runs_.IsScan(present, first)) return false;
    }
    found_.more_than = block;
    while (right * 2 <= kMostScannedAtLast && runs_.IsScan(present, right * 2)) right *= 2;
    found_.powers_of_two = true;
    if (right * 2 <= kMostScannedAtLast) found_.most = right;
    bool hidden = false;
    found_.parameters = source_.Deciding(runs_.names(), hidden);
    return true;
  }

  std::int64_t MostScanned() const { return kMostScanned * found_.multiple; }

  bool HasConditions() const {
    const auto& launches = source_.launches();
    return std::any_of(launches.begin(), launches.end(), [](const LaunchDirective* launch) { return launch->when.has_value(); });
  }

  bool TryOtherParameters() {
    bool hidden = false;
    const Parameters deciding = source_.Deciding(runs_.names(), hidden);
    const std::vector<Parameters> settings = source_.OtherSettings(deciding, kMostScanSettings);
    bool all = !hidden && settings.size() <= kMostScanSettings,
         rounds = runs_.HasRounds(context_.genome.parameters, MostScanned());
    for (std::size_t i = 0; all && i < settings.size(); ++i) {
      for (const std::int64_t elements : runs_.Elements(settings[i], MostScanned(), kMostOfOtherTiles))
        all = all && runs_.IsScan(settings[i], elements);
      rounds = rounds || runs_.HasRounds(settings[i], MostScanned());
    }
    if (!all) found_.parameters = deciding;
    const Parameters& present = context_.genome.parameters;
    // A loop has a launch for each distance, and no sums of blocks.
    if (found_.in_loop || IsOfThreadsAlone()) return true;
    // It may add up so many elements as a large number says, and no more.
    if (source_.launches().size() == 1 && !Cooperates(context_.tree, found_.kernel))
      return runs_.IsScan(present, runs_.RoundsOf(present));
    if ((all && rounds) || !runs_.HasRounds(present, kMostScannedAtLast)) return true;
    if (runs_.IsScan(present, runs_.RoundsOf(present))) return true;
    // What takes longer and longer has one round at least.
    return runs_.took_too_long() && runs_.IsScan(present, runs_.RoundsOf(present) / 2 + 1);
  }

  const MutationContext& context_;
  GridSource source_;
  PrefixScan found_;
  ScanRuns runs_;
  std::string why_;
};

// With the sizes that launch lines name.
std::variant<PrefixScan, std::string> AsScanOfSizes(const MutationContext& context) {
  const auto find = [&](const std::string& size, const Parameters& others) { return ScanFinder(context, size, others).Find(); };
  const GridSource source(context);
  const auto is_conditional = [](const LaunchDirective* launch) { return launch->when.has_value(); };
  const bool conditional = std::any_of(source.launches().begin(), source.launches().end(), is_conditional);
  if (source.sizes().size() > 1 && source.resembles_work() && !conditional) return ScanOfOneSize(context, source.sizes(), find);
  ScanFinder finder(context);
  auto found = finder.Find();
  const auto* why = std::get_if<std::string>(&found);
  if (why == nullptr || why->empty() || !finder.has_loop() || why->starts_with("they are in a loop")) return found;
  return fmt::format("they are in a loop, such as one launch for each distance, and {}", *why);
}

}  // namespace

std::string PrefixScan::When() const {
  const std::string up_to = most > 0 ? fmt::format("{} <= {}", size, most) : "";
  const std::string more = up_to.empty() ? "" : " && " + up_to;
  std::string when = only > 0        ? fmt::format("{} == {}", size, only)
                     : multiple > 1  ? fmt::format("{} % {} == 0{}", size, multiple, more)
                     : powers_of_two ? fmt::format("({0} & ({0} - 1)) == 0 && {0} > {1}{2}", size, more_than, more)
                                     : up_to;
  if (!other_when.empty()) when = when.empty() ? other_when : fmt::format("{} && {}", other_when, when);
  return when;
}

std::variant<PrefixScan, std::string> AsPrefixScan(const MutationContext& context) {
  auto found = AsScanOfSizes(context);
  const auto* const why = std::get_if<std::string>(&found);
  if (why == nullptr || why->empty()) return found;
  for (const ElementsOfExpression& counted : ElementsOfExpressions(context)) {
    const MutationContext other{context.kernel_template, context.genome,        context.tree,
                                counted.rendered,        context.second_parent, context.product_elsewhere};
    auto again = AsScanOfSizes(other);
    auto* const scan = std::get_if<PrefixScan>(&again);
    if (scan == nullptr) continue;
    const auto& steps = counted.rendered.steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].launch && &*steps[i].launch == scan->launch) scan->launch = &*context.rendered.steps[i].launch;
    }
    scan->size = fmt::format("({})", counted.expression);
    return again;
  }
  return found;
}

}  // namespace evo
