#include "mutators/analysis/convolutions/convolution_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "mutators/analysis/source/shared_array.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// What the sizes of the launch line are in three settings: those of images, channels and filters, and those of a filter's taps,
// of strides and of paddings. Which is which is not known: the first few sizes are taken for the former. The first size of taps
// is odd and even, which tells half of it from half of one less.
constexpr std::int64_t kLargeSizes[3][10] = {
    {8, 9, 10, 11, 12, 13, 14, 15, 16, 17}, {12, 11, 9, 16, 8, 10, 20, 18, 23, 15}, {10, 12, 9, 8, 13, 11, 16, 14, 17, 15}};
// Of kernels whose threads take some filters each.
constexpr std::int64_t kManifoldSizes[3][10] = {
    {8, 12, 16, 20, 24, 28, 32, 36, 40, 44}, {12, 8, 20, 24, 16, 32, 28, 40, 36, 48}, {16, 20, 12, 8, 28, 24, 36, 32, 44, 40}};
constexpr std::size_t kManifoldChoice = 2;
// Of kernels with few sizes, whose filters may be constants as long as small images. How much larger those are.
constexpr std::size_t kWideChoice = 3;
constexpr std::int64_t kMoreOfWide = 14;
constexpr std::int64_t kTapSizes[3][3][6] = {{{3, 2, 1, 2, 1, 2}, {6, 3, 2, 1, 2, 1}, {5, 3, 3, 1, 3, 1}},
                                             {{2, 1, 3, 1, 2, 3}, {1, 3, 2, 2, 1, 3}, {3, 2, 1, 3, 1, 2}},
                                             {{2, 4, 3, 1, 1, 1}, {3, 2, 4, 1, 1, 1}, {4, 2, 3, 1, 1, 1}}};
// Of kernels that may have filters of three sizes, each of which has more than one tap then; the second choices else.
constexpr std::size_t kVolumeChoice = 4;
constexpr std::size_t kSizesOfVolume = 3;
// Of kernels with groups, as multiples of the number of groups. None is a multiple of another one in two settings.
constexpr std::int64_t kSizesOfGroup[3][10] = {
    {4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, {3, 2, 4, 5, 6, 7, 9, 8, 10, 11}, {4, 5, 3, 6, 7, 5, 4, 6, 3, 5}};
// How many of the last sizes are those of taps.
constexpr std::size_t kTapsWithGroups[] = {0, 1, 2, 3, 4, 5};
constexpr std::size_t kLeastLargeSizes = 3;
constexpr std::size_t kCuts[] = {kMostConvolutionSizes, 5, 4, 6, 3};
// Of so few sizes all but one or two may be those of taps.
constexpr std::size_t kFewSizes = 3;
// Elements of a launch that are looked at.
constexpr std::size_t kSamples = 40;
// Of kernels with few sizes more: of images of one row only the last element tells how long they are.
constexpr std::size_t kSamplesOfFew = 160;
constexpr char kNoNumbers[] = "its launch line passes what is no number";
constexpr char kNoGroupedConvolution[] =
    "what a group sums up is not X[n][group * channels + c][y + i][x + j] * F[k][c][i][j] over c, i and j";
// Floats in constant memory.
constexpr std::int64_t kMostConstantElements = 16384;

// Whether a size is called as taps, strides and paddings are.
bool IsNameOfTaps(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view counted : {"num", "count", "out"}) {
    if (name.find(counted) != std::string::npos || name.starts_with("n_")) return false;
  }
  for (const std::string_view part : {"kernel", "filter", "mask", "tap", "ksize", "radius", "stride", "pad", "dilat"}) {
    if (name.find(part) != std::string::npos) return true;
  }
  constexpr std::string_view kShort[] = {"k", "r", "s", "p", "kh", "kw", "fh", "fw", "k_h", "k_w"};
  return std::find(std::begin(kShort), std::end(kShort), name) != std::end(kShort);
}

// Those of elements with the most and with the fewest taps first.
std::vector<std::int64_t> Threads(std::vector<ConvolutionSampler::Sampled> samples) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const auto& a, const auto& b) { return a.second.x.size() > b.second.x.size(); });
  if (samples.size() > 2) std::rotate(samples.begin() + 1, samples.end() - 1, samples.end());
  std::vector<std::int64_t> threads;
  for (const auto& [thread, sample] : samples) threads.push_back(thread);
  return threads;
}

// Numbers of filters that an array in constant memory may have.
void AddDivisors(const SyntaxTree& tree, const ConvolutionBuffers& buffers, std::set<std::int64_t>& values) {
  for (const int buffer : {buffers.x, buffers.f}) {
    if (tree.node(buffer).kind_name != "VarDecl") continue;
    std::int64_t elements = 1;
    for (const long long extent : ExtentsOf(tree.node(buffer).type)) elements *= extent;
    for (std::int64_t count = 2; count <= std::min(elements, kMostConstantElements); ++count) {
      if (elements % count == 0) values.insert(count);
    }
  }
}

}  // namespace

