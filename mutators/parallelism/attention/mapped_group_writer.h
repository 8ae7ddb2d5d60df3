#pragma once

#include <map>
#include <string>
#include <vector>

#include "mutators/parallelism/products/contraction_text.h"
#include "mutators/parallelism/products/mapped_operands.h"
#include "mutators/parallelism/products/tensor_writer.h"

namespace evo {

// The names of the parameters of such a contraction: elements of a tile, tiles in shared memory, rows of tiles that follow one
// another, and the largest number of blocks.
struct MappedGroupParameters {
  std::string tile_m, tile_n, stages, group, resident;
};

// Writes a contraction by products of warp groups (wgmma) whose tiles come by tensor maps: one thread orders the copies and two
// groups multiply, in blocks that stay and compute one tile of the output after another.
class MappedGroupWriter : private ContractionText {
 public:
  // The arguments must outlive the writer.
  MappedGroupWriter(const MutationContext& context, const Contraction& contraction, TensorOperands operands,
                    MappedOperands mapped, MappedGroupParameters parameters);

  // The functions and the kernel that the body and the launch lines use.
  std::string Blocks() const;
  // What follows the kernel's last parameter.
  std::string Maps() const;
  // The kernel's body with its braces.
  std::string Body() const;
  // The changes of the launch line, and what is launched before it where rows are no multiple of 16 bytes.
  std::vector<LaunchChange> Launches() const;
  // The block's dynamic shared memory, an expression of the parameters.
  std::string SharedBytes() const;

 private:
  // What belongs to one of the two axes of the output.
  struct Side {
    const ContractionFactor& factor;
    const ElementGrid::Index& index;
    const MappedOperand& operand;
    std::string size;    // TILE_M
    std::string letter;  // "m"
    std::string own;     // where a group's rows of the tile begin, in elements; empty if it has all
  };

  bool IsByK(const Side& side) const { return side.factor.inner == ContractionFactor::Inner::kReduced; }
  // `text` with names for its marks: `@{x}` is the function or the type x if it begins with a capital, else a variable.
  std::string Filled(std::string text) const;
  std::string Copies(const Side& side) const;
  std::string Described(const Side& side) const;
  std::string FirstOf(const Side& side, const std::string& member) const;
  std::string MapOf(const Side& side, const std::string& suffix) const;

  const SyntaxTree& tree_;
  const Contraction& found_;
  TensorOperands operands_;
  MappedOperands mapped_;
  MappedGroupParameters names_;
  int vector_;  // elements of 16 bytes
  int depth_;   // those of a tile along k
  Side m_, n_;
};

}  // namespace evo
