#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_names.h"

namespace evo {

// The names of the parameters of a stencil whose threads walk.
struct StencilParameters {
  std::string threads_x, threads_y, items, rows, steps, ahead;
};

// How many elements the threads of a walking stencil have and need, and where these are: expressions for the kernel and its
// launch.
class StencilLayout {
 public:
  // The arguments must outlive the object. Without `has_items`, a thread has one column. With `is_staged`, planes come through
  // shared memory.
  StencilLayout(const Stencil& found, const StencilNames& names, const StencilParameters& parameters, bool has_items,
                bool is_staged);

  // An expression without parentheses around all of it.
  static std::string Plain(const std::string& text);
  // "ROWS + 2", or "ROWS".
  static std::string Sum(const std::string& text, std::int64_t more);

  bool has_items() const { return has_items_; }
  bool has_rows() const { return found_.dimensions == 3; }
  bool is_staged() const { return is_staged_; }
  // The axis along which threads walk.
  std::size_t last() const { return found_.dimensions - 1; }
  // What a thread needs for its elements: columns, rows, and planes (of two dimensions, rows) at a time.
  std::string Columns() const { return Extent(has_items_ ? parameters_.items : "", 0); }
  std::string Rows() const { return Extent(parameters_.rows, 1); }
  std::int64_t Depth() const { return 1 + Span(last()); }
  // What a block needs of a plane: rows, and columns with whole groups of ELEMENTS to both sides of its own.
  std::string TileRows() const;
  std::string TileColumns() const;
  // How many groups of ELEMENTS so many columns beside a block's own take.
  std::string Groups(std::int64_t columns) const;
  // How many rows of it a thread copies at most.
  std::string Copies() const;
  // Where what is stored ends.
  std::string End(std::size_t axis) const { return Plain(found_.stores[axis].end.kernel); }
  // The coordinate of the element that is read at one that may be past an edge.
  std::string Existing(const std::string& coordinate, std::size_t axis) const;
  // The same along an axis whose other edge follows an edge, which ends at `end`.
  std::string Wrapped(const std::string& coordinate, std::size_t axis, const std::string& end) const;
  // The index at which a row begins, or a plane.
  std::string Line(const std::string& coordinate) const;
  // A coordinate that begins where elements are stored, plus a number.
  std::string FromLow(const std::string& text, std::size_t axis, std::int64_t more) const;
  // The index of the element at `x`.
  std::string Element(const std::string& x) const;
  // The number of the element at the coordinates among those that are stored.
  std::string NumberOfStored() const;
  // What the launch line needs.
  std::string Grid() const;
  std::string Block() const;
  // Registers that a thread needs for neighbours.
  std::string Registers() const;

 private:
  std::int64_t Span(std::size_t axis) const { return found_.highest[axis] - found_.lowest[axis]; }
  std::string Extent(const std::string& own, std::size_t axis) const;

  const Stencil& found_;
  const StencilNames& names_;
  const StencilParameters& parameters_;
  bool has_items_;
  bool is_staged_;
};

}  // namespace evo
