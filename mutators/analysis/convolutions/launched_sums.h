#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/convolutions/convolution_check.h"
#include "mutators/analysis/grid_runs/source_runs.h"

namespace evo {

// The numbers by which samples of launches count images and filters.
inline constexpr ConvolutionBuffers kBuffersOfSums{0, 1};

// The elements that launches left, each as a sum of products of elements of two buffers. What was copied to a workspace is what
// it was copied from, and what was summed up there is a part of the sum.
class LaunchedSums {
 public:
  // The arguments must outlive the object.
  LaunchedSums(const SourceRuns& runs, const LaunchedRun& run) : runs_(runs), run_(run) {}

  // False if they left something else.
  bool Find();
  // With the sums of products of random elements of kBuffersOfSums, of which the first is `a`.
  const std::vector<ConvolutionSample>& samples() const { return samples_; }
  const std::string& a() const { return a_; }
  const std::string& b() const { return b_; }
  const std::string& y() const { return y_; }
  const std::vector<std::string>& others() const { return others_; }
  const std::string& why() const { return why_; }

 private:
  bool Refuse(std::string why);
  bool FindOutput();
  struct Place {
    std::string buffer;  // empty: a zero
    std::int64_t index = 0;
  };
  bool Origin(int declaration, std::int64_t index, Place& place);
  bool AddProducts(const ThreadSum* sum, ConvolutionSample& sample, int depth);
  bool AddTerm(const ThreadSum& term, ConvolutionSample& sample, int depth);

  const SourceRuns& runs_;
  const LaunchedRun& run_;
  std::map<double, Place> read_;  // by values, which are all different
  std::string a_, b_, y_;
  std::vector<std::string> others_;
  std::vector<ConvolutionSample> samples_;
  std::string why_;
};

}  // namespace evo
