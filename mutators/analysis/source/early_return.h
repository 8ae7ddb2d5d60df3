#pragma once

#include "mutators/mutator.h"

namespace evo {

// How the threads of a file's kernels work together.
enum class Cooperation {
  kNone,
  kWarp,   // by shuffles, votes or barriers of a warp
  kBlock,  // through shared memory or by barriers of the block
};
Cooperation CooperationIn(const SyntaxTree& tree);

// Whether threads that return under this condition do so in whole warps (kWarp) or whole blocks (kBlock): it contains only
// constants, parameters and block indices or, for a warp, the number of the warp, `threadIdx.x / 32`. Other work may then follow
// in their place without the threads of the group meeting at different barriers or shuffles. True for kNone.
bool ReturnsTogether(const SyntaxTree& tree, int condition, Cooperation cooperation);

}  // namespace evo
