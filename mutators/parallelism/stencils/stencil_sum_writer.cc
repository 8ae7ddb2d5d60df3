#include "mutators/parallelism/stencils/stencil_sum_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "mutators/analysis/source/source_query.h"

namespace evo {

StencilSumWriter::StencilSumWriter(const MutationContext& context, const Stencil& found, StencilParameters parameters)
    : parts_(context.tree, found, std::move(parameters), true, found.dimensions == 3),
      text_(parts_.tree, found, parts_.names, parts_.layout, parts_.statements, parts_.weights, std::nullopt),
      begin_(parts_.tree, found, parts_.parameters, parts_.names, parts_.layout),
      loads_(parts_.tree, found, parts_.parameters, parts_.names, parts_.layout),
      stages_(parts_.tree, found, parts_.parameters, parts_.names, parts_.layout),
      ring_(parts_.tree, found, parts_.parameters, parts_.names, parts_.layout),
      why_(Understand()) {}

std::string StencilSumWriter::Understand() {
  if (!parts_.layout.has_items()) return "not every element is stored for certain";
  if (parts_.found.buffers.size() != 1 || parts_.found.stored.size() != 1)
    return "it reads neighbours of several buffers, or stores to several";
  for (const int buffer : {parts_.found.buffers[0], parts_.found.stored[0]}) {
    const std::string type = PointedTo(parts_.tree, buffer);
    if (type != "float" && type != "double") return fmt::format("{} has no elements of float", parts_.tree.node(buffer).name);
  }
  auto sum = StencilSumFinder(parts_).Find();
  if (const auto* why = std::get_if<std::string>(&sum)) return *why;
  sum_ = std::get<StencilSum>(std::move(sum));
  if (sum_.type != "float" && sum_.type != "double") return "its sums are not of float";
  if (sum_.condition >= 0) {
    edges_ = StencilEdgeFinder(parts_.tree, parts_.found, parts_.names, parts_.statements).Find(sum_.condition, sum_.inside_if);
    if (!edges_) return "the condition for edges is not understood";
  }
  groups_.emplace(parts_.found, sum_, parts_.names, parts_.parameters, parts_.layout);
  return groups_->AreWorthIt() ? "" : "no two elements of a plane have equal weights";
}

std::string StencilSumWriter::Functions() const {
  if (!parts_.layout.has_rows()) return loads_.Functions();
  return loads_.Types() + stages_.CopyFunction() + stages_.LoadFunction(parts_.names.TypeOf(parts_.found.buffers[0]));
}

std::string StencilSumWriter::Registers() const {
  // Of each element: results that are not finished, one that is, and what is stored at an edge.
  const std::int64_t results = groups_->Pending() + 1 + (HasOwn() ? Behind() : 0);
  if (!parts_.layout.has_rows())
    return fmt::format("({}) * ({}) + {} * {}", StencilLayout::Sum(parts_.parameters.ahead, 1), parts_.layout.Columns(), results,
                       parts_.parameters.items);
  return fmt::format("({}) * ({}) + {} * {} * {}", parts_.layout.Rows(), parts_.layout.Columns(), results, parts_.parameters.rows,
                     parts_.parameters.items);
}

std::string StencilSumWriter::Begin() const {
  const char* const plane = parts_.layout.has_rows() ? "plane" : "row";
  std::string text = fmt::format(
      "// A block walks through {} {}s. Of each {} a thread sums up elements with equal weights, and\n"
      "// adds the sums to the results of the {}s around it. ",
      parts_.parameters.steps, plane, plane, plane);
  if (parts_.layout.has_rows()) {
    text += fmt::format("{} planes at a time come through shared memory.\n", parts_.parameters.ahead) + ring_.Begin();
    return text + begin_.Coordinates() + begin_.Wholeness();
  }
  text += fmt::format("It loads a row {} steps before it is needed.\nconstexpr int {} = {};\n", parts_.parameters.ahead,
                      parts_.names.Own("kKept"), StencilLayout::Sum(parts_.parameters.ahead, 1));
  return text + begin_.Coordinates() + fmt::format("if ({} >= {}) return;\n", parts_.names.First(0), parts_.layout.End(0)) +
         begin_.Wholeness();
}

// Which of a thread's elements are at an edge, as far as that stays the same. The loop is not written out, lest the compiler
// works it out again in each step.
std::string StencilSumWriter::EdgeBits() const {
  if (!edges_ || edges_->of_thread.empty()) return "";
  const std::string n = parts_.names.Own("n"), &items = parts_.parameters.items;
  const std::string elements = parts_.layout.has_rows() ? fmt::format("{} * {}", parts_.parameters.rows, items) : items;
  std::string text = fmt::format(
      "// A bit for each element that lies at an edge. The loop stays a loop, lest this is worked out anew in each step.\n"
      "unsigned {0} = 0;\n#pragma unroll 1\nfor (int {1} = 0; {1} < {2}; ++{1}) {{\n",
      parts_.names.Own("edges"), n, elements);
  if (parts_.layout.has_rows())
    text += fmt::format("  const int {} = {} + {} % {}, {} = {} + {} / {};\n", parts_.names.Coordinate(0), parts_.names.First(0),
                        n, items, parts_.names.Coordinate(1), parts_.names.First(1), n, items);
  else
    text += fmt::format("  const int {} = {} + {};\n", parts_.names.Coordinate(0), parts_.names.First(0), n);
  return text +
         fmt::format("  if ({}) {} |= 1u << {};\n}}\n", fmt::join(edges_->of_thread, " || "), parts_.names.Own("edges"), n);
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
  const std::string r = parts_.names.Own("r"), e = parts_.names.Own("e"), inside = parts_.names.Own("inside"),
                    at_edge = parts_.names.Own("at_edge");
  const std::string window = parts_.names.Window(parts_.found.buffers[0]),
                    column = StencilLayout::Sum(e, -parts_.found.lowest[0]);
  const bool rows = parts_.layout.has_rows();
  const std::string centre = rows ? fmt::format("{}[{}][{}]", window, StencilLayout::Sum(r, -parts_.found.lowest[1]), column)
                                  : fmt::format("{}[0][{}]", window, column);
  const auto own = [&](std::int64_t plane) {
    return plane == Behind() ? centre
                             : fmt::format("{}[{}]{}[{}]", parts_.names.Own("own"), plane, rows ? fmt::format("[{}]", r) : "", e);
  };
  std::string text = groups_->Sums(indent, fmt::format("const {} {}", sum_.type, inside));
  std::string value = inside;
  if (edges_) {
    const std::string bit = rows ? fmt::format("({} * {} + {})", r, parts_.parameters.items, e) : e;
    value = fmt::format("{} ? {} : {}", edges_->of_thread.empty() ? at_edge : fmt::format("{} >> {} & 1", at_edge, bit),
                        EdgeValue(own(0)), inside);
  }
  text += fmt::format("{}{}{}.values[{}] = {};\n", indent, parts_.names.Results(parts_.found.stored[0]),
                      rows ? fmt::format("[{}]", r) : "", e, value);
  if (!HasOwn()) return text;
  for (std::int64_t plane = 0; plane < Behind(); ++plane) text += fmt::format("{}{} = {};\n", indent, own(plane), own(plane + 1));
  return text;
}

// What is done with a plane that is there.
std::string StencilSumWriter::Taken() const {
  const std::string r = parts_.names.Own("r"), e = parts_.names.Own("e"), at_edge = parts_.names.Own("at_edge"),
                    edges = parts_.names.Own("edges");
  std::string text, indent = "  ";
  if (edges_ && edges_->of_thread.empty())
    text += fmt::format("  const bool {} = {};\n", at_edge, fmt::join(edges_->of_walk, " || "));
  else if (edges_ && edges_->of_walk.empty())
    text += fmt::format("  const unsigned {} = {};\n", at_edge, edges);
  else if (edges_)
    text += fmt::format("  const unsigned {} = {} ? ~0u : {};\n", at_edge, fmt::join(edges_->of_walk, " || "), edges);
  if (parts_.layout.has_rows()) {
    text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < {1}; ++{0}) {{\n", r, parts_.parameters.rows);
    indent += "  ";
  }
  text += groups_->Columns(indent);
  text += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, e, parts_.parameters.items);
  text += Element(indent + "  ") + indent + "}\n";
  return text + (parts_.layout.has_rows() ? "  }\n};\n" : "};\n");
}

// What a thread keeps from step to step.
std::string StencilSumWriter::Kept() const {
  const int buffer = parts_.found.buffers[0];
  const std::string plane = parts_.layout.has_rows() ? parts_.layout.Rows() : parts_.names.Own("kKept");
  const std::string rows = parts_.layout.has_rows() ? fmt::format("[{}]", parts_.parameters.rows) : "";
  const std::string of_element = fmt::format("{}[{}]", rows, parts_.parameters.items);
  std::string text = EdgeBits();
  text +=
      fmt::format("{} {}[{}][{}];\n", parts_.names.TypeOf(buffer), parts_.names.Window(buffer), plane, parts_.layout.Columns());
  text += fmt::format("// Results that more {}s add to.\n", parts_.layout.has_rows() ? "plane" : "row");
  text += fmt::format("{} {}[{}]{} = {{}};\n", sum_.type, parts_.names.Own("pending"), groups_->Pending(), of_element);
  if (HasOwn() && Behind() > 0)
    text += fmt::format("{} {}[{}]{} = {{}};\n", parts_.names.TypeOf(buffer), parts_.names.Own("own"), Behind(), of_element);
  return text + fmt::format("{}<{}> {}{};\n", parts_.names.Function("Items"), parts_.names.TypeOf(parts_.found.stored[0]),
                            parts_.names.Results(parts_.found.stored[0]), rows);
}

std::string StencilSumWriter::Body() const {
  std::string text = Begin() + text_.Lines(parts_.statements.common(), "") + parts_.weights.Loads() + groups_->Weights();
  text += parts_.layout.has_rows() ? ring_.Stage() + Kept() + PlaneLoop() : Kept() + RowLoop();
  return StencilText::Finished(parts_.tree, "{\n" + StencilText::Indented(text) + "}");
}

}  // namespace evo
