#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace evo {

// The sizes of a convolution, as numbers.
struct ConvolutionShape {
  std::int64_t channels = 0, filters = 0;      // channels of a filter; filters of all groups
  std::int64_t groups = 1;                     // of filters, each of which reads channels of its own
  std::int64_t height = 0, width = 0;          // of an image
  std::int64_t out_height = 0, out_width = 0;  // of an image of the output
  std::int64_t rows = 0, columns = 0;          // of a filter
  std::int64_t stride_y = 1, stride_x = 1;
  std::int64_t pad_y = 0, pad_x = 0;
  std::int64_t dilation_y = 1, dilation_x = 1;  // between the taps
  // Whether channels are neighbours in images, filters in the output; channels in filters, and filters in these.
  bool x_last = false, y_last = false, channels_inner = false, filters_inner = false;

  std::int64_t AllChannels() const { return channels * groups; }  // of an image
  // What an element of the output is.
  struct Place {
    std::int64_t image = 0, filter = 0, row = 0, column = 0;
  };
  Place PlaceOf(std::int64_t element) const;
  // Where an element of the images and of the filters is.
  std::int64_t OfX(std::int64_t image, std::int64_t channel, std::int64_t y, std::int64_t x) const;
  std::int64_t OfF(std::int64_t filter, std::int64_t channel, std::int64_t row, std::int64_t column) const;
  bool HasSameLayout(const ConvolutionShape& other) const {
    return x_last == other.x_last && y_last == other.y_last && channels_inner == other.channels_inner &&
           filters_inner == other.filters_inner;
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

// Whether the sample is the element that the definition gives.
bool Explains(const ConvolutionShape& shape, const ConvolutionBuffers& buffers, const ConvolutionSample& sample);

// The shape with so many groups that explains all samples of one launch, among which there are some with all taps. `values` are
// numbers that the number of filters and the output's size may be. Else why there is none; empty if nobody would take it for a
// convolution.
std::variant<ConvolutionShape, std::string> ShapeOf(const std::vector<ConvolutionSample>& samples,
                                                    const ConvolutionBuffers& buffers, const std::set<std::int64_t>& values,
                                                    std::int64_t groups);

}  // namespace evo
