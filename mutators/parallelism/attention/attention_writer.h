#pragma once

#include <cstdint>
#include <string>

#include "mutators/parallelism/attention/attention_source.h"

namespace evo {

// Registers that 16 rows of a warp take in each of its threads for sums and queries.
std::int64_t SumRegisters(const Attention& found);

// Writes an attention whose warps keep rows of scores, weights and sums in registers and multiply on tensor cores, while tiles of
// keys and values come asynchronously through a ring in shared memory.
class AttentionWriter : public AttentionSource {
 public:
  // The arguments must outlive the writer.
  AttentionWriter(const SyntaxTree& tree, const Attention& found, AttentionParameters names);

  // The kernel's body with its braces. The block has one dimension.
  std::string Body() const;
  // The dynamic shared memory of a block, an expression of the parameters.
  std::string SharedBytes() const;
};

}  // namespace evo
