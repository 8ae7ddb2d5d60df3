#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// A source whose launches store the prefix sums of each part of an array by itself, all parts of equal length, and perhaps the
// sum of each part: the first step of many scans, published alone. Found by running it (grid_run.h).
struct PartScan {
  std::string input, output;         // buffers, as launch lines name them; may be the same
  std::string sums;                  // gets the sum of each part; empty if nothing does
  std::string size;                  // the only one that launch lines name, or the length of a part
  std::string rows;                  // how many parts there are, if that is a size, too; else empty
  std::string type;                  // of the elements
  std::string input_type;            // of the input's, if they are shorter integers; else empty
  bool exclusive = false;            // without an element's own
  std::int64_t per_size = 1;         // elements are this many times the size
  std::int64_t part = 0;             // elements of a part
  bool whole = false;                // the last part is as long as the others, whatever the size
  std::int64_t unit = 1;             // elements behind the last multiple of so many sizes are left
  std::string when;                  // sizes for which it is one; empty for all
  std::vector<std::string> kernels;  // all that are launched, by their names in launch lines
  std::vector<int> functions;        // their definitions, and those of what only they call
  Parameters parameters;             // the only values for which this was shown

  // The number of elements, as launch lines may say it.
  std::string Elements() const;
};

// Whether elements of a type can be scanned so.
bool IsPartScanType(const std::string& type);

// Whether sums of elements of one type may be kept in another: the same, or a longer integer, into which each is converted.
bool AreSummedAs(const std::string& input, const std::string& sums);

// The source as such a scan. Else why it is none; empty for a source that nobody would take for one.
std::variant<PartScan, std::string> AsPartScan(const MutationContext& context);

}  // namespace evo
