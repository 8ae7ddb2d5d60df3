#include "mutators/parallelism/products/split_product.h"

#include <fmt/format.h>

#include <utility>

namespace evo {
namespace {

// Splits a warp's part of a, two times 16 x 8 elements for each 16 rows. Lane l has the elements of rows l / 4 and 8 below, and
// of columns l % 4 and 4 after it.
std::string SplitM(const SplitProduct& of) {
  const std::string& i = of.m.counter;
  const std::string lane = of.name("lane"), part = of.name("part_k"), part_m = of.name("part_m"), eight = of.name("eight");
  const std::string e = of.name("e"), first = fmt::format("{} + {} * 16", of.name("own_m"), i);
  std::string text = fmt::format("#pragma unroll\n      for (int {0} = 0; {0} < {1} / 16; ++{0}) {{\n", i, of.name("kWarpM"));
  text += fmt::format("#pragma unroll\n        for (int {0} = 0; {0} < 2; ++{0}) {{\n", eight);
  std::string value;
  if (of.m.by_k) {
    text += fmt::format(
        "          unsigned {}[4];\n          {}({}, &{});\n", part_m, of.block(kLoadMatrices), part_m,
        of.m.element(fmt::format("{} + {} % 16", first, lane), fmt::format("{} + {} * 8 + {} / 16 * 4", part, eight, lane)));
    value = fmt::format("__uint_as_float({}[{}])", part_m, e);
  } else {
    value = of.m.element(fmt::format("{} + {} % 2 * 8 + {} / 4", first, e, lane),
                         fmt::format("{} + {} * 8 + {} / 2 * 4 + {} % 4", part, eight, e, lane));
  }
  text += fmt::format("#pragma unroll\n          for (int {0} = 0; {0} < 4; ++{0}) {{\n", e);
  text += fmt::format("            {0}({1}[{2}][{3}][{4}], {5}[{2}][{3}][{4}], {6});\n", of.block(kSplit), of.name("high_m"), i,
                      eight, e, of.name("low_m"), value);
  return text + "          }\n        }\n      }\n";
}

// Loads 16 x 8 elements of b. Lane l has the elements of column l / 4 and of rows l % 4 and 4, 8 and 12 below.
std::string LoadN(const SplitProduct& of) {
  const std::string lane = of.name("lane"), part = of.name("part_k"), part_n = of.name("part_n"), e = of.name("e");
  const std::string first = fmt::format("{} + {} * 8", of.name("own_n"), of.n.counter);
  if (of.n.by_k) {
    return fmt::format("        unsigned {}[4];\n        {}({}, &{});\n", part_n, of.block(kLoadMatrices), part_n,
                       of.n.element(fmt::format("{} + {} % 8", first, lane), fmt::format("{} + {} / 8 * 4", part, lane)));
  }
  return fmt::format("        float {}[4];\n#pragma unroll\n        for (int {} = 0; {} < 4; ++{}) {}[{}] = {};\n", part_n, e, e,
                     e, part_n, e,
                     of.n.element(fmt::format("{} + {} / 4", first, lane), fmt::format("{} + {} * 4 + {} % 4", part, e, lane)));
}

}  // namespace

std::string SplitProductText(const SplitProduct& of) {
  const std::string part_k = of.name("part_k"), part = of.name("part"), part_n = of.name("part_n"), eight = of.name("eight");
  const std::string high_m = of.name("high_m"), low_m = of.name("low_m"), high_n = of.name("high_n"), low_n = of.name("low_n");
  const std::string kWarpM = of.name("kWarpM"), e = of.name("e"), &i = of.m.counter, &j = of.n.counter;
  const auto each = [&](const std::string& counter, const std::string& count, const std::string& indent) {
    return fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) ", indent, counter, count);
  };
  std::string text = fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; {0} += 16) {{\n", part_k, of.tile_k);
  text += fmt::format("      unsigned {0}[{2} / 16][2][4], {1}[{2} / 16][2][4];\n", high_m, low_m, kWarpM) + SplitM(of);
  text += each(j, of.name("kWarpN") + " / 8", "      ") + "{\n" + LoadN(of);
  text +=
      "        // Tensor cores truncate: they add up only 16 products of a sum, small ones first, and ordinary additions the "
      "rest.\n";
  text += fmt::format("        float {}[{} / 16][4] = {{}};\n", part, kWarpM);
  text += each(eight, "2", "        ") + "{\n";
  text += fmt::format("          unsigned {}[2], {}[2];\n", high_n, low_n);
  const std::string value = fmt::format("{}[2 * {} + {}]", part_n, eight, e);
  text += each(e, "2", "          ") + fmt::format("{0}({1}[{2}], {3}[{2}], {4});\n", of.block(kSplit), high_n, e, low_n,
                                                   of.n.by_k ? fmt::format("__uint_as_float({})", value) : value);
  text += each(i, kWarpM + " / 16", "          ") + "{\n";
  for (const auto& [a, b] : {std::pair(low_m, high_n), std::pair(high_m, low_n), std::pair(high_m, high_n)})
    text += fmt::format("            {}({}[{}], {}[{}][{}], {});\n", of.block(kMultiplyAddTf32), part, i, a, i, eight, b);
  text += "          }\n        }\n" + each(i, kWarpM + " / 16", "        ") + "{\n" + each(e, "4", "          ");
  text += fmt::format("{}[{}][{}][{}] += {}[{}][{}];\n", of.sums, i, j, e, part, i, e);
  return text + "        }\n      }\n    }\n";
}

}  // namespace evo
