#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mutators/analysis/convolutions/convolution_check.h"
#include "mutators/analysis/convolutions/convolution_groups.h"
#include "mutators/analysis/convolutions/convolution_sampler.h"
#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/source/convolution_parts.h"

namespace evo {

// A launch of a convolution whose shape is known.
struct ConvolutionLaunch {
  LaunchRuns::Sizes sizes;
  LaunchRuns::Setting setting;
  ConvolutionShape shape;
  std::vector<std::int64_t> threads;  // that store something, those with all taps and with the fewest first
};
using ConvolutionLaunches = std::array<ConvolutionLaunch, 2>;

// Finds the shapes that explain what threads sum up in two launches, without knowing what the launch line's sizes mean.
class ConvolutionShapes {
 public:
  // The arguments must outlive the object.
  ConvolutionShapes(const SyntaxTree& tree, const ConvolutionParts& parts, const LaunchRuns& runs, ConvolutionSampler& sampler)
      : tree_(tree), parts_(parts), runs_(runs), sampler_(sampler) {}

  // False if it is no convolution, or none that is understood. `manifold`: only with numbers of filters of which threads may take
  // four each. `sampler` then knows which buffers are the images and filters.
  bool Find(bool manifold);
  const ConvolutionLaunches& launches() const { return launches_; }
  // Sizes for a third launch, which differ from those of both.
  const LaunchRuns::Sizes& third() const { return third_; }
  // What the number of filters has to be a multiple of.
  std::int64_t multiple() const { return multiple_; }
  // Why there are no shapes; empty if nobody would take it for a convolution.
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  bool FindWith(std::size_t cut, std::size_t choice);
  LaunchRuns::Sizes SizesOf(std::size_t number, std::size_t taps, const ConvolutionGroups& groups) const;
  bool FindWithGroups();
  bool FindShape(std::size_t number, LaunchRuns::Sizes sizes, std::int64_t groups);
  bool CheckTypes();

  const SyntaxTree& tree_;
  const ConvolutionParts& parts_;
  const LaunchRuns& runs_;
  ConvolutionSampler& sampler_;
  ConvolutionLaunches launches_;
  std::vector<std::string> names_;  // of the launch line's sizes, those of taps last
  LaunchRuns::Sizes third_;
  std::int64_t multiple_ = 1;
  bool is_product_ = false;
  std::string why_;
};

// Sizes for launch lines of which it is not known what they mean: those before the cut are taken for images', channels' and
// filters', and those behind it for those of taps, strides and paddings.
struct ConvolutionSizes {
  std::vector<std::string> names;
  std::size_t cut = 0, choice = 0;
  LaunchRuns::Sizes Of(std::size_t number) const;  // of three launches
  std::int64_t multiple() const;                   // of which all of them are multiples
};
// Some that are worth a trial, the likely ones first.
std::vector<ConvolutionSizes> LikelySizesOfConvolution(const std::vector<std::string>& names);
// Whether sums are those of a product of two matrices that lie by rows: neighbours in one buffer, a line of them apart in the
// other.
bool AreOfProduct(const std::vector<ConvolutionSample>& samples);

// More sizes of a launch line are not told apart.
constexpr std::size_t kMostConvolutionSizes = 10;

}  // namespace evo
