#include "mutators/parallelism/attention_writer.h"

#include <fmt/format.h>

#include <array>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/indentation.h"
#include "mutators/analysis/source_query.h"
#include "mutators/parallelism/attention_text.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Names of the texts below that the source may have already, and get a number behind them then.
constexpr std::array kAttentionNames{"kThreads"sv,
                                     "kRows"sv,
                                     "kParts"sv,
                                     "tiles"sv,
                                     "queries"sv,
                                     "tile_k"sv,
                                     "tile_v"sv,
                                     "warp"sv,
                                     "lane"sv,
                                     "first_row"sv,
                                     "own_row"sv,
                                     "factor"sv,
                                     "query"sv,
                                     "sums"sv,
                                     "largest"sv,
                                     "weights"sv,
                                     "end"sv,
                                     "steps"sv,
                                     "step"sv,
                                     "next"sv,
                                     "t"sv,
                                     "place"sv,
                                     "d"sv,
                                     "key"sv,
                                     "row"sv,
                                     "slot"sv,
                                     "scores"sv,
                                     "part"sv,
                                     "i"sv,
                                     "j"sv,
                                     "e"sv,
                                     "r"sv,
                                     "first_key"sv,
                                     "most"sv,
                                     "shift"sv,
                                     "fade"sv,
                                     "sum"sv,
                                     "left"sv,
                                     "weight"sv,
                                     "inverse"sv,
                                     "last_row"sv,
                                     "last_key"sv,
                                     "score"sv,
                                     "from_q"sv,
                                     "from_k"sv,
                                     "count"sv,
                                     "from_v"sv,
                                     "to"sv,
                                     "kVector"sv,
                                     "kVectors"sv,
                                     "kColumns"sv,
                                     "kGroups"sv,
                                     "warp_sums"sv,
                                     "warp_largest"sv,
                                     "warp_weights"sv,
                                     "group"sv,
                                     "column"sv,
                                     "begin"sv,
                                     "stride_k"sv,
                                     "stride_v"sv,
                                     "aligned"sv,
                                     "c"sv,
                                     "first"sv,
                                     "keys"sv,
                                     "values"sv,
                                     "k"sv,
                                     "v"sv,
                                     "elements"sv,
                                     "share"sv};

// Elements of a row up to which a warp's queries have room in its registers beside sums and scores.
constexpr std::int64_t kDepthOfKeptQueries = 224;

bool KeepsQueries(const Attention& found) { return found.depth <= kDepthOfKeptQueries; }

}  // namespace

std::int64_t SumRegisters(const Attention& found) { return KeepsQueries(found) ? found.depth * 3 / 4 : found.depth / 2; }

AttentionWriter::AttentionWriter(const SyntaxTree& tree, const Attention& found, AttentionParameters names)
    : tree_(tree), found_(found), names_(std::move(names)), blocks_{&kCopyVector,  &kLoadMatrices, &kLoadTransposed,
                                                                    &kMultiplyAdd, &kPack,         &kPowerOfTwo} {
  if (found.element == "float")
    blocks_.clear();
  else if (found.output == found.element)
    blocks_.push_back(&kStoreVector);
}

std::string AttentionWriter::Blocks() const {
  std::string text;
  for (const DeviceBlock* block : blocks_)
    text += BlockText(*block, found_.element, UnusedName(tree_.text(), std::string(block->name)));
  return text;
}

std::string AttentionWriter::Element(const std::string& type) const { return type == "__half" ? "half" : type; }

std::string AttentionWriter::Stride(const std::string& stride) const {
  if (stride == std::to_string(found_.depth)) return found_.depth_name;
  return stride.find(' ') == std::string::npos ? stride : fmt::format("({})", stride);
}

std::string AttentionWriter::SharedBytes() const {
  if (found_.element == "float") return fmt::format("2 * {} * {} * 4", names_.tile_keys, found_.depth);
  return fmt::format("({} * {} + 2 * {} * {}) * {}", names_.warps, names_.warp_rows, names_.stages, names_.tile_keys,
                     (found_.depth + 8) * 2);
}

// What stays of the source where the body stands: its own names must differ from those there.
std::string AttentionWriter::Kept() const {
  const SyntaxNode& kernel = tree_.node(found_.kernel);
  std::string kept(tree_.Text({kernel.range.begin, tree_.node(kernel.children.back()).range.begin}));
  kept += Declarations() + fmt::format(" {} {} {} {} ", found_.rows, found_.keys, found_.scale, found_.depth_name);
  for (const Attention::Matrix* matrix : {&found_.q, &found_.k, &found_.v, &found_.o})
    kept += fmt::format("{} {} ", matrix->base, matrix->stride);
  const std::string& text = tree_.text();
  for (std::size_t at = text.find("#define "); at != std::string::npos; at = text.find("#define ", at + 1))
    kept += text.substr(at, text.find('\n', at) + 1 - at);
  return kept;
}

// The text with names that are free in the place of its own.
std::string AttentionWriter::Own(std::string text) const {
  const std::string kept = Kept();
  for (const std::string_view name : kAttentionNames) {
    const std::string unused = UnusedName(kept, std::string(name));
    if (unused != name) text = WithOtherName(text, name, unused);
  }
  for (const DeviceBlock* block : blocks_)
    text = WithOtherName(text, block->name, UnusedName(tree_.text(), std::string(block->name)));
  return text;
}

