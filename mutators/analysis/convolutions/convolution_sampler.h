#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/convolutions/convolution_check.h"
#include "mutators/analysis/convolutions/convolution_epilogue.h"
#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/source/convolution_parts.h"

namespace evo {

// Runs threads of a kernel and collects what each of them sums up. It refuses a kernel whose threads do anything else.
class ConvolutionSampler {
 public:
  // The thread's number in its launch, and its sample.
  using Sampled = std::pair<std::int64_t, ConvolutionSample>;

  // The arguments must outlive the object.
  ConvolutionSampler(const SyntaxTree& tree, const ConvolutionParts& parts, LaunchRuns& runs)
      : tree_(tree), parts_(parts), runs_(runs) {}

  // Why the kernel is refused; empty if it is not.
  const std::string& why() const { return why_; }
  // The two buffers of whose products the sum is. The first that is seen counts as the images until SwapBuffers.
  const ConvolutionBuffers& buffers() const { return buffers_; }
  void SwapBuffers() { std::swap(buffers_.x, buffers_.f); }
  // The buffer to which the threads store; -1 before the first sample.
  int output() const { return output_; }
  // Whether threads store the sums as they are, so that nothing else is known of them.
  bool plain() const { return parts_.plain(); }
  // Forgets all launches, their refusal and the buffers.
  void Reset();

  // What a thread sums up, one or more elements; none if it stores nothing, or if the kernel is refused.
  std::vector<ConvolutionSample> Sample(const LaunchRuns::Setting& setting, std::int64_t thread);
  // Some elements of a launch, `count` at most. Empty if the kernel is refused.
  std::vector<Sampled> Some(const LaunchRuns::Setting& setting, std::size_t count);
  // Sets the shape of what has been observed since the last call.
  void SetShape(const ConvolutionShape& shape);
  const std::vector<ConvolutionObserved>& observed() const { return observed_; }

 private:
  bool Refuse(std::string why);
  std::vector<ConvolutionSample> SamplesOf(const ThreadTrace& trace);
  bool AddProducts(const ThreadSum* sum, ConvolutionSample& sample);
  bool AddProduct(const ThreadSum& term, ConvolutionSample& sample);
  void Observe(const LaunchRuns::Setting& setting, std::int64_t thread, const ThreadTrace& trace, std::int64_t element);

  const SyntaxTree& tree_;
  const ConvolutionParts& parts_;
  LaunchRuns& runs_;
  ConvolutionBuffers buffers_;
  int output_ = -1;
  std::vector<ConvolutionObserved> observed_;
  std::size_t shaped_ = 0;  // of observed_
  std::string why_;
};

}  // namespace evo
