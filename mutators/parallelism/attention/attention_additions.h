#pragma once

#include <string>

#include "mutators/analysis/attention/attention.h"
#include "mutators/analysis/attention/attention_launches.h"

namespace evo {

// What an attention found by its results has more than matrices [heads, rows or keys, depth], in terms of the parameters of a
// kernel that computes one of such matrices only, and has those parameters for nothing. What is found in that kernel becomes the
// whole attention by these.
struct AttentionAdditions {
  bool any = false;
  Attention::Matrix q, k, v, o;  // without their parameters
  std::string depth_size;        // empty: as found
  std::string query_width, value_width, after, keys;
  ScoreExtra::Kind extra = ScoreExtra::Kind::kNone;
  std::string buffer;      // the parameter of its elements
  Attention::Plane plane;  // without its parameter
  bool shows_zero = false, scaled = false, negative = false;
  std::string hidden;   // AttentionOfLaunches::More::hidden
  std::string one_row;  // what stands for the one row of a head in launch lines; empty: rows are as they are
};

// The names of the kernel's parameters that additions are written in.
struct AttentionWords {
  std::string rows, length, depth, value, inside;  // depth and value: expressions; inside: empty for one
  std::string output_inside, key_inside, share, share_inside, room, after, buffer, planes;
};

// The additions of a source's attention.
AttentionAdditions AdditionsOf(const AttentionOfLaunches& chain, const AttentionWords& words);

// The attention with its additions. The tree is that of the kernel.
Attention WithAdditions(const SyntaxTree& tree, Attention found, const AttentionAdditions& additions);

}  // namespace evo
