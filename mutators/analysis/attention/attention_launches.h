#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/attention/attention_guess.h"
#include "mutators/mutator.h"

namespace evo {

// All launches of a source as one attention of matrices [heads, rows or keys, depth] whose elements are next to each other. What
// counts is what they leave in the output, and not how threads and kernels share the work. Sizes are as the launch lines say
// them.
struct AttentionOfLaunches {
  std::vector<std::string> others;               // kernels beside that one
  int kernel = -1;                               // one that is launched once
  std::string q, k, v, o;                        // the buffers
  std::map<ScoreStatistic, std::string> beside;  // others, for numbers of each row's scores
  bool started = false;                          // whether the largest score begins with what its buffer has
  std::string element, output;                   // types of elements
  std::string heads, rows, keys;                 // rows is empty if each head has one query
  std::string inside;  // how many more heads lie inside of a row: [heads, rows, inside, depth]; empty for one
  // What is more than such matrices.
  struct More {
    std::string output_inside;          // as `inside`, of the output: the heads are the product of `heads` and `inside`
    std::string key_heads, key_inside;  // those of keys and values that several heads share, outside and inside of the rows
    bool shares = false;
    std::string room;        // lines of a head's keys; empty: the keys
    std::string value_size;  // elements of a row of values; empty: the same
    std::string after;       // of causal rows: keys before that of the first row; empty: none
    ScoreExtra extra;        // with the names of its heads
    std::string extra_type;  // of its elements
    std::string hidden;      // the score of keys that it hides; empty: they have no weight
    bool any = false;        // whether there is any of these
  };
  More more;
  std::int64_t depth = 0;
  std::string depth_size;  // the size that decides it, or a quotient `C / 6`; empty: the source
  bool causal = false;
  bool packed = false;  // whether q, k and v are one buffer [heads, rows, 3, inside, depth]
  std::string scale;    // as a kernel says it; with a size that decides the depth, kDepthWord stands for that
  bool zero = false;    // whether what has no weights is stored as zero; else as 0 / 0
  // A parameter of a kernel that the scale names, and what is passed for it.
  struct Passed {
    std::string type, name, argument;
    bool operator==(const Passed&) const = default;
  };
  std::vector<Passed> of_scale;
  Parameters parameters;  // the only values for which this was shown
};

// Found by running all launches on numbers, with several sizes, of which one choice has more keys than any number of the code;
// nullopt if they are no attention, with the reason where somebody may ask.
std::optional<AttentionOfLaunches> AsAttentionOfLaunches(const MutationContext& context, std::string& why);

}  // namespace evo
