#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace evo {

// The sizes of a convolution, as numbers.
struct ConvolutionShape {
  std::int64_t channels = 0, filters = 0;
  std::int64_t height = 0, width = 0;          // of an image
  std::int64_t out_height = 0, out_width = 0;  // of an image of the output
  std::int64_t rows = 0, columns = 0;          // of a filter
  std::int64_t stride_y = 1, stride_x = 1;
  std::int64_t pad_y = 0, pad_x = 0;
};

// What one thread summed up, and what it read for it.
struct ConvolutionSample {
  std::int64_t element = 0;  // of the output
  double sum = 0;
  std::vector<std::int64_t> x, f;  // elements, ascending
};

// The kernel's parameters that are images and filters.
struct ConvolutionBuffers {
  int x = -1;
  int f = -1;
};

// Whether the sample is the element that the definition gives.
bool Explains(const ConvolutionShape& shape, const ConvolutionBuffers& buffers, const ConvolutionSample& sample);

// The shape that explains all samples of one launch, among which there are some with all taps. `values` are numbers that the
// number of filters and the output's size may be. Else why there is none; empty if nobody would take it for a convolution.
std::variant<ConvolutionShape, std::string> ShapeOf(const std::vector<ConvolutionSample>& samples,
                                                    const ConvolutionBuffers& buffers, const std::set<std::int64_t>& values);

}  // namespace evo
