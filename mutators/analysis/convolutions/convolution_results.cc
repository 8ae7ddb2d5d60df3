#include "mutators/analysis/convolutions/convolution_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "mutators/analysis/convolutions/convolution_comparison.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/convolution_parts.h"
#include "mutators/analysis/source/product_store.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/source/work_sharing.h"

namespace evo {
namespace {

constexpr std::int64_t kLargestConvolutionNumber = 1100;
// Elements of launches of which not all are looked at.
constexpr std::int64_t kSpreadElements = 64, kLargeElements = 24;
constexpr std::size_t kMostFactors = 6;
// Functions of a text may have numbers with seven digits.
constexpr double kNear = 2e-6;
using Comparison = ConvolutionComparison;

bool IsSumAlone(const ProductEnd& end) {
  return end.alpha.empty() && end.scales.empty() && end.terms.empty() && end.function == ProductEnd::Function::kNone;
}

bool HasWordElements(const ConvolutionKernelText& text) { return text.types.at(text.roles.x) == "int"; }

class ConvolutionResults {
 public:
  ConvolutionResults(const MutationContext& context, const LaunchDirective* only)
      : context_(context), tree_(context.tree), search_(context, only), runs_(search_, found_.text) {}

  std::optional<LaunchedConvolution> Find() {
    if (!search_.Find()) {
      why_ = search_.why();
      return std::nullopt;
    }
    if (!Describe() || !FindExtents() || !FindEnd() || !HoldsForOthers() || !ComparesForItsFunction() || !HoldsForNaN())
      return std::nullopt;
    found_.parameters = ParametersBehind(context_, fmt::format("{}", fmt::join(runs_.seen().names, " ")));
    found_.buffers = small_[0]->runs->buffers();
    for (const auto& ran : small_) found_.left.emplace_back(ran->trial.sizes, ran->run.stored.at(found_.text.roles.y));
    return std::move(found_);
  }
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  bool StillHolds(LaunchRuns::Sizes sizes, std::int64_t spread, const std::string& where) {
    return runs_.StillHolds(Comparison::Trial(std::move(sizes), spread), spread == 0, where) || Refuse(runs_.why());
  }
  std::optional<RanConvolution> Run(LaunchTrial trial) {
    auto ran = runs_.Run(std::move(trial));
    if (!ran) why_ = runs_.why();
    return ran;
  }

  // Types, and what the launch lines pass.
  bool Describe() {
    const auto ran = Run(Comparison::Trial(search_.third(), kLargeElements));
    if (!ran) return false;
    ConvolutionKernelText& text = found_.text;
    text.roles = search_.roles();
    text.layout = search_.found()[0].shape;
    for (const auto& link : ran->runs->links()) {
      for (const auto& [parameter, buffer] : link.buffers) {
        std::string type = PointedTo(tree_, parameter);
        type.erase(type.find_last_not_of(" (") + 1);  // of a pointer to arrays
        if (text.types.try_emplace(buffer, type).first->second != type)
          return Refuse(fmt::format("{} has elements of two types", buffer));
      }
      if (!link.runs) continue;
      if (const std::string decides = RealThatDecides(tree_, link.kernel); !decides.empty())
        return Refuse(fmt::format("{} decides what it computes", decides));
      for (const auto& [parameter, argument] : link.runs->arguments()) {
        if (std::find(passed_.begin(), passed_.end(), argument.text()) == passed_.end()) passed_.push_back(argument.text());
      }
      AddReals(link);
    }
    return CheckTypes(*ran);
  }

  // An argument that is a constant is none.
  void AddReals(const SourceRuns::Link& link) {
    std::size_t place = 0;
    for (const int child : tree_.node(link.kernel).children) {
      if (tree_.node(child).kind_name != "ParmDecl" || place >= link.launch->arguments.size()) continue;
      const std::string& argument = link.launch->arguments[place++];
      const auto real = link.reals.find(child);
      if (real != link.reals.end()) reals_[tree_.node(child).name] = {child, real->second.Names().empty() ? "" : argument};
    }
  }

  bool CheckTypes(const RanConvolution& ran) {
    const ConvolutionRoles& roles = found_.text.roles;
    const auto& types = found_.text.types;
    const std::string& element = types.at(roles.x);
    if (element == "int" && types.at(roles.y) != "int") return Refuse("it makes of integers what is none");
    if (element != "__half" && element != "__nv_bfloat16" && element != "float" && element != "int")
      return Refuse(fmt::format("the elements of {} are {}, and half, bfloat16 and float are known", roles.x, element));
    if (types.at(roles.f) != element) return Refuse("its images and filters are of two types");
    const bool doubles = std::any_of(ran.runs->links().begin(), ran.runs->links().end(),
                                     [&](const auto& link) { return link.kernel >= 0 && HasDoubles(tree_, link.kernel); });
    return !doubles || Refuse("it sums up in double, and tensor cores do in float");
  }

