#include "mutators/parallelism/stencils/stencil_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdlib>

#include "mutators/analysis/source/source_query.h"

namespace evo {
namespace {

// A name, an element of an array, or a number of type float: what may be written several times.
bool IsShortWeight(const std::string& text, const std::string& type) {
  if (Parenthesised(text) == text) {
    const bool number = text.front() == '.' || std::isdigit(static_cast<unsigned char>(text.front())) != 0;
    return !number || type == "double" || text.ends_with("f");
  }
  return text.ends_with("]") && text.find(' ') == std::string::npos;
}

// " + x" or " - x"; without what is before it, "x" or "-x".
std::string Joined(const std::string& before, bool negative, const std::string& term) {
  if (before.empty()) return (negative ? "-" : "") + term;
  return fmt::format("{} {} {}", before, negative ? "-" : "+", term);
}

}  // namespace

StencilGroups::StencilGroups(const Stencil& found, const StencilSum& sum, const StencilNames& names,
                             const StencilParameters& parameters, const StencilLayout& layout)
    : found_(found), sum_(sum), names_(names), parameters_(parameters), layout_(layout) {
  FindGroups();
  FindColumns();
  for (const Group& group : groups_) {
    for (const auto& weight : group.weights) {
      if (weight) AddConstant(*weight);
    }
  }
  if (sum_.inside.number()) AddConstant(*sum_.inside.number());
  for (const auto& [place, weight] : sum_.edge.neighbours()) AddConstant(weight);
  if (sum_.edge.number()) AddConstant(*sum_.edge.number());
}

void StencilGroups::AddConstant(const StencilWeight& weight) {
  if (weight.IsOne() || IsShortWeight(weight.text, sum_.type)) return;
  if (std::find(constants_.begin(), constants_.end(), weight.text) == constants_.end()) constants_.push_back(weight.text);
}

// Elements of a plane by their weights; the nearest first.
void StencilGroups::FindGroups() {
  const std::size_t last = layout_.last();
  std::map<InPlane, ByPlane> weights;
  for (const auto& [place, weight] : sum_.inside.neighbours()) {
    ByPlane& by_plane = weights[{layout_.has_rows() ? place[1] : 0, place[0]}];
    by_plane.resize(static_cast<std::size_t>(layout_.Depth()));
    by_plane[static_cast<std::size_t>(place[last] - found_.lowest[last])] = weight;
  }
  for (const auto& [place, by_plane] : weights) {
    const auto same = std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return group.weights == by_plane; });
    if (same == groups_.end())
      groups_.push_back({{place}, by_plane});
    else
      same->places.push_back(place);
  }
  const auto distance = [](const Group& group) {
    std::int64_t least = std::abs(group.places[0].first) + std::abs(group.places[0].second);
    for (const auto& [row, column] : group.places) least = std::min(least, std::abs(row) + std::abs(column));
    return least;
  };
  std::stable_sort(groups_.begin(), groups_.end(), [&](const Group& a, const Group& b) { return distance(a) < distance(b); });
}

bool StencilGroups::AreWorthIt() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const Group& group) { return group.places.size() > 1; });
}

std::map<std::int64_t, std::vector<std::int64_t>> StencilGroups::RowsByColumn(const Group& group) const {
  std::map<std::int64_t, std::vector<std::int64_t>> rows;
  for (const auto& [row, column] : group.places) rows[column].push_back(row);
  return rows;
}

// Neighbouring elements need the same sum of a column, if a group has it in several columns, or if several groups have it.
void StencilGroups::FindColumns() {
  std::map<std::vector<std::int64_t>, int> uses;
  for (const Group& group : groups_) {
    for (const auto& [column, rows] : RowsByColumn(group)) {
      if (rows.size() > 1) ++uses[rows];
    }
  }
  for (const auto& [rows, count] : uses) {
    if (count > 1) columns_.push_back(rows);
  }
}

std::string StencilGroups::Spelled(const StencilWeight& weight) const {
  const std::string sign = weight.negative ? "-" : "";
  if (weight.IsOne()) return sign + "1";
  const auto constant = std::find(constants_.begin(), constants_.end(), weight.text);
  if (constant == constants_.end()) return sign + weight.text;
  return sign + names_.Own(fmt::format("weight_{}", constant - constants_.begin()));
}

std::string StencilGroups::Weights() const {
  std::string text;
  for (std::size_t i = 0; i < constants_.size(); ++i)
    text += fmt::format("const {} {} = {};\n", sum_.type, names_.Own(fmt::format("weight_{}", i)), constants_[i]);
  return text;
}

std::string StencilGroups::NameOf(std::size_t group) const { return names_.Own(fmt::format("sum_{}", group)); }

// A row's element of what the thread has of a plane.
std::string StencilGroups::Element(std::int64_t row, const std::string& column) const {
  std::string text = names_.Window(found_.buffers[0]);
  text += fmt::format("[{}]", layout_.has_rows() ? StencilLayout::Sum(names_.Own("r"), row - found_.lowest[1]) : "0");
  return text + fmt::format("[{}]", column);
}

