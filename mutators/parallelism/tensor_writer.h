#pragma once

#include <string>
#include <variant>
#include <vector>

#include "mutators/analysis/contraction.h"
#include "mutators/parallelism/contraction_text.h"
#include "mutators/parallelism/device_blocks.h"

namespace evo {

// The names of the parameters of a contraction on tensor cores: elements of a block's tile, warps of a block, tiles in shared
// memory.
struct TensorParameters {
  std::string tile_m;
  std::string tile_n;
  std::string tile_k;
  std::string warps_m;
  std::string warps_n;
  std::string stages;
};

// A contraction that tensor cores can compute: the products of two elements of the same type of 16 bits, summed up in float.
struct TensorOperands {
  std::string type;  // IsTensorElement
  int a = -1;        // the element that is a's factor: `a[k]`, or the address of one that __ldg reads
  int b = -1;
};

// The operands of a contraction, or why tensor cores cannot compute it, in words that follow "the kernel ... : ".
std::variant<TensorOperands, std::string> AsTensorOperands(const SyntaxTree& tree, const Contraction& found);

// Writes a contraction whose blocks compute tiles of the output on tensor cores, with what they need in a ring of tiles in shared
// memory.
class TensorWriter : private ContractionText {
 public:
  // The arguments must outlive the writer.
  TensorWriter(const MutationContext& context, const Contraction& contraction, TensorOperands operands,
               TensorParameters parameters);

  // The device functions that the body calls.
  std::string Blocks() const;
  // The kernel's body with its braces. The block has one dimension.
  std::string Body() const;
  // The dynamic shared memory of a block: of the ring, and of the sums on their way to the output. Expressions of the parameters.
  std::string RingBytes() const;
  std::string SumBytes() const;

 private:
  // What belongs to one of the two axes of the output.
  struct Side {
    const ContractionFactor& factor;
    const ElementGrid::Index& index;
    int load;             // of TensorOperands
    std::string size;     // TILE_M
    std::string letter;   // "m"
    std::string counter;  // of parts of 16 rows or columns: "i"
    std::string name;     // of the block that loads the parts
  };

  bool IsByK(const Side& side) const { return side.factor.inner == ContractionFactor::Inner::kReduced; }
  std::string Block(const DeviceBlock& block) const;
  std::string Rows(const Side& side) const;
  std::string Columns(const Side& side) const;
  std::string Constants() const;
  std::string Staged(const Side& side) const;
  std::string Parts(const Side& side) const;
  std::string Products() const;
  std::string Stores() const;

  const SyntaxTree& tree_;
  const Contraction& found_;
  TensorOperands operands_;
  TensorParameters names_;
  std::string element_;  // as the source spells it
  std::string sums_;
  Side m_, n_;
};

}  // namespace evo