bool AreOfProduct(const std::vector<ConvolutionSample>& samples) {
  const auto& first = samples.front().products;
  if (first.size() < 4) return false;
  const auto steps = [&](const ConvolutionSample& sample, std::int64_t x, std::int64_t f) {
    for (std::size_t i = 1; i < sample.products.size(); ++i) {
      const auto &before = sample.products[i - 1], &now = sample.products[i];
      if (now.first - before.first != x || now.second - before.second != f) return false;
    }
    return sample.products.size() == first.size();
  };
  const std::int64_t x = first[1].first - first[0].first, f = first[1].second - first[0].second;
  return (x == 1) != (f == 1) && x >= 1 && f >= 1 &&
         std::all_of(samples.begin(), samples.end(), [&](const ConvolutionSample& sample) { return steps(sample, x, f); });
}

bool ConvolutionShapes::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

LaunchRuns::Sizes ConvolutionSizes::Of(std::size_t number) const {
  const auto& taps = kTapSizes[choice == kVolumeChoice ? 2 : choice % 2][number];
  const auto& large = choice == kManifoldChoice ? kManifoldSizes[number] : kLargeSizes[number];
  LaunchRuns::Sizes sizes;
  for (std::size_t i = 0; i < names.size(); ++i)
    sizes[names[i]] = i < cut ? large[i] + (choice == kWideChoice ? kMoreOfWide : 0) : taps[(i - cut) % std::size(taps)];
  return sizes;
}

std::int64_t ConvolutionSizes::multiple() const {
  return choice == kManifoldChoice ? kManifoldSizes[0][1] - kManifoldSizes[0][0] : 1;
}

std::vector<ConvolutionSizes> LikelySizesOfConvolution(const std::vector<std::string>& names) {
  std::vector<ConvolutionSizes> likely;
  ConvolutionSizes by_name{names, 0, 0};
  const auto taps =
      std::stable_partition(by_name.names.begin(), by_name.names.end(), [](const auto& name) { return !IsNameOfTaps(name); });
  by_name.cut = static_cast<std::size_t>(taps - by_name.names.begin());
  if (by_name.cut > 0 && by_name.cut < names.size()) likely.push_back(by_name);
  const bool few = names.size() <= kFewSizes;
  if (few) likely.push_back({names, kMostConvolutionSizes, kWideChoice});
  if (few && by_name.cut > 0 && by_name.cut < names.size()) likely.push_back({by_name.names, by_name.cut, kWideChoice});
  for (const std::size_t choice : {std::size_t{0}, kManifoldChoice}) likely.push_back({names, kMostConvolutionSizes, choice});
  for (const std::size_t cut : kCuts) {
    if (cut < names.size()) likely.push_back({names, cut, 0});
  }
  if (by_name.cut > 0 && by_name.cut < names.size()) likely.push_back({by_name.names, by_name.cut, 1});
  return likely;
}

// With so many sizes that are none of taps.
bool ConvolutionShapes::FindWith(std::size_t cut, std::size_t choice) {
  sampler_.Reset();
  why_.clear();
  const ConvolutionSizes sizes{names_, cut, choice};
  if (!FindShape(0, sizes.Of(0), 1) || !FindShape(1, sizes.Of(1), 1)) return false;
  third_ = sizes.Of(2);
  multiple_ = sizes.multiple();
  return launches_[0].shape.HasSameLayout(launches_[1].shape);
}

bool ConvolutionShapes::Find(bool manifold) {
  std::string first_why;
  names_ = runs_.names();
  std::vector<std::size_t> cuts(std::begin(kCuts), std::end(kCuts));
  if (names_.size() <= kFewSizes) cuts.insert(cuts.end(), {2, 1});
  const auto try_cut = [&](std::size_t cut) {
    for (std::size_t choice = manifold ? kManifoldChoice : 0; choice <= (manifold ? kManifoldChoice : 1); ++choice) {
      if (choice == 1 && cut >= names_.size()) continue;
      if (FindWith(cut, choice)) return true;
      if (first_why.empty() || (first_why == kNoNumbers && !why_.empty())) first_why = why_;
      if (is_product_) return false;
    }
    return !manifold && cut + kSizesOfVolume == names_.size() && FindWith(cut, kVolumeChoice);
  };
  if (!manifold && names_.size() <= kFewSizes && FindWith(kMostConvolutionSizes, kWideChoice)) return true;
  for (const std::size_t cut : cuts) {
    if ((cut >= kMostConvolutionSizes || cut < names_.size()) && try_cut(cut)) return true;
    if (is_product_) return Refuse(first_why);
  }
  // Authors list sizes in any order, and name those of taps as such.
  const auto taps = std::stable_partition(names_.begin(), names_.end(), [](const auto& name) { return !IsNameOfTaps(name); });
  const auto named = static_cast<std::size_t>(taps - names_.begin());
  const bool tried = names_ == runs_.names() && std::find(cuts.begin(), cuts.end(), named) != cuts.end();
  if (!tried && named > 0 && named < names_.size() && try_cut(named)) return true;
  for (std::size_t i = 0; !manifold && names_.size() > 1 && names_.size() <= kFewSizes && i + 1 < names_.size(); ++i) {
    names_ = runs_.names();
    std::rotate(names_.begin() + static_cast<std::ptrdiff_t>(i), names_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                names_.end());
    if (try_cut(names_.size() - 1)) return true;
  }
  if (!manifold && parts_.deep) {
    if (FindWithGroups()) return true;
    // Sizes without groups may have divided by zero, which tells nothing.
    if (why_ == kNoConvolution && first_why.ends_with("which is not understood")) first_why = kNoGroupedConvolution;
  }
  return Refuse(first_why);
}

