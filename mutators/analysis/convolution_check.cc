#include "mutators/analysis/convolution_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "mutators/analysis/fingerprint.h"

namespace evo {
namespace {

constexpr std::int64_t kMostStride = 3;
// Of real arithmetic in double precision.
constexpr double kSumTolerance = 1e-9;
constexpr char kNoConvolution[] =
    "what it sums up is not X[n][c][y + i][x + j] * F[k][c][i][j] over c, i and j, with zeros around X";

// How the elements of an image lie that a thread reads which has all taps: `columns` neighbours, `rows` times at a distance of
// `width`, and the same again for each channel at a distance of `plane`.
struct Taps {
  std::int64_t columns = 0, rows = 0, channels = 0, width = 0, plane = 0;
};

std::variant<Taps, std::string> TapsOf(const std::vector<std::int64_t>& read) {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> lengths;
  for (const std::int64_t index : read) {
    if (!starts.empty() && index == starts.back() + lengths.back()) {
      ++lengths.back();
      continue;
    }
    starts.push_back(index);
    lengths.push_back(1);
  }
  if (starts.size() < 2) return "";
  Taps taps;
  taps.columns = lengths.front();
  taps.width = starts[1] - starts[0];
  if (taps.columns == 1 && taps.width > 3) return "";
  if (taps.columns == 1) return "its taps are no neighbours: the convolution is dilated";
  std::size_t rows = 1;
  while (rows < starts.size() && starts[rows] - starts[rows - 1] == taps.width) ++rows;
  taps.rows = static_cast<std::int64_t>(rows);
  if (rows == starts.size()) return "the elements that it reads of X are those of one channel, or the channels are neighbours";
  taps.plane = starts[rows] - starts[0];
  taps.channels = static_cast<std::int64_t>(starts.size() / rows);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto c = static_cast<std::int64_t>(i / rows), row = static_cast<std::int64_t>(i % rows);
    if (lengths[i] != taps.columns || starts[i] != starts[0] + c * taps.plane + row * taps.width)
      return rows > 1 ? "the elements that it reads of X are not those of a rectangle in each channel" : "";
  }
  if (taps.rows < 2 || taps.plane % taps.width != 0) return "";
  return taps;
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
      for (shape.pad_y = 0; shape.pad_y <= shape.rows; ++shape.pad_y) {
        for (shape.pad_x = 0; shape.pad_x <= shape.columns; ++shape.pad_x) {
          if (std::all_of(samples.begin(), samples.end(), [&](const auto& sample) { return Explains(shape, buffers, sample); }))
            return shape;
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool Explains(const ConvolutionShape& shape, const ConvolutionBuffers& buffers, const ConvolutionSample& sample) {
  const std::int64_t pixels = shape.out_height * shape.out_width;
  if (pixels <= 0) return false;
  const std::int64_t pixel = sample.element % pixels, filter = sample.element / pixels % shape.filters;
  const std::int64_t image = sample.element / pixels / shape.filters;
  double sum = 0, size = 1;
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      for (std::int64_t j = 0; j < shape.columns; ++j) {
        const std::int64_t y = pixel / shape.out_width * shape.stride_y + i - shape.pad_y;
        const std::int64_t x = pixel % shape.out_width * shape.stride_x + j - shape.pad_x;
        if (y < 0 || y >= shape.height || x < 0 || x >= shape.width) continue;
        const double term = RandomElement(buffers.x, ((image * shape.channels + c) * shape.height + y) * shape.width + x) *
                            RandomElement(buffers.f, ((filter * shape.channels + c) * shape.rows + i) * shape.columns + j);
        sum += term;
        size += std::abs(term);
      }
    }
  }
  return std::abs(sum - sample.sum) <= kSumTolerance * size;
}

std::variant<ConvolutionShape, std::string> ShapeOf(const std::vector<ConvolutionSample>& samples,
                                                    const ConvolutionBuffers& buffers, const std::set<std::int64_t>& values) {
  const auto most =
      std::max_element(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.x.size() < b.x.size(); });
  auto taps = TapsOf(most->x);
  // Taps that come back on the other side of an image lie otherwise in some of its elements.
  for (const ConvolutionSample& sample : samples) {
    if (std::holds_alternative<Taps>(taps)) break;
    if (sample.x.size() != most->x.size()) continue;
    if (auto others = TapsOf(sample.x); std::holds_alternative<Taps>(others)) taps = others;
  }
  if (const auto* why = std::get_if<std::string>(&taps)) return *why;
  const auto& [columns, rows, channels, width, plane] = std::get<Taps>(taps);
  ConvolutionShape shape;
  shape.channels = channels, shape.rows = rows, shape.columns = columns;
  shape.height = plane / width, shape.width = width;
  const std::int64_t products = channels * rows * columns;
  std::vector<SampleOrigin> origins;
  for (const ConvolutionSample& sample : samples) {
    if (sample.x.empty() || sample.f.empty()) return std::string(kNoConvolution);
    origins.push_back({sample.x.front() / (channels * plane), sample.f.front() / products});
    if (sample.x.back() / (channels * plane) != origins.back().image || sample.f.back() / products != origins.back().filter)
      return std::string(kNoConvolution);
  }
  for (shape.filters = 2; shape.filters <= *values.rbegin(); ++shape.filters) {
    if (!values.contains(shape.filters)) continue;
    for (const std::int64_t out_height : OutputSizes(shape.height, rows, values)) {
      for (const std::int64_t out_width : OutputSizes(shape.width, columns, values)) {
        const std::int64_t pixels = out_height * out_width;
        if (out_height <= 0 || out_width <= 0) continue;
        bool fits = true;
        for (std::size_t i = 0; fits && i < samples.size(); ++i) {
          const std::int64_t at = samples[i].element / pixels;
          fits = at % shape.filters == origins[i].filter && at / shape.filters == origins[i].image;
        }
        if (!fits) continue;
        shape.out_height = out_height, shape.out_width = out_width;
        if (const auto found = Fitting(shape, buffers, samples)) return *found;
      }
    }
  }
  return std::string(kNoConvolution);
}

}  // namespace evo
