#include "mutators/parallelism/stencils/stencil_ring.h"

#include <fmt/format.h>

namespace evo {

StencilRing::StencilRing(const SyntaxTree& tree, const Stencil& found, const StencilParameters& parameters,
                         const StencilNames& names, const StencilLayout& layout)
    : tree_(tree),
      found_(found),
      parameters_(parameters),
      names_(names),
      layout_(layout),
      buffer_(found.buffers.front()),
      type_(names.TypeOf(buffer_)),
      beside_(found.highest[0] - found.lowest[0]) {}

std::string StencilRing::Begin() const {
  const std::string memory = names_.Function("memory"), plane = names_.Own("Plane");
  std::string text = fmt::format("extern __shared__ __align__(32) unsigned char {}[];\n", memory);
  text += fmt::format("using {} = {}[{}][{}];\n", plane, type_, layout_.TileRows(), layout_.TileColumns());
  return text + fmt::format("{0}* const {1} = reinterpret_cast<{0}*>({2});\n", plane, names_.Staged(buffer_), memory);
}

std::string StencilRing::Sides() const {
  return fmt::format("(({0}) * {1} + {2} * {3} - 1) / ({2} * {3})", layout_.TileRows(), beside_, parameters_.threads_x,
                     parameters_.threads_y);
}

// Where a row of the tile begins in a plane.
std::string StencilRing::Row(const std::string& row) const {
  const std::string y = layout_.FromLow(
      fmt::format("(int)(blockIdx.y * {} * {} + {})", parameters_.threads_y, parameters_.rows, row), 1, found_.lowest[1]);
  return fmt::format("(long long){} * {}", layout_.Existing(y, 1), found_.lengths[0].kernel);
}

std::string StencilRing::Sources() const {
  const std::size_t last = layout_.last();
  const std::int64_t left = -found_.lowest[0];
  const std::string i = names_.Own("i"), whole = names_.Own("whole"), x = names_.First(0);
  std::string text = fmt::format("const long long {} = (long long){} * {};\n", names_.Own("plane_size"), found_.lengths[0].kernel,
                                 found_.lengths[1].kernel);
  text += "// Where the thread copies from: rows, and elements beside those of the block.\n";
  text +=
      fmt::format("const {}* const {} = {} + {} * {};\n", type_, names_.Own("lowest"), tree_.node(buffer_).name,
                  layout_.Existing(StencilLayout::Sum(names_.First(last), found_.lowest[last]), last), names_.Own("plane_size"));
  text += fmt::format(
      "const {0}* {1}[{2}];\n#pragma unroll\nfor (int {3} = 0; {3} < {2}; ++{3}) {1}[{3}] = {4} + ({5} + ({6} ? {7} : 0));\n",
      type_, names_.Own("sources"), layout_.Copies(), i, names_.Own("lowest"),
      Row(fmt::format("threadIdx.y + {} * {}", i, parameters_.threads_y)), whole, x);
  if (beside_ == 0) return text;
  const std::string n = names_.Own("n"), row = names_.Own("row"), away = names_.Own("away");
  const std::string outer = fmt::format("{} * {} - {}", parameters_.threads_x, parameters_.items, left);
  text += fmt::format("const int {} = threadIdx.y * {} + threadIdx.x;\n", names_.Own("thread"), parameters_.threads_x);
  text += fmt::format("const {}* {}[{}];\nint {}[{}];\n#pragma unroll\nfor (int {} = 0; {} < {}; ++{}) {{\n", type_,
                      names_.Own("beside"), Sides(), names_.Own("places"), Sides(), i, i, Sides(), i);
  text += fmt::format("  const int {0} = {1} + {2} * {3} * {4}, {5} = {0} / {6};\n", n, names_.Own("thread"), i,
                      parameters_.threads_x, parameters_.threads_y, row, beside_);
  text += fmt::format("  const int {0} = {1} % {2} + ({1} % {2} < {3} ? -{3} : {4});\n", away, n, beside_, left, outer);
  text += fmt::format(
      "  {}[{}] = {} + ({} + {});\n", names_.Own("beside"), i, names_.Own("lowest"), Row(row),
      layout_.Existing(fmt::format("(int)(blockIdx.x * {} * {}) + {}", parameters_.threads_x, parameters_.items, away), 0));
  const std::string pad = left == 0 ? "" : fmt::format("{} * {} + ", layout_.Groups(left), parameters_.items);
  return text +
         fmt::format("  {}[{}] = {} * (({})) + {}{};\n}}\n", names_.Own("places"), i, row, layout_.TileColumns(), pad, away);
}

// The copies of a plane.
std::string StencilRing::Copies() const {
  const std::string i = names_.Own("i"), e = names_.Own("e"), items = names_.Function("Items"),
                    copy = names_.Function("StartCopy");
  const std::int64_t left = -found_.lowest[0];
  const std::string column = left == 0 ? fmt::format("threadIdx.x * {}", parameters_.items)
                                       : fmt::format("({} + threadIdx.x) * {}", layout_.Groups(left), parameters_.items);
  const std::string rows = fmt::format(
      "#pragma unroll\n      for (int {0} = 0; {0} < {1}; ++{0}) {{\n"
      "        if ({0} >= {2} && threadIdx.y + {0} * {3} >= {4}) break;\n"
      "        {5}* const to = &{6}[{7}][threadIdx.y + {0} * {3}][{8}];\n",
      i, layout_.Copies(), parameters_.rows, parameters_.threads_y, layout_.TileRows(), type_, names_.Staged(buffer_),
      names_.Own("slot"), column);
  std::string text = fmt::format("    if ({}) {{\n{}", names_.Own("whole"), rows);
  text += fmt::format("        {0}(reinterpret_cast<{1}<{2}>*>(to), reinterpret_cast<const {1}<{2}>*>({3}[{4}]));\n      }}\n",
                      copy, items, type_, names_.Own("sources"), i);
  text += fmt::format(
      "    }} else {{\n{0}#pragma unroll\n        for (int {1} = 0; {1} < {2}; ++{1}) {3}(&to[{1}], &{4}[{5}][{6}]);\n"
      "      }}\n    }}\n",
      rows, e, parameters_.items, copy, names_.Own("sources"), i,
      layout_.Existing(fmt::format("{} + {}", names_.First(0), e), 0));
  if (beside_ > 0)
    text += fmt::format(
        "#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {{\n"
        "      if ({2} + {0} * {3} * {4} < ({5}) * {6}) {7}(&{8}[{9}][0][0] + {10}[{0}], {11}[{0}]);\n    }}\n",
        i, Sides(), names_.Own("thread"), parameters_.threads_x, parameters_.threads_y, layout_.TileRows(), beside_, copy,
        names_.Staged(buffer_), names_.Own("slot"), names_.Own("places"), names_.Own("beside"));
  return text;
}

std::string StencilRing::Stage() const {
  const std::size_t last = layout_.last();
  const std::string next = names_.Own("next"), step = names_.Own("step"), i = names_.Own("i");
  const Stencil::Range& planes = found_.reads[last];
  std::string text = Sources();
  text += fmt::format("const auto {} = [&](int {}, int {}) {{\n  if ({} < {}) {{\n", names_.Own("stage"), next,
                      names_.Own("slot"), next, StencilLayout::Sum(names_.Own("end"), found_.highest[last]));
  text += Copies();
  const std::string end = StencilLayout::Plain(planes.end.kernel), size = names_.Own("plane_size");
  if (found_.periodic[last])
    text += fmt::format("    const long long {0} = {1} == {2} - 1 ? ({3} + 1 - (long long)({2})) * {4} : {4};\n", step,
                        layout_.Existing(next, last), end, planes.Low(), size);
  else
    text +=
        fmt::format("    const long long {0} = {1} >= {2} && {1} < {3} - 1 ? {4} : 0;\n", step, next, planes.Low(), end, size);
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] += {3};\n", i, layout_.Copies(),
                      names_.Own("sources"), step);
  if (beside_ > 0)
    text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; ++{0}) {2}[{0}] += {3};\n", i, Sides(),
                        names_.Own("beside"), step);
  return text + "  }\n  __pipeline_commit();\n};\n";
}

}  // namespace evo
