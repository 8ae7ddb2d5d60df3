#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/attention.h"
#include "mutators/parallelism/device_blocks.h"

namespace evo {

// The names of the parameters of a fused attention.
struct AttentionParameters {
  std::string tile_keys;  // keys of a tile
  std::string warps;      // of a block
  std::string warp_rows;  // query rows of a warp
  std::string stages;     // tiles in shared memory or on their way there
};

// Registers that 16 rows of a warp take in each of its threads for sums and queries.
std::int64_t SumRegisters(const Attention& found);

// Writes an attention whose warps keep rows of scores, weights and sums in registers and multiply on tensor cores, while tiles of
// keys and values come asynchronously through a ring in shared memory.
class AttentionWriter {
 public:
  // The arguments must outlive the writer.
  AttentionWriter(const SyntaxTree& tree, const Attention& found, AttentionParameters names);

  // The device functions that the body calls.
  std::string Blocks() const;
  // The kernel's body with its braces. The block has one dimension.
  std::string Body() const;
  // The dynamic shared memory of a block, an expression of the parameters.
  std::string SharedBytes() const;
  // A body of a text with words that end with _, with its braces, after what the kernel declares.
  std::string BodyOf(const std::string& text) const;

 private:
  std::string Kept() const;
  std::string Own(std::string text) const;
  std::string Filled(std::string text) const;
  std::string Declarations() const;
  std::string Element(const std::string& type) const;
  std::string Stride(const std::string& stride) const;

  const SyntaxTree& tree_;
  const Attention& found_;
  AttentionParameters names_;
  std::vector<const DeviceBlock*> blocks_;
};

}  // namespace evo
