#include "mutators/parallelism/products/group_products.h"

#include <fmt/format.h>

#include "mutators/analysis/source/element_types.h"
#include "mutators/parallelism/device_blocks.h"

namespace evo {

std::string CopyPanelsText(std::string_view type, const std::string& name, const std::string& start_copy,
                           const std::string& copy_vector) {
  return fmt::format(
      R"(// Copies a thread's vectors of a tile, of {5} elements in every 16th line. The tile has panels of 64 x {4} elements,
// which lie below each other in memory or, without kBelowEachOther, side by side; of kGroups warp groups each copies one in
// kGroups. `lines` and `count` say how many lines, and elements of a line, there are from the thread's first vector of the tile
// on; the others become zeros. `aligned`: the vectors begin at multiples of 16 bytes.
template <int kPanels, int kGroups, bool kBelowEachOther>
__device__ __forceinline__ void {0}(
    {1}* to, const {1}* from, long long pitch, bool aligned, int lines, int count, int group) {{
#pragma unroll
  for (int first = 0; first < kPanels; first += kGroups) {{
    const int panel = first + group;
    if (kPanels % kGroups != 0 && panel >= kPanels) continue;
    const int line = kBelowEachOther ? panel * 64 : 0, side = kBelowEachOther ? 0 : panel * {4};
    {1}* part = to + panel * 64 * {4};
    const {1}* source = from + line * pitch + side;
    if (aligned) {{
#pragma unroll
      for (int i = 0; i < 64; i += 16) {2}(part + i * {4}, source + i * pitch, line + i < lines ? count - side : 0);
    }} else {{
#pragma unroll 1
      for (int i = 0; i < 64; i += 16) {3}(part + i * {4}, source + i * pitch, line + i < lines ? count - side : 0);
    }}
  }}
}}

)",
      name, ElementName(type), start_copy, copy_vector, 8 * VectorElements(type), VectorElements(type));
}

std::string GroupProductText(std::string_view type, std::string_view type_b, const std::string& name, int columns, GroupFactor a,
                             GroupFactor b) {
  const int sums = columns / 2, depth = 2 * VectorElements(type);
  const bool of_bytes = IsOfBytes(type);
  // A list of operands in lines of up to 120 characters, each begun by `indent` and quoted if it is part of a literal.
  const auto list = [&](const std::string& format, const std::string& indent, bool quoted) {
    std::string text, line;
    for (int i = 0; i < sums; ++i) {
      const std::string one = fmt::format(fmt::runtime(format), i) + (i + 1 < sums ? "," : "");
      if (!line.empty() && indent.size() + line.size() + one.size() > 118) {
        text += indent + (quoted ? "\"" + line + " \"" : line) + "\n";
        line.clear();
      }
      line += (line.empty() ? "" : " ") + one;
    }
    return text + indent + (quoted ? "\"" + line : line);
  };
  const bool in_registers = a == GroupFactor::kInRegisters;
  const int behind = sums + (in_registers ? 4 : 1);  // the number of the right factor's operand
  std::string text = fmt::format(
      "// sums = a b, or += where `adds` is not 0, for 64 x {} sums of a warp group and {} products{} each. Asynchronously.\n"
      "__device__ __forceinline__ void {}({} (&sums)[{}], {}, unsigned long long b, int adds) {{\n",
      columns, depth, IsTensorWord(type) ? " of words" : "", name, SumName(type), sums,
      in_registers ? "const unsigned (&a)[4]" : "unsigned long long a");
  text += fmt::format(
      "  asm volatile(\n      \"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{}, 0;\\n\"\n"
      "      \"wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{} {{\"\n",
      behind + 1, columns, of_bytes ? 32 : 16, of_bytes ? "s32" : "f32", PtxName(type), PtxName(type_b));
  // Signs and orders of the factors. Products of bytes have neither, and registers have no order.
  const auto order = [](GroupFactor factor) { return factor == GroupFactor::kByK ? ", 0" : ", 1"; };
  const std::string forms = of_bytes ? "" : fmt::format(", 1, 1{}{}", in_registers ? "" : order(a), order(b));
  const std::string left =
      in_registers ? fmt::format("{{%{}, %{}, %{}, %{}}}", sums, sums + 1, sums + 2, sums + 3) : fmt::format("%{}", sums);
  text += list("%{}", "      ", true) + fmt::format("}}, \"\n      \"{}, %{}, p{};\\n}}\"\n", left, behind, forms);
  return text + "      : " + list(fmt::format("\"+{}\"(sums[{{}}])", of_bytes ? "r" : "f"), "        ", false).substr(8) +
         fmt::format("\n      : {}, \"l\"(b), \"r\"(adds));\n}}\n\n",
                     in_registers ? R"("r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]))" : R"("l"(a))");
}

}  // namespace evo
