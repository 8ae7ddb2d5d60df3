#include "mutators/analysis/reductions/array_forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/grid_runs/trial_sizes.h"
#include "mutators/analysis/reductions/array_length.h"
#include "mutators/analysis/reductions/array_statistics.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/memory_traffic.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_structs.h"

namespace evo {
namespace {

// Elements that a source stores at most: more are no numbers of a whole array.
constexpr std::size_t kMostNumbers = 4;
constexpr std::size_t kMostArraySizes = 3;
constexpr std::int64_t kMostArrayLength = 1 << 17;  // or threads
constexpr double kLikeAnInfinity = 1e4;             // a number that data is compared with
constexpr double kNearInfinity = 9'999, kSmallTimes = 1e-3;
// Larger than all elements that are drawn.
constexpr double kExtreme = 90;
constexpr double kSameNumber = 2e-5;
// What the rounding of large numbers may leave of their difference.
constexpr double kSmallDifference = 1e-12;
constexpr const char* kNoForms = "what its kernels leave is no sum, extreme, norm or distance of arrays that is known";

// Whether blocks hand on what they have combined: the last launch has one block, or an atomic or a fence follows.
bool MayCombineAll(const MutationContext& context) {
  const std::string& code = CodeOf(context.tree);
  if (code.find("float") == std::string::npos && !ContainsName(code, "double")) return false;
  if (ContainsName(code, "wmma") || code.find("asm") != std::string::npos) return false;
  const LaunchDirective* last = nullptr;
  for (const Step& step : context.rendered.steps) {
    if (step.launch) last = &*step.launch;
    if (!step.launch && !step.memset) return false;
  }
  if (last == nullptr) return false;
  return code.find("atomic") != std::string::npos ||
         std::all_of(last->grid.begin(), last->grid.end(), [](const Expression& extent) { return extent.text() == "1"; });
}

class ArrayFormFinder {
 public:
  explicit ArrayFormFinder(const MutationContext& context)
      : context_(context), tree_(context.tree), structs_(context.tree), runs_(context) {}

  bool Find() {
    if (!MayCombineAll(context_) || !runs_.FindLaunches()) return false;
    if (runs_.names().empty() || runs_.names().size() > kMostArraySizes || !DescribeBuffers()) return false;
    if (FindFirst()) return Confirm();
    if (runs_.misaligned() == 0) return false;
    each_ = runs_.misaligned();  // vectors want multiples of it
    found_ = {};
    forms_.clear();
    return FindFirst() && Confirm();
  }

  const ArrayForms& found() const { return found_; }
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }

  // Buffers of float or double, and others that only the kernels use.
  bool DescribeBuffers() {
    for (const SourceRuns::Link& link : runs_.links()) {
      for (const auto& [parameter, buffer] : link.buffers) {
        const std::string pointee = PointedTo(tree_, parameter);
        const auto [known, fresh] = types_.try_emplace(buffer, pointee);
        if (!fresh && known->second != pointee) return false;
        // Of other types only results.
        const ThreadType type = ThreadTypeOf(pointee);
        const bool known_type = type == ThreadType::kReal || type == ThreadType::kInteger || type == ThreadType::kUnsigned ||
                                structs_.NumberOf(pointee) >= 0;
        if (!known_type && !runs_.IsWorkspace(buffer)) return false;
      }
      for (const auto& [parameter, argument] : link.reals) {
        if (!argument.Names().empty()) return false;
      }
    }
    return true;
  }

  LaunchRuns::Sizes SizesFrom(const std::array<std::int64_t, kMostArraySizes>& numbers) const {
    LaunchRuns::Sizes sizes;
    const auto& names = runs_.names();
    for (std::size_t i = 0; i < names.size(); ++i)
      sizes[names[i]] = each_ * (names.size() == 1 ? numbers[0] * numbers[1] : numbers[i]);
    return sizes;
  }

  bool FindFirst() {
    LaunchedRun run;
    const LaunchTrial trial{SizesFrom({5, 7, 3}), {}, {}};
    if (!runs_.Run(trial, run)) return Refuse(runs_.why());
    Learn(run);
    for (const auto& [buffer, elements] : run.read) {
      if (runs_.IsWorkspace(buffer)) continue;
      if (!found_.x.empty() && !found_.second.empty()) return Refuse(kNoForms);
      (found_.x.empty() ? found_.x : found_.second) = buffer;
    }
    if (found_.x.empty() || (!found_.second.empty() && types_.at(found_.x) != types_.at(found_.second))) return false;
    found_.type = types_.at(found_.x);
    if (found_.type != "float" && found_.type != "double") return false;
    const auto length = ArrayLengthFor(trial.sizes, static_cast<std::int64_t>(run.read.at(found_.x).size()));
    if (!length) return Refuse(kNoForms);
    length_ = *length;
    found_.length = length_.Text();
    const std::string& code = CodeOf(tree_);
    const bool roots = code.find("sqrt") != std::string::npos || code.find("pow") != std::string::npos;
    for (const auto& [buffer, elements] : run.stored) {
      if (runs_.IsWorkspace(buffer)) continue;
      if (buffer == found_.x || buffer == found_.second) return Refuse(kNoForms);
      for (const auto& [index, value] : elements) {
        found_.stored.push_back({buffer, types_.at(buffer), index, ElementText(buffer, index), ""});
        auto& forms = forms_.emplace_back();
        for (const KnownArrayForm& form : KnownArrayForms()) {
          if (!form.root || roots) forms.push_back(&form);
        }
      }
      if (found_.stored.size() > kMostNumbers) return false;  // of another kind
    }
    return !found_.stored.empty() && Matches(trial, run);
  }