  // All numbers; that of images from all elements of two small launches.
  bool FindExtents() {
    auto extents = ExtentsIn(search_, passed_, why_);
    if (!extents) return false;
    found_.text.extents = std::move(*extents);
    std::array<std::int64_t, 2> images{};
    const std::array<LaunchRuns::Sizes, 2> sizes{runs_.Small(0), runs_.Small(1)};
    for (const std::size_t number : {0u, 1u}) {
      small_[number] = Run(Comparison::Trial(sizes[number], 0));
      const auto& ran = small_[number];
      if (!ran) return false;
      const ConvolutionShape shape = runs_.ShapeWith(sizes[number]);
      const BufferContents& stored = ran->run.stored.at(found_.text.roles.y);
      const auto count = static_cast<std::int64_t>(stored.size());
      const std::int64_t each = shape.filters * shape.OutPixels();
      if (each <= 0 || count == 0 || count % each != 0 || stored.begin()->first != 0 || stored.rbegin()->first != count - 1)
        return Refuse("it does not store all elements of its output");
      images[number] = count / each;
    }
    const auto text = ExpressionOf(images, search_, sizes, passed_);
    if (!text) return Refuse("its number of images does not follow from the sizes");
    found_.text.extents.images = *text;
    return true;
  }

  // What is made of the sums.
  bool FindEnd() {
    const auto& [ran, other] = small_;
    for (const ProductEnd& end : ProductEnds(FactorsIn(ran->run), found_.text.roles.others)) {
      found_.text.end = end;
      if (!runs_.Holds(*ran, true)) continue;
      if (HasWordElements(found_.text) && !IsSumAlone(end))
        return Refuse("it does more with its sums of integers than to store them");
      NamePassed();
      return runs_.Holds(*other, true) || Refuse("with other small sizes, what it leaves is no convolution");
    }
    return Refuse("what it makes of its sums is not understood");
  }

  std::map<std::string, double> FactorsIn(const LaunchedRun& run) const {
    std::map<std::string, double> factors;
    for (const auto& [text, value] : run.knowledge.factors) {
      if (value == 0 || value == 1 || !std::isfinite(value)) continue;
      const bool is_passed = reals_.contains(text);
      const auto constant = is_passed ? std::nullopt : RealConstant(tree_, text);
      if (is_passed || (constant && *constant == value && factors.size() < kMostFactors)) factors.emplace(text, value);
    }
    return factors;
  }

  // Numbers that launch lines pass become parameters of the new kernel, and others are written as numbers.
  void NamePassed() {
    const auto name = [&](std::string& text, double value) {
      if (text.empty()) return;
      const auto known = reals_.find(text);
      if (known == reals_.end() || known->second.second.empty()) {
        text = fmt::format("{:.9g}", value);
        text += text.find_first_of(".e") == std::string::npos ? ".0f" : "f";
        return;
      }
      const std::string own = text + "_";
      auto& passed = found_.text.passed;
      if (std::none_of(passed.begin(), passed.end(), [&](const auto& one) { return one.name == own; }))
        passed.push_back({own, known->second.second, WithoutConst(tree_.node(known->second.first).type)});
      found_.reals[known->second.second] = value;
      text = own;
    };
    ProductEnd& end = found_.text.end;
    name(end.alpha, end.times);
    name(end.slope, end.leak);
    for (ProductEnd::Term& term : end.terms) name(term.factor, term.times);
  }

  bool HoldsForOthers() {
    if (!StillHolds(search_.third(), kSpreadElements, "with other sizes")) return false;
    const std::int64_t largest = runs_.seen().largest;
    if (largest > kLargestConvolutionNumber)
      return Refuse(fmt::format("it has the number {}, and so large sizes are not tried", largest));
    std::set<std::string> used = runs_.NamesOf({kNumbersOfShape.begin(), kNumbersOfShape.end()});
    for (const std::string& name : Expression::Parse(found_.text.extents.images).Names()) used.insert(name);
    std::set<std::string> taps = runs_.NamesOfTaps();
    taps.merge(runs_.NamesOf({&ConvolutionShape::groups}));
    for (const std::string& name : search_.names()) {
      if (!used.contains(name)) {
        for (const std::int64_t number : {1, 2}) {
          LaunchRuns::Sizes sizes = runs_.Small(1);
          sizes[name] = number;
          if (!StillHolds(std::move(sizes), 0, fmt::format("where {} is {}", name, number))) return false;
        }
      } else if (!taps.contains(name) && !HoldsForLarge(name, largest + 3)) {
        return false;
      }
    }
    return true;
  }

  bool HoldsForLarge(const std::string& name, std::int64_t number) {
    const std::int64_t unit = search_.UnitOf(name);
    LaunchRuns::Sizes sizes = runs_.Small(0);
    const auto reaches_the_end = [&](const RanConvolution& ran) {  // some of the elements are of the last quarter
      const BufferContents& stored = ran.run.stored.at(found_.text.roles.y);
      return !stored.empty() && stored.rbegin()->first >= runs_.ElementsWith(sizes) / 4 * 3;
    };
    // Twice as many first: what ends at a number of the code is seen to end.
    for (const std::int64_t wanted : {2 * number, number}) {
      sizes[name] = (wanted + unit - 1) / unit * unit;
      auto ran = Run(Comparison::Trial(sizes, kLargeElements));
      if (!ran && wanted > number && why_.find("too many") != std::string::npos) continue;
      if (ran && !reaches_the_end(*ran)) ran = Run(Comparison::Trial(sizes, 8 * kLargeElements));
      if (!ran) return false;
      if (!reaches_the_end(*ran) || !runs_.Holds(*ran, false))
        return Refuse(fmt::format("where {} is {}, what it leaves is no convolution", name, sizes[name]));
      break;
    }
    return unit == 1 || HoldsUneven(name, unit);
  }

