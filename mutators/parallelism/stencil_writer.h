#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mutators/analysis/counted_loop.h"
#include "mutators/analysis/stencil.h"

namespace evo {

// The names of the parameters that the texts below use.
struct StencilParameters {
  std::string threads_x, threads_y, items, rows, steps, ahead;
};

// Texts for a stencil whose threads walk along the last axis with the neighbours of their elements in registers.
class StencilWriter {
 public:
  // The arguments must outlive the object. Without `items`, a thread has one column.
  StencilWriter(const MutationContext& context, const Stencil& found, StencilParameters names, bool items);

  // Whether a thread may compute several neighbouring elements and store them at once: each is stored for certain, and none is
  // read.
  bool has_items() const { return has_items_; }
  bool has_rows() const { return found_.dimensions == 3; }
  // What stands before the kernel.
  std::string Functions() const;
  std::string Body() const;
  std::string Grid() const;
  std::string Block() const;
  // Registers that a thread needs for neighbours, as an expression.
  std::string Registers() const;

 private:
  static std::string Plain(const std::string& text);
  std::size_t last() const { return found_.dimensions - 1; }
  std::int64_t Span(std::size_t axis) const { return found_.highest[axis] - found_.lowest[axis]; }
  std::string Own(std::string_view wanted) const;
  std::string Function(std::string_view wanted) const;
  std::string TypeOf(int buffer) const;
  std::string Index() const { return found_.wide ? "long long" : "int"; }
  std::string Extent(const std::string& own, std::size_t axis) const;
  std::string Window(int buffer) const;
  std::string Results(int buffer) const;
  std::string First(std::size_t axis) const { return Own(axis == last() ? "first" : axis == 0 ? "first_x" : "first_y"); }
  std::string Clamped(const std::string& coordinate, std::size_t axis) const;
  std::string Line(const std::string& coordinate) const;
  std::string Element(const std::string& x, bool wide) const;

  bool IsOfPlace(int expression, int depth) const;
  bool IsInLoop(int node) const;
  bool IsOfElementsOnly() const;
  bool CanStoreLater() const;
  void FindCoordinates();
  void FindStatements();
  void AddStatement(int statement);
  bool IsImplied(int condition, bool inside) const;
  bool IsCommon(int statement) const;
  void DropUnused();
  Replacements Replaced() const;
  std::string Place(const Stencil::Site& site) const;
  std::string RowLoads(int buffer, const std::string& row, const std::string& to) const;
  std::string Whole() const;
  std::string Begin() const;
  std::string Tables() const;
  std::string Weights(int buffer) const { return Own("own_" + tree_.node(buffer).name); }
  bool IsOfCounters(int expression, int depth) const;
  bool IsKept(const Stencil::Table& table) const;
  std::string Loads() const;
  std::string Stores(const std::string& indent) const;
  std::string Statements(const std::vector<int>& statements, const std::string& indent) const;
  static std::string Indented(const std::string& text);
  std::string Finished(const std::string& text) const;
  std::string Counter(const char* wanted) const;

  const SyntaxTree& tree_;
  const Stencil& found_;
  StencilParameters names_;
  bool has_items_ = false;
  bool of_elements_only_ = true;
  std::string coordinates_[3];                  // names of variables
  std::vector<int> own_;                        // statements that declare these
  std::vector<int> common_, statements_;        // what stays of the kernel: before the loop and in it
  std::vector<Stencil::Table> tables_;          // those that a thread keeps
  std::vector<std::pair<int, int>> stored_at_;  // expressions that are stored to, and their buffers
};

}  // namespace evo
