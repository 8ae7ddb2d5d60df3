#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A kernel whose threads compute elements of a convolution, sums of products of which are in a float:
//   Y[n][k][y][x] = f(sum over c, i, j of X[n][c][y * stride_y + i * dilation_y - pad_y][..] * F[k][c][i][j])
// or, with groups of filters, of X[n][k / (filters / groups) * channels + c]..,
// with zeros around X, all of them by rows, without gaps, or with channels and filters as the last dimension. Volumes have a
// third axis, z. A transposed convolution has X[n][c][(y + pad_y - i * dilation_y) / stride_y][..], where that has no remainder.
// Kernels whose threads compute several elements or work together have no `f`. How it does so does not matter: in which loops and
// functions, with which indices, whether it skips taps or tests them. It is found by running threads on numbers (thread_run.h),
// whose sums are compared with the definition for several sizes. `f` is kept as the kernel's text says it.
struct Convolution {
  // A number as an expression of the kernel's parameters, and of the launch line.
  struct Number {
    std::string kernel;
    std::string launch;
    std::optional<std::int64_t> constant;
  };
  // What an integer is for an element of the output.
  enum class Role : std::uint8_t {
    kImage,
    kFilter,
    kRow,
    kColumn,
    kPixel,       // row * out_width + column
    kPlane,       // image * filters + filter
    kPlanePixel,  // filter * pixels + pixel
    kElement,     // of Y
    kDepth,       // of volumes
  };
  // A variable that what follows the sum needs: it is declared with its role, or with its initialiser.
  struct Kept {
    int declaration = -1;
    std::optional<Role> role;
  };
  int kernel = -1;
  const LaunchDirective* launch = nullptr;
  int x = -1, f = -1, y = -1;   // the kernel's parameters; f may be an array in constant memory
  std::string element;          // IsTensorElement, or float
  Number images;                // without the kernel's text if no parameter of it is this number; `filters` likewise
  Number channels, filters;     // channels of a filter; filters of all groups
  Number groups, all_channels;  // the latter of an image: channels of a filter times groups
  Number height, width, out_height, out_width, rows, columns, stride_y, stride_x, pad_y, pad_x;
  Number dilation_y, dilation_x;
  std::vector<std::string> odd;                                  // parameters that must be odd
  Number depth, out_depth, planes, stride_z, pad_z, dilation_z;  // of volumes; of images 1, and no padding
  // Whether channels are neighbours in images, filters in the output; channels in filters, and filters in these.
  bool x_last = false, y_last = false, channels_inner = false, filters_inner = false;
  bool channels_outer = false;  // in filters: [channel][filter][row][column]
  bool columns_outer = false;   // in filters: [..][column][row]
  bool reversed = false;        // filters run backwards, of one channel a group
  bool transposed = false;
  bool depthwise = false;                     // one channel and one filter a group
  int accumulator = -1;                       // declaration of the sum; -1: it is stored as it is
  bool starts_at_zero = true;                 // else with its initialiser
  std::vector<Kept> kept;                     // in order
  std::vector<int> epilogue;                  // the statements after the sum
  std::vector<std::pair<int, Role>> indices;  // nodes there that are `blockIdx.x` and the like, and what these are
  std::vector<int> stored;                    // nodes there that are elements of Y to which it stores
  Parameters parameters;                      // the only values for which this was shown
};

// The kernel as a convolution. Else why it is none; empty if nobody would take it for one.
std::variant<Convolution, std::string> AsConvolution(const MutationContext& context, int kernel);

}  // namespace evo
