#include "mutators/analysis/convolutions/convolution_numbers.h"

#include <fmt/format.h>

#include <tuple>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// How far an extent of the images may be from an integer of the kernel, as where that is one of the output.
constexpr std::int64_t kFurthestExtent = 6;

}  // namespace

std::int64_t NumberIn(const Convolution::Number& number, const LaunchRuns::Setting& setting) {
  return setting.ValueOf(number.launch);
}

ConvolutionShape ShapeIn(const Convolution& convolution, const LaunchRuns::Setting& setting) {
  const auto of = [&](const Convolution::Number& number) { return NumberIn(number, setting); };
  ConvolutionShape shape;
  shape.channels = of(convolution.channels), shape.filters = of(convolution.filters);
  shape.groups = of(convolution.groups);
  shape.height = of(convolution.height), shape.width = of(convolution.width);
  shape.out_height = of(convolution.out_height), shape.out_width = of(convolution.out_width);
  shape.rows = of(convolution.rows), shape.columns = of(convolution.columns);
  shape.stride_y = of(convolution.stride_y), shape.stride_x = of(convolution.stride_x);
  shape.pad_y = of(convolution.pad_y), shape.pad_x = of(convolution.pad_x);
  shape.dilation_y = of(convolution.dilation_y), shape.dilation_x = of(convolution.dilation_x);
  shape.x_last = convolution.x_last, shape.y_last = convolution.y_last;
  shape.channels_inner = convolution.channels_inner, shape.filters_inner = convolution.filters_inner;
  shape.columns_outer = convolution.columns_outer, shape.reversed = convolution.reversed;
  shape.channels_outer = convolution.channels_outer, shape.transposed = convolution.transposed;
  shape.depth = of(convolution.depth), shape.out_depth = of(convolution.out_depth), shape.planes = of(convolution.planes);
  shape.stride_z = of(convolution.stride_z), shape.pad_z = of(convolution.pad_z), shape.dilation_z = of(convolution.dilation_z);
  return shape;
}

bool ConvolutionNumbers::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

// A constant, or an integer of the kernel, give or take `away`, that has these values in the two settings.
std::optional<Convolution::Number> ConvolutionNumbers::NumberOf(std::int64_t first, std::int64_t second,
                                                                std::int64_t away) const {
  if (first == second) return Number{std::to_string(first), std::to_string(first), first};
  for (const LaunchNumber& number : numbers_.Shifted(away)) {
    if (number.values == std::array{first, second}) return Number{number.kernel, number.launch, {}};
  }
  return std::nullopt;
}

// Half of an integer of the kernel, or of one less, rounded down: paddings that keep the size.
std::optional<Convolution::Number> ConvolutionNumbers::HalfOf(std::int64_t first, std::int64_t second) const {
  for (const std::int64_t away : {0, -1}) {
    for (const LaunchNumber& number : numbers_.Shifted(away)) {
      if (number.values[0] > 0 && number.values[0] / 2 == first && number.values[1] > 0 && number.values[1] / 2 == second)
        return Number{fmt::format("({} / 2)", number.kernel), fmt::format("({} / 2)", number.launch), {}};
    }
  }
  return std::nullopt;
}

// Twice an integer of the kernel and one: taps on both sides of the middle one.
std::optional<Convolution::Number> ConvolutionNumbers::AroundOf(std::int64_t first, std::int64_t second) const {
  for (const LaunchNumber& number : numbers_.Shifted(0)) {
    if (2 * number.values[0] + 1 == first && 2 * number.values[1] + 1 == second)
      return Number{fmt::format("(2 * {} + 1)", number.kernel), fmt::format("(2 * {} + 1)", number.launch), {}};
  }
  return std::nullopt;
}

