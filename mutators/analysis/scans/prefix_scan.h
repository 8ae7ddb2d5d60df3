#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A source whose launches together store the prefix sums of one array into another of the same type, all elements of both and
// nothing else that outlives them. However they do it, it is found by running them (grid_run.h): for several numbers of elements
// and for all values of the parameters on which their work depends, or else for the present values only.
struct PrefixScan {
  std::string input;                        // buffers, as launch lines name them
  std::string output;                       // may be the input
  std::string also;                         // another buffer that gets the same, perhaps the input; empty: none
  std::string size;                         // number of elements, as launch lines name it
  Parameters other_sizes;                   // other sizes: what they were where this was shown
  std::string other_when;                   // for which of them it is one: `SECTION == 2048`; empty for all
  bool wide = false;                        // it may need 64 bits
  std::string type;                         // of the elements, as a launch's trace names it
  std::string input_type;                   // of the input's, if they are shorter integers; else empty
  bool long_elements = false;               // whether they have 8 bytes and not 4
  bool exclusive = false;                   // without an element's own
  bool total = false;                       // exclusive, with the sum of all as one element more: offsets of rows
  std::string total_to;                     // a buffer whose first element gets the sum of all, and no other one anything
  bool last_unread = false;                 // whether the input may end before the last element, on which nothing depends
  std::int64_t most = 0;                    // with more elements it is none; 0: with no number
  bool powers_of_two = false;               // it is one of such numbers of elements only,
  std::int64_t more_than = 1;               // and of more than this
  std::int64_t multiple = 1;                // it is one of multiples of this number only: the grid has whole blocks
  std::int64_t only = 0;                    // it is one of so many elements only; 0: of others, too
  const LaunchDirective* launch = nullptr;  // one without a condition
  bool repeated = false;                    // whether its kernel is launched more than once
  bool in_loop = false;                     // whether launches are in a loop
  int kernel = -1;                          // its kernel
  std::vector<std::string> others;          // names of all other kernels that are launched
  std::vector<int> functions;               // definitions of all kernels that are launched, and of what only they call
  Parameters parameters;                    // the only values for which this was shown

  // Whether it is one of some numbers of elements only, and of which: `N <= 512`; else empty.
  std::string When() const;
};

// The source as such a scan. Else why it is none; empty for a source that nobody would take for one.
std::variant<PrefixScan, std::string> AsPrefixScan(const MutationContext& context);

}  // namespace evo
