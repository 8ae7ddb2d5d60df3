// How the sizes of a convolution follow from the kernel's parameters, and the launches that check this.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/constant_value.h"
#include "mutators/analysis/convolution_finder.h"
#include "mutators/analysis/data_flow.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

// Threads of a launch of which all are run, and how large a size may be, to be larger than all numbers of the code.
constexpr std::int64_t kMostThreadsOfLaunch = 60'000;
constexpr std::int64_t kMostSize = 1100;
constexpr std::size_t kLargeSamples = 3;
// Threads that are run with forms.
constexpr std::size_t kSymbolicThreads = 4;

std::int64_t NumberIn(const Convolution::Number& number, const ConvolutionRuns::Setting& setting) {
  return Expression::Parse(number.launch).EvaluateInteger(setting.values);
}

}  // namespace

// A constant, or an integer of the kernel, give or take `away`, that has these values in the two settings.
std::optional<Convolution::Number> ConvolutionFinder::NumberOf(std::int64_t first, std::int64_t second, std::int64_t away) const {
  if (first == second) return Number{std::to_string(first), std::to_string(first), first};
  for (const auto& [parameter, expression] : runs_.arguments()) {
    if (written_.contains(parameter) || settings_[0].integers.at(parameter) + away != first ||
        settings_[1].integers.at(parameter) + away != second)
      continue;
    const bool plain = WithoutConst(tree_.node(parameter).type) == "int";
    const std::string name = plain ? NameOf(parameter) : fmt::format("int({})", NameOf(parameter));
    const std::string text = Parenthesised(expression.text());
    if (away == 0) return Number{name, text, {}};
    const std::string more = away < 0 ? fmt::format(" - {}", -away) : fmt::format(" + {}", away);
    return Number{fmt::format("({}{})", name, more), fmt::format("({}{})", text, more), {}};
  }
  return std::nullopt;
}

// The output's size along an axis: a parameter, or what the definition gives.
std::optional<Convolution::Number> ConvolutionFinder::OutputOf(std::int64_t first, std::int64_t second, const Number& size,
                                                               const Number& pad, const Number& taps,
                                                               const Number& stride) const {
  const auto same = first == second ? std::nullopt : NumberOf(first, second);
  if (same) return same;
  if (stride.constant == 1 && pad.constant && taps.constant && !size.constant) {
    const std::int64_t away = 2 * *pad.constant - *taps.constant + 1;
    const auto shifted = NumberOf(first, second, away);
    if (shifted && !shifted->constant) return shifted;
  }
  const auto text = [](const std::string& a, const std::string& b, const std::string& c, const std::string& d) {
    return fmt::format("(({} + 2 * {} - {}) / {} + 1)", a, b, c, d);
  };
  const Number defined{
      text(size.kernel, pad.kernel, taps.kernel, stride.kernel), text(size.launch, pad.launch, taps.launch, stride.launch), {}};
  if (NumberIn(defined, settings_[0]) == first && NumberIn(defined, settings_[1]) == second) return defined;
  return NumberOf(first, second);
}

bool ConvolutionFinder::FindNumbers() {
  using Shape = ConvolutionShape;
  const std::tuple<const char*, std::int64_t Shape::*, Number Convolution::*> numbers[] = {
      {"number of channels", &Shape::channels, &Convolution::channels},
      {"number of filters", &Shape::filters, &Convolution::filters},
      {"height", &Shape::height, &Convolution::height},
      {"width", &Shape::width, &Convolution::width},
      {"filters' height", &Shape::rows, &Convolution::rows},
      {"filters' width", &Shape::columns, &Convolution::columns},
      {"stride", &Shape::stride_y, &Convolution::stride_y},
      {"stride", &Shape::stride_x, &Convolution::stride_x},
      {"padding", &Shape::pad_y, &Convolution::pad_y},
      {"padding", &Shape::pad_x, &Convolution::pad_x}};
  for (const auto& [what, size, to] : numbers) {
    const auto number = NumberOf(shapes_[0].*size, shapes_[1].*size);
    if (!number) return Refuse(fmt::format("its {} is neither a constant nor a parameter of the kernel", what));
    found_.*to = *number;
  }
  const auto height =
      OutputOf(shapes_[0].out_height, shapes_[1].out_height, found_.height, found_.pad_y, found_.rows, found_.stride_y);
  const auto width =
      OutputOf(shapes_[0].out_width, shapes_[1].out_width, found_.width, found_.pad_x, found_.columns, found_.stride_x);
  if (!height || !width) return Refuse("the size of its output does not follow from its parameters");
  found_.out_height = *height, found_.out_width = *width;
  for (const Number* number :
       {&found_.channels, &found_.filters, &found_.height, &found_.width, &found_.out_height, &found_.out_width, &found_.rows,
        &found_.columns, &found_.stride_y, &found_.stride_x, &found_.pad_y, &found_.pad_x}) {
    for (const auto& [parameter, expression] : runs_.arguments()) {
      if (ContainsName(number->kernel, NameOf(parameter))) used_.insert(parameter);
    }
  }
  return true;
}

