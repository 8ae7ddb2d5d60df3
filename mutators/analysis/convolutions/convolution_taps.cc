#include "mutators/analysis/convolutions/convolution_taps.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace evo {
namespace {

constexpr std::int64_t kMostDilation = 3;
// Rows and columns of filters of transposed convolutions.
constexpr std::int64_t kMostTransposedTaps = 16;

// Offsets that repeat: `count` times at a distance of `step`, from the inside.
struct TapLevel {
  std::int64_t count = 0, step = 0;
};

// Empty if they do not repeat so.
std::vector<TapLevel> LevelsOf(std::vector<std::int64_t> offsets) {
  std::vector<TapLevel> levels;
  while (offsets.size() > 1) {
    const std::int64_t step = offsets[1] - offsets[0];
    std::size_t count = 2;
    while (count < offsets.size() && offsets[count] - offsets[count - 1] == step) ++count;
    if (offsets.size() % count != 0) return {};
    std::vector<std::int64_t> starts;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (i % count == 0) starts.push_back(offsets[i]);
      if (offsets[i] != starts.back() + static_cast<std::int64_t>(i % count) * step) return {};
    }
    levels.push_back({static_cast<std::int64_t>(count), step});
    offsets = std::move(starts);
  }
  return levels;
}

std::vector<std::int64_t> OffsetsOf(const ConvolutionSample& sample) {
  std::vector<std::int64_t> offsets;
  for (const auto& [x, f] : sample.products) offsets.push_back(x - sample.products.front().first);
  return offsets;
}

// What the levels may be: columns, rows and, of volumes, planes, with channels before them or after them.
std::vector<std::vector<TapLevel>> ChoicesOf(const std::vector<TapLevel>& levels, const std::set<std::int64_t>& values) {
  std::vector<std::vector<TapLevel>> choices;
  if (levels.size() == 3) choices.push_back(levels);
  // Channels that are neighbours in images and in filters are one level with the columns. Two channels of half as many pixels
  // would do as well, so the most channels come first.
  const auto split = [&] {
    for (auto value = values.rbegin(); value != values.rend(); ++value) {
      const std::int64_t channels = *value;
      if (channels <= 1 || levels[0].count % channels != 0 || levels[0].count <= channels) continue;
      auto& choice = choices.emplace_back(std::vector<TapLevel>{{channels, 1}, {levels[0].count / channels, channels}});
      choice.insert(choice.end(), levels.begin() + 1, levels.end());
    }
  };
  if (levels.size() == 2 && levels[0].step == 1) split();
  const TapLevel one{1, 1};
  // Images of one row, with channels before the columns of filters or after them; and filters of one tap.
  if (levels.size() == 2 && levels[1].step > levels[0].step) choices.push_back({levels[0], {1, levels[1].step}, levels[1]});
  if (levels.size() == 2 && levels[0].step > levels[1].step) choices.push_back({levels[0], levels[1], {1, levels[0].step}});
  // Images of one channel, whose height is not seen.
  if (levels.size() == 2 && levels[0].step < levels[1].step) choices.push_back({levels[0], levels[1], one});
  // The same with filters by columns.
  if (levels.size() == 2 && levels[0].step > levels[1].step) choices.push_back({levels[0], levels[1], one});
  if (levels.size() == 1 && levels[0].step > 1) choices.push_back({one, {1, levels[0].step}, levels[0]});
  if (levels.size() == 4) choices.push_back(levels);
  if (levels.size() == 3 && levels[0].step == 1) split();
  if (levels.size() == 3 && levels[0].step < levels[1].step && levels[1].step < levels[2].step)
    choices.push_back({levels[0], levels[1], levels[2], one});
  return choices;
}

// Sets the extents and dilations for which rows and planes are so many pixels apart, a choice for each dilation.
void AddExtents(ConvolutionShape shape, const TapLevel& rows, const TapLevel& planes, std::int64_t pixel, std::int64_t channel,
                bool is_volume, std::vector<ConvolutionShape>& shapes) {
  for (shape.dilation_y = 1; shape.dilation_y <= (rows.count > 1 ? kMostDilation : 1); ++shape.dilation_y) {
    if (rows.step / pixel % shape.dilation_y != 0) continue;
    shape.width = rows.step / pixel / shape.dilation_y;
    if (shape.width < shape.columns) continue;
    for (shape.dilation_z = 1; shape.dilation_z <= (planes.count > 1 ? kMostDilation : 1); ++shape.dilation_z) {
      const std::int64_t plane = shape.width * shape.dilation_z * pixel;
      if (is_volume && planes.step % plane != 0) continue;
      if (is_volume) shape.height = planes.step / plane;
      const std::int64_t within = is_volume ? shape.width * shape.height : shape.width;
      if (within <= 0 || (!shape.x_last && (channel <= 0 || channel % within != 0))) continue;
      (is_volume ? shape.depth : shape.height) = shape.x_last ? 0 : channel / within;
      shapes.push_back(shape);
    }
  }
}