// A product of two integers of the kernel: of the pixels of an image, of which filters of one tap need not know more.
std::optional<Convolution::Number> ConvolutionNumbers::ProductOf(std::int64_t first, std::int64_t second) const {
  const auto numbers = numbers_.Shifted(0);
  for (auto a = numbers.begin(); a != numbers.end(); ++a) {
    for (auto b = a + 1; b != numbers.end(); ++b) {
      if (a->values[0] * b->values[0] == first && a->values[1] * b->values[1] == second)
        return Number{fmt::format("({} * {})", a->kernel, b->kernel), fmt::format("({} * {})", a->launch, b->launch), {}};
    }
  }
  return std::nullopt;
}

// An extent of images of which the kernel knows how often filters fit in: `out + taps - 1`.
std::optional<Convolution::Number> ConvolutionNumbers::OfInside(std::int64_t ConvolutionShape::*extent, std::int64_t taps,
                                                                std::int64_t other_taps) const {
  const auto filter = NumberOf(taps, other_taps);
  if (!filter || filter->constant) return std::nullopt;
  for (const LaunchNumber& number : numbers_.Shifted(0)) {
    if (number.values[0] + taps - 1 == launches_[0].shape.*extent &&
        number.values[1] + other_taps - 1 == launches_[1].shape.*extent)
      return Number{fmt::format("({} + {} - 1)", number.kernel, filter->kernel),
                    fmt::format("({} + {} - 1)", number.launch, filter->launch),
                    {}};
  }
  return std::nullopt;
}

// The product of an integer of the kernel and of the number of groups.
std::optional<Convolution::Number> ConvolutionNumbers::TimesGroups(std::int64_t first, std::int64_t second,
                                                                   const Number& groups) const {
  for (const LaunchNumber& number : numbers_.Shifted(0)) {
    if (number.values[0] * launches_[0].shape.groups == first && number.values[1] * launches_[1].shape.groups == second)
      return Number{
          fmt::format("({} * {})", number.kernel, groups.kernel), fmt::format("({} * {})", number.launch, groups.launch), {}};
  }
  return std::nullopt;
}

// The numbers of groups, of channels of a filter and of an image, and of filters.
bool ConvolutionNumbers::AddGroups(Convolution& found) {
  const ConvolutionShape &one = launches_[0].shape, &other = launches_[1].shape;
  const auto groups = NumberOf(one.groups, other.groups);
  if (!groups) return Refuse("its number of groups is neither a constant nor a parameter of the kernel");
  found.groups = *groups;
  auto channels = NumberOf(one.channels, other.channels), all = NumberOf(one.AllChannels(), other.AllChannels());
  auto filters = NumberOf(one.filters, other.filters);
  if (!filters && groups->constant != 1) filters = TimesGroups(one.filters, other.filters, *groups);
  if (!filters) filters = SizeOf(one.filters, other.filters);
  if (!channels && all)
    channels =
        Number{fmt::format("({} / {})", all->kernel, groups->kernel), fmt::format("({} / {})", all->launch, groups->launch), {}};
  if (!all && channels) all = TimesGroups(one.AllChannels(), other.AllChannels(), *groups);
  if (!channels || !all) return Refuse("its number of channels is neither a constant nor a parameter of the kernel");
  if (!filters) return Refuse("its number of filters is neither a constant nor a parameter of the kernel");
  if (groups->constant != 1) {
    // Trials set sizes of the launch line, not quotients of them.
    if (const auto size = SizeOf(one.AllChannels(), other.AllChannels())) all->launch = size->launch;
    if (const auto size = SizeOf(one.filters, other.filters)) filters->launch = size->launch;
  }
  found.channels = *channels, found.all_channels = *all, found.filters = *filters;
  found.depthwise = one.IsDepthwise() && other.IsDepthwise();
  return true;
}

// A size of the launch line that is no integer of the kernel.
std::optional<Convolution::Number> ConvolutionNumbers::SizeOf(std::int64_t first, std::int64_t second) const {
  for (const std::string& name : runs_.names()) {
    if (launches_[0].setting.values.at(name).integer == first && launches_[1].setting.values.at(name).integer == second)
      return Number{"", name, {}};
  }
  return std::nullopt;
}

