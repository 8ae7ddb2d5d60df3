#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A source whose launches together add up the elements of one array, and leave the sum in the first element of another, or the
// sums of equal parts in as many of its elements. However they do it, it is found by running them (grid_run.h), for several
// numbers of elements.
struct GridSum {
  std::string input, output;  // buffers, as launch lines name them
  std::string size;           // the only one that launch lines name; a number if they name none
  std::string input_type, output_type;
  bool adds = false;                 // to what the output holds; else it is overwritten
  std::int64_t per_size = 1;         // elements are this many times the size,
  std::int64_t whole = 1;            // of which the last so many are taken whole: kernels without a bound
  std::int64_t part = 0;             // elements of a part; 0 for one sum of all
  bool one_more = false;             // whether a part of no elements follows if all are whole, as with `n / part + 1` blocks
  std::string when;                  // sizes for which it is the sum; empty for all that can be run
  bool in_loop = false;              // whether launches are in one
  std::vector<std::string> kernels;  // all that are launched, by their names in launch lines
  std::vector<int> functions;        // their definitions, and those of what only they call
  Parameters parameters;             // the only values for which this was shown

  // The number of elements, as launch lines may say it.
  std::string Elements() const;
};

// The source as such a sum. Else why it is none; empty for a source that nobody would take for one.
std::variant<GridSum, std::string> AsGridSum(const MutationContext& context);

}  // namespace evo
