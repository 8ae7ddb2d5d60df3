#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "mutators/analysis/convolutions/convolution.h"
#include "mutators/analysis/convolutions/convolution_sampler.h"
#include "mutators/analysis/convolutions/convolution_shapes.h"
#include "mutators/analysis/grid_runs/launch_runs.h"

namespace evo {

// Runs launches of more sizes, and checks that each thread computes the element that the convolution's numbers give.
class ConvolutionTrials {
 public:
  // The arguments must outlive the object. `found`: has all numbers but that of images. `multiple`: of which the number of
  // filters is one.
  ConvolutionTrials(const MutationContext& context, LaunchRuns& runs, ConvolutionSampler& sampler,
                    const ConvolutionLaunches& launches, const Convolution& found, std::int64_t multiple)
      : context_(context), runs_(runs), sampler_(sampler), launches_(launches), found_(found), multiple_(multiple) {}

  // Some threads of a launch, `count` at most. `where`: "with other sizes".
  bool RunSome(const LaunchRuns::Sizes& sizes, std::size_t count, const std::string& where);
  // All threads of two small launches: each element is stored once, by a thread that computes it.
  bool RunSmall();
  // Of RunSmall: how many images each launch had, and with what.
  const std::array<std::int64_t, 2>& images() const { return images_; }
  const std::array<LaunchRuns::Setting, 2>& settings() const { return settings_; }
  // Whether nothing but sizes and the thread decides what the sum is of. `used`: the kernel's parameters that numbers name.
  bool RunSymbolic(const std::set<int>& used);
  // Of RunSymbolic: the only parameters for which it was shown.
  const Parameters& parameters() const { return parameters_; }
  // After RunSymbolic: some threads of a launch whose sizes are beyond all numbers of the code.
  bool RunLarge();
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  std::set<std::string> NamesOfTaps() const;
  LaunchRuns::Sizes SmallSizes(std::size_t number) const;
  bool FollowsFromSizes(int parameter) const;
  bool IsAllowed(int symbol, const std::set<int>& used) const;

  const MutationContext& context_;
  LaunchRuns& runs_;
  ConvolutionSampler& sampler_;
  const ConvolutionLaunches& launches_;
  const Convolution& found_;
  std::int64_t multiple_;
  std::array<std::int64_t, 2> images_{};
  std::array<LaunchRuns::Setting, 2> settings_;
  std::int64_t largest_number_ = 0;
  Parameters parameters_;
  std::string why_;
};

}  // namespace evo
