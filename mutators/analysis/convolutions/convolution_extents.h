#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/convolutions/convolution_check.h"
#include "mutators/analysis/convolutions/convolution_search.h"

namespace evo {

// The numbers of a convolution's shape, as expressions of the sizes that launch lines name.
struct ConvolutionExtents {
  std::string images;
  std::vector<std::string> numbers;  // in the order of kNumbersOfShape
  const std::string& Of(std::int64_t ConvolutionShape::*number) const;
  // The shape with these sizes, of the same layout as `like`.
  ConvolutionShape With(const Variables& values, ConvolutionShape like) const;
  // The same with an output that has only as much of a size as so many divide.
  ConvolutionExtents InWholeUnits(const std::string& name, std::int64_t unit) const;
};
inline constexpr std::array kNumbersOfShape{
    &ConvolutionShape::channels, &ConvolutionShape::groups,     &ConvolutionShape::filters,    &ConvolutionShape::planes,
    &ConvolutionShape::rows,     &ConvolutionShape::columns,    &ConvolutionShape::stride_z,   &ConvolutionShape::stride_y,
    &ConvolutionShape::stride_x, &ConvolutionShape::dilation_z, &ConvolutionShape::dilation_y, &ConvolutionShape::dilation_x,
    &ConvolutionShape::pad_z,    &ConvolutionShape::pad_y,      &ConvolutionShape::pad_x,      &ConvolutionShape::depth,
    &ConvolutionShape::height,   &ConvolutionShape::width,      &ConvolutionShape::out_depth,  &ConvolutionShape::out_height,
    &ConvolutionShape::out_width};

std::size_t PlaceOfNumber(std::int64_t ConvolutionShape::*number);

// nullopt, with the reason, if one of them does not follow from the sizes. Without the number of images.
std::optional<ConvolutionExtents> ExtentsIn(const ConvolutionSearch& search, const std::vector<std::string>& passed,
                                            std::string& why);
// An expression that is these numbers with these sizes; nullopt if there is none.
std::optional<std::string> ExpressionOf(std::array<std::int64_t, 2> numbers, const ConvolutionSearch& search,
                                        const std::array<LaunchRuns::Sizes, 2>& sizes, const std::vector<std::string>& passed);

}  // namespace evo