LaunchRuns::Sizes ConvolutionShapes::SizesOf(std::size_t number, std::size_t taps, const ConvolutionGroups& groups) const {
  const std::int64_t count = groups.In(number);
  std::vector<std::string> names = runs_.names();
  std::erase(names, groups.name);
  LaunchRuns::Sizes sizes;
  for (std::size_t i = 0; i < names.size(); ++i)
    sizes[names[i]] = i + taps < names.size() ? count * kSizesOfGroup[number][i] : kTapSizes[0][number][i + taps - names.size()];
  if (!groups.name.empty()) sizes[groups.name] = count;
  return sizes;
}

// The same for groups of filters. Else `why_` is kNoConvolution if a launch had sums of products.
bool ConvolutionShapes::FindWithGroups() {
  bool compared = false;
  for (const ConvolutionGroups& groups : GroupsNamedBy(tree_, runs_)) {
    for (const std::size_t taps : kTapsWithGroups) {
      if (taps + (groups.name.empty() ? 0 : 1) + kLeastLargeSizes > runs_.names().size()) continue;
      sampler_.Reset();
      why_.clear();
      if (!FindShape(0, SizesOf(0, taps, groups), groups.In(0)) || !FindShape(1, SizesOf(1, taps, groups), groups.In(1))) {
        compared = compared || why_ == kNoConvolution;
        continue;
      }
      third_ = SizesOf(2, taps, groups);
      multiple_ = 1;
      if (launches_[0].shape.HasSameLayout(launches_[1].shape)) return true;
    }
  }
  why_ = compared ? kNoConvolution : "";
  return false;
}

bool ConvolutionShapes::FindShape(std::size_t number, LaunchRuns::Sizes sizes, std::int64_t groups) {
  ConvolutionLaunch& launch = launches_[number];
  launch.sizes = std::move(sizes);
  const auto setting = runs_.SettingOf(launch.sizes);
  if (!setting) return Refuse(parts_.deep ? kNoNumbers : "");
  launch.setting = *setting;
  const auto found = sampler_.Some(*setting, names_.size() <= kFewSizes ? kSamplesOfFew : kSamples);
  if (!sampler_.why().empty()) return Refuse(parts_.deep ? sampler_.why() : "");
  if (found.empty() || sampler_.buffers().f < 0)
    return Refuse(parts_.deep ? "no thread stores a sum of products of two buffers in a launch with sizes of 8 to 17" : "");
  launch.threads = Threads(found);
  std::vector<ConvolutionSample> samples;
  for (const auto& [thread, sample] : found) samples.push_back(sample);
  std::set<std::int64_t> values;
  for (const auto& [name, value] : setting->values) values.insert(value.integer);
  for (const auto& [parameter, value] : setting->integers) values.insert(value);
  AddDivisors(tree_, sampler_.buffers(), values);
  if (groups > 1) {
    std::set<std::int64_t> of_groups;  // filters of a group times groups
    for (const std::int64_t value : values) of_groups.insert(value * groups);
    values.merge(of_groups);
  }
  // Blocks take long to run, and other sizes would not change that.
  if (number == 0 && runs_.together() && AreOfProduct(samples)) {
    is_product_ = true;
    return Refuse(kNoConvolution);
  }
  auto shape = ShapeOf(samples, sampler_.buffers(), values, groups);
  if (std::holds_alternative<std::string>(shape) && number == 0) {
    for (ConvolutionSample& sample : samples) {
      std::swap(sample.x, sample.f);
      for (auto& [x, f] : sample.products) std::swap(x, f);
      std::sort(sample.products.begin(), sample.products.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    }
    auto other = ShapeOf(samples, {sampler_.buffers().f, sampler_.buffers().x}, values, groups);
    if (std::holds_alternative<ConvolutionShape>(other) || std::get<std::string>(shape).empty()) {
      sampler_.SwapBuffers();
      shape = std::move(other);
    }
  }
  if (const auto* why = std::get_if<std::string>(&shape)) return Refuse(why->empty() && parts_.deep ? kNoConvolution : *why);
  launch.shape = std::get<ConvolutionShape>(shape);
  sampler_.SetShape(launch.shape);
  return CheckTypes();
}

bool ConvolutionShapes::CheckTypes() {
  const ConvolutionBuffers& buffers = sampler_.buffers();
  const std::string element = PointedTo(tree_, buffers.x);
  if (element != "__half" && element != "__nv_bfloat16" && element != "float" && element != "int")
    return Refuse(
        fmt::format("the elements of {} are {}, and half, bfloat16 and float are known", tree_.node(buffers.x).name, element));
  return element == PointedTo(tree_, buffers.f) || Refuse("its images and filters are of two types");
}

}  // namespace evo