std::string ConvolutionNumbers::DefinedSize(const Axis& axis, std::string Number::*of) {
  const bool neighbours = axis.dilation.constant == 1;
  if (axis.transposed) {
    const std::string extent = neighbours ? axis.taps.*of : fmt::format("{} * ({} - 1) + 1", axis.dilation.*of, axis.taps.*of);
    return fmt::format("(({} - 1) * {} - 2 * {} + {})", axis.size.*of, axis.stride.*of, axis.pad.*of, extent);
  }
  const std::string extent = neighbours ? axis.taps.*of : fmt::format("{} * ({} - 1) - 1", axis.dilation.*of, axis.taps.*of);
  return fmt::format("(({} + 2 * {} - {}) / {} + 1)", axis.size.*of, axis.pad.*of, extent, axis.stride.*of);
}

// The output's size along an axis: a parameter, or what the definition gives. `also`: parameters that are something else, and by
// chance this, too.
std::optional<Convolution::Number> ConvolutionNumbers::OutputOf(std::int64_t first, std::int64_t second, const Axis& axis,
                                                                const std::set<std::string>& also) const {
  const auto& [size, pad, taps, stride, dilation, transposed] = axis;
  if (size.constant && pad.constant && taps.constant && stride.constant && dilation.constant) return NumberOf(first, second);
  const auto same = first == second ? std::nullopt : NumberOf(first, second);
  if (same && !also.contains(same->launch)) return same;
  if (stride.constant == 1 && dilation.constant == 1 && pad.constant && taps.constant && !size.constant) {
    const std::int64_t away = (2 * *pad.constant - *taps.constant + 1) * (transposed ? -1 : 1);
    const auto shifted = NumberOf(first, second, away);
    if (shifted && !shifted->constant) return shifted;
  }
  const auto fits = [&](const Number& number) {
    return NumberIn(number, launches_[0].setting) == first && NumberIn(number, launches_[1].setting) == second;
  };
  if (fits(size)) return size;
  const Number defined{DefinedSize(axis, &Number::kernel), DefinedSize(axis, &Number::launch), {}};
  if (fits(defined)) return defined;
  // As many as of filters that are never outside of the image, though some are.
  if (!transposed && stride.constant == 1 && dilation.constant == 1) {
    const Number inside{
        fmt::format("({} - {} + 1)", size.kernel, taps.kernel), fmt::format("({} - {} + 1)", size.launch, taps.launch), {}};
    if (fits(inside)) return inside;
  }
  const Number strided{
      fmt::format("({} * {})", size.kernel, stride.kernel), fmt::format("({} * {})", size.launch, stride.launch), {}};
  if (transposed && fits(strided)) return strided;
  return NumberOf(first, second);
}