ConvolutionShape ConvolutionFinder::ShapeIn(const Setting& setting) const {
  const auto of = [&](const Number& number) { return NumberIn(number, setting); };
  ConvolutionShape shape;
  shape.channels = of(found_.channels), shape.filters = of(found_.filters);
  shape.height = of(found_.height), shape.width = of(found_.width);
  shape.out_height = of(found_.out_height), shape.out_width = of(found_.out_width);
  shape.rows = of(found_.rows), shape.columns = of(found_.columns);
  shape.stride_y = of(found_.stride_y), shape.stride_x = of(found_.stride_x);
  shape.pad_y = of(found_.pad_y), shape.pad_x = of(found_.pad_x);
  return shape;
}

// Sizes that are no images', channels' or filters' number.
std::set<std::string> ConvolutionFinder::NamesOfTaps() const {
  std::set<std::string> names;
  for (const Number* number : {&found_.rows, &found_.columns, &found_.stride_y, &found_.stride_x, &found_.pad_y, &found_.pad_x}) {
    const auto named = Expression::Parse(number->launch).Names();
    names.insert(named.begin(), named.end());
  }
  return names;
}

// Sizes for launches of which all threads are run. Those that are not known may be the number of images.
ConvolutionFinder::Sizes ConvolutionFinder::SmallSizes(std::size_t number) const {
  const auto one = static_cast<std::int64_t>(number);
  const std::set<std::string> taps = NamesOfTaps();
  Sizes sizes = sizes_[number];
  std::int64_t unknown = 4 - one;  // the same as no size of taps
  for (auto& [name, size] : sizes) {
    if (taps.contains(name)) continue;
    if (name == found_.channels.launch)
      size = 2;
    else if (name == found_.filters.launch)
      size = 3 - one;
    else if (name == found_.height.launch)
      size = shapes_[number].rows + 1 + one;
    else if (name == found_.width.launch)
      size = shapes_[number].columns + 3 - one;
    else if (name == found_.out_height.launch || name == found_.out_width.launch)
      size = 4 + one;
    else
      size = unknown++;
  }
  return sizes;
}

// All threads of two small launches: each element is stored once, by a thread that computes it.
bool ConvolutionFinder::RunSmall() {
  std::int64_t images[2] = {};
  Setting settings[2];
  for (const std::size_t number : {0u, 1u}) {
    const auto setting = runs_.SettingOf(SmallSizes(number));
    if (!setting) return Refuse("its launch line has no threads for small sizes");
    if (setting->Threads() > kMostThreadsOfLaunch) return Refuse("it has too many threads for small sizes");
    settings[number] = *setting;
    const ConvolutionShape shape = ShapeIn(*setting);
    const std::size_t from = observed_.size();
    std::set<std::int64_t> elements;
    for (std::int64_t thread = 0; thread < setting->Threads(); ++thread) {
      const ThreadTrace trace = runs_.Run(*setting, thread);
      const auto sample = SampleOf(trace);
      if (!why_.empty()) return false;
      if (!sample) continue;
      if (!Explains(shape, buffers_, *sample)) return Refuse("its sum is no convolution where images are small");
      if (!elements.insert(sample->element).second) return Refuse("two threads store the same element");
      Observe(*setting, thread, trace, sample->element);
    }
    Settle(from, shape);
    const std::int64_t each = shape.filters * shape.out_height * shape.out_width;
    const auto count = static_cast<std::int64_t>(elements.size());
    if (count == 0 || *elements.begin() != 0 || *elements.rbegin() != count - 1 || count % each != 0)
      return Refuse("its threads do not store all elements of the output");
    images[number] = count / each;
  }
  return FindImages(images, settings);
}

