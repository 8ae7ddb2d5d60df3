#pragma once

#include <string>
#include <vector>

#include "mutators/analysis/attention/attention.h"
#include "mutators/parallelism/attention/attention_terms.h"
#include "mutators/parallelism/device_blocks.h"

namespace evo {

// The names of the parameters of a fused attention.
struct AttentionParameters {
  std::string tile_keys;  // keys of a tile
  std::string warps;      // of a block, or its warp groups
  std::string warp_rows;  // query rows of a warp; of floats, threads that share a row
  std::string stages;     // tiles in shared memory or on their way there
};

// The change of the launch's grid with this many rows in a block.
LaunchChange AttentionGrid(const Attention& found, const std::string& rows);

// Texts for kernels that compute an attention in one pass: with what the source says in the place of their words that end with _,
// and with names that are free in it.
class AttentionSource {
 public:
  // The device functions that the body calls.
  std::string Blocks() const;
  // A body of a text with words that end with _, with its braces, after what the kernel declares.
  std::string BodyOf(const std::string& text) const;

 protected:
  // The references must outlive the object.
  AttentionSource(const SyntaxTree& tree, const Attention& found, AttentionParameters names,
                  std::vector<const DeviceBlock*> blocks);

  // One over a row's sum of weights, and where the keys of a block end.
  std::string Inverse() const;
  std::string End() const;

  const SyntaxTree& tree_;
  const Attention& found_;
  AttentionParameters names_;
  const AttentionTerms terms_;
  std::vector<const DeviceBlock*> blocks_;

 private:
  std::string DepthMacro() const;
  std::string Kept() const;
  std::string Own(std::string text) const;
  std::string Filled(std::string text) const;
  std::string Declarations() const;
  std::string Stride(const std::string& stride) const;
};

}  // namespace evo
