#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/record_fields.h"

namespace evo {

// How often warps of a program were found at one line of its source, waiting for one thing.
struct StallSample {
  int line = 0;        // of the rendered source, counted from 1; 0: of no line that is known
  std::string reason;  // as CUPTI calls it, without what all have in common: "long_scoreboard"; "selected": it does not wait
  std::uint64_t samples = 0;
};
BOOST_DESCRIBE_STRUCT(StallSample, (), (line, reason, samples))

// A line of a program's source at which warps spend much of their time.
struct StallLine {
  int line = 0;
  double share = 0;       // of the time of all warps, waiting there or not, 0 to 1
  std::string waits_for;  // for people, what they wait for most of that time: "global memory"
  std::string code;       // the line, without its indentation
};
BOOST_DESCRIBE_STRUCT(StallLine, (), (line, share, waits_for, code))

// For people: what warps wait for. "global memory" for "long_scoreboard"; the reason itself if it is not known.
std::string_view DescribeStall(std::string_view reason);

// The lines with most of the samples, the most first: at most eight, of at least a fiftieth each. Samples without a line count
// for the whole only.
std::vector<StallLine> StallLines(const std::vector<StallSample>& samples, std::string_view source);

}  // namespace evo
