#include "mutators/analysis/convolutions/convolution_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "mutators/analysis/convolutions/convolution_taps.h"
#include "mutators/analysis/numbers/fingerprint.h"

namespace evo {
namespace {

constexpr std::int64_t kMostStride = 3;
constexpr std::size_t kMostSamplesOfTaps = 12;
constexpr std::size_t kMostSamplesTransposed = 2;
// Of real arithmetic in double precision.
constexpr double kSumTolerance = 1e-9;

// Sizes that an output may have along an axis.
std::set<std::int64_t> OutputSizes(std::int64_t size, std::int64_t extent, const std::set<std::int64_t>& values) {
  std::set<std::int64_t> sizes = values;
  for (std::int64_t stride = 1; stride <= kMostStride; ++stride) {
    for (std::int64_t pads = 0; pads <= 2 * extent; ++pads) sizes.insert((size + pads - extent) / stride + 1);
  }
  return sizes;
}

// Those of a transposed convolution.
std::set<std::int64_t> TransposedSizes(std::int64_t size, std::int64_t extent, std::int64_t stride,
                                       const std::set<std::int64_t>& values) {
  std::set<std::int64_t> sizes = values;
  for (std::int64_t pads = 0; pads <= 2 * extent; ++pads) sizes.insert((size - 1) * stride + extent - pads);
  for (std::int64_t more = 0; more < stride; ++more) sizes.insert(size * stride + more);
  return sizes;
}

// Images and filters of a sample, by what it reads.
struct SampleOrigin {
  std::int64_t image = 0, filter = 0;
};

// The padding with which a tap of an element of the output is a pixel.
std::int64_t PadOf(bool transposed, std::int64_t out, std::int64_t tap, std::int64_t pixel, std::int64_t stride,
                   std::int64_t dilation) {
  return transposed ? pixel * stride + tap * dilation - out : out * stride + tap * dilation - pixel;
}

// The shape with strides and paddings that explain all samples.
std::optional<ConvolutionShape> Fitting(ConvolutionShape shape, const ConvolutionBuffers& buffers,
                                        const std::vector<ConvolutionSample>& samples) {
  const auto anchor = std::find_if(samples.begin(), samples.end(), [](const auto& sample) { return !sample.products.empty(); });
  if (anchor == samples.end()) return std::nullopt;
  const auto out = shape.PlaceOf(anchor->element).at;
  const auto pixel = shape.PixelOf(anchor->products.front().first), tap = shape.TapOf(anchor->products.front().second);
  // Those of a transposed convolution are known.
  const auto strides = [&](std::int64_t known, std::int64_t most) {
    return shape.transposed ? std::pair(known, known) : std::pair(std::int64_t{1}, most);
  };
  const auto [first_z, last_z] = strides(1, shape.planes > 1 ? kMostStride : 1);
  const auto [first_y, last_y] = strides(shape.stride_y, kMostStride);
  const auto [first_x, last_x] = strides(shape.stride_x, kMostStride);
  for (shape.stride_z = first_z; shape.stride_z <= last_z; ++shape.stride_z) {
    for (shape.stride_y = first_y; shape.stride_y <= last_y; ++shape.stride_y) {
      for (shape.stride_x = first_x; shape.stride_x <= last_x; ++shape.stride_x) {
        shape.pad_z = PadOf(shape.transposed, out.z, tap.z, pixel.z, shape.stride_z, shape.dilation_z);
        shape.pad_y = PadOf(shape.transposed, out.y, tap.y, pixel.y, shape.stride_y, shape.dilation_y);
        shape.pad_x = PadOf(shape.transposed, out.x, tap.x, pixel.x, shape.stride_x, shape.dilation_x);
        const bool padded = shape.pad_z >= 0 && shape.pad_z <= shape.planes * shape.dilation_z && shape.pad_y >= 0 &&
                            shape.pad_y <= shape.rows * shape.dilation_y && shape.pad_x >= 0 &&
                            shape.pad_x <= shape.columns * shape.dilation_x;
        if (padded &&
            std::all_of(samples.begin(), samples.end(), [&](const auto& sample) { return Explains(shape, buffers, sample); }))
          return shape;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

ConvolutionShape::Place ConvolutionShape::PlaceOf(std::int64_t element) const {
  const std::int64_t pixels = OutPixels();
  const std::int64_t pixel = y_last ? element / filters % pixels : element % pixels;
  const std::int64_t filter = y_last ? element % filters : element / pixels % filters;
  return {
      element / pixels / filters, filter, {pixel / out_width / out_height, pixel / out_width % out_height, pixel % out_width}};
}

std::int64_t ConvolutionShape::OfX(std::int64_t image, std::int64_t channel, const Position& pixel) const {
  const std::int64_t at = (pixel.z * height + pixel.y) * width + pixel.x;
  if (x_last) return (image * Pixels() + at) * AllChannels() + channel;
  return (image * AllChannels() + channel) * Pixels() + at;
}

std::int64_t ConvolutionShape::OfF(std::int64_t filter, std::int64_t channel, std::int64_t by_rows) const {
  std::int64_t tap = columns_outer ? by_rows % columns * rows + by_rows / columns : by_rows;
  if (reversed) tap = Taps() - 1 - tap;
  if (channels_outer) return (channel * filters + filter) * Taps() + tap;
  const std::int64_t within = channels_inner ? tap * channels + channel : channel * Taps() + tap;
  return filters_inner ? within * filters + filter : filter * channels * Taps() + within;
}

ConvolutionShape::Position ConvolutionShape::PixelOf(std::int64_t x) const {
  const std::int64_t pixel = x_last ? x / AllChannels() % Pixels() : x % Pixels();
  return {pixel / width / height, pixel / width % height, pixel % width};
}

ConvolutionShape::Position ConvolutionShape::TapOf(std::int64_t f) const {
  const std::int64_t within = filters_inner ? f / filters : f % (channels * Taps());
  std::int64_t tap = channels_inner ? within / channels : within % Taps();
  if (reversed) tap = Taps() - 1 - tap;
  if (columns_outer) return {0, tap % rows, tap / rows};
  return {tap / columns / rows, tap / columns % rows, tap % columns};
}

std::int64_t ConvolutionShape::FilterOf(std::int64_t f) const {
  if (channels_outer) return f / Taps() % filters;
  return filters_inner ? f % filters : f / (channels * Taps());
}

namespace {

// Where a tap is along an axis of an image; below 0 where it is nowhere.
std::int64_t AxisPosition(bool transposed, std::int64_t out, std::int64_t tap, std::int64_t stride, std::int64_t pad,
                          std::int64_t dilation) {
  if (!transposed) return out * stride + tap * dilation - pad;
  const std::int64_t at = out + pad - tap * dilation;
  return at >= 0 && at % stride == 0 ? at / stride : -1;
}

}  // namespace

namespace {

template <typename X, typename F>
double SumOfTaps(const ConvolutionShape& shape, const ConvolutionShape::Place& place, X x, F f, double* size) {
  const auto& [image, filter, out] = place;
  const std::int64_t first_channel = filter / (shape.filters / shape.groups) * shape.channels;
  double sum = 0;
  for (std::int64_t tap = 0; tap < shape.Taps(); ++tap) {
    const std::int64_t h = tap / shape.columns / shape.rows, i = tap / shape.columns % shape.rows, j = tap % shape.columns;
    const ConvolutionShape::Position pixel{
        AxisPosition(shape.transposed, out.z, h, shape.stride_z, shape.pad_z, shape.dilation_z),
        AxisPosition(shape.transposed, out.y, i, shape.stride_y, shape.pad_y, shape.dilation_y),
        AxisPosition(shape.transposed, out.x, j, shape.stride_x, shape.pad_x, shape.dilation_x)};
    if (pixel.z < 0 || pixel.z >= shape.depth || pixel.y < 0 || pixel.y >= shape.height || pixel.x < 0 || pixel.x >= shape.width)
      continue;
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      const double term = x(shape.OfX(image, first_channel + c, pixel)) * f(shape.OfF(filter, c, tap));
      sum += term;
      if (size != nullptr) *size += std::abs(term);
    }
  }
  return sum;
}

}  // namespace

double ConvolutionSumAt(const ConvolutionShape& shape, const ConvolutionShape::Place& place, const ConvolutionElements& x,
                        const ConvolutionElements& f) {
  return SumOfTaps(shape, place, x, f, nullptr);
}

bool Explains(const ConvolutionShape& shape, const ConvolutionBuffers& buffers, const ConvolutionSample& sample) {
  if (shape.OutPixels() <= 0 || shape.filters < shape.groups) return false;
  double size = 1;
  const double sum = SumOfTaps(
      shape, shape.PlaceOf(sample.element), [&](std::int64_t at) { return RandomElement(buffers.x, at); },
      [&](std::int64_t at) { return RandomElement(buffers.f, at); }, &size);
  return std::abs(sum - sample.sum) <= kSumTolerance * size;
}

namespace {

// How many pixels an image of the output may have, at least and at most, so that each element is of the image and of the filter
// that its sample reads.
std::pair<std::int64_t, std::int64_t> PixelsOf(const ConvolutionShape& shape, const std::vector<ConvolutionSample>& samples,
                                               const std::vector<std::optional<SampleOrigin>>& origins) {
  std::int64_t least = 1, most = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!origins[i]) continue;
    const auto [image, filter] = *origins[i];
    const std::int64_t element = samples[i].element;
    if (shape.y_last && element % shape.filters != filter) return {1, 0};
    // So often the pixels of an image, or of a plane, are in this.
    const std::int64_t of = shape.y_last ? element / shape.filters : element;
    const std::int64_t times = shape.y_last ? image : image * shape.filters + filter;
    least = std::max(least, of / (times + 1) + 1);
    if (times > 0) most = std::min(most, of / times);
  }
  return {least, most};
}

// The shape with the number of filters and the output's size, strides and paddings that explain all samples.
std::optional<ConvolutionShape> WithOutput(ConvolutionShape shape, const ConvolutionBuffers& buffers,
                                           const std::vector<ConvolutionSample>& samples, const std::set<std::int64_t>& values) {
  const std::int64_t of_image = shape.AllChannels() * shape.Pixels();
  const auto sizes_of = [&](std::int64_t size, std::int64_t taps, std::int64_t dilation, std::int64_t stride) {
    const std::int64_t extent = (taps - 1) * dilation + 1;
    return shape.transposed ? TransposedSizes(size, extent, stride, values) : OutputSizes(size, extent, values);
  };
  const auto depths = shape.planes > 1 ? sizes_of(shape.depth, shape.planes, shape.dilation_z, 1) : std::set<std::int64_t>{1};
  const auto heights = sizes_of(shape.height, shape.rows, shape.dilation_y, shape.stride_y);
  const auto widths = sizes_of(shape.width, shape.columns, shape.dilation_x, shape.stride_x);
  const bool known = shape.filters > 0;
  for (const std::int64_t count : known ? std::set{shape.filters} : values) {
    shape.filters = count;
    if ((count < 2 * shape.groups && !(known && shape.IsDepthwise())) || count % shape.groups != 0) continue;
    std::vector<std::optional<SampleOrigin>> origins;  // none where all taps are outside of the image
    bool whole = true;
    for (const ConvolutionSample& sample : samples) {
      if (sample.products.empty()) {
        origins.emplace_back();
        continue;
      }
      const SampleOrigin origin{sample.x.front() / of_image, shape.FilterOf(sample.f.front())};
      whole = whole && sample.x.back() / of_image == origin.image && shape.FilterOf(sample.f.back()) == origin.filter;
      origins.emplace_back(origin);
    }
    if (!whole) continue;
    for (const bool y_last : {false, true}) {
      shape.y_last = y_last;
      const auto [least, most] = PixelsOf(shape, samples, origins);
      for (const std::int64_t out_depth : depths) {
        for (const std::int64_t out_height : heights) {
          for (const std::int64_t out_width : widths) {
            if (out_depth <= 0 || out_height <= 0 || out_width <= 0) continue;
            shape.out_depth = out_depth, shape.out_height = out_height, shape.out_width = out_width;
            if (shape.OutPixels() < least || shape.OutPixels() > most) continue;
            if (const auto found = Fitting(shape, buffers, samples)) return found;
          }
        }
      }
    }
  }
  return std::nullopt;
}

// Whether a convolution is no more than a product of two matrices: filters of one tap, on one image.
bool IsProduct(const ConvolutionShape& shape, const std::vector<ConvolutionSample>& samples) {
  return shape.Taps() == 1 && std::all_of(samples.begin(), samples.end(), [&](const ConvolutionSample& sample) {
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
  std::vector<ConvolutionShape> refused;  // that most samples have in common
  const auto as_found = [&](const ConvolutionShape& shape) -> std::optional<ConvolutionShape> {
    if (std::find(refused.begin(), refused.end(), shape) != refused.end()) return std::nullopt;
    refused.push_back(shape);
    const auto found = WithOutput(shape, buffers, samples, values);
    return found && !IsProduct(*found, samples) ? found : std::nullopt;
  };
  // Taps that come back on the other side of an image lie otherwise in some of its elements.
  std::size_t tried = 0;
  bool like = false;
  const auto depthwise = [&](const ConvolutionSample& sample, const std::set<std::int64_t>& of_groups) {
    std::optional<ConvolutionShape> found;
    for (ConvolutionShape shape : DepthwiseShapesOfTaps(sample, of_groups)) {
      // A matrix times a vector is one of a row, too, with strides as long as its filter.
      const bool row = shape.rows == 1;
      like = like || (!row && shape.columns > 1);
      for (const std::int64_t extent : values) {
        const bool is_volume = shape.planes > 1;
        (is_volume ? shape.depth : row ? shape.width : shape.height) = extent;
        if (!found && extent >= (is_volume ? shape.planes : row ? shape.columns : shape.rows)) found = as_found(shape);
        if (found && row && found->stride_x != 1) found.reset();
        // So is one of a column, with a filter as long as that.
        if (found && found->columns == 1 && found->planes == 1 && found->out_height == 1) found.reset();
      }
    }
    return found;
  };
  for (const ConvolutionSample& sample : samples) {
    if (sample.products.size() != most || ++tried > kMostSamplesOfTaps) continue;
    // With one channel and one filter more filters would explain the same.
    if (groups == 1) {
      if (const auto found = depthwise(sample, {1})) return *found;
    }
    for (ConvolutionShape shape : ShapesOfTaps(sample, values, groups)) {
      // Many a sum has taps like those of one row.
      like = like || shape.rows > 1;
      std::int64_t& outermost = shape.planes > 1 ? shape.depth : shape.height;
      for (const std::int64_t extent : shape.x_last ? values : std::set{outermost}) {
        if (extent < (shape.planes > 1 ? shape.planes : shape.rows)) continue;
        outermost = extent;
        if (const auto found = as_found(shape)) return *found;
      }
    }
    if (tried > kMostSamplesTransposed || groups > 1) continue;
    if (const auto found = depthwise(sample, values)) return *found;
    for (const ConvolutionShape& shape : TransposedShapesOfTaps(sample, values)) {
      like = like || shape.rows > 1;
      if (const auto found = as_found(shape)) return *found;
    }
  }
  return std::string(like ? kNoConvolution : "");
}

}  // namespace evo
