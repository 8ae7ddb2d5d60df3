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
      layout_(found, names_, parameters_, freedom_.CanStoreLater(), true),
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
  return loads_.Types() + stages_.CopyFunction() + stages_.LoadFunction(names_.TypeOf(found_.buffers[0]));
}

std::string StencilSumWriter::Registers() const {
  // Of each element: results that are not finished, one that is, and what is stored at an edge.
  const std::int64_t results = groups_->Pending() + 1 + (HasOwn() ? Behind() : 0);
  return fmt::format("({}) * ({}) + {} * {} * {}", layout_.Rows(), layout_.Columns(), results, parameters_.rows,
                     parameters_.items);
}

std::string StencilSumWriter::Begin() const {
  std::string text = fmt::format(
      "// A block walks through {} planes. They come through shared memory, {} of them at a time under way. Of each plane a\n"
      "// thread sums up elements with equal weights, and adds the sums to the results of the planes around it.\n",
      parameters_.steps, parameters_.ahead);
  return text + ring_.Begin() + begin_.Coordinates() + begin_.Wholeness();
}

// Which of a thread's elements are at an edge, as far as that stays the same. The loop is not written out, lest the compiler
// works it out again in each step.
std::string StencilSumWriter::EdgeBits() const {
  if (!edges_ || edges_->of_thread.empty()) return "";
  const std::string n = names_.Own("n");
  std::string text = fmt::format(
      "// A bit for each element that lies at an edge. The loop stays a loop, lest this is worked out anew in each step.\n"
      "unsigned {0} = 0;\n#pragma unroll 1\nfor (int {1} = 0; {1} < {2} * {3}; ++{1}) {{\n",
      names_.Own("edges"), n, parameters_.rows, parameters_.items);
  text += fmt::format("  const int {} = {} + {} % {}, {} = {} + {} / {};\n", names_.Coordinate(0), names_.First(0), n,
                      parameters_.items, names_.Coordinate(1), names_.First(1), n, parameters_.items);
  return text + fmt::format("  if ({}) {} |= 1u << {};\n}}\n", fmt::join(edges_->of_thread, " || "), names_.Own("edges"), n);
}

// What is done for an element of a plane.
std::string StencilSumWriter::Element() const {
  const std::string r = names_.Own("r"), e = names_.Own("e"), indent = "      ";
  const std::string inside = names_.Own("inside");
  std::string text = groups_->Sums(indent, fmt::format("const {} {}", sum_.type, inside));
  std::string value = inside;
  const std::string centre = fmt::format("{}[{}][{}]", names_.Window(found_.buffers[0]), StencilLayout::Sum(r, -found_.lowest[1]),
                                         StencilLayout::Sum(e, -found_.lowest[0]));
  const auto own = [&](std::int64_t plane) {
    return plane == Behind() ? centre : fmt::format("{}[{}][{}][{}]", names_.Own("own"), plane, r, e);
  };
  if (edges_) {
    std::string edge;
    for (const auto& [place, weight] : sum_.edge.neighbours())
      edge = weight.IsOne() ? (weight.negative ? "-" : "") + own(0) : fmt::format("{} * {}", groups_->Spelled(weight), own(0));
    if (sum_.edge.number()) edge += (edge.empty() ? "" : " + ") + groups_->Spelled(*sum_.edge.number());
    if (edge.empty()) edge = "0";
    value = fmt::format("{} ? {} : {}",
                        edges_->of_thread.empty()
                            ? names_.Own("at_edge")
                            : fmt::format("{} >> ({} * {} + {}) & 1", names_.Own("at_edge"), r, parameters_.items, e),
                        edge, inside);
  }
  text += fmt::format("{}{}[{}].values[{}] = {};\n", indent, names_.Results(found_.stored[0]), r, e, value);
  if (!HasOwn()) return text;
  for (std::int64_t plane = 0; plane < Behind(); ++plane) text += fmt::format("{}{} = {};\n", indent, own(plane), own(plane + 1));
  return text;
}

