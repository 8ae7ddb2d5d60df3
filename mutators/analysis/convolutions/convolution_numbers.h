#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "mutators/analysis/convolutions/convolution.h"
#include "mutators/analysis/convolutions/convolution_shapes.h"
#include "mutators/analysis/grid_runs/launch_numbers.h"
#include "mutators/analysis/grid_runs/launch_runs.h"

namespace evo {

// What a number is with the sizes of a launch.
std::int64_t NumberIn(const Convolution::Number& number, const LaunchRuns::Setting& setting);
// What the shape of a convolution is with the sizes of a launch.
ConvolutionShape ShapeIn(const Convolution& convolution, const LaunchRuns::Setting& setting);

// Expresses the sizes of a convolution in the kernel's parameters and in the launch line's sizes.
class ConvolutionNumbers {
 public:
  // The arguments must outlive the object. `written`: what the kernel writes.
  ConvolutionNumbers(const SyntaxTree& tree, const LaunchRuns& runs, const std::set<int>& written,
                     const ConvolutionLaunches& launches)
      : tree_(tree),
        runs_(runs),
        written_(written),
        launches_(launches),
        numbers_(tree, runs, written, launches[0].setting, launches[1].setting) {}

  // Sets all numbers but that of images. False if one of them is not known.
  bool AddSizes(Convolution& found);
  // Sets the number of images, which are so many with these two settings.
  bool AddImages(const std::array<std::int64_t, 2>& images, const std::array<LaunchRuns::Setting, 2>& settings,
                 Convolution& found);
  // The kernel's parameters that numbers name.
  const std::set<int>& used() const { return used_; }
  const std::string& why() const { return why_; }

 private:
  using Number = Convolution::Number;

  bool Refuse(std::string why);
  const std::string& NameOf(int declaration) const { return tree_.node(declaration).name; }
  std::optional<Number> NumberOf(std::int64_t first, std::int64_t second, std::int64_t away = 0) const;
  std::optional<Number> HalfOf(std::int64_t first, std::int64_t second) const;
  std::optional<Number> AroundOf(std::int64_t first, std::int64_t second) const;
  std::optional<Number> ProductOf(std::int64_t first, std::int64_t second) const;
  std::optional<Number> TimesGroups(std::int64_t first, std::int64_t second, const Number& groups) const;
  std::optional<Number> OfInside(std::int64_t ConvolutionShape::*extent, std::int64_t taps, std::int64_t other_taps) const;
  bool AddGroups(Convolution& found);
  std::optional<Number> SizeOf(std::int64_t first, std::int64_t second) const;
  // An axis of a convolution.
  struct Axis {
    const Number& size;
    const Number& pad;
    const Number& taps;
    const Number& stride;
    const Number& dilation;
    bool transposed;
  };
  std::optional<Number> OutputOf(std::int64_t first, std::int64_t second, const Axis& axis,
                                 const std::set<std::string>& also) const;
  static std::string DefinedSize(const Axis& axis, std::string Number::*of);

  const SyntaxTree& tree_;
  const LaunchRuns& runs_;
  const std::set<int>& written_;
  const ConvolutionLaunches& launches_;
  LaunchNumbers numbers_;
  std::set<int> used_;
  std::string why_;
};

}  // namespace evo
