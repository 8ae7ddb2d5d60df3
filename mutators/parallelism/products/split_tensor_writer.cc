#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/products/split_product.h"
#include "mutators/parallelism/products/tensor_writer.h"

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

std::string SplitTensorWriter::Products() const {
  const auto side = [&](const Side& of) {
    return SplitProduct::Side{IsByK(of), of.counter,
                              [this, &of](const std::string& output, const std::string& k) { return Element(of, output, k); }};
  };
  return fmt::format("    const int {} = {} % {};\n", Fresh("slot"), Fresh("step"), names_.stages) +
         SplitProductText({names_.tile_k, sums_, side(m_), side(n_), [this](const std::string& wanted) { return Fresh(wanted); },
                           [this](const DeviceBlock& block) { return Block(block); }});
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