  // Where a size is no multiple of its unit, launches must not be run, or leave the same, or as much as whole units.
  bool HoldsUneven(const std::string& name, std::int64_t unit) {
    const ConvolutionExtents extents = found_.text.extents;
    for (const std::int64_t more : {std::int64_t{1}, unit / 2}) {
      LaunchRuns::Sizes sizes = runs_.Small(0);
      sizes[name] += more;
      const auto ran = Run(Comparison::Trial(sizes, 0));
      if (!ran) return why_.find("too many turns") == std::string::npos;
      const BufferContents& stored = ran->run.stored.at(found_.text.roles.y);
      const bool outside = !stored.empty() && (stored.begin()->first < 0 || stored.rbegin()->first >= runs_.ElementsWith(sizes));
      if (outside || runs_.Holds(*ran, true)) continue;
      found_.text.extents = extents.InWholeUnits(name, unit);
      if (!runs_.Holds(*ran, true))
        return Refuse(fmt::format("where {} is no multiple of {}, it leaves parts of a convolution", name, unit));
    }
    return true;
  }

  // Whether all that it compares data with is the zero of its function, and it rounds nothing but what it stores.
  bool ComparesForItsFunction() {
    using Function = ProductEnd::Function;
    const ProductEnd& end = found_.text.end;
    const bool short_output = found_.text.types.at(found_.text.roles.y) != "float" && !HasWordElements(found_.text);
    const bool once =
        (end.function == Function::kNone || end.function == Function::kRelu) && end.alpha.empty() && end.scales.empty();
    if (runs_.seen().rounded && !(short_output && once)) return Refuse("it rounds what it computes");
    const bool of_zero = end.function == Function::kRelu || end.function == Function::kLeaky;
    for (const auto& [number, seen] : runs_.seen().compared) {
      if (!of_zero || number != 0 || !seen.first || !seen.second)
        return Refuse(fmt::format("it compares what it computes with {}", number));
    }
    return true;
  }

  // What is no number stays none, or becomes what the function makes of it.
  bool HoldsForNaN() {
    if (HasWordElements(found_.text)) return true;  // there is none
    LaunchTrial trial = Comparison::Trial(runs_.Small(0), 0);
    trial.elements[found_.text.roles.f] = std::numeric_limits<double>::quiet_NaN();
    const auto ran = Run(std::move(trial));
    if (!ran) return false;
    const BufferContents& stored = ran->run.stored.at(found_.text.roles.y);
    const bool stays = std::any_of(stored.begin(), stored.end(), [](const auto& one) { return std::isnan(one.second); });
    found_.text.end.keeps_nan = stays;
    return stays || found_.text.end.function == ProductEnd::Function::kRelu || Refuse("it makes a number of NaN");
  }

  const MutationContext& context_;
  const SyntaxTree& tree_;
  LaunchedConvolution found_;
  ConvolutionSearch search_;
  ConvolutionComparison runs_;
  std::map<std::string, std::pair<int, std::string>> reals_;  // parameters by their names, and what is passed for them
  std::vector<std::string> passed_;
  std::array<std::optional<RanConvolution>, 2> small_;
  std::string why_;
};

}  // namespace

std::optional<LaunchedConvolution> FindConvolutionByResults(const MutationContext& context, const LaunchDirective* only,
                                                            std::string& why) {
  // What `#if` leaves may depend on sizes that are compiled in.
  if (!context.rendered.size_macros.empty() || context.product_elsewhere) return std::nullopt;
  ConvolutionResults results(context, only);
  auto found = results.Find();
  if (!found) why = results.why();
  return found;
}

bool LeavesTheSame(const MutationContext& context, const std::string& kernel, const LaunchedConvolution& found) {
  const LaunchDirective* const launch = OnlyLaunch(context.rendered, kernel);
  SourceRuns runs(context);
  if (HasWordElements(found.text)) runs.TellSums(true);
  if (launch == nullptr || !runs.FindOnly(*launch)) return false;
  runs.SetBuffers(found.buffers);
  return std::all_of(found.left.begin(), found.left.end(), [&](const auto& expected) {
    LaunchTrial trial{expected.first, {}, {}};
    trial.reals = found.reals;
    LaunchedRun run;
    if (!runs.Run(trial, run)) return false;
    const BufferContents& stored = run.stored[found.text.roles.y];
    return std::equal(stored.begin(), stored.end(), expected.second.begin(), expected.second.end(),
                      [](const auto& a, const auto& b) {
                        return a.first == b.first && std::abs(a.second - b.second) <= kNear * (1 + std::abs(b.second));
                      });
  });
}

}  // namespace evo
