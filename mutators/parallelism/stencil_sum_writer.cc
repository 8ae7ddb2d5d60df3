#include "mutators/parallelism/stencil_sum_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "mutators/analysis/convolution_parts.h"

namespace evo {

StencilSumWriter::StencilSumWriter(const MutationContext& context, const Stencil& found, StencilParameters parameters)
    : tree_(context.tree),
      found_(found),
      parameters_(std::move(parameters)),
      names_(tree_, found),
      freedom_(tree_, found),
      layout_(found, names_, parameters_, freedom_.CanStoreLater(), found.dimensions == 3),
      statements_(tree_, found, names_, layout_.has_items()),
      weights_(tree_, found, names_, freedom_, layout_.has_items()),
      text_(tree_, found, names_, layout_, statements_, weights_, std::nullopt),
      begin_(tree_, found, parameters_, names_, layout_),
      loads_(tree_, found, parameters_, names_, layout_),
      stages_(tree_, found, parameters_, names_, layout_),
      ring_(tree_, found, parameters_, names_, layout_),
      why_(Understand()) {}

std::string StencilSumWriter::Understand() {
  if (!layout_.has_items()) return "not every element is stored for certain";
  if (found_.buffers.size() != 1 || found_.stored.size() != 1)
    return "it reads neighbours of several buffers, or stores to several";
  for (const int buffer : {found_.buffers[0], found_.stored[0]}) {
    const std::string type = PointedTo(tree_, buffer);
    if (type != "float" && type != "double") return fmt::format("{} has no elements of float", tree_.node(buffer).name);
  }
  auto sum = StencilSumFinder(tree_, found_, statements_, weights_, names_).Find();
  if (const auto* why = std::get_if<std::string>(&sum)) return *why;
  sum_ = std::get<StencilSum>(std::move(sum));
  if (sum_.type != "float" && sum_.type != "double") return "its sums are not of float";
  if (sum_.condition >= 0) {
    edges_ = StencilEdgeFinder(tree_, found_, names_, statements_).Find(sum_.condition, sum_.inside_if);
    if (!edges_) return "the condition for edges is not understood";
  }
  groups_.emplace(found_, sum_, names_, parameters_, layout_);
  return groups_->AreWorthIt() ? "" : "no two elements of a plane have equal weights";
}

std::string StencilSumWriter::Functions() const {
  if (!layout_.has_rows()) return loads_.Functions();
  return loads_.Types() + stages_.CopyFunction() + stages_.LoadFunction(names_.TypeOf(found_.buffers[0]));
}

std::string StencilSumWriter::Registers() const {
  // Of each element: results that are not finished, one that is, and what is stored at an edge.
  const std::int64_t results = groups_->Pending() + 1 + (HasOwn() ? Behind() : 0);
  if (!layout_.has_rows())
    return fmt::format("({}) * ({}) + {} * {}", StencilLayout::Sum(parameters_.ahead, 1), layout_.Columns(), results,
                       parameters_.items);
  return fmt::format("({}) * ({}) + {} * {} * {}", layout_.Rows(), layout_.Columns(), results, parameters_.rows,
                     parameters_.items);
}

std::string StencilSumWriter::Begin() const {
  const char* const plane = layout_.has_rows() ? "plane" : "row";
  std::string text = fmt::format(
      "// A block walks through {} {}s. Of each {} a thread sums up elements with equal weights, and\n"
      "// adds the sums to the results of the {}s around it. ",
      parameters_.steps, plane, plane, plane);
  if (layout_.has_rows()) {
    text += fmt::format("{} planes at a time come through shared memory.\n", parameters_.ahead) + ring_.Begin();
    return text + begin_.Coordinates() + begin_.Wholeness();
  }
  text += fmt::format("It loads a row {} steps before it is needed.\nconstexpr int {} = {};\n", parameters_.ahead,
                      names_.Own("kKept"), StencilLayout::Sum(parameters_.ahead, 1));
  return text + begin_.Coordinates() + fmt::format("if ({} >= {}) return;\n", names_.First(0), layout_.End(0)) +
         begin_.Wholeness();
}

// Which of a thread's elements are at an edge, as far as that stays the same. The loop is not written out, lest the compiler
// works it out again in each step.
std::string StencilSumWriter::EdgeBits() const {
  if (!edges_ || edges_->of_thread.empty()) return "";
  const std::string n = names_.Own("n"), &items = parameters_.items;
  const std::string elements = layout_.has_rows() ? fmt::format("{} * {}", parameters_.rows, items) : items;
  std::string text = fmt::format(
      "// A bit for each element that lies at an edge. The loop stays a loop, lest this is worked out anew in each step.\n"
      "unsigned {0} = 0;\n#pragma unroll 1\nfor (int {1} = 0; {1} < {2}; ++{1}) {{\n",
      names_.Own("edges"), n, elements);
  if (layout_.has_rows())
    text += fmt::format("  const int {} = {} + {} % {}, {} = {} + {} / {};\n", names_.Coordinate(0), names_.First(0), n, items,
                        names_.Coordinate(1), names_.First(1), n, items);
  else
    text += fmt::format("  const int {} = {} + {};\n", names_.Coordinate(0), names_.First(0), n);
  return text + fmt::format("  if ({}) {} |= 1u << {};\n}}\n", fmt::join(edges_->of_thread, " || "), names_.Own("edges"), n);
}

// What is stored for an element at an edge.
std::string StencilSumWriter::EdgeValue(const std::string& own) const {
  std::string edge;
  for (const auto& [place, weight] : sum_.edge.neighbours())
    edge = weight.IsOne() ? (weight.negative ? "-" : "") + own : fmt::format("{} * {}", groups_->Spelled(weight), own);
  if (sum_.edge.number()) edge += (edge.empty() ? "" : " + ") + groups_->Spelled(*sum_.edge.number());
  return edge.empty() ? "0" : edge;
}

// What is done for an element of a plane.
std::string StencilSumWriter::Element(const std::string& indent) const {
  const std::string r = names_.Own("r"), e = names_.Own("e"), inside = names_.Own("inside"), at_edge = names_.Own("at_edge");
  const std::string window = names_.Window(found_.buffers[0]), column = StencilLayout::Sum(e, -found_.lowest[0]);
  const bool rows = layout_.has_rows();
  const std::string centre = rows ? fmt::format("{}[{}][{}]", window, StencilLayout::Sum(r, -found_.lowest[1]), column)
                                  : fmt::format("{}[0][{}]", window, column);
  const auto own = [&](std::int64_t plane) {
    return plane == Behind() ? centre
                             : fmt::format("{}[{}]{}[{}]", names_.Own("own"), plane, rows ? fmt::format("[{}]", r) : "", e);
  };
  std::string text = groups_->Sums(indent, fmt::format("const {} {}", sum_.type, inside));
  std::string value = inside;
  if (edges_) {
    const std::string bit = rows ? fmt::format("({} * {} + {})", r, parameters_.items, e) : e;
    value = fmt::format("{} ? {} : {}", edges_->of_thread.empty() ? at_edge : fmt::format("{} >> {} & 1", at_edge, bit),
                        EdgeValue(own(0)), inside);
  }
  text += fmt::format("{}{}{}.values[{}] = {};\n", indent, names_.Results(found_.stored[0]), rows ? fmt::format("[{}]", r) : "",
                      e, value);
  if (!HasOwn()) return text;
  for (std::int64_t plane = 0; plane < Behind(); ++plane) text += fmt::format("{}{} = {};\n", indent, own(plane), own(plane + 1));
  return text;
}

// What is done with a plane that is there.
std::string StencilSumWriter::Taken() const {
  const std::string r = names_.Own("r"), e = names_.Own("e"), at_edge = names_.Own("at_edge"), edges = names_.Own("edges");
  std::string text, indent = "  ";
  if (edges_ && edges_->of_thread.empty())
    text += fmt::format("  const bool {} = {};\n", at_edge, fmt::join(edges_->of_walk, " || "));
  else if (edges_ && edges_->of_walk.empty())
    text += fmt::format("  const unsigned {} = {};\n", at_edge, edges);
  else if (edges_)
    text += fmt::format("  const unsigned {} = {} ? ~0u : {};\n", at_edge, fmt::join(edges_->of_walk, " || "), edges);
  if (layout_.has_rows()) {
    text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < {1}; ++{0}) {{\n", r, parameters_.rows);
    indent += "  ";
  }
  text += groups_->Columns(indent);
  text += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, e, parameters_.items);
  text += Element(indent + "  ") + indent + "}\n";
  return text + (layout_.has_rows() ? "  }\n};\n" : "};\n");
}

// What a thread keeps from step to step.
std::string StencilSumWriter::Kept() const {
  const int buffer = found_.buffers[0];
  const std::string plane = layout_.has_rows() ? layout_.Rows() : names_.Own("kKept");
  const std::string rows = layout_.has_rows() ? fmt::format("[{}]", parameters_.rows) : "";
  const std::string of_element = fmt::format("{}[{}]", rows, parameters_.items);
  std::string text = EdgeBits();
  text += fmt::format("{} {}[{}][{}];\n", names_.TypeOf(buffer), names_.Window(buffer), plane, layout_.Columns());
  text += fmt::format("// Results that more {}s add to.\n", layout_.has_rows() ? "plane" : "row");
  text += fmt::format("{} {}[{}]{} = {{}};\n", sum_.type, names_.Own("pending"), groups_->Pending(), of_element);
  if (HasOwn() && Behind() > 0)
    text += fmt::format("{} {}[{}]{} = {{}};\n", names_.TypeOf(buffer), names_.Own("own"), Behind(), of_element);
  return text + fmt::format("{}<{}> {}{};\n", names_.Function("Items"), names_.TypeOf(found_.stored[0]),
                            names_.Results(found_.stored[0]), rows);
}

std::string StencilSumWriter::Body() const {
  std::string text = Begin() + text_.Lines(statements_.common(), "") + weights_.Loads() + groups_->Weights();
  text += layout_.has_rows() ? ring_.Stage() + Kept() + PlaneLoop() : Kept() + RowLoop();
  return StencilText::Finished(tree_, "{\n" + StencilText::Indented(text) + "}");
}

}  // namespace evo
