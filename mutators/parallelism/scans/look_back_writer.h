#pragma once

#include <string>

#include "mutators/analysis/scans/prefix_scan.h"

namespace evo {

// The names that a look-back scan brings: parameters, and buffers of its launch line.
struct LookBackNames {
  std::string threads;  // of a block
  std::string items;    // elements of a thread, a multiple of 4
  std::string states;   // a word of 64 bits for each tile, two for elements of 8 bytes
  std::string ticket;   // how many tiles are taken
  std::string kernel;
};

// The kernel of a scan and what it calls, as one text: a single pass with decoupled look-back (D. Merrill, M. Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016). Its parameters are the input, the output, perhaps another
// one that gets the same, perhaps one that gets the sum of all, the states, the ticket and the number of elements. Sums of floats
// are added in an order that does not depend on which block came first.
std::string LookBackText(const SyntaxTree& tree, const PrefixScan& scan, const LookBackNames& names);

}  // namespace evo
