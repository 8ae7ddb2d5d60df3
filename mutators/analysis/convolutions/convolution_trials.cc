#include "mutators/analysis/convolutions/convolution_trials.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "mutators/analysis/convolutions/convolution_numbers.h"
#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/data_flow.h"

namespace evo {
namespace {

// Threads of a launch of which all are run, and how large a size may be, to be larger than all numbers of the code.
constexpr std::int64_t kMostThreadsOfLaunch = 60'000;
constexpr std::int64_t kMostSize = 1100;
constexpr std::size_t kLargeSamples = 3;
// Threads that are run with forms.
constexpr std::size_t kSymbolicThreads = 4;

}  // namespace

bool ConvolutionTrials::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// Sizes that are no images', channels' or filters' number.
std::set<std::string> ConvolutionTrials::NamesOfTaps() const {
  std::set<std::string> names;
  for (const Convolution::Number* number :
       {&found_.rows, &found_.columns, &found_.stride_y, &found_.stride_x, &found_.pad_y, &found_.pad_x, &found_.dilation_y,
        &found_.dilation_x, &found_.planes, &found_.stride_z, &found_.pad_z, &found_.dilation_z}) {
    const auto named = Expression::Parse(number->launch).Names();
    names.insert(named.begin(), named.end());
  }
  return names;
}

// Sizes for launches of which all threads are run. Those that are not known may be the number of images, and so are like no other
// size.
LaunchRuns::Sizes ConvolutionTrials::SmallSizes(std::size_t number) const {
  const auto one = static_cast<std::int64_t>(number);
  const std::set<std::string> taps = NamesOfTaps();
  LaunchRuns::Sizes sizes = launches_[number].sizes;
  const ConvolutionShape& shape = launches_[number].shape;
  std::vector<std::string> unknown;
  std::set<std::int64_t> taken;
  for (auto& [name, size] : sizes) {
    if (!taps.contains(name)) {
      if (name == found_.groups.launch)
        size = shape.groups;
      else if (name == found_.channels.launch)
        size = 2;
      else if (name == found_.all_channels.launch)
        size = 2 * shape.groups;
      else if (name == found_.filters.launch)
        size = (3 - one) * multiple_ * shape.groups;
      else if (name == found_.depth.launch)
        size = (shape.planes - 1) * shape.dilation_z + 2 + one;
      else if (name == found_.height.launch)
        size = (shape.rows - 1) * shape.dilation_y + 2 + one;
      else if (name == found_.width.launch)
        size = (shape.columns - 1) * shape.dilation_x + 4 - one;
      else if (name == found_.out_depth.launch || name == found_.out_height.launch || name == found_.out_width.launch)
        size = 4 + one;
      else {
        unknown.push_back(name);
        continue;
      }
    }
    taken.insert(size);
  }
  std::int64_t next = 4 + 3 * one;  // not the same in both launches
  for (const std::string& name : unknown) {
    while (taken.contains(next)) ++next;
    sizes[name] = next++;
  }
  return sizes;
}

bool ConvolutionTrials::RunSmall() {
  for (const std::size_t number : {0u, 1u}) {
    const auto setting = runs_.SettingOf(SmallSizes(number));
    if (!setting) return Refuse("its launch line has no threads for small sizes");
    if (setting->Threads() > kMostThreadsOfLaunch) return Refuse("it has too many threads for small sizes");
    settings_[number] = *setting;
    const ConvolutionShape shape = ShapeIn(found_, *setting);
    std::set<std::int64_t> elements;
    for (std::int64_t thread = 0; thread < setting->Threads(); ++thread) {
      const auto samples = sampler_.Sample(*setting, thread);
      if (!sampler_.why().empty()) return Refuse(sampler_.why());
      for (const ConvolutionSample& sample : samples) {
        if (!Explains(shape, sampler_.buffers(), sample)) return Refuse("its sum is no convolution where images are small");
        if (!elements.insert(sample.element).second) return Refuse("two threads store the same element");
      }
    }
    sampler_.SetShape(shape);
    const std::int64_t each = shape.filters * shape.OutPixels();
    const auto count = static_cast<std::int64_t>(elements.size());
    if (count == 0 || *elements.begin() != 0 || *elements.rbegin() != count - 1 || count % each != 0)
      return Refuse("its threads do not store all elements of the output");
    images_[number] = count / each;
  }
  return true;
}

// Whether the launch line computes a parameter from sizes of the convolution and parameters of the source alone:
// `N * K * H * W`.
bool ConvolutionTrials::FollowsFromSizes(int parameter) const {
  std::set<std::string> known;
  for (const Convolution::Number* number :
       {&found_.images,    &found_.channels,   &found_.all_channels, &found_.groups,     &found_.filters,    &found_.height,
        &found_.width,     &found_.out_height, &found_.out_width,    &found_.rows,       &found_.columns,    &found_.stride_y,
        &found_.stride_x,  &found_.pad_y,      &found_.pad_x,        &found_.dilation_y, &found_.dilation_x, &found_.depth,
        &found_.out_depth, &found_.planes,     &found_.stride_z,     &found_.pad_z,      &found_.dilation_z}) {
    const auto named = Expression::Parse(number->launch).Names();
    known.insert(named.begin(), named.end());
  }
  for (const auto& [passed, expression] : runs_.arguments()) {
    if (passed != parameter) continue;
    const auto names = expression.Names();
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return known.contains(name) || context_.genome.parameters.contains(name);
    });
  }
  return false;
}

