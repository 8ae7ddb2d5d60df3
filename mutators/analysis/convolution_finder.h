#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mutators/analysis/convolution.h"
#include "mutators/analysis/convolution_check.h"
#include "mutators/analysis/convolution_epilogue.h"
#include "mutators/analysis/convolution_parts.h"
#include "mutators/analysis/convolution_runs.h"

namespace evo {

// Finds out whether a kernel of such parts is a convolution, by running its threads. convolution.cc has the launches by which the
// shape is found, convolution_numbers.cc how its sizes follow from the kernel's parameters, and the launches that check that.
class ConvolutionFinder {
 public:
  // The arguments must outlive the object.
  ConvolutionFinder(const MutationContext& context, const LaunchDirective& launch, int kernel, const ConvolutionParts& parts);
  std::variant<Convolution, std::string> Find();

 private:
  using Number = Convolution::Number;
  using Sizes = ConvolutionRuns::Sizes;
  using Setting = ConvolutionRuns::Setting;

  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  const std::string& NameOf(int declaration) const { return tree_.node(declaration).name; }

  // The shape (convolution.cc).
  std::optional<ConvolutionSample> SampleOf(const ThreadTrace& trace);
  bool AddReads(const ThreadTrace& trace, ConvolutionSample& sample);
  std::vector<std::pair<std::int64_t, ConvolutionSample>> SamplesOf(const Setting& setting, std::size_t count);
  void Observe(const Setting& setting, std::int64_t thread, const ThreadTrace& trace, std::int64_t element);
  void Settle(std::size_t from, const ConvolutionShape& shape);
  Sizes SizesOf(std::size_t number, std::size_t cut) const;
  bool FindShapes();
  bool FindShape(std::size_t number, std::size_t cut);
  bool CheckTypes();

  // Numbers (convolution_numbers.cc).
  std::optional<Number> NumberOf(std::int64_t first, std::int64_t second, std::int64_t away = 0) const;
  std::optional<Number> OutputOf(std::int64_t first, std::int64_t second, const Number& size, const Number& pad,
                                 const Number& taps, const Number& stride) const;
  bool FindNumbers();
  ConvolutionShape ShapeIn(const Setting& setting) const;
  std::set<std::string> NamesOfTaps() const;
  Sizes SmallSizes(std::size_t number) const;
  bool RunSome(const Sizes& sizes, std::size_t count, const std::string& where);
  bool RunSmall();
  bool FindImages(const std::int64_t (&images)[2], const Setting (&settings)[2]);
  bool RunSymbolic();
  bool IsAllowed(int symbol) const;
  bool RunLarge();

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const ConvolutionParts& parts_;
  ConvolutionRuns runs_;
  Convolution found_;
  std::set<int> written_;
  ConvolutionBuffers buffers_;
  std::vector<ConvolutionObserved> observed_;
  Sizes sizes_[2], third_;
  Setting settings_[2];
  ConvolutionShape shapes_[2];
  std::vector<std::int64_t> threads_[2];  // that store something, those with all taps and with the fewest first
  std::set<int> used_;                    // parameters that numbers name
  std::int64_t largest_number_ = 0;
  std::string why_;
};

}  // namespace evo
