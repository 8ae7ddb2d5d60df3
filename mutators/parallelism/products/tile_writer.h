#pragma once

#include <string>

#include "mutators/analysis/products/contraction.h"
#include "mutators/mutator.h"
#include "mutators/parallelism/products/contraction_text.h"

namespace evo {

// The names of the parameters of a tiled contraction: elements of a block's tile, and of a thread's.
struct TileParameters {
  std::string tile_m;
  std::string tile_n;
  std::string tile_k;
  std::string thread_m;
  std::string thread_n;
};

// Writes the body of a contraction whose blocks compute tiles of the output.
class TileWriter : private ContractionText {
 public:
  // The arguments must outlive the writer.
  TileWriter(const MutationContext& context, const Contraction& contraction, TileParameters parameters);

  // The kernel's body with its braces. The block has one dimension.
  std::string Body() const;
  // The static shared memory of a block, an expression of the parameters.
  std::string SharedBytes() const;

 private:
  // What belongs to one of the two axes of the output.
  struct Side {
    const ContractionFactor& factor;
    const ElementGrid::Index& index;
    std::string type;     // of the elements in shared memory
    std::string size;     // TILE_M
    std::string thread;   // THREAD_M
    std::string letter;   // "m"
    std::string counter;  // of the thread's elements: "i"
  };

  std::string Constants() const;
  std::string Offset(const Side& side) const;
  std::string Staged(const Side& side) const;
  std::string Part(const Side& side) const;
  std::string Combined(int node) const;
  std::string Products() const;
  std::string EachElement() const;
  std::string Stores() const;

  const SyntaxTree& tree_;
  const Contraction& found_;
  TileParameters names_;
  Side m_, n_;
};

}  // namespace evo
