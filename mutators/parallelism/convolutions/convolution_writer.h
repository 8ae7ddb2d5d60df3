#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/analysis/convolutions/convolution.h"
#include "mutators/analysis/source/counted_loop.h"
#include "mutators/parallelism/device_blocks.h"

namespace evo {

// The names of the parameters of a convolution by tiles.
struct ConvolutionParameters {
  std::string tile_m;   // filters of a block; of kDepthwise, rows
  std::string tile_n;   // pixels of a block; of kDepthwise, columns
  std::string tile_k;   // taps of a step
  std::string warps_m;  // warps of a block along the filters; of floats, filters of a thread; of kDepthwise, rows
  std::string warps_n;  // and along the pixels
  std::string images;   // the number of images, of the kernel's parameters
  std::string filters;  // and that of filters
  std::string stages;   // of kSplitFloats: tiles in shared memory
};

// How the product is computed.
enum class ConvolutionForm : std::uint8_t {
  kHalves,       // elements of 16 bits on tensor cores
  kFloats,       // floats in registers
  kSplitFloats,  // floats on tensor cores, each split into two numbers of tf32
  kDepthwise,    // one channel a group, any elements: no product of matrices
};

// Writes a convolution as a product of the filters and a matrix whose columns are the surroundings of pixels, which exists in
// shared memory only, piece by piece.
class ConvolutionWriter {
 public:
  // The arguments must outlive the writer.
  ConvolutionWriter(const SyntaxTree& tree, const Convolution& found, ConvolutionForm form, ConvolutionParameters names);

  // The device functions that the body calls.
  std::string Blocks() const;
  // The kernel's body with its braces. The block and the grid have one dimension.
  std::string Body() const;
  // What the launch line needs, expressions of the parameters and of what it names.
  std::string Grid() const;
  std::string Threads() const;
  std::string TileBytes() const;
  // Of a depthwise convolution, without sizes: most of what these are stands for them.
  std::string MostTileBytes() const;
  std::string SumBytes() const;

 private:
  std::string Kept() const;
  std::string Own(std::string text) const;
  std::string Laid(std::string text) const;
  std::string Filled(std::string text) const;
  std::string TextOf(Convolution::Role role) const;
  std::string Epilogue() const;
  std::string Total() const;
  std::string StoredSum() const;
  std::vector<std::string_view> Parts() const;
  std::string Product() const;
  // Whether a word of 32 bits has one for each tap.
  bool HasMasks() const;
  // How many taps a filter has, if that is a constant.
  std::optional<std::int64_t> Taps() const;
  // Whether the products of a filter do not follow one another in memory.
  bool HasScatteredFilters() const { return found_.filters_inner || found_.channels_outer; }
  bool HasGroups() const { return found_.groups.constant != 1; }
  // Whether images and filters have one row.
  bool IsInRow() const;

  const SyntaxTree& tree_;
  const Convolution& found_;
  const ConvolutionForm form_;
  ConvolutionParameters names_;
  std::vector<const DeviceBlock*> blocks_;
};

}  // namespace evo
