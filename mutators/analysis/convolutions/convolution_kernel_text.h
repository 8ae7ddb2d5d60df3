#pragma once

#include <map>
#include <string>
#include <vector>

#include "mutators/analysis/convolutions/convolution_check.h"
#include "mutators/analysis/convolutions/convolution_extents.h"
#include "mutators/analysis/convolutions/convolution_search.h"
#include "mutators/analysis/products/product_end.h"

namespace evo {

// A kernel in which each thread adds up the products of one element of a convolution.
struct ConvolutionKernelText {
  // A real number that a launch line passes.
  struct Passed {
    std::string name, argument, type;
  };
  std::string kernel;  // its name
  ConvolutionRoles roles;
  std::map<std::string, std::string> types;  // of elements, by buffer
  ConvolutionExtents extents;
  ConvolutionShape layout;  // of which only the order of the dimensions counts
  ProductEnd end;           // whose rows are filters, and columns those of images
  std::vector<Passed> passed;

  std::string Kernel() const;
  // What is behind `evo:`.
  std::string Launch() const;
};

}  // namespace evo
