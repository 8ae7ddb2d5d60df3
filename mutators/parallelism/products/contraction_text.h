#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mutators/analysis/products/contraction.h"
#include "mutators/mutator.h"

namespace evo {

// Texts for kernels that compute a contraction by blocks of tiles: what a kernel declares and does, in another place and for
// other indices.
class ContractionText {
 public:
  // The arguments must outlive the object.
  ContractionText(const MutationContext& context, const Contraction& contraction);

  // A name that the kernel does not have: `wanted`, or with a number behind it.
  std::string Fresh(const std::string& wanted) const;
  // `wanted` if the kernel does not have it, or a fresh name like `otherwise`.
  std::string Counter(const std::string& wanted, const std::string& otherwise) const;
  // "const int row"
  std::string Typed(int declaration) const;
  // "  const int first_m = blockIdx.y * TILE_M;", with the index's own type, where a tile of `size` begins.
  std::string First(const ElementGrid::Index& index, const std::string& letter, const std::string& size) const;

  // Declarations that are the same for all threads of a block, for its beginning.
  std::string Common(const std::string& indent) const { return Statements(common_, indent, {}); }
  // The other declarations that these nodes need.
  std::vector<int> Needed(const std::vector<int>& nodes) const;
  std::string Statements(const std::vector<int>& statements, const std::string& indent, const Replacements& replacements) const;
  // `sum` as the sum of one element starts, whose indices are declared; it starts with something.
  std::string Started(const std::string& sum, const std::string& indent) const;
  // What follows the sum, for one element whose indices are declared, with `sum` in the place of the accumulator's name. What the
  // sum starts with is added first, unless it has `started` with it.
  std::string Epilogue(const std::string& sum, const std::string& indent, bool started = false) const;
  // The body with the file's unit of indentation in the lines of comments, which other lines get when the edit is made.
  std::string Finished(const std::string& body) const;

 private:
  std::string StartValue() const;
  std::vector<int> Declarations() const;

  const SyntaxTree& tree_;
  const Contraction& found_;
  std::vector<int> common_;
};

// Whether a declaration loads elements. `const float* b = &B[n];` computes an address only.
bool LoadsElements(const SyntaxTree& tree, int statement);

// A bound of the kernel as the launch line spells it, a number or what is passed for a parameter; or what is passed for a
// parameter itself. nullopt for anything else.
std::optional<std::string> LaunchedSize(const MutationContext& context, const ElementGrid& grid, int bound);

// The launch's grid with blocks of tile_m x tile_n elements, its dimensions as texts; nullopt if the launch line cannot say how
// many there are, in words kUnknownGrid.
std::optional<std::vector<std::string>> TiledGrid(const MutationContext& context, const Contraction& found,
                                                  const std::string& tile_m, const std::string& tile_n);
inline constexpr char kUnknownGrid[] = "its bounds are neither numbers nor parameters that the launch line passes";

// Tells the compiler a kernel's `__launch_bounds__`, by which it shares out registers. Contractions have none yet.
Proposal::Change WithBounds(const SyntaxTree& tree, int kernel, const std::string& bounds);

}  // namespace evo
