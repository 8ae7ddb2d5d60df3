#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mutators/mutator.h"

namespace evo {

// An attention in several kernels that leave scores and weights in workspaces. Sizes are as the launch lines say them, and
// matrices are [heads, rows or keys, depth] with all elements next to each other.
struct AttentionChain {
  std::vector<std::string> others;  // kernels before the last one
  int kernel = -1;                  // the last one
  std::string q, k, v, o;           // the buffers
  std::string element, output;      // their types
  std::string heads, rows, keys;    // rows is empty if each head has one query
  std::int64_t depth = 0;
  std::string depth_size;  // the size that decides it; empty: the source
  bool causal = false;
  std::string scale;  // as the kernel of the scores says it; with a size that decides the depth, kDepthWord stands for that
  bool zero = false;  // whether what has no weights is stored as zero; else as 0 / 0
  // A parameter of a kernel that the scale names, and what is passed for it.
  struct Passed {
    std::string type, name, argument;
    bool operator==(const Passed&) const = default;
  };
  std::vector<Passed> of_scale;
  Parameters parameters;            // the only values for which this was shown
  std::int64_t largest_number = 0;  // of the integers in the code
  bool operator==(const AttentionChain&) const = default;
};

inline constexpr const char* kDepthWord = "DEPTH_";

// All launches of a source as one attention, found by running them on numbers; nullopt if they are none, with the reason where
// somebody may ask.
std::optional<AttentionChain> AsAttentionChain(const MutationContext& context, std::string& why);

}  // namespace evo