bool ConvolutionNumbers::AddSizes(Convolution& found) {
  using Shape = ConvolutionShape;
  if (!AddGroups(found)) return false;
  const std::tuple<const char*, std::int64_t Shape::*, Number Convolution::*> numbers[] = {
      {"depth", &Shape::depth, &Convolution::depth},
      {"height", &Shape::height, &Convolution::height},
      {"width", &Shape::width, &Convolution::width},
      {"filters' depth", &Shape::planes, &Convolution::planes},
      {"filters' height", &Shape::rows, &Convolution::rows},
      {"filters' width", &Shape::columns, &Convolution::columns},
      {"stride", &Shape::stride_z, &Convolution::stride_z},
      {"stride", &Shape::stride_y, &Convolution::stride_y},
      {"stride", &Shape::stride_x, &Convolution::stride_x},
      {"padding", &Shape::pad_z, &Convolution::pad_z},
      {"padding", &Shape::pad_y, &Convolution::pad_y},
      {"padding", &Shape::pad_x, &Convolution::pad_x},
      {"dilation", &Shape::dilation_z, &Convolution::dilation_z},
      {"dilation", &Shape::dilation_y, &Convolution::dilation_y},
      {"dilation", &Shape::dilation_x, &Convolution::dilation_x}};
  for (const auto& [what, size, to] : numbers) {
    auto number = NumberOf(launches_[0].shape.*size, launches_[1].shape.*size);
    if (!number && (size == &Shape::pad_z || size == &Shape::pad_y || size == &Shape::pad_x))
      number = HalfOf(launches_[0].shape.*size, launches_[1].shape.*size);
    if (!number && (size == &Shape::planes || size == &Shape::rows || size == &Shape::columns))
      number = AroundOf(launches_[0].shape.*size, launches_[1].shape.*size);
    if (!number && size == &Shape::width && found.height.constant == 1)
      number = ProductOf(launches_[0].shape.*size, launches_[1].shape.*size);
    if (!number && (size == &Shape::depth || size == &Shape::height || size == &Shape::width)) {
      const auto taps = size == &Shape::width ? &Shape::columns : size == &Shape::height ? &Shape::rows : &Shape::planes;
      number = OfInside(size, launches_[0].shape.*taps, launches_[1].shape.*taps);
      const auto near =
          number ? std::nullopt : numbers_.Find({launches_[0].shape.*size, launches_[1].shape.*size}, kFurthestExtent);
      if (near) number = Number{near->kernel, near->launch, {}};
    }
    if (!number) return Refuse(fmt::format("its {} is neither a constant nor a parameter of the kernel", what));
    found.*to = *number;
  }
  const ConvolutionShape &shape = launches_[0].shape, &other = launches_[1].shape;
  const bool turned = found.transposed = shape.transposed;
  const std::set<std::string> counts{found.filters.launch, found.channels.launch, found.all_channels.launch};
  const auto depth = OutputOf(shape.out_depth, other.out_depth,
                              {found.depth, found.pad_z, found.planes, found.stride_z, found.dilation_z, turned}, counts);
  const auto height = OutputOf(shape.out_height, other.out_height,
                               {found.height, found.pad_y, found.rows, found.stride_y, found.dilation_y, turned}, counts);
  const auto width = OutputOf(shape.out_width, other.out_width,
                              {found.width, found.pad_x, found.columns, found.stride_x, found.dilation_x, turned}, counts);
  if (!depth || !height || !width) return Refuse("the size of its output does not follow from its parameters");
  found.out_depth = *depth, found.out_height = *height, found.out_width = *width;
  found.x_last = shape.x_last, found.y_last = shape.y_last;
  found.channels_inner = shape.channels_inner, found.filters_inner = shape.filters_inner;
  found.channels_outer = shape.channels_outer, found.columns_outer = shape.columns_outer;
  found.reversed = shape.reversed;
  for (const Number* number :
       {&found.channels,   &found.all_channels, &found.groups,     &found.filters,    &found.height,   &found.width,
        &found.out_height, &found.out_width,    &found.rows,       &found.columns,    &found.stride_y, &found.stride_x,
        &found.pad_y,      &found.pad_x,        &found.dilation_y, &found.dilation_x, &found.depth,    &found.out_depth,
        &found.planes,     &found.stride_z,     &found.pad_z,      &found.dilation_z}) {
    for (const auto& [parameter, expression] : runs_.arguments()) {
      if (ContainsName(number->kernel, NameOf(parameter))) used_.insert(parameter);
    }
  }
  return true;
}

bool ConvolutionNumbers::AddImages(const std::array<std::int64_t, 2>& images, const std::array<LaunchRuns::Setting, 2>& settings,
                                   Convolution& found) {
  for (const auto& [parameter, expression] : runs_.arguments()) {
    if (settings[0].integers.at(parameter) == images[0] && settings[1].integers.at(parameter) == images[1] &&
        images[0] != images[1] && !written_.contains(parameter)) {
      used_.insert(parameter);
      found.images.kernel = NameOf(parameter);
      found.images.launch = Parenthesised(expression.text());
      return true;
    }
  }
  if (images[0] == images[1]) found.images.launch = std::to_string(images[0]);
  for (const std::string& name : runs_.names()) {
    const std::int64_t first = settings[0].values.at(name).integer, second = settings[1].values.at(name).integer;
    if (first == images[0] && second == images[1] && first != second) found.images.launch = name;
  }
  return !found.images.launch.empty() || Refuse("its number of images is no size of the launch line");
}

}  // namespace evo