bool ConvolutionFinder::FindImages(const std::int64_t (&images)[2], const Setting (&settings)[2]) {
  for (const auto& [parameter, expression] : runs_.arguments()) {
    if (settings[0].integers.at(parameter) == images[0] && settings[1].integers.at(parameter) == images[1] &&
        images[0] != images[1] && !written_.contains(parameter)) {
      used_.insert(parameter);
      found_.images.kernel = NameOf(parameter);
      found_.images.launch = Parenthesised(expression.text());
      return true;
    }
  }
  if (images[0] == images[1]) found_.images.launch = std::to_string(images[0]);
  for (const std::string& name : runs_.names()) {
    const std::int64_t first = settings[0].values.at(name).integer, second = settings[1].values.at(name).integer;
    if (first == images[0] && second == images[1] && first != second) found_.images.launch = name;
  }
  return !found_.images.launch.empty() || Refuse("its number of images is no size of the launch line");
}

// Whether all launches with the same sizes have the same value of what was compared.
bool ConvolutionFinder::IsAllowed(int symbol) const {
  if (symbol < -1 || used_.contains(symbol)) return true;
  if (!runs_.threads().settled().contains(symbol)) return false;
  const auto named = NamedIn(tree_, tree_.node(symbol).children.back());
  return std::all_of(named.begin(), named.end(), [&](int name) { return tree_.node(name).function < 0 || IsAllowed(name); });
}

// Nothing but sizes and the thread decides what the sum is of.
bool ConvolutionFinder::RunSymbolic() {
  std::set<std::string> names;
  for (std::size_t i = 0; i < std::min(kSymbolicThreads, threads_[0].size()); ++i) {
    const ThreadTrace trace = runs_.Run(settings_[0], threads_[0][i], true);
    if (!trace.refusal.empty()) return Refuse(trace.refusal);
    for (const int symbol : trace.after.deciding) {
      if (!IsAllowed(symbol))
        return Refuse(fmt::format("{} decides what it sums up", runs_.threads().TextOf(AffineForm::Symbol(symbol))));
    }
    largest_number_ = std::max(largest_number_, trace.largest_number);
    names.insert(trace.names.begin(), trace.names.end());
  }
  found_.parameters = ParametersBehind(context_, fmt::format("{}", fmt::join(names, " ")));
  return true;
}

// Some threads of a launch whose sizes are beyond all numbers of the code.
bool ConvolutionFinder::RunLarge() {
  const std::set<std::string> taps = NamesOfTaps();
  if (largest_number_ > kMostSize)
    return Refuse(fmt::format("it has the number {}, and so large sizes are not tried", largest_number_));
  Sizes sizes = sizes_[0];
  std::int64_t next = std::max<std::int64_t>(largest_number_, 20) + 2;
  for (auto& [name, size] : sizes) {
    if (!taps.contains(name)) size = ++next;
  }
  return RunSome(sizes, kLargeSamples, fmt::format("where sizes are beyond {}", largest_number_));
}

// Some threads of a launch compute what the sizes say.
bool ConvolutionFinder::RunSome(const Sizes& sizes, std::size_t count, const std::string& where) {
  const auto setting = runs_.SettingOf(sizes);
  if (!setting) return Refuse(fmt::format("its launch line has no threads {}", where));
  const std::size_t from = observed_.size();
  const auto samples = SamplesOf(*setting, count);
  if (!why_.empty()) return false;
  const ConvolutionShape shape = ShapeIn(*setting);
  Settle(from, shape);
  for (const auto& [thread, sample] : samples) {
    if (!Explains(shape, buffers_, sample)) return Refuse(fmt::format("its sum is no convolution {}", where));
  }
  return !samples.empty() || Refuse(fmt::format("no thread stores anything {}", where));
}

}  // namespace evo
