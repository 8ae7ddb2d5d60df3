#include "mutators/parallelism/stencils/stencil_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace evo {

StencilWriter::StencilWriter(const MutationContext& context, const Stencil& found, StencilParameters parameters, bool items,
                             bool is_staged)
    : tree_(context.tree),
      found_(found),
      parameters_(std::move(parameters)),
      names_(tree_, found),
      freedom_(tree_, found),
      layout_(found, names_, parameters_, items && freedom_.CanStoreLater(), is_staged),
      statements_(tree_, found, names_, layout_.has_items()),
      weights_(tree_, found, names_, freedom_, layout_.has_items()),
      text_(tree_, found, names_, layout_, statements_, weights_,
            is_staged ? SelectionIn(tree_, found, freedom_, statements_, weights_) : std::nullopt),
      loads_(tree_, found, parameters_, names_, layout_),
      stages_(tree_, found, parameters_, names_, layout_) {}

std::string StencilWriter::Begin() const {
  const char* const plane = layout_.has_rows() ? "plane" : "row";
  const std::string x = layout_.has_items() ? names_.First(0) : names_.Coordinate(0);
  std::string text;
  const auto line = [&](const std::string& one) { text += one + "\n"; };
  if (layout_.is_staged()) {
    text += stages_.Begin();
  } else if (found_.IsLine()) {
    line("// A thread loads its elements, and those around them, once.");
  } else {
    line(fmt::format(
        "// A block walks through {} {}s. Its threads keep what they still need of {} of them in registers, and load one",
        parameters_.steps, plane, layout_.Depth()));
    line(fmt::format("// {} in each step, {} steps before it is needed.", plane, parameters_.ahead));
    line(fmt::format("constexpr int {} = {};", names_.Own("kKept"), StencilLayout::Sum(parameters_.ahead, layout_.Depth())));
  }
  text += Beginning().Coordinates();
  std::string outside = fmt::format("{} >= {}", x, layout_.End(0));
  if (layout_.has_rows()) outside += fmt::format(" || {} >= {}", names_.First(1), layout_.End(1));
  if (!layout_.is_staged()) line(fmt::format("if ({}) return;", outside));
  if (layout_.has_items()) text += Beginning().Wholeness();
  const std::string i = names_.Counter("i");
  if (layout_.has_rows() && !layout_.is_staged()) {
    line(fmt::format("{} {}[{}];", names_.Index(), names_.Own("rows"), layout_.Rows()));
    line("#pragma unroll");
    line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3}{4} * {5} + {6};", i, layout_.Rows(), names_.Own("rows"),
                     found_.wide ? "(long long)" : "",
                     layout_.Existing(StencilLayout::Sum(names_.First(1) + " + " + i, found_.lowest[1]), 1),
                     found_.lengths[0].kernel, x));
  }
  return text;
}

// What a thread has computed of a row.
std::string StencilWriter::Stores(const std::string& indent) const {
  const std::string to = names_.Own("to"), x = names_.First(0), e = names_.Own("e");
  const std::string element = layout_.is_staged() ? fmt::format("{} + (long long){} * {}", names_.Own("to_first"),
                                                                names_.Own("r"), found_.lengths[0].kernel)
                                                  : layout_.Element(x);
  std::string text = fmt::format("{}const {} {} = {};\n{}if ({}) {{\n", indent,
                                 layout_.is_staged() ? "long long" : names_.Index(), to, element, indent, Beginning().Stored());
  for (const int buffer : found_.stored)
    text += fmt::format("{0}  *reinterpret_cast<{1}<{2}>*>(&{3}[{4}]) = {5};\n", indent, names_.Function("Items"),
                        names_.TypeOf(buffer), tree_.node(buffer).name, to, names_.Results(buffer));
  text +=
      fmt::format("{0}}} else {{\n#pragma unroll\n{0}  for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, e, parameters_.items);
  std::string inside = fmt::format("{} + {} < {}", x, e, layout_.End(0));
  if (!found_.stores[0].BeginsAtZero()) inside = fmt::format("{} + {} >= {} && {}", x, e, found_.stores[0].Low(), inside);
  text += fmt::format("{}    if ({}) {{\n", indent, inside);
  for (const int buffer : found_.stored)
    text +=
        fmt::format("{}      {}[{} + {}] = {}.values[{}];\n", indent, tree_.node(buffer).name, to, e, names_.Results(buffer), e);
  return text + fmt::format("{0}    }}\n{0}  }}\n{0}}}\n", indent);
}

std::string StencilWriter::Body() const {
  std::string indent = found_.IsLine() ? "" : "  ";
  std::string text =
      Begin() + text_.Lines(statements_.common(), "") + weights_.Loads() + (layout_.is_staged() ? stages_.Loop() : loads_.Loop());
  if (layout_.has_rows()) {
    const std::string r = names_.Own("r");
    text += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", indent, r, parameters_.rows);
    indent += "  ";
    text += fmt::format("{}const int {} = {} + {};\n{}if ({} >= {}) break;\n", indent, names_.Coordinate(1), names_.First(1), r,
                        indent, names_.Coordinate(1), layout_.End(1));
  }
  if (layout_.has_items()) {
    const std::string e = names_.Own("e"), row = indent;
    for (const int buffer : found_.stored)
      text += fmt::format("{}{}<{}> {};\n", row, names_.Function("Items"), names_.TypeOf(buffer), names_.Results(buffer));
    text += fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) {{\n", row, e, parameters_.items);
    indent += "  ";
    text += fmt::format("{}const int {} = {} + {};\n", indent, names_.Coordinate(0), names_.First(0), e);
    const bool of_elements_only = freedom_.IsOfElementsOnly(statements_);
    // What lies outside is not stored: a thread that only computes may do so there.
    if (of_elements_only && !found_.stores[0].BeginsAtZero())
      text += fmt::format("{}if ({} < {}) continue;\n", indent, names_.Coordinate(0), found_.stores[0].Low());
    if (of_elements_only) text += fmt::format("{}if ({} >= {}) break;\n", indent, names_.Coordinate(0), layout_.End(0));
    text += text_.Lines(statements_.in_loop(), indent) + row + "}\n" + Stores(row);
  } else {
    text += text_.Lines(statements_.in_loop(), indent);
  }
  if (!found_.IsLine()) text += layout_.has_rows() ? "  }\n}\n" : "}\n";
  return StencilText::Finished(tree_, "{\n" + StencilText::Indented(text) + "}");
}

}  // namespace evo