std::string StencilGroups::ColumnSum(const std::vector<std::int64_t>& rows, const std::string& column) const {
  std::string text;
  for (const std::int64_t row : rows) text = Joined(text, false, Element(row, column));
  return text;
}

std::string StencilGroups::Columns(const std::string& indent) const {
  std::string text;
  const std::string j = names_.Own("j");
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string name = names_.Own(fmt::format("column_{}", i));
    text += fmt::format("{0}{1} {2}[{3}];\n#pragma unroll\n{0}for (int {4} = 0; {4} < {3}; ++{4}) {2}[{4}] = {5};\n", indent,
                        sum_.type, name, layout_.Columns(), j, ColumnSum(columns_[i], j));
  }
  return text;
}

std::string StencilGroups::GroupSum(const Group& group) const {
  std::string text;
  for (const auto& [column, rows] : RowsByColumn(group)) {
    const std::string at = StencilLayout::Sum(names_.Own("e"), column - found_.lowest[0]);
    const auto shared = std::find(columns_.begin(), columns_.end(), rows);
    text = Joined(text, false,
                  shared == columns_.end()
                      ? ColumnSum(rows, at)
                      : fmt::format("{}[{}]", names_.Own(fmt::format("column_{}", shared - columns_.begin())), at));
  }
  return text;
}

// Whether two planes add the same.
bool StencilGroups::SamePlanes(std::size_t a, std::size_t b) const {
  return std::all_of(groups_.begin(), groups_.end(), [&](const Group& group) { return group.weights[a] == group.weights[b]; });
}

// Whether what a plane adds is more than one sum, and another one adds the same.
bool StencilGroups::IsShared(std::size_t plane) const {
  const auto weighs = [&](const Group& group) { return group.weights[plane] && !group.weights[plane]->IsOne(); };
  const auto counts = [&](const Group& group) { return group.weights[plane].has_value(); };
  if (std::none_of(groups_.begin(), groups_.end(), weighs) && std::count_if(groups_.begin(), groups_.end(), counts) < 2)
    return false;
  const auto depth = static_cast<std::size_t>(layout_.Depth());
  for (std::size_t other = 0; other < depth; ++other) {
    if (other != plane && SamePlanes(plane, other)) return true;
  }
  return false;
}

// A result with a plane's sums, each times its weight.
std::string StencilGroups::WithSums(const std::string& before, std::size_t plane) const {
  std::string text = before;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const auto& weight = groups_[i].weights[plane];
    if (!weight) continue;
    const std::string sum = weight->IsOne() ? NameOf(i) : fmt::format("{} * {}", Spelled({weight->text, false}), NameOf(i));
    text = Joined(text, weight->negative, sum);
  }
  return text.empty() ? "0" : text;
}

// A result with what a plane adds to it.
std::string StencilGroups::Added(const std::string& before, std::size_t plane) const {
  if (!IsShared(plane)) return WithSums(before, plane);
  std::size_t first = 0;
  while (!SamePlanes(first, plane)) ++first;
  return Joined(before, false, names_.Own(fmt::format("part_{}", first)));
}

std::string StencilGroups::Sums(const std::string& indent, const std::string& result) const {
  const std::string e = names_.Own("e");
  std::string text;
  for (std::size_t i = 0; i < groups_.size(); ++i)
    text += fmt::format("{}const {} {} = {};\n", indent, sum_.type, NameOf(i), GroupSum(groups_[i]));
  const auto depth = static_cast<std::size_t>(layout_.Depth());
  for (std::size_t plane = 0; plane < depth; ++plane) {
    bool first = IsShared(plane);
    for (std::size_t other = 0; other < plane; ++other) first &= !SamePlanes(plane, other);
    if (!first) continue;
    text +=
        fmt::format("{}const {} {} = {};\n", indent, sum_.type, names_.Own(fmt::format("part_{}", plane)), WithSums("", plane));
  }
  const auto pending = [&](std::size_t i) {
    return fmt::format("{}[{}]{}[{}]", names_.Own("pending"), i, layout_.has_rows() ? fmt::format("[{}]", names_.Own("r")) : "",
                       e);
  };
  std::string finished = Added(pending(0), depth - 1);
  if (sum_.inside.number())
    finished = Joined(finished, sum_.inside.number()->negative, Spelled({sum_.inside.number()->text, false}));
  text += fmt::format("{}{} = {};\n", indent, result, finished);
  for (std::size_t i = 0; i + 2 < depth; ++i)
    text += fmt::format("{}{} = {};\n", indent, pending(i), Added(pending(i + 1), depth - 2 - i));
  text += fmt::format("{}{} = {};\n", indent, pending(depth - 2), Added("", 0));
  return text;
}

}  // namespace evo
