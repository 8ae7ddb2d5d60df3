#include "mutators/analysis/convolutions/convolution_search.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/convolutions/launched_sums.h"
#include "mutators/analysis/grid_runs/trial_sizes.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/analysis/thread_runs/thread_block.h"

namespace evo {
namespace {

constexpr std::int64_t kElementsOfShape = 80, kElementsOfFewSizes = 160;
// Of those that were run for it.
constexpr std::size_t kMostSamplesOfShape = 160;
constexpr std::size_t kFewNames = 3;
// Images, filters and an output.
constexpr std::ptrdiff_t kLeastBuffers = 3;
// Of all runs that find shapes.
constexpr std::int64_t kMostTurnsOfShapes = 2'000'000;
// Threads of a block.
constexpr std::int64_t kLargestUnitOfConvolution = 1024;
// Of the numbers of the code that may be sizes.
constexpr std::int64_t kLargestSpelledSize = 512;
constexpr std::int64_t kMostArrayElements = 16384;
constexpr char kNoBarrier[] = "no barrier is between them";

constexpr ConvolutionBuffers kSwappedBuffersOfSums{kBuffersOfSums.f, kBuffersOfSums.x};

void SwapImagesAndFilters(std::vector<ConvolutionSample>& samples) {
  for (ConvolutionSample& sample : samples) {
    std::swap(sample.x, sample.f);
    for (auto& [x, f] : sample.products) std::swap(x, f);
    std::sort(sample.products.begin(), sample.products.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  }
}

// Some that lie all over the output, with the last one.
std::vector<ConvolutionSample> SomeOf(std::vector<ConvolutionSample> samples) {
  std::uint64_t random = 1;
  for (std::size_t i = samples.size(); i > 2; --i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    std::swap(samples[i - 2], samples[(random >> 33) % (i - 1)]);
  }
  std::reverse(samples.begin(), samples.end());
  if (samples.size() > kMostSamplesOfShape) samples.resize(kMostSamplesOfShape);
  return samples;
}

// The shape that explains all samples, for one group of filters or for one of these numbers.
std::variant<ConvolutionShape, std::string> ShapeOfAny(const std::vector<ConvolutionSample>& samples,
                                                       const ConvolutionBuffers& buffers, const std::set<std::int64_t>& values,
                                                       const std::set<std::int64_t>& groups) {
  auto shape = ShapeOf(samples, buffers, values, 1);
  for (const std::int64_t group : groups) {
    if (std::holds_alternative<ConvolutionShape>(shape) || group < 2) continue;
    std::set<std::int64_t> all = values;
    for (const std::int64_t value : values) all.insert(value * group);
    auto other = ShapeOf(samples, buffers, all, group);
    if (std::holds_alternative<ConvolutionShape>(other)) shape = std::move(other);
  }
  return shape;
}

}  // namespace

bool ConvolutionSearch::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

std::int64_t ConvolutionSearch::UnitOf(const std::string& name) const {
  const auto unit = units_.find(name);
  return unit == units_.end() ? sizes_.multiple() : unit->second;
}

std::optional<RanConvolution> ConvolutionSearch::Run(LaunchTrial trial) {
  RanConvolution ran{std::make_unique<SourceRuns>(context_), std::move(trial), {}};
  ran.runs->TellSums(true);
  const bool found = only_ != nullptr ? ran.runs->FindOnly(*only_) : ran.runs->FindLaunches();
  const bool all = found && ran.runs->Run(ran.trial, ran.run);
  turns_ += ran.runs->turns();
  if (all) return ran;
  why_ = ran.runs->why();
  final_ = ran.runs->is_final();
  return std::nullopt;
}

Variables ConvolutionSearch::ValuesOf(const LaunchRuns::Sizes& sizes) const {
  Variables values;
  for (const auto& [name, value] : context_.genome.parameters) values[name] = Number::Integer(value);
  for (const auto& [name, value] : sizes) values[name] = Number::Integer(value);
  return values;
}

// Sizes of which a launch line has whole parts only are multiples of these parts.
LaunchRuns::Sizes ConvolutionSearch::WithUnits(LaunchRuns::Sizes sizes) const {
  std::set<std::int64_t> taken;
  for (auto& [name, size] : sizes) {
    const auto unit = units_.find(name);
    if (unit == units_.end() || unit->second < 2) continue;
    size = (size + unit->second - 1) / unit->second * unit->second;
    while (!taken.insert(size).second) size += unit->second;
  }
  return sizes;
}

bool ConvolutionSearch::FindBuffers() {
  SourceRuns runs(context_);
  runs.TellSums(true);
  if (!(only_ != nullptr ? runs.FindOnly(*only_) : runs.FindLaunches())) return Refuse("");
  const auto is_known = [&](const auto& link) { return link.kernel >= 0 && IsKnownElsewhere(context_, link.kernel); };
  if (std::any_of(runs.links().begin(), runs.links().end(), is_known)) return Refuse("");
  const auto given = std::count_if(runs.buffers().begin(), runs.buffers().end(),
                                   [&](const std::string& buffer) { return only_ != nullptr || !runs.IsWorkspace(buffer); });
  if (given < kLeastBuffers) return Refuse("");
  names_ = runs.names();
  if (names_.empty() || names_.size() > kMostConvolutionSizes) return Refuse("");
  return true;
}

bool ConvolutionSearch::Find() {
  if (!FindBuffers()) return false;
  std::string first_why;
  // A launch line that rounds up may still be for whole blocks only.
  for (const auto& units : UnitsInLaunches(context_, names_, kLargestUnitOfConvolution)) {
    units_ = units;
    if (FindWithUnits()) return true;
    if (first_why.empty()) first_why = why_;
    if (final_ || other_ || turns_ > kMostTurnsOfShapes) break;
  }
  return Refuse(first_why);
}

bool ConvolutionSearch::FindWithUnits() {
  std::string first_why;
  std::vector<LaunchRuns::Sizes> tried;
  for (const ConvolutionSizes& sizes : LikelySizesOfConvolution(names_)) {
    const auto numbers = WithUnits(sizes.Of(0));
    if (std::find(tried.begin(), tried.end(), numbers) != tried.end()) continue;
    tried.push_back(numbers);
    why_.clear();
    if (FindWith(sizes)) return true;
    if (final_) return false;
    if (first_why.empty()) first_why = why_;
    if (other_ || turns_ > kMostTurnsOfShapes) break;
  }
  return Refuse(first_why);
}

bool ConvolutionSearch::FindWith(const ConvolutionSizes& sizes) {
  sizes_ = sizes;
  roles_ = {};
  return MayBeOne() && FindShape(0) && FindShape(1) && found_[0].shape.HasSameLayout(found_[1].shape);
}

// Whether the first thread or block that stores something stores sums of products. Most other sources are left here.
bool ConvolutionSearch::MayBeOne() {
  LaunchTrial trial{WithUnits(sizes_.Of(0)), {}, {}};
  trial.spread = 1;
  const auto ran = Run(std::move(trial));
  // Many a source of another kind is not understood.
  if (!ran) return Refuse(why_.find(kNoBarrier) == std::string::npos ? "" : why_);
  LaunchedSums sums(*ran->runs, ran->run);
  other_ = !sums.Find();
  return !other_ || Refuse("");
}

// Numbers that a convolution's sizes may be.
std::set<std::int64_t> ConvolutionSearch::NumbersOf(const RanConvolution& ran) const {
  std::set<std::int64_t> numbers;
  for (const auto& [name, value] : ran.trial.sizes) numbers.insert(value);
  for (const auto& link : ran.runs->links()) {
    const auto setting = link.runs ? link.runs->SettingOf(ran.trial.sizes) : std::nullopt;
    if (!setting) continue;
    for (const auto& [parameter, value] : setting->integers) numbers.insert(value);
    for (const auto& [parameter, buffer] : link.buffers) {
      std::int64_t elements = 1;
      for (const long long extent : ExtentsOf(context_.tree.node(parameter).type)) elements *= extent;
      for (std::int64_t count = 2; count <= std::min(elements, kMostArrayElements); ++count) {
        if (elements % count == 0) numbers.insert(count);
      }
    }
  }
  std::erase_if(numbers, [](std::int64_t number) { return number < 1; });
  return numbers;
}

bool ConvolutionSearch::FindShape(std::size_t number) {
  Found& found = found_[number];
  found.sizes = WithUnits(sizes_.Of(number));
  LaunchTrial trial{found.sizes, {}, {}};
  trial.spread = names_.size() <= kFewNames ? kElementsOfFewSizes : kElementsOfShape;
  const auto ran = Run(std::move(trial));
  if (!ran) return Refuse("");
  LaunchedSums sums(*ran->runs, ran->run);
  if (!sums.Find()) return Refuse(sums.why());
  // Other sizes would not change that.
  if (number == 0 && AreOfProduct(sums.samples())) {
    other_ = true;
    return Refuse("");
  }
  std::vector<ConvolutionSample> samples = SomeOf(sums.samples());
  std::set<std::int64_t> values = NumbersOf(*ran), more = values, groups;
  for (const std::string& name : ran->run.knowledge.names) more.insert(ConstantValue(context_.tree, name).value_or(1));
  for (const int node : NodesOfKind(context_.tree, "IntegerLiteral")) {
    const std::int64_t spelled = ConstantValue(context_.tree, context_.tree.Text(node)).value_or(1);
    if (spelled > 1 && spelled <= kLargestSpelledSize) more.insert(spelled);
  }
  for (const auto& [name, value] : found.sizes) {
    if (ContainsName(context_.rendered.text, name) && name.find("roup") != std::string::npos) groups.insert(value);
  }
  // What counts as images with one setting does with the other.
  const bool known = number == 1;
  std::variant<ConvolutionShape, std::string> shape = std::string();
  const bool swaps = known && roles_.x != sums.a();
  if (swaps) SwapImagesAndFilters(samples);
  for (const bool swapped : {false, true}) {
    if (known && swapped) break;
    if (swapped) SwapImagesAndFilters(samples);
    for (const auto* numbers : {&values, &more}) {
      auto next = ShapeOfAny(samples, swapped || swaps ? kSwappedBuffersOfSums : kBuffersOfSums, *numbers, groups);
      const bool is = std::holds_alternative<ConvolutionShape>(next);
      if (is || std::get<std::string>(shape).empty()) shape = std::move(next);
      if (is) break;
    }
    if (!std::holds_alternative<ConvolutionShape>(shape)) continue;
    if (!known) roles_ = {swapped ? sums.b() : sums.a(), swapped ? sums.a() : sums.b(), sums.y(), sums.others()};
    break;
  }
  if (const auto* why = std::get_if<std::string>(&shape)) return Refuse(*why);
  found.shape = std::get<ConvolutionShape>(shape);
  if (ran->run.read.contains(roles_.y)) return Refuse("it reads what is in its output");
  return roles_.y == sums.y() && (roles_.x == sums.a() || roles_.x == sums.b());
}

}  // namespace evo
