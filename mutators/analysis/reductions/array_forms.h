#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A source whose launches together leave numbers that are computed from all elements of an array, or of two: a sum of squares,
// the largest element, the root of a mean. However they do it, it is found by running them.
struct ArrayForms {
  struct Stored {
    std::string buffer, type;
    std::int64_t index = 0;
    std::string element;  // of the buffer, as a kernel says it: "[1]", or "[0].value" of a struct
    std::string form;     // an expression of statistics and L, the number of elements
  };
  std::string x, second;  // buffers, as launch lines name them; `second` may be empty
  std::string type;       // of their elements, float or double
  std::string length;     // as launch lines may say it
  std::vector<Stored> stored;
  Parameters parameters;  // the only values for which this was shown
};

// The source has no templates and structs (WrittenOut). nullopt if it leaves something else, with the reason where somebody may
// ask.
std::optional<ArrayForms> AsArrayForms(const MutationContext& context, std::string& why);

}  // namespace evo
