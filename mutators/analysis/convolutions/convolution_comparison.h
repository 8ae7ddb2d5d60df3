#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/convolutions/convolution_kernel_text.h"
#include "mutators/analysis/convolutions/convolution_search.h"
#include "mutators/mutator.h"

namespace evo {

// Runs launches with more sizes, and compares what they leave with what a kernel's text says.
class ConvolutionComparison {
 public:
  // Members of a shape.
  using Numbers = std::vector<std::int64_t ConvolutionShape::*>;
  // What all runs showed.
  struct Seen {
    std::set<std::string> names;
    std::map<double, std::pair<bool, bool>> compared;
    std::int64_t largest = 0;  // number of the code, argument or block
    bool rounded = false;
  };

  // The arguments must outlive the object. `text`: what is known of it at each moment.
  ConvolutionComparison(ConvolutionSearch& search, const ConvolutionKernelText& text) : search_(search), text_(text) {}

  // A launch of which so many elements are enough; of 0, all are run.
  static LaunchTrial Trial(LaunchRuns::Sizes sizes, std::int64_t spread);
  // As few images, channels and filters as may be, and images that are a little larger than filters: one of two choices.
  LaunchRuns::Sizes Small(std::size_t number) const;
  // The sizes that these numbers name.
  std::set<std::string> NamesOf(const Numbers& numbers) const;
  std::set<std::string> NamesOfTaps() const;
  ConvolutionShape ShapeWith(const LaunchRuns::Sizes& sizes) const;
  // How many elements the output has.
  std::int64_t ElementsWith(const LaunchRuns::Sizes& sizes) const;
  // nullopt, with the reason, if it is not understood.
  std::optional<RanConvolution> Run(LaunchTrial trial);
  // Whether what was stored is what the text says, `all` of it.
  bool Holds(const RanConvolution& ran, bool all) const;
  bool StillHolds(LaunchTrial trial, bool all, const std::string& where);
  const Seen& seen() const { return seen_; }
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  std::map<std::string, std::array<std::int64_t, 2>> SmallSizes() const;

  ConvolutionSearch& search_;
  const ConvolutionKernelText& text_;
  Seen seen_;
  std::string why_;
};

}  // namespace evo
