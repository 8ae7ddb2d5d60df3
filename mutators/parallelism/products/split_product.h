#pragma once

#include <functional>
#include <string>

#include "mutators/parallelism/device_blocks.h"

namespace evo {

// How a kernel spells what is needed to multiply a warp's parts of two tiles of floats in shared memory, of which each element is
// split into two numbers of tf32.
struct SplitProduct {
  struct Side {
    bool by_k;            // whether neighbours in shared memory go along k
    std::string counter;  // of 16 rows of a, or of 8 columns of b
    // An element of the tile.
    std::function<std::string(const std::string& output, const std::string& k)> element;
  };
  std::string tile_k;
  std::string sums;  // [kWarpM / 16][kWarpN / 8][4]
  Side m, n;
  // The name that the kernel has for a variable: `own_m` and `own_n` (where the warp's parts begin), `kWarpM`, `kWarpN`, `lane`,
  // and those that the text declares.
  std::function<std::string(const std::string& wanted)> name;
  std::function<std::string(const DeviceBlock& block)> block;
};

// Adds the products to the sums; a loop with 4 spaces before it. It calls kSplit, kMultiplyAddTf32, and for what is by k
// kLoadMatrices.
std::string SplitProductText(const SplitProduct& of);

}  // namespace evo