// What the taps along two axes of a transposed convolution are, without remainders.
struct TransposedTaps {
  TapLevel columns, rows;  // without a count where a sample has one only
  std::int64_t column_taps = 0, row_taps = 0;
  std::int64_t between = 0;  // the elements of filters from one channel to the next
};

// Sets the filters' size, strides and dilations; false if there are none for so many columns of filters.
bool SetTransposedTaps(const TransposedTaps& taps, std::int64_t of_filter, std::int64_t columns, ConvolutionShape& shape) {
  if (of_filter % columns != 0 || of_filter / columns > kMostTransposedTaps) return false;
  shape.columns = columns, shape.rows = of_filter / columns;
  if (shape.height == 1 && shape.rows > 1) return false;
  shape.dilation_x = shape.dilation_y = 1;
  // Without a second tap a filter is as large as the stride.
  shape.stride_x = taps.columns.count > 0 ? taps.column_taps : columns;
  shape.stride_y = taps.rows.count > 0 ? taps.row_taps / columns : shape.rows;
  if (taps.columns.count > 0) shape.dilation_x = -taps.columns.step;
  if (taps.rows.count > 0) {
    if (taps.row_taps % columns != 0 || taps.rows.step % shape.width != 0) return false;
    shape.dilation_y = -taps.rows.step / shape.width;
  }
  return shape.stride_x >= 1 && shape.stride_y >= 1 && shape.stride_x <= columns && shape.stride_y <= shape.rows &&
         shape.dilation_x <= kMostDilation && shape.dilation_y <= kMostDilation;
}

}  // namespace

std::vector<ConvolutionShape> ShapesOfTaps(const ConvolutionSample& sample, const std::set<std::int64_t>& values,
                                           std::int64_t groups) {
  std::vector<ConvolutionShape> shapes;
  const auto& products = sample.products;
  if (products.size() < 4) return shapes;
  const std::int64_t apart = products[1].second - products[0].second;
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (products[i].second != products[0].second + static_cast<std::int64_t>(i) * apart) return shapes;
  }
  for (const auto& choice : ChoicesOf(LevelsOf(OffsetsOf(sample)), values)) {
    const bool is_volume = choice.size() == 4;
    for (const bool inner : {false, true}) {
      ConvolutionShape shape;
      shape.groups = groups;
      const std::size_t first = inner ? 1 : 0;
      const TapLevel& channels = inner ? choice.front() : choice.back();
      shape.columns_outer = !is_volume && choice[first + 1].count > 1 && choice[first + 1].step < choice[first].step;
      const TapLevel& columns = choice[shape.columns_outer ? first + 1 : first];
      const TapLevel& rows = choice[shape.columns_outer ? first : first + 1];
      const TapLevel planes = is_volume ? choice[first + 2] : TapLevel{1, 1};
      shape.channels = channels.count, shape.planes = planes.count, shape.rows = rows.count, shape.columns = columns.count;
      shape.channels_inner = inner;
      shape.filters_inner = apart > 1;
      if (shape.filters_inner) shape.filters = apart;
      shape.x_last = channels.step == 1;
      const std::int64_t pixel = shape.x_last ? channels.count * groups : 1;
      shape.dilation_x = columns.step / pixel;
      if (columns.step % pixel != 0 || shape.dilation_x < 1 || shape.dilation_x > kMostDilation || rows.step % pixel != 0)
        continue;
      AddExtents(shape, rows, planes, pixel, channels.step, is_volume, shapes);
    }
  }
  return shapes;
}

