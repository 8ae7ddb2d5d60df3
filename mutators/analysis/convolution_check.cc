#include "mutators/analysis/convolution_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "mutators/analysis/fingerprint.h"

namespace evo {
namespace {

constexpr std::int64_t kMostStride = 3;
constexpr std::int64_t kMostDilation = 3;
constexpr std::size_t kMostSamplesOfTaps = 12;
// Of real arithmetic in double precision.
constexpr double kSumTolerance = 1e-9;

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

// The shapes of which all taps lie as those of this sample do. Without heights of images where channels are neighbours, and
// without the number of filters unless they are.
std::vector<ConvolutionShape> ShapesOfTaps(const ConvolutionSample& sample, const std::set<std::int64_t>& values,
                                           std::int64_t groups) {
  std::vector<ConvolutionShape> shapes;
  const auto& products = sample.products;
  if (products.size() < 4) return shapes;
  const std::int64_t apart = products[1].second - products[0].second;
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (products[i].second != products[0].second + static_cast<std::int64_t>(i) * apart) return shapes;
    offsets.push_back(products[i].first - products[0].first);
  }
  const auto levels = LevelsOf(offsets);
  std::vector<std::vector<TapLevel>> choices;
  if (levels.size() == 3) choices.push_back(levels);
  if (levels.size() == 2 && levels[0].step == 1) {
    // Two channels of half as many pixels would do as well, so the most channels come first.
    for (auto value = values.rbegin(); value != values.rend(); ++value) {
      const std::int64_t channels = *value;
      if (channels > 1 && levels[0].count % channels == 0 && levels[0].count > channels)
        choices.push_back({{channels, 1}, {levels[0].count / channels, channels}, levels[1]});
    }
  }
  const TapLevel one{1, 1};
  // Images of one row, with channels before the columns of filters or after them; and filters of one tap.
  if (levels.size() == 2 && levels[1].step > levels[0].step) choices.push_back({levels[0], {1, levels[1].step}, levels[1]});
  if (levels.size() == 2 && levels[0].step > levels[1].step) choices.push_back({levels[0], levels[1], {1, levels[0].step}});
  // Images of one channel, whose height is not seen.
  if (levels.size() == 2 && levels[0].step < levels[1].step) choices.push_back({levels[0], levels[1], one});
  if (levels.size() == 1 && levels[0].step > 1) choices.push_back({one, {1, levels[0].step}, levels[0]});
  for (const auto& choice : choices) {
    for (const bool inner : {false, true}) {
      ConvolutionShape shape;
      shape.groups = groups;
      const TapLevel &channels = choice[inner ? 0 : 2], &columns = choice[inner ? 1 : 0], &rows = choice[inner ? 2 : 1];
      shape.channels = channels.count, shape.rows = rows.count, shape.columns = columns.count;
      shape.channels_inner = inner;
      shape.filters_inner = apart > 1;
      if (shape.filters_inner) shape.filters = apart;
      shape.x_last = channels.step == 1;
      const std::int64_t pixel = shape.x_last ? channels.count * groups : 1;
      shape.dilation_x = columns.step / pixel;
      if (columns.step % pixel != 0 || shape.dilation_x < 1 || shape.dilation_x > kMostDilation || rows.step % pixel != 0)
        continue;
      const std::int64_t most_down = rows.count > 1 ? kMostDilation : 1;
      for (shape.dilation_y = 1; shape.dilation_y <= most_down; ++shape.dilation_y) {
        if (rows.step / pixel % shape.dilation_y != 0) continue;
        shape.width = rows.step / pixel / shape.dilation_y;
        if (shape.width < shape.columns || (!shape.x_last && (channels.step <= 0 || channels.step % shape.width != 0))) continue;
        shape.height = shape.x_last ? 0 : channels.step / shape.width;
        shapes.push_back(shape);
      }
    }
  }
  return shapes;
}

// Sizes that an output may have along an axis.
std::set<std::int64_t> OutputSizes(std::int64_t size, std::int64_t taps, const std::set<std::int64_t>& values) {
  std::set<std::int64_t> sizes = values;
  for (std::int64_t stride = 1; stride <= kMostStride; ++stride) {
    for (std::int64_t pads = 0; pads <= 2 * taps; ++pads) sizes.insert((size + pads - taps) / stride + 1);
  }
  return sizes;
}

// Images and filters of a sample, by what it reads.
struct SampleOrigin {
  std::int64_t image = 0, filter = 0;
};

std::optional<ConvolutionShape> Fitting(ConvolutionShape shape, const ConvolutionBuffers& buffers,
                                        const std::vector<ConvolutionSample>& samples) {
  for (shape.stride_y = 1; shape.stride_y <= kMostStride; ++shape.stride_y) {
    for (shape.stride_x = 1; shape.stride_x <= kMostStride; ++shape.stride_x) {
      for (shape.pad_y = 0; shape.pad_y <= shape.rows * shape.dilation_y; ++shape.pad_y) {
        for (shape.pad_x = 0; shape.pad_x <= shape.columns * shape.dilation_x; ++shape.pad_x) {
          if (std::all_of(samples.begin(), samples.end(), [&](const auto& sample) { return Explains(shape, buffers, sample); }))
            return shape;
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

ConvolutionShape::Place ConvolutionShape::PlaceOf(std::int64_t element) const {
  const std::int64_t pixels = out_height * out_width;
  const std::int64_t pixel = y_last ? element / filters % pixels : element % pixels;
  const std::int64_t filter = y_last ? element % filters : element / pixels % filters;
  return {element / pixels / filters, filter, pixel / out_width, pixel % out_width};
}

std::int64_t ConvolutionShape::OfX(std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) const {
  if (x_last) return ((image * height + y) * width + x) * AllChannels() + channel;
  return ((image * AllChannels() + channel) * height + y) * width + x;
}

std::int64_t ConvolutionShape::OfF(std::int64_t filter, std::int64_t channel, std::int64_t row, std::int64_t column) const {
  const std::int64_t tap = row * columns + column;
  const std::int64_t within = channels_inner ? tap * channels + channel : channel * rows * columns + tap;
  return filters_inner ? within * filters + filter : filter * channels * rows * columns + within;
}

bool Explains(const ConvolutionShape& shape, const ConvolutionBuffers& buffers, const ConvolutionSample& sample) {
  if (shape.out_height <= 0 || shape.out_width <= 0 || shape.filters < shape.groups) return false;
  const auto [image, filter, row, column] = shape.PlaceOf(sample.element);
  const std::int64_t first_channel = filter / (shape.filters / shape.groups) * shape.channels;
  double sum = 0, size = 1;
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      for (std::int64_t j = 0; j < shape.columns; ++j) {
        const std::int64_t y = row * shape.stride_y + i * shape.dilation_y - shape.pad_y;
        const std::int64_t x = column * shape.stride_x + j * shape.dilation_x - shape.pad_x;
        if (y < 0 || y >= shape.height || x < 0 || x >= shape.width) continue;
        const double term = RandomElement(buffers.x, shape.OfX(image, first_channel + c, y, x)) *
                            RandomElement(buffers.f, shape.OfF(filter, c, i, j));
        sum += term;
        size += std::abs(term);
      }
    }
  }
  return std::abs(sum - sample.sum) <= kSumTolerance * size;
}

namespace {

// The shape with the number of filters and the output's size, strides and paddings that explain all samples.
std::optional<ConvolutionShape> WithOutput(ConvolutionShape shape, const ConvolutionBuffers& buffers,
                                           const std::vector<ConvolutionSample>& samples, const std::set<std::int64_t>& values) {
  const std::int64_t of_filter = shape.channels * shape.rows * shape.columns;
  const std::int64_t of_image = shape.AllChannels() * shape.height * shape.width;
  const std::set<std::int64_t> filters = shape.filters_inner ? std::set{shape.filters} : values;
  for (const std::int64_t count : filters) {
    if (count < 2 * shape.groups || count % shape.groups != 0) continue;
    shape.filters = count;
    std::vector<std::optional<SampleOrigin>> origins;  // none where all taps are outside of the image
    bool whole = true;
    for (const ConvolutionSample& sample : samples) {
      const auto filter_of = [&](std::int64_t at) { return shape.filters_inner ? at % count : at / of_filter; };
      if (sample.products.empty()) {
        origins.emplace_back();
        continue;
      }
      const SampleOrigin origin{sample.x.front() / of_image, filter_of(sample.f.front())};
      whole = whole && sample.x.back() / of_image == origin.image && filter_of(sample.f.back()) == origin.filter;
      origins.emplace_back(origin);
    }
    if (!whole) continue;
    const std::int64_t high = (shape.rows - 1) * shape.dilation_y + 1, wide = (shape.columns - 1) * shape.dilation_x + 1;
    for (const std::int64_t out_height : OutputSizes(shape.height, high, values)) {
      for (const std::int64_t out_width : OutputSizes(shape.width, wide, values)) {
        if (out_height <= 0 || out_width <= 0) continue;
        shape.out_height = out_height, shape.out_width = out_width;
        for (const bool y_last : {false, true}) {
          shape.y_last = y_last;
          bool fits = true;
          for (std::size_t i = 0; fits && i < samples.size(); ++i) {
            const auto place = shape.PlaceOf(samples[i].element);
            fits = !origins[i] || (place.filter == origins[i]->filter && place.image == origins[i]->image);
          }
          if (!fits) continue;
          if (const auto found = Fitting(shape, buffers, samples)) return found;
        }
      }
    }
  }
  return std::nullopt;
}

// Whether a convolution is no more than a product of two matrices: filters of one tap, on one image.
bool IsProduct(const ConvolutionShape& shape, const std::vector<ConvolutionSample>& samples) {
  return shape.rows * shape.columns == 1 && std::all_of(samples.begin(), samples.end(), [&](const ConvolutionSample& sample) {
           return shape.PlaceOf(sample.element).image == 0;
         });
}

}  // namespace

std::variant<ConvolutionShape, std::string> ShapeOf(const std::vector<ConvolutionSample>& samples,
                                                    const ConvolutionBuffers& buffers, const std::set<std::int64_t>& values,
                                                    std::int64_t groups) {
  std::size_t most = 0;
  for (const ConvolutionSample& sample : samples) {
    most = std::max(most, sample.products.size());
  }
  if (most == 0) return std::string(kNoConvolution);
  // Taps that come back on the other side of an image lie otherwise in some of its elements.
  std::size_t tried = 0;
  bool like = false;
  for (const ConvolutionSample& sample : samples) {
    if (sample.products.size() != most || ++tried > kMostSamplesOfTaps) continue;
    for (ConvolutionShape shape : ShapesOfTaps(sample, values, groups)) {
      // Many a sum has taps like those of one row.
      like = like || shape.rows > 1;
      const std::set<std::int64_t> heights = shape.x_last ? values : std::set{shape.height};
      for (const std::int64_t height : heights) {
        if (height < shape.rows) continue;
        shape.height = height;
        const auto found = WithOutput(shape, buffers, samples, values);
        if (found && !IsProduct(*found, samples)) return *found;
      }
    }
  }
  return std::string(like ? kNoConvolution : "");
}

}  // namespace evo
