#pragma once

#include <cstdint>
#include <string>

#include "kernel_templates/launch_plan.h"
#include "mutators/analysis/products/product_finder.h"
#include "syntax/syntax_tree.h"

namespace evo {

// What the parts of a product are called in its kernel and by its launch line.
class ProductNames {
 public:
  // The arguments must outlive the object.
  ProductNames(const SyntaxTree& tree, const LaunchDirective& launch, const ProductFinder& product)
      : tree_(tree), launch_(launch), product_(product) {}

  // A parameter, or what of one a role is.
  std::string Of(int role) const;
  // What the launch line passes for it.
  std::string PassedFor(int role) const;
  // Where the elements of a thread's product begin, with a plus behind it; empty if there is one product.
  std::string Next(const ProductRoles::Distance& next) const;
  // The number of rows where no parameter is it.
  std::string Rows() const;
  // What the launch line has for the number of rows: its parameter, or what all blocks along an axis have.
  std::string RowsPassed() const;
  // What is stored of a sum as it is; empty if something else is stored, or in another type.
  std::string StoredAsItIs(const std::string& sum) const;

 private:
  std::string RowsOfBlock(const Expression& blocks, std::int64_t present) const;

  const SyntaxTree& tree_;
  const LaunchDirective& launch_;
  const ProductFinder& product_;
};

}  // namespace evo