// The function that takes the next plane.
std::string StencilSumWriter::Advance() const {
  const std::size_t last = layout_.last();
  const std::string z = names_.Coordinate(last), slot = names_.Own("slot"), r = names_.Own("r"), e = names_.Own("e");
  const std::string results = names_.Results(found_.stored[0]);
  const int buffer = found_.buffers[0];
  std::string text = fmt::format("const auto {} = [&](int {}, int {}, {}<{}> (&{})[{}]) {{\n", names_.Own("advance"), z, slot,
                                 names_.Function("Items"), names_.TypeOf(found_.stored[0]), results, parameters_.rows);
  text += "  // The plane is there, and no thread needs the one any more whose place the next takes.\n";
  text += fmt::format("  __pipeline_wait_prior({0} - 1);\n  __syncthreads();\n", parameters_.ahead);
  text += fmt::format("  {0}({1} + {2}, ({3} + {2}) % ({2} + 1));\n", names_.Own("stage"),
                      StencilLayout::Sum(z, found_.highest[last]), parameters_.ahead, slot);
  text += fmt::format("  {}({}, {}[{}]);\n", names_.Function("LoadAround"), names_.Window(buffer), names_.Staged(buffer), slot);
  if (edges_ && edges_->of_thread.empty())
    text += fmt::format("  const bool {} = {};\n", names_.Own("at_edge"), fmt::join(edges_->of_walk, " || "));
  else if (edges_ && edges_->of_walk.empty())
    text += fmt::format("  const unsigned {} = {};\n", names_.Own("at_edge"), names_.Own("edges"));
  else if (edges_)
    text += fmt::format("  const unsigned {} = {} ? ~0u : {};\n", names_.Own("at_edge"), fmt::join(edges_->of_walk, " || "),
                        names_.Own("edges"));
  text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} < {1}; ++{0}) {{\n", r, parameters_.rows);
  text += groups_->Columns("    ");
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {{\n", e, parameters_.items);
  return text + Element() + "    }\n  }\n};\n";
}

std::string StencilSumWriter::Stores() const {
  const std::string r = names_.Own("r"), e = names_.Own("e"), to = names_.Own("to"), indent = "    ";
  const int buffer = found_.stored[0];
  const std::string results = names_.Results(buffer);
  std::string text = fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, r, parameters_.rows);
  text += fmt::format("{}  {}* const {} = {} + (long long){} * {};\n", indent, names_.TypeOf(buffer), to, names_.Own("to_first"),
                      r, found_.lengths[0].kernel);
  text += fmt::format("{}  if ({} < {}) *reinterpret_cast<{}<{}>*>({}) = {}[{}];\n{}}}\n", indent, r, names_.Own("stored_rows"),
                      names_.Function("Items"), names_.TypeOf(buffer), to, results, r, indent);
  text += fmt::format("{}if (!{}) {{\n#pragma unroll\n{}  for (int {} = 0; {} < {}; ++{}) {{\n", indent, begin_.Stored(), indent,
                      r, r, parameters_.rows, r);
  text += fmt::format("{}    if ({} + {} >= {}) break;\n#pragma unroll\n{}    for (int {} = 0; {} < {}; ++{}) {{\n", indent,
                      names_.First(1), r, layout_.End(1), indent, e, e, parameters_.items, e);
  std::string inside = fmt::format("{} + {} < {}", names_.First(0), e, layout_.End(0));
  if (found_.stores[0].low > 0) inside = fmt::format("{} + {} >= {} && {}", names_.First(0), e, found_.stores[0].low, inside);
  text += fmt::format("{0}      if ({1}) {2}[(long long){3} * {4} + {5}] = {6}[{3}].values[{5}];\n", indent, inside,
                      names_.Own("to_first"), r, found_.lengths[0].kernel, e, results);
  return text + fmt::format("{0}    }}\n{0}  }}\n{0}}}\n", indent);
}

std::string StencilSumWriter::Loop() const {
  const std::size_t last = layout_.last();
  const std::int64_t lowest = found_.lowest[last], depth = layout_.Depth();
  const std::string first = names_.First(last), k = names_.Own("k"), z = names_.Coordinate(last), slot = names_.Own("slot");
  const std::string turn = names_.Own("turn"), results = names_.Results(found_.stored[0]), rows = parameters_.rows;
  const std::string of_element = fmt::format("[{}][{}]", rows, parameters_.items);
  const int buffer = found_.buffers[0];
  std::string text = EdgeBits();
  text += fmt::format("{} {}[{}][{}];\n", names_.TypeOf(buffer), names_.Window(buffer), layout_.Rows(), layout_.Columns());
  text += "// Results that more planes add to.\n";
  text += fmt::format("{} {}[{}]{} = {{}};\n", sum_.type, names_.Own("pending"), groups_->Pending(), of_element);
  if (HasOwn() && Behind() > 0)
    text += fmt::format("{} {}[{}]{} = {{}};\n", names_.TypeOf(buffer), names_.Own("own"), Behind(), of_element);
  text += fmt::format("{}<{}> {}[{}];\n", names_.Function("Items"), names_.TypeOf(found_.stored[0]), results, rows);
  text += Advance();
  text += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {2}({3} + {0}, {0});\n", k, parameters_.ahead,
                      names_.Own("stage"), StencilLayout::Sum(first, lowest));
  text += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {2}({3} + {0}, {0} % ({4} + 1), {5});\n", k, depth - 1,
                      names_.Own("advance"), StencilLayout::Sum(first, 1 - depth), parameters_.ahead, results);
  text += fmt::format("{}* {} = {} + (((long long){} * {} + {}) * {} + {});\n", names_.TypeOf(found_.stored[0]),
                      names_.Own("to_first"), tree_.node(found_.stored[0]).name, first, found_.lengths[1].kernel, names_.First(1),
                      found_.lengths[0].kernel, names_.First(0));
  text += fmt::format("const int {} = {} ? {} - {} : 0;\n", names_.Own("stored_rows"), begin_.Stored(), layout_.End(1),
                      names_.First(1));
  text += fmt::format("for (int {0} = {1};; {0} += {2} + 1) {{\n", turn, first, parameters_.ahead);
  text += fmt::format("#pragma unroll\n  for (int {0} = 0; {0} <= {1}; ++{0}) {{\n    const int {2} = {3} + {0};\n", slot,
                      parameters_.ahead, z, turn);
  text += fmt::format("    if ({} >= {}) return;\n    {}({}, ({} + {}) % ({} + 1), {});\n", z, names_.Own("end"),
                      names_.Own("advance"), z, slot, depth - 1, parameters_.ahead, results);
  return text + Stores() + fmt::format("    {} += {};\n  }}\n}}\n", names_.Own("to_first"), names_.Own("plane_size"));
}

std::string StencilSumWriter::Body() const {
  const std::string text =
      Begin() + text_.Lines(statements_.common(), "") + weights_.Loads() + groups_->Weights() + ring_.Stage() + Loop();
  return StencilText::Finished(tree_, "{\n" + StencilText::Indented(text) + "}");
}

}  // namespace evo