  std::string ElementText(const std::string& buffer, std::int64_t index) const {
    const int structure = structs_.NumberOf(types_.at(buffer));
    if (structure < 0) return fmt::format("[{}]", index);
    const auto parts = static_cast<std::int64_t>(structs_.CountOf(structure));
    return fmt::format("[{}].{}", index / parts, structs_.NameAt(structure, index));
  }

  // The elements of a buffer at the beginning of a run.
  static double ElementAt(const LaunchTrial& trial, const std::string& buffer, std::int64_t index,
                          const std::function<double(std::int64_t)>& drawn) {
    if (const auto chosen = trial.chosen.find(buffer); chosen != trial.chosen.end()) {
      if (const auto element = chosen->second.find(index); element != chosen->second.end()) return element->second;
    }
    return drawn(index);
  }

  ArrayStatisticValues StatisticsOf(const LaunchTrial& trial, std::int64_t length) const {
    const auto elements_of = [&](const std::string& buffer) -> std::function<double(std::int64_t)> {
      if (buffer.empty()) return nullptr;
      return [&trial, buffer, drawn = runs_.ElementsOf(trial, buffer)](std::int64_t i) {
        return ElementAt(trial, buffer, i, drawn);
      };
    };
    return StatisticsOfElements(elements_of(found_.x), elements_of(found_.second), length);
  }

  // Whether all numbers are still some of their forms; the others go.
  bool Matches(const LaunchTrial& trial, const LaunchedRun& run) {
    const std::int64_t length = length_.With(trial.sizes);
    const ArrayStatisticValues statistics = StatisticsOf(trial, length);
    for (const std::string* buffer : {&found_.x, &found_.second}) {
      if (buffer->empty()) continue;
      const auto read = run.read.find(*buffer);
      if (read == run.read.end() || static_cast<std::int64_t>(read->second.size()) != length ||
          read->second.rbegin()->first != length - 1)
        return Refuse(kNoForms);
    }
    std::size_t stored = 0;
    for (const auto& [buffer, elements] : run.stored) stored += runs_.IsWorkspace(buffer) ? 0 : elements.size();
    if (stored != found_.stored.size()) return Refuse(kNoForms);
    for (std::size_t i = 0; i < found_.stored.size(); ++i) {
      const ArrayForms::Stored& one = found_.stored[i];
      if (!run.stored.contains(one.buffer) || !run.stored.at(one.buffer).contains(one.index)) return Refuse(kNoForms);
      const double left = run.stored.at(one.buffer).at(one.index);
      std::erase_if(forms_[i], [&](const KnownArrayForm* form) {
        const double value = form->value(statistics, static_cast<double>(length));
        if (form->IsPlace()) return value != left;
        const double rounding = form->of_deviations ? kSmallDifference * statistics.at("squares") : 0;
        return !(std::fabs(value - left) <= kSameNumber * std::fabs(value) + rounding || value == left);
      });
      if (forms_[i].empty()) return Refuse(kNoForms);
    }
    return true;
  }

  void Learn(const LaunchedRun& run) {
    code_.names.insert(run.knowledge.names.begin(), run.knowledge.names.end());
    code_.largest = std::max(code_.largest, run.knowledge.largest_number);
    for (const auto& [number, seen] : run.compared) {
      auto& [less, more] = code_.compared[number];
      less = less || seen.first, more = more || seen.second;
    }
  }

  bool StillHolds(const LaunchTrial& trial) {
    LaunchedRun run;
    if (!runs_.Run(trial, run)) return Refuse(runs_.why());
    return Learn(run), Matches(trial, run);
  }

  // More elements than any number of the code and than all threads, as many as threads, and twice as many less one, so that each
  // thread has some even if each has a run of neighbours.
  std::vector<LaunchRuns::Sizes> ManySizes() const {
    std::int64_t threads = 1;
    const LaunchRuns::Sizes least = SizesFrom({1, 1, 1});
    for (const SourceRuns::Link& link : runs_.links()) {
      const auto setting = link.runs ? link.runs->SettingOf(least) : std::nullopt;
      threads = std::max(threads, setting ? setting->Threads() : 1);
    }
    std::vector<LaunchRuns::Sizes> all;
    const std::int64_t others = length_.With(least) / least.at(length_.names[0]);
    for (const std::int64_t wanted :
         {std::max({threads, code_.largest, runs_.LargestArgument()}) + 3, threads, 2 * threads - 1}) {
      if (wanted > kMostArrayLength) return {};
      LaunchRuns::Sizes& sizes = all.emplace_back(least);
      sizes[length_.names[0]] = ((wanted + others - 1) / others + each_ - 1) / each_ * each_;
    }
    return all;
  }

