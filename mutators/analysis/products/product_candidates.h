#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "mutators/analysis/grid_runs/launch_runs.h"
#include "mutators/analysis/grid_runs/source_runs.h"
#include "mutators/analysis/products/product_guess.h"
#include "mutators/mutator.h"

namespace evo {

// What sizes, distances and factors of a product may be, as its kernel and its launch line say them.
class ProductCandidates {
 public:
  // The context must outlive the object.
  ProductCandidates(const MutationContext& context, int kernel) : context_(context), tree_(context.tree), kernel_(kernel) {}

  // Parameters of the kernel and sizes of the launch line that are none; and products of two of these.
  void AddSizes(const LaunchRuns& launch, std::vector<ProductNumber>& numbers, std::vector<ProductNumber>& products) const;
  // Numbers of the code, among which are these macros and constants.
  std::vector<ProductNumber> Spelled(const std::set<std::string>& names) const;
  // Real parameters and numbers that data was multiplied by.
  std::map<std::string, double> FactorsIn(const LaunchedRun& run) const;

 private:
  const MutationContext& context_;
  const SyntaxTree& tree_;
  int kernel_;
};

}  // namespace evo
