#include "mutators/parallelism/convolutions/depthwise_tile.h"

#include <fmt/format.h>

#include <cstdint>

namespace evo {
namespace {

// Where sizes of the task say them: more are rare.
constexpr std::int64_t kMostStrideOfSize = 2, kMostTapsOfSize = 31, kMostPlanesOfSize = 7;

}  // namespace

std::string PlaneTileBytes(const ConvolutionParameters& names, const Convolution& found, bool in_launch) {
  const auto text = [&](const auto& of, std::int64_t most) {
    return in_launch ? of.launch : std::to_string(of.constant.value_or(most));
  };
  const auto extent = [&](const std::string& tile, const Convolution::Number& stride, const Convolution::Number& taps,
                          const Convolution::Number& dilation) {
    return fmt::format("(({} - 1) * {} + ({} - 1) * {} + 1)", tile, text(stride, kMostStrideOfSize),
                       text(taps, found.planes.constant == 1 ? kMostTapsOfSize : kMostPlanesOfSize),
                       text(dilation, kMostStrideOfSize));
  };
  const bool is_volume = found.planes.constant != 1;
  const std::string bytes =
      fmt::format("({} * {} + {} * {}) * 4", extent(names.tile_m, found.stride_y, found.rows, found.dilation_y),
                  extent(names.tile_n, found.stride_x, found.columns, found.dilation_x),
                  text(found.rows, is_volume ? kMostPlanesOfSize : kMostTapsOfSize),
                  text(found.columns, is_volume ? kMostPlanesOfSize : kMostTapsOfSize));
  return is_volume ? fmt::format("{} * {}", text(found.planes, kMostPlanesOfSize), bytes) : bytes;
}

}  // namespace evo