  // With a start other than an infinity an extreme would be it, and with something added a root or a mean would not be zero.
  bool HoldsForEqualElements(const LaunchRuns::Sizes& sizes) {
    for (const double element : {0.0, kNearInfinity, -kNearInfinity}) {
      LaunchTrial trial{sizes, {}, {}};
      trial.elements[found_.x] = element;
      if (!StillHolds(trial)) return false;
      if (found_.second.empty()) continue;
      trial.elements[found_.second] = element;
      if (!StillHolds(trial)) return false;
      trial.elements.erase(found_.x);
      if (!StillHolds(trial)) return false;
    }
    LaunchTrial trial{sizes, {{found_.x, kSmallTimes}}, {}};
    if (!found_.second.empty()) trial.times[found_.second] = kSmallTimes;
    return StillHolds(trial);
  }

  bool HasPlaces() const {
    return std::any_of(forms_.begin(), forms_.end(), [](const auto& forms) {
      return std::any_of(forms.begin(), forms.end(), [](const KnownArrayForm* form) { return form->IsPlace(); });
    });
  }

  // Several largest ones: first that of a thread or a block behind, then that of one before it.
  bool HoldsForEqualExtremes(const LaunchRuns::Sizes& sizes) {
    const std::int64_t length = length_.With(sizes);
    for (const std::int64_t sign : {1, -1}) {
      for (const std::int64_t part : {2, 3, 5, 9, 40}) {
        LaunchTrial trial{sizes, {}, {}};
        auto& chosen = trial.chosen[found_.x];
        for (const std::int64_t at : {length / part, length / part + 1, length - 1 - length / part / 2, length / part / 2 + 7})
          chosen[std::clamp<std::int64_t>(at, 0, length - 1)] = static_cast<double>(sign) * kExtreme;
        if (!StillHolds(trial)) return false;
      }
    }
    return true;
  }

  bool Confirm() {
    const LaunchRuns::Sizes few = SizesFrom({5, 7, 3}), others = SizesFrom({13, 4, 2});
    LaunchTrial trial{others, {{found_.x, -1.5}}, {}};
    if (!found_.second.empty()) trial.times[found_.second] = 0.7;
    if (!StillHolds(trial) || !StillHolds({SizesFrom({1, 1, 1}), {}, {}})) return false;
    std::int64_t last = length_.With(few) - 1;
    for (const auto& [high, low] : {std::pair(std::int64_t{0}, last), std::pair(last, last / 2)}) {
      trial = {few, {}, {}};
      trial.chosen[found_.x] = {{high, kExtreme}, {low, -2 * kExtreme}};
      if (!StillHolds(trial)) return false;
      trial.chosen[found_.x] = {{low, 2 * kExtreme}, {high, -kExtreme}};
      if (!StillHolds(trial)) return false;
    }
    if (!HoldsForEqualElements(few)) return false;
    const std::vector<LaunchRuns::Sizes> all = ManySizes();
    if (all.empty()) return Refuse("its blocks or numbers are too large to be tried");
    for (const LaunchRuns::Sizes& many : all) {
      trial = {many, {}, {}};
      last = length_.With(many) - 1;
      trial.chosen[found_.x] = {{last, kExtreme}, {last / 2, -2 * kExtreme}};
      if (!StillHolds(trial)) return false;
      if (HasPlaces() && !HoldsForEqualExtremes(many)) return false;
    }
    for (const auto& [number, seen] : code_.compared) {
      if ((!seen.first || !seen.second) && std::fabs(number) < kLikeAnInfinity && number != 0)
        return Refuse(fmt::format("it compares what it computes with {}", number));
    }
    for (std::size_t i = 0; i < found_.stored.size(); ++i) found_.stored[i].form = forms_[i].front()->text;
    found_.parameters = ParametersBehind(context_, fmt::format("{}", fmt::join(code_.names, " ")));
    return true;
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  ThreadStructs structs_;
  SourceRuns runs_;
  std::map<std::string, std::string> types_;  // by buffer
  ArrayForms found_;
  std::vector<std::vector<const KnownArrayForm*>> forms_;  // of each number that is stored
  struct Code {
    std::int64_t largest = 0;
    std::set<std::string> names;
    std::map<double, std::pair<bool, bool>> compared;  // whether data was less, and more
  };
  ArrayLength length_;
  Code code_;
  std::int64_t each_ = 1;  // of which sizes are multiples
  std::string why_;
};

}  // namespace

std::optional<ArrayForms> AsArrayForms(const MutationContext& context, std::string& why) {
  ArrayFormFinder finder(context);
  if (finder.Find()) return finder.found();
  why = finder.why();
  return std::nullopt;
}

}  // namespace evo
