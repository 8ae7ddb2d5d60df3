#pragma once

#include <string>

#include "mutators/parallelism/attention/attention_source.h"

namespace evo {

// Writes an attention whose warp groups multiply by wgmma: queries, keys and values come asynchronously to shared memory, and
// weights stay in registers. Rows have a multiple of 64 elements of half or bfloat16.
class AttentionGroupWriter : public AttentionSource {
 public:
  // The arguments must outlive the writer. The parameter `warps` counts warp groups of 64 query rows; `warp_rows` is not used.
  AttentionGroupWriter(const SyntaxTree& tree, const Attention& found, AttentionParameters names);

  // The device functions that the body calls.
  std::string Blocks() const;
  // The kernel's body with its braces. The block has one dimension.
  std::string Body() const;
  // The dynamic shared memory of a block, an expression of the parameters.
  std::string SharedBytes() const;

 private:
  std::string WithTerms(std::string text) const;
};

}  // namespace evo