// The text with what the kernel says in the place of the words that end with _.
std::string AttentionWriter::Filled(std::string text) const {
  const auto start = [&](const Attention::Matrix& matrix) {
    const std::string& name = tree_.node(matrix.parameter).name;
    return matrix.base == "0" ? name : fmt::format("{} + {}", name, matrix.base);
  };
  const std::string of_block = fmt::format("int(blockIdx.{})", "xyz"[found_.axis]);
  const std::string backwards = fmt::format("int(gridDim.{0} - 1 - blockIdx.{0})", "xyz"[found_.axis]);
  const std::pair<std::string_view, std::string> words[] = {{"WARPS_", names_.warps},
                                                            {"WARP_ROWS_", names_.warp_rows},
                                                            {"TILE_KEYS_", names_.tile_keys},
                                                            {"STAGES_", names_.stages},
                                                            {"ELEMENT_", Element(found_.element)},
                                                            {"OUTPUT_", Element(found_.output)},
                                                            {"DEPTH_", found_.depth_name},
                                                            {"ROWS_", found_.rows},
                                                            {"KEYS_", found_.keys},
                                                            {"BLOCK_", found_.causal ? backwards : of_block},
                                                            {"Q_", start(found_.q)},
                                                            {"K_", start(found_.k)},
                                                            {"V_", start(found_.v)},
                                                            {"O_", start(found_.o)},
                                                            {"Q_STRIDE_", Stride(found_.q.stride)},
                                                            {"K_STRIDE_", Stride(found_.k.stride)},
                                                            {"V_STRIDE_", Stride(found_.v.stride)},
                                                            {"O_STRIDE_", Stride(found_.o.stride)},
                                                            {"SCALE_", Parenthesised(found_.scale)}};
  for (const auto& [word, meaning] : words) text = WithOtherName(text, word, meaning);
  return text;
}

// Declarations of the kernel that the texts name, and the conditions on which it does nothing.
std::string AttentionWriter::Declarations() const {
  std::string text;
  for (const int variable : found_.declarations) {
    const SyntaxNode& declared = tree_.node(variable);
    text +=
        fmt::format("  const {} {} = {};\n", WithoutConst(declared.type), declared.name, tree_.Text(declared.children.back()));
  }
  const std::string row = found_.row < 0 ? fmt::format("int(blockIdx.{})", "xyz"[found_.axis]) : tree_.node(found_.row).name;
  if (found_.row >= 0)
    text += fmt::format("  const {} {} = blockIdx.{};\n", WithoutConst(tree_.node(found_.row).type), row, "xyz"[found_.axis]);
  if (found_.own_keys && !found_.rows.empty()) text += fmt::format("  if ({} >= {}) return;\n", row, Parenthesised(found_.rows));
  for (const int guard : found_.guards) text += fmt::format("  {}\n", tree_.Text(guard));
  if (found_.unweighted == Attention::Unweighted::kNothing)
    text += fmt::format("  if ({} <= 0) return;\n", Parenthesised(found_.keys));
  return text;
}

std::string AttentionWriter::BodyOf(const std::string& text) const {
  return fmt::format("{{\n{}{}}}", Declarations(), Filled(Own(text)));
}

std::string AttentionWriter::Body() const {
  const bool zero = found_.unweighted == Attention::Unweighted::kZero;
  if (found_.element == "float") {
    std::string text(kFloatAttention.substr(1));
    text = WithOtherName(text, "END_", found_.causal ? "min(last_key, first_row + kRows)" : "last_key");
    text = WithOtherName(text, "HIDDEN_", found_.causal ? "first_key + j > row" : "false");
    text = WithOtherName(text, "RESULT_", zero ? "weights > 0.0f ? sums[i] / weights : 0.0f" : "sums[i] / weights");
    if (!found_.causal) text.replace(text.find("      if (false) continue;\n"), 27, "");
    return BodyOf(text);
  }
  std::string text;
  for (const std::string_view part : {kAttentionBegin, kAttentionScores, kAttentionWeights, kAttentionRows,
                                      found_.output == found_.element ? kAttentionStoreElements : kAttentionStoreNumbers})
    text += part.substr(1);
  const auto with = [&](std::string_view line, std::string_view other) {
    const std::size_t at = text.find(line);
    text.replace(at, line.size(), other);
  };
  const bool kept = KeepsQueries(found_);
  with("QUERY_\n", kept ? "  unsigned query[kParts][DEPTH_ / 16][4] = {};\n" : "");
  with("QUERIES_\n", kept ? kAttentionQueries.substr(1) : "");
  with("QUERY_PART_\n", kept ? "" : kAttentionQueryPart.substr(1));
  text = WithOtherName(text, "QUERY_AT_", kept ? "[d]" : "");
  text = WithOtherName(text, "INVERSE_", zero ? "weight > 0.0f ? 1.0f / weight : 0.0f" : "1.0f / weight");
  // Without any keys no barrier at all has followed. A length in memory may say so even if no run without keys was understood.
  if (found_.keyless || found_.keys.find('[') != std::string::npos) text = WithOtherName(text, "__syncwarp", "__syncthreads");
  // What depends on whether keys behind the row are hidden.
  text = WithOtherName(text, "END_", found_.causal ? "min(last_key, first_row + kRows)" : "last_key");
  text = WithOtherName(text, "SEEN_", found_.causal ? "min(last_key, own_row + 1)" : "last_key");
  text = WithOtherName(text, "HIDDEN_",
                       found_.causal ? "key >= last_key || key > own_row + i * 16 + e / 2 * 8 + lane / 4" : "key >= last_key");
  return BodyOf(text);
}

}  // namespace evo
