#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/convolution_parts.h"
#include "mutators/analysis/launch_runs.h"
#include "mutators/analysis/product_roles.h"
#include "mutators/mutator.h"

namespace evo {

// Runs the threads of a kernel on numbers and finds out whether they compute a matrix product, each sum in the order of k.
class ProductFinder {
 public:
  // The arguments must outlive the object. Without a loop in the parts, threads may store several sums each. `tiles`: with sizes
  // for kernels that take whole tiles only.
  ProductFinder(const MutationContext& context, int kernel, const LaunchDirective& launch, ConvolutionParts parts, bool tiles);

  // False if it is none.
  bool Find();
  const std::string& why() const { return why_; }
  // Whether other sizes may say more.
  bool ran() const { return sizes_.others; }
  // Whether its launch line has threads for sizes that are no multiples of tiles.
  bool has_threads() const { return sizes_.threads; }

  const ConvolutionParts& parts() const { return parts_; }
  const ProductRoles& roles() const { return roles_; }
  const ProductLaunch& launch(std::size_t number) const { return launches_[number]; }
  // The parameter to which sums are stored.
  int output() const { return output_; }
  // What the kernel writes.
  const std::set<int>& written() const { return written_; }
  const LaunchRuns& runs() const { return runs_; }
  // The axis of the grid along which there are several products; -1 if there is one.
  int batch_axis() const { return sizes_.batch_axis; }

 private:
  bool Refuse(std::string why);
  std::vector<ProductSum> PlainSums(const LaunchRuns::Setting& setting, std::int64_t thread, const ThreadTrace& trace);
  std::vector<ProductSum> SumsOf(const LaunchRuns::Setting& setting, std::int64_t thread);
  void FindBatchAxis(const LaunchDirective& launch);
  std::int64_t BatchOf(const LaunchRuns::Setting& setting, std::int64_t thread) const;
  bool RunAll(std::size_t number);
  bool FindRoles();
  bool RunLarge();
  bool IsAllowed(int symbol, const std::set<int>& used) const;
  bool CheckDeciding();

  const SyntaxTree& tree_;
  ConvolutionParts parts_;
  // Which sizes are tried, whether others may say more, and whether there are threads with these.
  struct Tried {
    bool tiles = false, others = false, threads = true;
    // The axis of the grid along which there are several products, and the size of the launch line that is their number.
    int batch_axis = -1;
    std::string batch{};
  };
  Tried sizes_;
  std::set<int> written_;
  LaunchRuns runs_;
  ProductLaunch launches_[2];
  std::set<int> read_;  // buffers
  int output_ = -1;
  std::int64_t largest_ = 0;
  ProductRoles roles_;
  std::string why_;
};

// Why it is refused if each thread should store one element.
inline constexpr std::string_view kSeveralElements = "a thread stores more than one element";

}  // namespace evo
