#include "mutators/analysis/convolutions/convolution_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

namespace evo {

bool ConvolutionComparison::Refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

LaunchTrial ConvolutionComparison::Trial(LaunchRuns::Sizes sizes, std::int64_t spread) {
  LaunchTrial trial{std::move(sizes), {}, {}};
  trial.spread = spread;
  return trial;
}

std::set<std::string> ConvolutionComparison::NamesOf(const Numbers& numbers) const {
  std::set<std::string> names;
  for (const auto number : numbers) {
    for (const std::string& name : Expression::Parse(text_.extents.Of(number)).Names()) names.insert(name);
  }
  return names;
}

std::set<std::string> ConvolutionComparison::NamesOfTaps() const {
  using Shape = ConvolutionShape;
  return NamesOf({&Shape::rows, &Shape::columns, &Shape::planes, &Shape::stride_y, &Shape::stride_x, &Shape::stride_z,
                  &Shape::pad_y, &Shape::pad_x, &Shape::pad_z, &Shape::dilation_y, &Shape::dilation_x, &Shape::dilation_z});
}

// The values of all sizes in both choices. Sizes that may be the number of images have no two values that another one has.
std::map<std::string, std::array<std::int64_t, 2>> ConvolutionComparison::SmallSizes() const {
  using Shape = ConvolutionShape;
  const std::set<std::string> taps = NamesOfTaps(), rows = NamesOf({&Shape::height}), columns = NamesOf({&Shape::width}),
                              layers = NamesOf({&Shape::depth}), groups = NamesOf({&Shape::groups}),
                              counts = NamesOf({&Shape::channels, &Shape::filters});
  std::map<std::string, std::array<std::int64_t, 2>> small;
  for (const std::int64_t one : {0, 1}) {
    const auto& [sizes, shape] = search_.found()[static_cast<std::size_t>(one)];
    const bool grouped = shape.groups > 1 && !shape.IsDepthwise();
    for (const auto& [name, size] : sizes) {
      std::int64_t& wanted = small[name][static_cast<std::size_t>(one)];
      if (taps.contains(name) || (grouped && groups.contains(name)))
        wanted = size;
      else if (rows.contains(name))
        wanted = (shape.rows - 1) * shape.dilation_y + 2 + one;
      else if (columns.contains(name))
        wanted = (shape.columns - 1) * shape.dilation_x + 4 - one;
      else if (layers.contains(name))
        wanted = (shape.planes - 1) * shape.dilation_z + 2 + one;
      else if (grouped && counts.contains(name))
        wanted = shape.groups * (2 + one);
    }
  }
  constexpr std::array<std::int64_t, 2> kFew[] = {{1, 2}, {2, 1}, {2, 4}, {3, 2}, {2, 3}, {4, 2},
                                                  {3, 5}, {5, 3}, {4, 5}, {5, 4}, {6, 7}, {7, 6}};
  constexpr std::size_t kFewOfUnits = 2;  // which only these begin with
  for (auto& [name, values] : small) {
    const std::int64_t unit = taps.contains(name) ? 1 : search_.UnitOf(name);
    const bool free = values[0] == 0;
    for (std::size_t i = unit > 1 ? 0 : kFewOfUnits; i < std::size(kFew) && values[0] == 0; ++i) {
      const std::array<std::int64_t, 2> few{kFew[i][0] * unit, kFew[i][1] * unit};
      if (std::none_of(small.begin(), small.end(), [&](const auto& other) { return other.second == few; })) values = few;
    }
    for (std::int64_t& value : values) value = free ? value : std::max<std::int64_t>(1, (value + unit - 1) / unit) * unit;
  }
  return small;
}

LaunchRuns::Sizes ConvolutionComparison::Small(std::size_t number) const {
  LaunchRuns::Sizes sizes;
  for (const auto& [name, values] : SmallSizes()) sizes[name] = std::max<std::int64_t>(1, values[number]);
  return sizes;
}

ConvolutionShape ConvolutionComparison::ShapeWith(const LaunchRuns::Sizes& sizes) const {
  return text_.extents.With(search_.ValuesOf(sizes), text_.layout);
}

std::int64_t ConvolutionComparison::ElementsWith(const LaunchRuns::Sizes& sizes) const {
  const ConvolutionShape shape = ShapeWith(sizes);
  const std::int64_t images = Expression::Parse(text_.extents.images).EvaluateInteger(search_.ValuesOf(sizes));
  return images * shape.filters * shape.OutPixels();
}

std::optional<RanConvolution> ConvolutionComparison::Run(LaunchTrial trial) {
  auto ran = search_.Run(std::move(trial));
  if (!ran) {
    why_ = search_.why();
    return std::nullopt;
  }
  const ThreadTrace& knowledge = ran->run.knowledge;
  seen_.largest = std::max({seen_.largest, knowledge.largest_number, ran->runs->LargestArgument()});
  for (const auto& link : ran->runs->links()) {
    const auto setting = link.runs ? link.runs->SettingOf(ran->trial.sizes) : std::nullopt;
    if (setting) seen_.largest = std::max(seen_.largest, setting->block[0] * setting->block[1] * setting->block[2]);
  }
  seen_.rounded = seen_.rounded || knowledge.rounded;
  seen_.names.insert(knowledge.names.begin(), knowledge.names.end());
  for (const auto& [number, seen] : ran->run.compared) {
    auto& [less, more] = seen_.compared[number];
    less = less || seen.first, more = more || seen.second;
  }
  return ran;
}

bool ConvolutionComparison::Holds(const RanConvolution& ran, bool all) const {
  const ConvolutionShape shape = ShapeWith(ran.trial.sizes);
  const auto stored = ran.run.stored.find(text_.roles.y);
  if (stored == ran.run.stored.end() || stored->second.empty() || shape.OutPixels() <= 0 || shape.filters < shape.groups ||
      shape.groups <= 0)
    return false;
  if (all) {
    const std::int64_t count = ElementsWith(ran.trial.sizes);
    if (static_cast<std::int64_t>(stored->second.size()) != count || stored->second.begin()->first != 0 ||
        stored->second.rbegin()->first != count - 1)
      return false;
  }
  std::map<std::string, std::function<double(std::int64_t)>> elements;
  for (const std::string& buffer : text_.roles.others) elements[buffer] = ran.runs->ElementsOf(ran.trial, buffer);
  const auto x = ran.runs->ElementsOf(ran.trial, text_.roles.x), f = ran.runs->ElementsOf(ran.trial, text_.roles.f);
  const auto of_others = [&](const std::string& buffer, std::int64_t index) { return elements.at(buffer)(index); };
  return std::all_of(stored->second.begin(), stored->second.end(), [&](const auto& one) {
    const auto place = shape.PlaceOf(one.first);
    const ProductEnd::At at{place.filter, place.at.x, one.first};
    return text_.end.Gives(one.second, ConvolutionSumAt(shape, place, x, f), at, of_others);
  });
}

bool ConvolutionComparison::StillHolds(LaunchTrial trial, bool all, const std::string& where) {
  const auto ran = Run(std::move(trial));
  if (!ran) return false;
  return Holds(*ran, all) || Refuse(fmt::format("{}, what it leaves is no convolution", where));
}

}  // namespace evo
