#include "mutators/parallelism/attention_group_writer.h"

#include <fmt/format.h>

#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/parallelism/attention_group_text.h"
#include "mutators/parallelism/group_products.h"

namespace evo {
namespace {

constexpr char kGroupProduct[] = "MultiplyGroup";
constexpr std::string_view kOwnRow = "  const int own_row = first_row + warp * 16;\n";

}  // namespace

AttentionGroupWriter::AttentionGroupWriter(const SyntaxTree& tree, const Attention& found, AttentionParameters names)
    : AttentionSource(tree, found, std::move(names),
                      {&kCopyVector, &kSwizzled, &kDescribe, &kBeginProducts, &kCommitProducts, &kFinishProducts,
                       &kShowTensorCores, &kPack, &kPowerOfTwo}) {
  if (found.output == found.element) blocks_.push_back(&kStoreVector);
}

std::string AttentionGroupWriter::Blocks() const {
  const std::string name = UnusedName(tree_.text(), kGroupProduct);
  std::string text = AttentionSource::Blocks();
  for (const int keys : {64, 128})
    text += GroupProductText(found_.element, found_.element, name, keys, GroupFactor::kByK, GroupFactor::kByK);
  return text + GroupProductText(found_.element, found_.element, name, static_cast<int>(found_.depth), GroupFactor::kInRegisters,
                                 GroupFactor::kByIndex);
}

std::string AttentionGroupWriter::SharedBytes() const {
  return fmt::format("({} * 64 + 2 * {} * {}) * {}", names_.warps, names_.stages, names_.tile_keys, found_.depth * 2);
}

std::string AttentionGroupWriter::Body() const {
  std::string text(kGroupAttention.substr(1));
  text += (found_.output == found_.element ? kGroupStoreElements : kGroupStoreNumbers).substr(1);
  text = WithOtherName(text, kGroupProduct, UnusedName(tree_.text(), kGroupProduct));
  text = WithOtherName(text, "INVERSE_", Inverse());
  text = WithOtherName(text, "END_", End());
  text = WithOtherName(text, "SEEN_", Seen());
  text = WithOtherName(text, "HIDDEN_",
                       found_.causal ? "key >= last_key || key > own_row + i / 2 % 2 * 8 + lane / 4" : "key >= last_key");
  // Which rows a warp has decides only what causal rows see, and where numbers are stored.
  const std::size_t at = text.find(kOwnRow);
  if (text.find("own_row", at + kOwnRow.size()) == std::string::npos) text.erase(at, kOwnRow.size());
  return BodyOf(text);
}

}  // namespace evo
