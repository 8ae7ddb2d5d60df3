#include "mutators/parallelism/attention/attention_group_writer.h"

#include <fmt/format.h>

#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/parallelism/attention/attention_group_text.h"
#include "mutators/parallelism/products/group_products.h"

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

// Terms are added before the largest score is found, and so is the factor multiplied with, of either sign.
std::string AttentionGroupWriter::WithTerms(std::string text) const {
  const auto replace = [&](std::string_view from, std::string_view to, const std::string& other) {
    const std::size_t at = text.find(from);
    text.replace(at, text.find(to, at) - at, other);
  };
  replace("  // Scores become powers of two instead", "  float sums[",
          "  // Scores become powers of two instead of powers of e.\n  const float factor = SCALE_ * 1.44269504f;\n");
  constexpr std::string_view kScaled = " * factor";
  for (std::size_t at = text.find(kScaled); at != std::string::npos; at = text.find(kScaled, at)) text.erase(at, kScaled.size());
  std::string terms(kGroupTerms.substr(1));
  terms.replace(terms.find("SCORE_\n"), 7, terms_.ScoreStep("      "));
  replace("    if (first_key + TILE_KEYS_ > SEEN_) {\n", "    // Scores become weights relative", terms);
  return text;
}

std::string AttentionGroupWriter::Body() const {
  std::string text(kGroupAttention.substr(1));
  if (terms_.has_scores()) text = WithTerms(text);
  text += (found_.output == found_.element ? kGroupStoreElements : kGroupStoreNumbers).substr(1);
  text = WithOtherName(text, kGroupProduct, UnusedName(tree_.text(), kGroupProduct));
  text = WithOtherName(text, "INVERSE_", Inverse());
  text = WithOtherName(text, "END_", End());
  text = WithOtherName(text, "SEEN_", terms_.Seen("16"));
  text = WithOtherName(text, "HIDDEN_", terms_.Hidden("own_row + i / 2 % 2 * 8 + lane / 4"));
  // Which rows a warp has decides only what causal rows see, and where numbers are stored.
  const std::size_t at = text.find(kOwnRow);
  if (text.find("own_row", at + kOwnRow.size()) == std::string::npos) text.erase(at, kOwnRow.size());
  return BodyOf(terms_.FromWindow(text));
}

}  // namespace evo
