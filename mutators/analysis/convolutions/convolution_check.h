#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace evo {

// The sizes of a convolution, as numbers. Images of two dimensions are volumes of one plane.
struct ConvolutionShape {
  std::int64_t channels = 0, filters = 0;      // channels of a filter; filters of all groups
  std::int64_t groups = 1;                     // of filters, each of which reads channels of its own
  std::int64_t height = 0, width = 0;          // of an image
  std::int64_t out_height = 0, out_width = 0;  // of an image of the output
  std::int64_t rows = 0, columns = 0;          // of a filter
  std::int64_t stride_y = 1, stride_x = 1;
  std::int64_t pad_y = 0, pad_x = 0;
  std::int64_t dilation_y = 1, dilation_x = 1;  // between the taps
  std::int64_t depth = 1, out_depth = 1, planes = 1;
  std::int64_t stride_z = 1, pad_z = 0, dilation_z = 1;
  // Whether channels are neighbours in images, filters in the output; channels in filters, and filters in these.
  bool x_last = false, y_last = false, channels_inner = false, filters_inner = false;
  bool channels_outer = false;  // filters are [channel][filter][tap]
  bool columns_outer = false;   // taps of filters are by columns, [column][row], of images
  bool reversed = false;        // the first tap of a filter is its last one, of one channel a group
  // Whether a tap is at (y + pad - i * dilation) / stride, where that has no remainder, instead of y * stride + i * dilation -
  // pad.
  bool transposed = false;

  std::int64_t AllChannels() const { return channels * groups; }  // of an image
  // One channel and one filter, in each group or in all.
  bool IsDepthwise() const { return filters == groups && channels == 1; }
  std::int64_t Taps() const { return planes * rows * columns; }
  std::int64_t Pixels() const { return depth * height * width; }  // of an image
  std::int64_t OutPixels() const { return out_depth * out_height * out_width; }
  // A pixel or a tap.
  struct Position {
    std::int64_t z = 0, y = 0, x = 0;
  };
  // What an element of the output is.
  struct Place {
    std::int64_t image = 0, filter = 0;
    Position at;
  };
  Place PlaceOf(std::int64_t element) const;
  // Where an element of the images and of the filters is. Taps are counted by rows.
  std::int64_t OfX(std::int64_t image, std::int64_t channel, const Position& pixel) const;
  std::int64_t OfF(std::int64_t filter, std::int64_t channel, std::int64_t tap) const;
  // The pixel of an element of the images, and the tap, and the filter, of one of the filters.
  Position PixelOf(std::int64_t x) const;
  Position TapOf(std::int64_t f) const;
  std::int64_t FilterOf(std::int64_t f) const;
  bool operator==(const ConvolutionShape& other) const = default;
  bool HasSameLayout(const ConvolutionShape& other) const {
    return x_last == other.x_last && y_last == other.y_last && channels_inner == other.channels_inner &&
           filters_inner == other.filters_inner && channels_outer == other.channels_outer &&
           columns_outer == other.columns_outer && reversed == other.reversed && transposed == other.transposed;
  }
};

// What one thread summed up, and what it read for it.
struct ConvolutionSample {
  std::int64_t element = 0;  // of the output
  double sum = 0;
  std::vector<std::int64_t> x, f;  // elements, ascending
  // The products that it added, of an element of the images and of one of the filters, by the latter.
  std::vector<std::pair<std::int64_t, std::int64_t>> products;
};

// The kernel's parameters that are images and filters.
struct ConvolutionBuffers {
  int x = -1;
  int f = -1;
};

inline constexpr char kNoConvolution[] =
    "what it sums up is not X[n][c][y + i][x + j] * F[k][c][i][j] over c, i and j, with zeros around X";

// The sum of an element by its definition, with these elements of images and filters.
using ConvolutionElements = std::function<double(std::int64_t)>;
double ConvolutionSumAt(const ConvolutionShape& shape, const ConvolutionShape::Place& place, const ConvolutionElements& x,
                        const ConvolutionElements& f);
// Whether the sample is the element that the definition gives.
bool Explains(const ConvolutionShape& shape, const ConvolutionBuffers& buffers, const ConvolutionSample& sample);

// The shape with so many groups that explains all samples of one launch, among which there are some with all taps. `values` are
// numbers that the number of filters and the output's size may be. Else why there is none; empty if nobody would take it for a
// convolution.
std::variant<ConvolutionShape, std::string> ShapeOf(const std::vector<ConvolutionSample>& samples,
                                                    const ConvolutionBuffers& buffers, const std::set<std::int64_t>& values,
                                                    std::int64_t groups);

}  // namespace evo
