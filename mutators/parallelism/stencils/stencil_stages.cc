#include "mutators/parallelism/stencils/stencil_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "mutators/analysis/source/constant_value.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/stencils/stencil_text.h"

namespace evo {

std::string StencilStages::CopyFunction() const {
  return fmt::format(
      "// Copies to shared memory, without waiting where the hardware allows it.\n"
      "template <typename {1}> __device__ __forceinline__ void {0}({1}* to, const {1}* from) {{\n"
      "  if constexpr (sizeof({1}) == 4 || sizeof({1}) == 8 || sizeof({1}) == 16)\n"
      "    __pipeline_memcpy_async(to, from, sizeof({1}));\n"
      "  else\n"
      "    *to = *from;\n"
      "}}\n\n",
      names_.Function("StartCopy"), names_.Function("Type"));
}

std::string StencilStages::Functions() const {
  std::string text = CopyFunction();
  std::vector<std::string> types;
  for (const int buffer : found_.buffers) {
    const std::string type = names_.TypeOf(buffer);
    if (std::find(types.begin(), types.end(), type) != types.end()) continue;
    types.push_back(type);
    text += Copying(type) + LoadFunction(type);
  }
  return text;
}

// The function that copies a plane.
std::string StencilStages::Copying(const std::string& type) const {
  const std::int64_t left = -found_.lowest[0], right = found_.highest[0];
  const bool periodic = found_.periodic[0];
  const std::string &items = parameters_.items, copy = names_.Function("StartCopy"), group = names_.Function("Items");
  std::string text = fmt::format(
      "// Copies what a block whose first column is `x` needs of a plane; past an edge the {}.\n"
      "__device__ __forceinline__ void {}({} (&to)[{}][{}], const {}* from,\n"
      "    const {} (&rows)[{}], int x, int end, bool whole) {{\n",
      found_.periodic[0] ? "element at the other edge" : "nearest element", names_.Function("StagePlane"), type,
      layout_.TileRows(), layout_.TileColumns(), type, names_.Index(), layout_.Copies());
  const auto loop = [&](const std::string& indent) {
    std::string lines =
        fmt::format("#pragma unroll\n{0}for (int i = 0; i < {1}; ++i) {{\n{0}  const int row = threadIdx.y + i * {2};\n", indent,
                    layout_.Copies(), parameters_.threads_y);
    lines += fmt::format("{}  if (i >= {} && row >= {}) break;\n", indent, parameters_.rows, layout_.TileRows());
    return lines + fmt::format("{}  const {}* line = from + rows[i];\n", indent, type);
  };
  const std::string pad = left == 0   ? ""
                          : left == 1 ? fmt::format("{} + ", items)
                                      : fmt::format("{} * {} + ", layout_.Groups(left), items);
  text += fmt::format("  const int own = threadIdx.x * {};\n", items) + loop("  ");
  text += fmt::format("    {}* place = &to[row][{}own];\n", type, pad);
  text += fmt::format(
      "    if (whole) {{\n"
      "      {0}(reinterpret_cast<{1}<{2}>*>(place), reinterpret_cast<const {1}<{2}>*>(&line[x + own]));\n"
      "    }} else {{\n"
      "#pragma unroll\n"
      "      for (int e = 0; e < {3}; ++e) {0}(&place[e], &line[{4}]);\n"
      "    }}\n"
      "  }}\n",
      copy, group, type, items, periodic ? layout_.Wrapped("x + own + e", 0, "end") : "min(x + own + e, end - 1)");
  if (left + right > 0) {
    const std::string outer =
        left == 0    ? fmt::format("{} * {} + ", parameters_.threads_x, items)
        : right == 0 ? fmt::format("-{} + ", left)
                     : fmt::format("(threadIdx.x < {} ? -{} : {} * {} - {}) + ", left, left, parameters_.threads_x, items, left);
    text += fmt::format("  if (threadIdx.x < {}) {{\n    const int beside = {}(int)threadIdx.x;\n", left + right, outer) +
            loop("    ");
    text += fmt::format("      {}(&to[row][{}beside], &line[{}]);\n    }}\n  }}\n", copy, pad,
                        periodic ? layout_.Wrapped("x + beside", 0, "end") : "min(max(x + beside, 0), end - 1)");
  }
  return text + "}\n\n";
}

// The function that loads a thread's part of a plane.
std::string StencilStages::LoadFunction(const std::string& type) const {
  const std::int64_t left = -found_.lowest[0], right = found_.highest[0];
  const std::string& items = parameters_.items;
  const std::string own =
      left == 0 ? fmt::format("threadIdx.x * {}", items) : fmt::format("({} + threadIdx.x) * {}", layout_.Groups(left), items);
  std::string text = fmt::format(
      "// Loads what a thread needs of a plane.\n"
      "__device__ __forceinline__ void {0}({1} (&to)[{2}][{3}], const {1} (&from)[{4}][{5}]) {{\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < {2}; ++i) {{\n"
      "    const {1}* own = &from[threadIdx.y * {6} + i][{7}];\n"
      "    const {8}<{1}> items = *reinterpret_cast<const {8}<{1}>*>(own);\n",
      names_.Function("LoadAround"), type, layout_.Rows(), layout_.Columns(), layout_.TileRows(), layout_.TileColumns(),
      parameters_.rows, own, names_.Function("Items"));
  if (left == 1) text += "    to[i][0] = own[-1];\n";
  if (left > 1) text += fmt::format("#pragma unroll\n    for (int j = 0; j < {0}; ++j) to[i][j] = own[j - {0}];\n", left);
  text += fmt::format("#pragma unroll\n    for (int e = 0; e < {}; ++e) to[i][{}] = items.values[e];\n", items,
                      StencilLayout::Sum("e", left));
  if (right == 1) text += fmt::format("    to[i][{}] = own[{}];\n", StencilLayout::Sum(items, left), items);
  if (right > 1)
    text += fmt::format("#pragma unroll\n    for (int j = 0; j < {}; ++j) to[i][{}] = own[{} + j];\n", right,
                        StencilLayout::Sum("j + " + items, left), items);
  return text + "  }\n}\n\n";
}

std::string StencilStages::Begin() const {
  std::string text = fmt::format(
      "// A block walks through {} planes. They come through shared memory, {} of them at a time under way. The threads keep "
      "what\n"
      "// they still need of {} planes in registers.\n",
      parameters_.steps, parameters_.ahead, layout_.Depth());
  for (const int buffer : found_.buffers) {
    const std::string type = names_.TypeOf(buffer);
    text += fmt::format("__shared__ __align__({} * sizeof({})) {} {}[{} + 1][{}][{}];\n", parameters_.items, type, type,
                        names_.Staged(buffer), parameters_.ahead, layout_.TileRows(), layout_.TileColumns());
  }
  return text;
}

// The functions within the kernel: one starts to copy a plane, one takes the next into registers.
std::string StencilStages::Advance() const {
  const std::string slot = names_.Own("slot"), next = names_.Own("next"), stage = names_.Own("stage");
  const std::size_t last = layout_.last();
  const std::int64_t highest = found_.highest[last];
  std::string text = fmt::format("const auto {} = [&](int {}, int {}) {{\n  if ({} < {}) {{\n", stage, next, slot, next,
                                 StencilLayout::Sum(names_.Own("end"), highest));
  for (const int buffer : found_.buffers) {
    text += fmt::format("    {}({}[{}], {} + {},\n               {}, blockIdx.x * {} * {}, {}, {});\n",
                        names_.Function("StagePlane"), names_.Staged(buffer), slot, tree_.node(buffer).name,
                        layout_.Line(layout_.Existing(next, last)), names_.Own("rows"), parameters_.threads_x, parameters_.items,
                        StencilLayout::Plain(found_.reads[0].end.kernel), names_.Own("whole"));
  }
  text += "  }\n  __pipeline_commit();\n};\n";
  const std::string k = names_.Counter("k"), i = names_.Counter("i"), j = names_.Counter("j");
  text += fmt::format("int {} = 0;\nconst auto {} = [&](int {}) {{\n", slot, names_.Own("advance"), next);
  text += "  // The plane is there, and no thread needs the one any more whose place the next takes.\n";
  text += fmt::format("  __pipeline_wait_prior({0} - 1);\n  __syncthreads();\n  {1}({2} + {0}, {3} == 0 ? {0} : {3} - 1);\n",
                      parameters_.ahead, stage, next, slot);
  text += fmt::format(
      "#pragma unroll\n  for (int {0} = 1; {0} < {1}; ++{0}) {{\n"
      "#pragma unroll\n    for (int {2} = 0; {2} < {3}; ++{2}) {{\n"
      "#pragma unroll\n      for (int {4} = 0; {4} < {5}; ++{4}) {{\n",
      k, layout_.Depth(), i, layout_.Rows(), j, layout_.Columns());
  for (const int buffer : found_.buffers)
    text += fmt::format("        {0}[{1} - 1][{2}][{3}] = {0}[{1}][{2}][{3}];\n", names_.Window(buffer), k, i, j);
  text += "      }\n    }\n  }\n";
  for (const int buffer : found_.buffers)
    text += fmt::format("  {}({}[{}], {}[{}]);\n", names_.Function("LoadAround"), names_.Window(buffer), layout_.Depth() - 1,
                        names_.Staged(buffer), slot);
  return text + fmt::format("  {0} = {0} == {1} ? 0 : {0} + 1;\n}};\n", slot, parameters_.ahead);
}

std::string StencilStages::Loop() const {
  const std::size_t last = layout_.last();
  const std::int64_t lowest = found_.lowest[last], highest = found_.highest[last];
  const std::string first = names_.First(last), k = names_.Counter("k"), z = names_.Coordinate(last);
  const std::string i = names_.Counter("i"), to = names_.Own("to_first"), size = names_.Own("plane_size");
  // Where the rows begin that a thread copies.
  std::string text = fmt::format("{} {}[{}];\n#pragma unroll\n", names_.Index(), names_.Own("rows"), layout_.Copies());
  const std::string row = layout_.FromLow(
      fmt::format("(int)(blockIdx.y * {0} * {1} + threadIdx.y + {2} * {0})", parameters_.threads_y, parameters_.rows, i), 1,
      found_.lowest[1]);
  text += fmt::format("for (int {0} = 0; {0} < {1}; ++{0})\n  {2}[{0}] = {3}{4} * {5};\n", i, layout_.Copies(),
                      names_.Own("rows"), found_.wide ? "(long long)" : "", layout_.Existing(row, 1), found_.lengths[0].kernel);
  for (const int buffer : found_.buffers)
    text += fmt::format("{} {}[{}][{}][{}];\n", names_.TypeOf(buffer), names_.Window(buffer), layout_.Depth(), layout_.Rows(),
                        layout_.Columns());
  text += Advance();
  const std::string from = StencilLayout::Sum(first, lowest);
  text += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {2}({3} + {0}, {0});\n", k, parameters_.ahead,
                      names_.Own("stage"), from);
  text += fmt::format("#pragma unroll\nfor (int {0} = 0; {0} < {1}; ++{0}) {2}({3} + {0});\n", k, layout_.Depth() - 1,
                      names_.Own("advance"), from);
  text += fmt::format("const long long {} = (long long){} * {};\n", size, found_.lengths[0].kernel, found_.lengths[1].kernel);
  text += fmt::format("long long {} = ((long long){} * {} + {}) * {} + {};\n", to, first, found_.lengths[1].kernel,
                      names_.First(1), found_.lengths[0].kernel, names_.First(0));
  return text + fmt::format("#pragma unroll {}\nfor (int {} = {}; {} < {}; ++{}, {} += {}) {{\n  {}({});\n", layout_.Depth(), z,
                            first, z, names_.Own("end"), z, to, size, names_.Own("advance"), StencilLayout::Sum(z, highest));
}

// The ring of all buffers.
std::string StencilStages::Bytes() const {
  std::int64_t bytes = 0;
  for (const int buffer : found_.buffers) bytes += SizeOf(PointedTo(tree_, buffer));
  return fmt::format("{} * ({} + 1) * ({}) * ({})", bytes, parameters_.ahead, layout_.TileRows(), layout_.TileColumns());
}

}  // namespace evo
