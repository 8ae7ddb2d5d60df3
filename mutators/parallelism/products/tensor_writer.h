#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "mutators/analysis/products/contraction.h"
#include "mutators/parallelism/device_blocks.h"
#include "mutators/parallelism/products/contraction_text.h"

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

// A contraction that tensor cores can compute: the products of two elements of the same type, summed up in float, or in int if
// they are bytes.
struct TensorOperands {
  std::string type;    // IsTensorElement, IsTensorByte, IsTensorWord, or "float"
  std::string type_b;  // the same, but of bytes with and without a sign (AsMixedOperands)
  int a = -1;          // the element that is a's factor: `a[k]`, or the address of one that __ldg reads
  int b = -1;
};

// The operands of a contraction of elements of 16 bits, or why tensor cores cannot compute it, in words that follow "the kernel
// ... : ".
std::variant<TensorOperands, std::string> AsTensorOperands(const SyntaxTree& tree, const Contraction& found);
// The same for a contraction of floats.
std::variant<TensorOperands, std::string> AsSplitOperands(const SyntaxTree& tree, const Contraction& found);
// The same for a contraction of integers of 8 bits.
std::variant<TensorOperands, std::string> AsIntegerOperands(const SyntaxTree& tree, const Contraction& found);
// The same, where one factor may be signed and the other not, or of words of four such integers.
std::variant<TensorOperands, std::string> AsMixedOperands(const SyntaxTree& tree, const Contraction& found);

// Writes a contraction of elements of 16 bits, or of 8, whose blocks compute tiles of the output on tensor cores, with what they
// need in a ring of tiles in shared memory.
class TensorWriter : protected ContractionText {
 public:
  // The arguments must outlive the writer.
  TensorWriter(const MutationContext& context, const Contraction& contraction, TensorOperands operands,
               TensorParameters parameters);
  virtual ~TensorWriter() = default;

  // The device functions that the body calls.
  std::string Blocks() const;
  // The kernel's body with its braces. The block has one dimension.
  std::string Body() const;
  // The dynamic shared memory of a block: of the ring, and of the sums on their way to the output. Expressions of the parameters.
  std::string RingBytes() const;
  std::string SumBytes() const;

 protected:
  // What belongs to one of the two axes of the output.
  struct Side {
    const ContractionFactor& factor;
    const ElementGrid::Index& index;
    int load;             // of TensorOperands
    std::string size;     // TILE_M
    std::string letter;   // "m"
    std::string counter;  // of parts of 16 rows or columns: "i"
  };

  bool IsByK(const Side& side) const { return side.factor.inner == ContractionFactor::Inner::kReduced; }
  // The name of a building block in this source.
  std::string Block(const DeviceBlock& block) const;
  // `tile_m[slot][output][k]` for a side, or with its indices the other way round.
  std::string Element(const Side& side, const std::string& output, const std::string& k) const;

  const SyntaxTree& tree_;
  const Contraction& found_;
  const TensorOperands operands_;
  const TensorParameters names_;
  const std::string sums_;
  const Side m_, n_;

 private:
  virtual std::vector<const DeviceBlock*> Used() const;
  // How many elements more a row of a side's tile has, so that what is read together lies in different banks.
  virtual int Padding(const Side& side) const;
  // Adds the products of a tile to the sums.
  virtual std::string Products() const;
  // Declares the sum of one element of the output, which lies at `value`.
  virtual std::string Sum(const std::string& value) const;

  std::string SumType() const;
  std::string Rows(const Side& side) const;
  std::string Columns(const Side& side) const;
  std::string Constants() const;
  std::string Staged(const Side& side) const;
  std::string Parts(const Side& side) const;
  std::string Stores() const;
};

// The same for floats. Each is split into two numbers of tf32, and their product is the sum of three.
class SplitTensorWriter : public TensorWriter {
 public:
  using TensorWriter::TensorWriter;

 private:
  std::vector<const DeviceBlock*> Used() const override;
  int Padding(const Side& side) const override;
  std::string Products() const override;
  std::string Sum(const std::string& value) const override;
};

// The writer for operands of this type.
std::unique_ptr<TensorWriter> MakeTensorWriter(const MutationContext& context, const Contraction& contraction,
                                               const TensorOperands& operands, const TensorParameters& parameters);

}  // namespace evo
