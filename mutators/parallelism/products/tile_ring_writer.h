#pragma once

#include <string>

#include "mutators/parallelism/products/contraction_text.h"
#include "mutators/parallelism/products/tensor_writer.h"

namespace evo {

// The names of the parameters of a contraction of floats by tiles: elements of a block's tile and of a thread's, rows of a warp's
// lanes, tiles in shared memory, blocks of a multiprocessor, and steps of k that are unrolled.
struct TileRingParameters {
  std::string tile_m;
  std::string tile_n;
  std::string tile_k;
  std::string thread_m;
  std::string thread_n;
  std::string lanes_m;
  std::string stages;
  std::string blocks;
  std::string unrolled;
};

// Writes a contraction of floats in ordinary arithmetic whose blocks compute tiles of the output, with what they need in a ring
// of tiles in shared memory, into which asynchronous copies bring both factors with their outputs side by side.
class TileRingWriter : private ContractionText {
 public:
  // The arguments must outlive the writer. `operands` come from AsSplitOperands.
  TileRingWriter(const MutationContext& context, const Contraction& contraction, TensorOperands operands,
                 TileRingParameters parameters);

  // The kernel's body with its braces. The block has one dimension.
  std::string Body() const;
  // Threads of a block, registers that a thread needs, and the block's dynamic shared memory: of the ring, and of the sums on
  // their way to the output. Expressions of the parameters.
  std::string Threads() const;
  std::string Registers() const;
  std::string RingBytes() const;
  std::string SumBytes() const;
  // Of either side: whether the threads can share out its copies so that each makes equal steps. An expression
  // of the parameters.
  std::string SharesOut(bool of_m) const;

 private:
  // What belongs to one of the two axes of the output.
  struct Side {
    const ContractionFactor& factor;
    const ElementGrid::Index& index;
    int load;             // of TensorOperands
    std::string size;     // TILE_M
    std::string thread;   // THREAD_M
    std::string letter;   // "m"
    std::string counter;  // of the thread's elements: "i"
  };

  bool IsByK(const Side& side) const { return side.factor.inner == ContractionFactor::Inner::kReduced; }
  // Copies that fill a line of a side's tile, along the buffer's neighbouring elements.
  std::string Line(const Side& side) const;
  std::string Name(const char* wanted, const Side& side) const { return Fresh(wanted + side.letter); }
  std::string Constants() const;
  std::string Address(const Side& side) const;
  std::string Whole() const;
  std::string Copies(const Side& side) const;
  std::string CheckedCopies(const Side& side) const;
  std::string Bringing() const;
  std::string Loading() const;
  std::string Starts() const;
  std::string Products() const;
  std::string Stores() const;

  const SyntaxTree& tree_;
  const Contraction& found_;
  const TensorOperands operands_;
  const TileRingParameters names_;
  const Side m_, n_;
};

}  // namespace evo
