#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mutators/analysis/stencils/stencil.h"
#include "mutators/parallelism/stencils/stencil_layout.h"
#include "mutators/parallelism/stencils/stencil_names.h"
#include "mutators/parallelism/stencils/stencil_sum.h"

namespace evo {

// What a plane adds to the results of the planes around it: elements of the plane that have equal weights in all of them are
// summed up once. (In two dimensions a row is the plane.)
class StencilGroups {
 public:
  // The arguments must outlive the object.
  StencilGroups(const Stencil& found, const StencilSum& sum, const StencilNames& names, const StencilParameters& parameters,
                const StencilLayout& layout);

  // Whether some sum of two elements or more has one weight.
  bool AreWorthIt() const;
  // The weights that are more than names, before the loop.
  std::string Weights() const;
  // The sums of a row's columns that several elements need, before the loop over elements.
  std::string Columns(const std::string& indent) const;
  // The sums of an element, and what they add to the results: the first of them is finished and named as `result` declares.
  std::string Sums(const std::string& indent, const std::string& result) const;
  // Results that are not finished yet, of each element.
  std::int64_t Pending() const { return layout_.Depth() - 1; }
  // A weight as the text uses it, with its sign.
  std::string Spelled(const StencilWeight& weight) const;

 private:
  // A row and a column of a plane.
  using InPlane = std::pair<std::int64_t, std::int64_t>;
  using ByPlane = std::vector<std::optional<StencilWeight>>;
  struct Group {
    std::vector<InPlane> places;
    ByPlane weights;  // in the planes from the lowest
  };

  void FindGroups();
  void FindColumns();
  void AddConstant(const StencilWeight& weight);
  std::string Element(std::int64_t row, const std::string& column) const;
  std::string ColumnSum(const std::vector<std::int64_t>& rows, const std::string& column) const;
  std::string GroupSum(const Group& group) const;
  std::string NameOf(std::size_t group) const;
  std::map<std::int64_t, std::vector<std::int64_t>> RowsByColumn(const Group& group) const;
  bool SamePlanes(std::size_t a, std::size_t b) const;
  bool IsShared(std::size_t plane) const;
  std::string WithSums(const std::string& before, std::size_t plane) const;
  std::string Added(const std::string& before, std::size_t plane) const;

  const Stencil& found_;
  const StencilSum& sum_;
  const StencilNames& names_;
  const StencilParameters& parameters_;
  const StencilLayout& layout_;
  std::vector<Group> groups_;
  std::vector<std::vector<std::int64_t>> columns_;  // the rows of sums that several elements need
  std::vector<std::string> constants_;              // weights that get a name
};

}  // namespace evo
