#pragma once

#include <string>

#include "mutators/analysis/attention/attention_launches.h"
#include "mutators/parallelism/attention/attention_additions.h"

namespace evo {

// One kernel, in which a thread has a row, for the attention of a source's launches, with its launch's arguments and grid. It
// computes what matrices [heads, rows or keys, depth] alone say; the rest are additions.
struct MergedText {
  std::string text, arguments, grid;
  AttentionAdditions additions;
};

// Of a source in which the attention was found.
MergedText TextOfMerged(const SyntaxTree& tree, const AttentionOfLaunches& chain, const std::string& kernel);

}  // namespace evo
