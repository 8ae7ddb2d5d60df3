#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "mutators/analysis/source_query.h"
#include "mutators/parallelism/tensor_writer.h"

namespace evo {

std::vector<const DeviceBlock*> SplitTensorWriter::Used() const {
  std::vector<const DeviceBlock*> used{&kCopyVector};
  if (IsByK(m_) || IsByK(n_)) used.push_back(&kLoadMatrices);
  used.push_back(&kSplit);
  used.push_back(&kMultiplyAddTf32);
  return used;
}

// By k, eight rows of 16 bytes are read together; else eight neighbours in each of four rows.
int SplitTensorWriter::Padding(const Side& side) const { return IsByK(side) ? 4 : 8; }

// Splits a warp's part of a, two times 16 x 8 elements for each 16 rows. Lane l has the elements of rows l / 4 and 8 below, and
// of columns l % 4 and 4 after it.
std::string SplitTensorWriter::SplitM() const {
  const std::string& i = m_.counter;
  const std::string lane = Fresh("lane"), part = Fresh("part_k"), part_m = Fresh("part_m"), eight = Fresh("eight");
  const std::string e = Fresh("e"), first = fmt::format("{} + {} * 16", Fresh("own_m"), i);
  std::string text = fmt::format("#pragma unroll\n      for (int {0} = 0; {0} < {1} / 16; ++{0}) {{\n", i, Fresh("kWarpM"));
  text += fmt::format("#pragma unroll\n        for (int {0} = 0; {0} < 2; ++{0}) {{\n", eight);
  std::string value;
  if (IsByK(m_)) {
    text += fmt::format(
        "          unsigned {}[4];\n          {}({}, &{});\n", part_m, Block(kLoadMatrices), part_m,
        Element(m_, fmt::format("{} + {} % 16", first, lane), fmt::format("{} + {} * 8 + {} / 16 * 4", part, eight, lane)));
    value = fmt::format("__uint_as_float({}[{}])", part_m, e);
  } else {
    value = Element(m_, fmt::format("{} + {} % 2 * 8 + {} / 4", first, e, lane),
                    fmt::format("{} + {} * 8 + {} / 2 * 4 + {} % 4", part, eight, e, lane));
  }
  text += fmt::format("#pragma unroll\n          for (int {0} = 0; {0} < 4; ++{0}) {{\n", e);
  text += fmt::format("            {0}({1}[{2}][{3}][{4}], {5}[{2}][{3}][{4}], {6});\n", Block(kSplit), Fresh("high_m"), i, eight,
                      e, Fresh("low_m"), value);
  return text + "          }\n        }\n      }\n";
}

// Loads 16 x 8 elements of b. Lane l has the elements of column l / 4 and of rows l % 4 and 4, 8 and 12 below.
std::string SplitTensorWriter::LoadN() const {
  const std::string lane = Fresh("lane"), part = Fresh("part_k"), part_n = Fresh("part_n"), e = Fresh("e");
  const std::string first = fmt::format("{} + {} * 8", Fresh("own_n"), n_.counter);
  if (IsByK(n_)) {
    return fmt::format("        unsigned {}[4];\n        {}({}, &{});\n", part_n, Block(kLoadMatrices), part_n,
                       Element(n_, fmt::format("{} + {} % 8", first, lane), fmt::format("{} + {} / 8 * 4", part, lane)));
  }
  return fmt::format("        float {}[4];\n#pragma unroll\n        for (int {} = 0; {} < 4; ++{}) {}[{}] = {};\n", part_n, e, e,
                     e, part_n, e,
                     Element(n_, fmt::format("{} + {} / 4", first, lane), fmt::format("{} + {} * 4 + {} % 4", part, e, lane)));
}

std::string SplitTensorWriter::Products() const {
  const std::string part_k = Fresh("part_k"), part = Fresh("part"), part_n = Fresh("part_n"), eight = Fresh("eight");
  const std::string high_m = Fresh("high_m"), low_m = Fresh("low_m"), high_n = Fresh("high_n"), low_n = Fresh("low_n");
  const std::string kWarpM = Fresh("kWarpM"), e = Fresh("e"), &i = m_.counter, &j = n_.counter;
  const auto each = [&](const std::string& counter, const std::string& count, const std::string& indent) {
    return fmt::format("#pragma unroll\n{0}for (int {1} = 0; {1} < {2}; ++{1}) ", indent, counter, count);
  };
  std::string text = fmt::format("    const int {} = {} % {};\n", Fresh("slot"), Fresh("step"), names_.stages);
  text += fmt::format("#pragma unroll\n    for (int {0} = 0; {0} < {1}; {0} += 16) {{\n", part_k, names_.tile_k);
  text += fmt::format("      unsigned {0}[{2} / 16][2][4], {1}[{2} / 16][2][4];\n", high_m, low_m, kWarpM) + SplitM();
  text += each(j, Fresh("kWarpN") + " / 8", "      ") + "{\n" + LoadN();
  text +=
      "        // Tensor cores truncate: they add up only 16 products of a sum, small ones first, and ordinary additions the "
      "rest.\n";
  text += fmt::format("        float {}[{} / 16][4] = {{}};\n", part, kWarpM);
  text += each(eight, "2", "        ") + "{\n";
  text += fmt::format("          unsigned {}[2], {}[2];\n", high_n, low_n);
  const std::string value = fmt::format("{}[2 * {} + {}]", part_n, eight, e);
  text += each(e, "2", "          ") + fmt::format("{0}({1}[{2}], {3}[{2}], {4});\n", Block(kSplit), high_n, e, low_n,
                                                   IsByK(n_) ? fmt::format("__uint_as_float({})", value) : value);
  text += each(i, kWarpM + " / 16", "          ") + "{\n";
  for (const auto& [a, b] : {std::pair(low_m, high_n), std::pair(high_m, low_n), std::pair(high_m, high_n)})
    text += fmt::format("            {}({}[{}], {}[{}][{}], {});\n", Block(kMultiplyAddTf32), part, i, a, i, eight, b);
  text += "          }\n        }\n" + each(i, kWarpM + " / 16", "        ") + "{\n" + each(e, "4", "          ");
  text += fmt::format("{}[{}][{}][{}] += {}[{}][{}];\n", sums_, i, j, e, part, i, e);
  return text + "        }\n      }\n    }\n";
}

// A sum that is not below 10^23 may be one of infinities, or too large for a float with the factor of 2^48. Each product is off
// by up to 2^-21, eight times the rounding of a float: few products may stand out by that.
std::string SplitTensorWriter::Sum(const std::string& value) const {
  const std::string& sum = tree_.node(found_.accumulator).name;
  const SyntaxNode& k = tree_.node(found_.k.counter);
  const auto is_in_loop = [&](int statement) {
    return std::find(found_.in_loop.begin(), found_.in_loop.end(), statement) != found_.in_loop.end();
  };
  std::vector<int> before = Needed({found_.update});
  const auto in_loop = std::stable_partition(before.begin(), before.end(), [&](int one) { return !is_in_loop(one); });
  std::vector<int> repeated(in_loop, before.end());
  before.erase(in_loop, before.end());
  repeated.push_back(found_.update);
  std::string text = fmt::format("      float {} = {} * 0x1p-48f;\n", sum, value);
  text += "      // Few products, and what is not finite or became too large by 2^48, are summed up in plain float.\n";
  const std::string bound(tree_.Text(found_.k.bound));
  const bool one_word = std::all_of(bound.begin(), bound.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  text += fmt::format("      if ({} < 32 || !(fabsf({}) < 1e23f)) {{\n", one_word ? bound : "(" + bound + ")", sum);
  text += fmt::format("        {} = 0.0f;\n", sum) + Statements(before, "        ", {});
  text += fmt::format("#pragma unroll 1\n        for ({0} {1} = 0; {1} < {2}; ++{1}) {{\n", WithoutConst(k.type), k.name, bound);
  return text + Statements(repeated, "          ", {}) + "        }\n      }\n";
}

}  // namespace evo
