#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/convolutions/convolution_check.h"
#include "mutators/analysis/convolutions/convolution_shapes.h"
#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/mutator.h"

namespace evo {

// The buffers of a convolution, as launch lines name them.
struct ConvolutionRoles {
  std::string x, f, y;
  std::vector<std::string> others;  // that it may add or multiply by
};

// A run of all launches, or of one.
struct RanConvolution {
  std::unique_ptr<SourceRuns> runs;
  LaunchTrial trial;
  LaunchedRun run;
};

// Finds two settings of sizes with which what launches leave is a convolution, from the products of which each element is a sum.
// How threads share the work does not matter, nor what is made of a sum, nor whether images are copied to a workspace first.
class ConvolutionSearch {
 public:
  struct Found {
    LaunchRuns::Sizes sizes;
    ConvolutionShape shape;
  };
  // Of one launch, or of all (`only` is null). The arguments must outlive the object.
  ConvolutionSearch(const MutationContext& context, const LaunchDirective* only) : context_(context), only_(only) {}

  bool Find();
  // Why there are none; empty if nobody would take it for a convolution.
  const std::string& why() const { return why_; }
  const std::vector<std::string>& names() const { return names_; }
  const ConvolutionRoles& roles() const { return roles_; }
  const std::array<Found, 2>& found() const { return found_; }
  // Sizes for a third launch.
  LaunchRuns::Sizes third() const { return WithUnits(sizes_.Of(2)); }
  // Of what a size is tried as multiples.
  std::int64_t UnitOf(const std::string& name) const;
  // nullopt, with the reason, if it is not understood.
  std::optional<RanConvolution> Run(LaunchTrial trial);
  // The numbers that a setting has for sizes and for what is passed to the kernels.
  Variables ValuesOf(const LaunchRuns::Sizes& sizes) const;

 private:
  bool Refuse(std::string why);
  bool FindBuffers();
  bool FindWithUnits();
  bool FindWith(const ConvolutionSizes& sizes);
  bool MayBeOne();
  bool FindShape(std::size_t number);
  LaunchRuns::Sizes WithUnits(LaunchRuns::Sizes sizes) const;
  std::set<std::int64_t> NumbersOf(const RanConvolution& ran) const;

  const MutationContext& context_;
  const LaunchDirective* only_;
  std::vector<std::string> names_;
  ConvolutionRoles roles_;
  std::array<Found, 2> found_;
  ConvolutionSizes sizes_;
  std::map<std::string, std::int64_t> units_;
  std::int64_t turns_ = 0;
  bool final_ = false;  // whether a run was refused that other sizes would not help
  bool other_ = false;  // whether it is something else with all sizes
  std::string why_;
};

}  // namespace evo
