#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/convolution.h"
#include "mutators/analysis/counted_loop.h"
#include "mutators/parallelism/device_blocks.h"

namespace evo {

// The names of the parameters of a convolution by tiles.
struct ConvolutionParameters {
  std::string tile_m;   // filters of a block
  std::string tile_n;   // pixels of a block
  std::string tile_k;   // taps of a step
  std::string warps_m;  // warps of a block along the filters; of floats, filters of a thread
  std::string warps_n;  // and along the pixels
  std::string images;   // the number of images, of the kernel's parameters
  std::string filters;  // and that of filters
};

// Writes a convolution as a product of the filters and a matrix whose columns are the surroundings of pixels, which exists in
// shared memory only, piece by piece.
class ConvolutionWriter {
 public:
  // The arguments must outlive the writer.
  ConvolutionWriter(const SyntaxTree& tree, const Convolution& found, ConvolutionParameters names);

  // The device functions that the body calls.
  std::string Blocks() const;
  // The kernel's body with its braces. The block and the grid have one dimension.
  std::string Body() const;
  // What the launch line needs, expressions of the parameters and of what it names.
  std::string Grid() const;
  std::string Threads() const;
  std::string TileBytes() const;
  std::string SumBytes() const;

 private:
  std::string Kept() const;
  std::string Own(std::string text) const;
  std::string Laid(std::string text) const;
  std::string Filled(std::string text) const;
  std::string TextOf(Convolution::Role role) const;
  std::string Epilogue() const;
  bool IsFloat() const { return found_.element == "float"; }
  std::string StoredSum() const;
  // Whether a word of 32 bits has one for each tap.
  bool HasMasks() const;

  const SyntaxTree& tree_;
  const Convolution& found_;
  ConvolutionParameters names_;
  std::vector<const DeviceBlock*> blocks_;
};

}  // namespace evo
