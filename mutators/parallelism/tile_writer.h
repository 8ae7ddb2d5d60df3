#pragma once

#include <string>
#include <vector>

#include "mutators/analysis/contraction.h"
#include "mutators/mutator.h"

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
class TileWriter {
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

  std::string Fresh(const std::string& wanted) const;
  std::string Counter(const std::string& wanted, const std::string& otherwise) const;
  std::string Typed(int declaration) const;  // "const int row"
  std::string Constants() const;
  std::string First(const Side& side) const;
  std::string Offset(const Side& side) const;
  std::string Staged(const Side& side) const;
  std::string Part(const Side& side) const;
  std::string Products() const;
  std::string Epilogue() const;
  std::string Statements(const std::vector<int>& statements, const std::string& indent, const Replacements& replacements) const;
  std::vector<int> Declarations() const;
  std::vector<int> Needed(const std::vector<int>& nodes) const;

  const MutationContext& context_;
  const SyntaxTree& tree_;
  const Contraction& found_;
  TileParameters names_;
  Side m_, n_;
  std::vector<int> common_;  // declarations that are the same for all threads of a block
};

}  // namespace evo