// Whether all launches with the same sizes have the same value of what was compared.
bool ConvolutionTrials::IsAllowed(int symbol, const std::set<int>& used) const {
  if (symbol < -1 || used.contains(symbol) || FollowsFromSizes(symbol)) return true;
  if (!runs_.threads().block_constants().contains(symbol)) return false;
  const auto named = NamedIn(context_.tree, context_.tree.node(symbol).children.back());
  return std::all_of(named.begin(), named.end(),
                     [&](int name) { return context_.tree.node(name).function < 0 || IsAllowed(name, used); });
}

bool ConvolutionTrials::RunSymbolic(const std::set<int>& used) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < std::min(kSymbolicThreads, launches_[0].threads.size()); ++i) {
    const ThreadTrace trace = runs_.Run(launches_[0].setting, launches_[0].threads[i], true);
    if (!trace.refusal.empty()) return Refuse(trace.refusal);
    const std::set<int>& deciding = sampler_.plain() ? trace.deciding : trace.after.deciding;
    for (const int symbol : deciding) {
      if (!IsAllowed(symbol, used))
        return Refuse(fmt::format("{} decides what it sums up", runs_.threads().TextOf(AffineForm::Symbol(symbol))));
      for (const auto& [passed, expression] : runs_.arguments()) {
        if (passed != symbol) continue;
        for (const std::string& name : expression.Names()) {
          if (context_.genome.parameters.contains(name)) names.insert(name);
        }
      }
    }
    largest_number_ = std::max(largest_number_, trace.largest_number);
    names.insert(trace.names.begin(), trace.names.end());
  }
  parameters_ = ParametersBehind(context_, fmt::format("{}", fmt::join(names, " ")));
  return true;
}

bool ConvolutionTrials::RunLarge() {
  const std::set<std::string> taps = NamesOfTaps();
  if (largest_number_ > kMostSize)
    return Refuse(fmt::format("it has the number {}, and so large sizes are not tried", largest_number_));
  LaunchRuns::Sizes sizes = launches_[0].sizes;
  std::int64_t next = std::max<std::int64_t>(largest_number_, 20) + 2;
  for (auto& [name, size] : sizes) {
    if (!taps.contains(name)) size = ++next;
    if (name == found_.filters.launch) size = next += (multiple_ - next % multiple_) % multiple_;
  }
  const auto named = sizes.find(found_.groups.launch);
  if (const std::int64_t groups = named != sizes.end() ? named->second : found_.groups.constant.value_or(1); groups > 1) {
    if (const auto channels = sizes.find(found_.all_channels.launch); channels != sizes.end()) channels->second = 2 * groups;
    if (const auto filters = sizes.find(found_.filters.launch); filters != sizes.end()) filters->second = 3 * groups * multiple_;
  }
  return RunSome(sizes, kLargeSamples, fmt::format("where sizes are beyond {}", largest_number_));
}

bool ConvolutionTrials::RunSome(const LaunchRuns::Sizes& sizes, std::size_t count, const std::string& where) {
  const auto setting = runs_.SettingOf(sizes);
  if (!setting) return Refuse(fmt::format("its launch line has no threads {}", where));
  const auto samples = sampler_.Some(*setting, count);
  if (!sampler_.why().empty()) return Refuse(sampler_.why());
  const ConvolutionShape shape = ShapeIn(found_, *setting);
  sampler_.SetShape(shape);
  for (const auto& [thread, sample] : samples) {
    if (!Explains(shape, sampler_.buffers(), sample)) return Refuse(fmt::format("its sum is no convolution {}", where));
  }
  return !samples.empty() || Refuse(fmt::format("no thread stores anything {}", where));
}

}  // namespace evo
