#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/analysis/stencils/stencil.h"

namespace evo {

// The names that the text of a walking stencil uses: those of the kernel's coordinates, and others that are not taken.
class StencilNames {
 public:
  // The arguments must outlive the object.
  StencilNames(const SyntaxTree& tree, const Stencil& found);

  // A name that neither the kernel has nor what its text may stand for.
  std::string Own(std::string_view wanted) const;
  // A name that the whole file does not have.
  std::string Function(std::string_view wanted) const;
  // A counter for a loop that names coordinates and sizes.
  std::string Counter(const char* wanted) const;
  // A coordinate of the element that a thread computes.
  const std::string& Coordinate(std::size_t axis) const { return coordinates_[axis]; }
  // Statements of the kernel that declare coordinates of these names.
  const std::vector<int>& declarations() const { return declarations_; }
  // The first coordinate of a thread along an axis; along the last one, that of a block.
  std::string First(std::size_t axis) const;
  // Types: of a buffer's elements, and of indices.
  std::string TypeOf(int buffer) const;
  std::string Index() const { return found_.wide ? "long long" : "int"; }
  // Arrays of a thread: the neighbours of its elements, what it stores at once, and weights.
  std::string Window(int buffer) const;
  std::string Results(int buffer) const;
  // Planes in shared memory.
  std::string Staged(int buffer) const;
  std::string Weights(int buffer) const { return Own("own_" + tree_.node(buffer).name); }

 private:
  void FindCoordinates();

  const SyntaxTree& tree_;
  const Stencil& found_;
  std::array<std::string, 3> coordinates_;
  std::vector<int> declarations_;
};

}  // namespace evo