std::vector<ConvolutionShape> DepthwiseShapesOfTaps(const ConvolutionSample& given, const std::set<std::int64_t>& of_groups) {
  std::vector<ConvolutionShape> shapes;
  ConvolutionSample sample = given;
  // What signal processing calls a convolution.
  const bool reversed = sample.products.size() > 1 && sample.products.back().first < sample.products.front().first;
  if (reversed) std::reverse(sample.products.begin(), sample.products.end());
  auto levels = LevelsOf(OffsetsOf(sample));
  // Of one column, whose taps are as far from each other as rows are.
  if (levels.size() == 1 && levels[0].step > kMostDilation && of_groups.contains(1))
    levels.insert(levels.begin(), TapLevel{1, 1});
  const bool row = levels.size() == 1 && of_groups.contains(1);
  if (row) levels.push_back({1, levels[0].step + 1});
  ConvolutionShape shape;
  shape.reversed = reversed;
  shape.columns_outer = levels.size() == 2 && levels[1].step < levels[0].step;
  if (shape.columns_outer) std::swap(levels[0], levels[1]);
  const bool is_volume = levels.size() == 3 && levels[2].step > levels[1].step;
  if ((levels.size() != 2 && !is_volume) || levels[0].step < 1 || levels[1].step <= levels[0].step) return shapes;
  const auto& products = sample.products;
  const std::int64_t apart = products[1].second - products[0].second;
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (products[i].second != products[0].second + static_cast<std::int64_t>(i) * apart) return shapes;
  }
  shape.channels = 1;
  shape.columns = levels[0].count, shape.rows = levels[1].count;
  if (is_volume) shape.planes = levels[2].count;
  shape.filters_inner = std::abs(apart) > 1;
  shape.dilation_x = levels[0].step;
  if (shape.dilation_x > kMostDilation) return shapes;
  for (const std::int64_t groups : of_groups) {
    if (groups < 1 || (shape.filters_inner && std::abs(apart) != groups) || (row && groups > 1)) continue;
    shape.groups = shape.filters = groups;
    if (row) {
      shape.height = 1;
      shapes.push_back(shape);
      continue;
    }
    for (shape.dilation_y = 1; shape.dilation_y <= kMostDilation; ++shape.dilation_y) {
      if (levels[1].step % shape.dilation_y != 0) continue;
      shape.width = levels[1].step / shape.dilation_y;
      if (shape.width < shape.columns) continue;
      for (shape.dilation_z = 1; is_volume && shape.dilation_z <= kMostDilation; ++shape.dilation_z) {
        shape.height = levels[2].step / shape.width / shape.dilation_z;
        if (shape.height >= shape.rows && shape.height * shape.width * shape.dilation_z == levels[2].step)
          shapes.push_back(shape);
      }
      shape.dilation_z = 1;
      if (!is_volume) shapes.push_back(shape);
    }
  }
  return shapes;
}

std::vector<ConvolutionShape> TransposedShapesOfTaps(const ConvolutionSample& sample, const std::set<std::int64_t>& values) {
  std::vector<ConvolutionShape> shapes;
  const auto& products = sample.products;
  auto levels = LevelsOf(OffsetsOf(sample));
  if (levels.empty() || levels.size() > 3 || levels.back().step < 1) return shapes;
  const TapLevel channel = levels.back();
  levels.pop_back();
  const std::size_t seen = products.size() / static_cast<std::size_t>(channel.count);
  TransposedTaps taps;
  taps.between = products[seen].second - products[0].second;
  for (std::size_t i = seen; i < products.size(); ++i) {
    if (products[i].second - products[i - seen].second != taps.between) return shapes;
  }
  for (const TapLevel& level : levels) {
    if (level.step >= 0) return shapes;
  }
  for (std::int64_t width = 1; width <= channel.step; ++width) {
    if (channel.step % width != 0) continue;
    const bool rows_only = levels.size() == 1 && channel.step > width && levels[0].step % width == 0;
    taps.columns = levels.empty() || rows_only ? TapLevel() : levels[0];
    taps.rows = levels.size() == 2 ? levels[1] : rows_only ? levels[0] : TapLevel();
    taps.column_taps = products[1].second - products[0].second;
    const auto columns_seen = static_cast<std::size_t>(taps.columns.count > 0 ? taps.columns.count : 1);
    taps.row_taps = taps.rows.count > 0 ? products[columns_seen].second - products[0].second : 0;
    ConvolutionShape shape;
    shape.transposed = true;
    shape.channels = channel.count;
    shape.width = width, shape.height = channel.step / width;
    for (std::int64_t columns = 1; columns <= kMostTransposedTaps; ++columns) {
      // Filters that are the outermost dimension have another tap, at least.
      shape.channels_outer = false, shape.filters = 0;
      if (!levels.empty() && SetTransposedTaps(taps, taps.between, columns, shape)) shapes.push_back(shape);
      shape.channels_outer = true;
      for (const std::int64_t filters : values) {
        shape.filters = filters;
        if (filters < 2 || taps.between % filters != 0 || taps.between == filters) continue;
        if (SetTransposedTaps(taps, taps.between / filters, columns, shape)) shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

}  // namespace evo
