#pragma once

#include <string>

#include "mutators/parallelism/products/contraction_text.h"
#include "mutators/parallelism/products/tensor_writer.h"

namespace evo {

// The names of the parameters of a contraction by warp groups: elements of a block's tile, how they are shared out, tiles in
// shared memory.
struct WarpGroupParameters {
  std::string tile_m;
  std::string tile_n;
  std::string group_rows;  // rows of the tile that a warp group computes
  std::string stages;
};

// Writes a contraction whose blocks compute tiles of the output by products of warp groups (wgmma), which read both factors from
// shared memory, into which all threads copy.
class WarpGroupWriter : private ContractionText {
 public:
  // The arguments must outlive the writer.
  WarpGroupWriter(const MutationContext& context, const Contraction& contraction, TensorOperands operands,
                  WarpGroupParameters parameters);

  // The device functions that the body calls.
  std::string Blocks() const;
  // The kernel's body with its braces. The block has one dimension.
  std::string Body() const;
  // Threads of a block, the sums that each has, and the block's dynamic shared memory: of the ring, and of the sums on their way
  // to the output. Expressions of the parameters.
  std::string Threads() const;
  std::string ThreadSums() const;
  std::string RingBytes() const;
  std::string SumBytes() const;

 private:
  // What belongs to one of the two axes of the output.
  struct Side {
    const ContractionFactor& factor;
    const ElementGrid::Index& index;
    int load;             // of TensorOperands
    std::string element;  // its type, as the source spells it
    std::string size;     // TILE_M
    std::string letter;   // "m"
  };

  bool IsByK(const Side& side) const { return side.factor.inner == ContractionFactor::Inner::kReduced; }
  std::string Block(std::string_view name) const;
  std::string Constants() const;
  std::string Address(const Side& side) const;
  std::string Copy(const Side& side) const;
  std::string Described(const Side& side) const;
  std::string Bringing() const;
  std::string Products() const;
  std::string Stores() const;

  const SyntaxTree& tree_;
  const Contraction& found_;
  TensorOperands operands_;
  WarpGroupParameters names_;
  int vector_;  // elements of 16 bytes
  int depth_;   // those of a tile along k
  Side m_, n_;
};

}  // namespace evo
