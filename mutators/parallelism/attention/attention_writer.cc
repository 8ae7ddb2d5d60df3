#include "mutators/parallelism/attention/attention_writer.h"

#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>
#include <utility>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/source/source_query.h"
#include "mutators/parallelism/attention/attention_text.h"

namespace evo {
namespace {

// Elements of a row up to which a warp's queries have room in its registers beside sums and scores.
constexpr std::int64_t kDepthOfKeptQueries = 224;

constexpr std::string_view kFloatHidden = "      if (HIDDEN_) continue;\n";

bool KeepsQueries(const Attention& found) { return found.depth <= kDepthOfKeptQueries; }

// What a row stores of its largest score and the sum of its weights.
std::string TopLines(const Attention& found, const std::string& indent) {
  const Attention::Statistics& beside = found.beside;
  const std::string own = "own_largest[(long long)row * LARGEST_ROW_]";
  std::string text;
  const auto add = [&](const std::string& line) { text += fmt::format("{}{}\n", indent, line); };
  if (beside.largest.parameter >= 0) add("float* const own_largest = LARGEST_;");
  add(fmt::format("const float top = {};", beside.started ? fmt::format("fmaxf({}, most)", own) : "most"));
  if (beside.largest.parameter >= 0) add(fmt::format("{} = top;", own));
  if (beside.weights.parameter < 0) return text;
  add("float* const own_weights = WEIGHTS_;");
  add(fmt::format("own_weights[(long long)row * WEIGHTS_ROW_] = {};", beside.started ? "weight * expf(most - top)" : "weight"));
  return text;
}

// With what rows store beside their elements, of these texts.
std::string StatisticsText(const Attention& found, std::string_view sums, std::string_view top, const std::string& indent) {
  std::string text;
  if (found.beside.sums.parameter >= 0) text += sums.substr(1);
  if (found.beside.largest.parameter < 0 && found.beside.weights.parameter < 0) return text;
  std::string lines(top.substr(1));
  lines.replace(lines.find("TOPS_\n"), 6, TopLines(found, indent));
  return text + lines;
}

// Of rows of which queries and keys, or values, have fewer elements than others: the rest counts as zero.
std::string WithWidths(const Attention& found, std::string text) {
  if (found.query_width.empty()) return text;
  for (const auto& [line, other] :
       {std::pair("if (row < last_row && d < DEPTH_) query[i]", "if (row < last_row && d < QUERY_WIDTH_) query[i]"),
        std::pair("tile_k[t] = from_k[(long long)key * K_STRIDE_ + d];",
                  "tile_k[t] = d < QUERY_WIDTH_ ? from_k[(long long)key * K_STRIDE_ + d] : 0.0f;"),
        std::pair("tile_v[t] = from_v[(long long)key * V_STRIDE_ + d];",
                  "tile_v[t] = d < VALUE_WIDTH_ ? from_v[(long long)key * V_STRIDE_ + d] : 0.0f;"),
        std::pair("if (row < last_row && d < DEPTH_) to[", "if (row < last_row && d < VALUE_WIDTH_) to[")})
    boost::replace_all(text, line, other);
  return text;
}

}  // namespace

std::int64_t SumRegisters(const Attention& found) { return KeepsQueries(found) ? found.depth * 3 / 4 : found.depth / 2; }

AttentionWriter::AttentionWriter(const SyntaxTree& tree, const Attention& found, AttentionParameters names)
    : AttentionSource(tree, found, std::move(names),
                      {&kCopyVector, &kLoadMatrices, &kLoadTransposed, &kMultiplyAdd, &kPack, &kPowerOfTwo}) {
  if (found.element == "float")
    blocks_.clear();
  else if (found.output == found.element)
    blocks_.push_back(&kStoreVector);
}

std::string AttentionWriter::SharedBytes() const {
  const bool of_size = !found_.depth_size.empty();
  const std::string depth = of_size ? found_.depth_name : std::to_string(found_.depth);
  if (found_.element == "float") return fmt::format("2 * {} * {} * 4", names_.tile_keys, depth);
  return fmt::format("({} * {} + 2 * {} * {}) * {}", names_.warps, names_.warp_rows, names_.stages, names_.tile_keys,
                     of_size ? fmt::format("(({} + 8) * 2)", depth) : std::to_string((found_.depth + 8) * 2));
}

std::string AttentionWriter::Body() const {
  const bool zero = found_.unweighted == Attention::Unweighted::kZero;
  if (found_.element == "float") {
    std::string text(kFloatAttention.substr(1));
    text += StatisticsText(found_, kFloatSums, kFloatTop, "    ");
    text = WithOtherName(text, "END_", End());
    text = WithOtherName(text, "RESULT_", zero ? "weights > 0.0f ? sums[i] / weights : 0.0f" : "sums[i] / weights");
    const bool window = !found_.window.empty();
    text.replace(text.find(kFloatHidden), kFloatHidden.size(),
                 terms_.has_scores() || window ? terms_.FloatScoreStep("      ")
                 : found_.causal               ? fmt::format("      if (first_key + j > row{}) continue;\n", terms_.After())
                                               : "");
    text = WithWidths(found_, std::move(text));
    return BodyOf(terms_.FromWindow(text));
  }
  std::string text;
  for (const std::string_view part :
       {kAttentionBegin, kAttentionScores, terms_.has_scores() ? kAttentionTerms : kAttentionScaled, kAttentionWeights,
        kAttentionRows, found_.output == found_.element ? kAttentionStoreElements : kAttentionStoreNumbers})
    text += part.substr(1);
  const auto with = [&](std::string_view line, std::string_view other) {
    const std::size_t at = text.find(line);
    text.replace(at, line.size(), other);
  };
  const bool kept = KeepsQueries(found_);
  with("SUM_\n", StatisticsText(found_, kAttentionSums, kAttentionTop, "        "));
  with("QUERY_\n", kept ? "  unsigned query[kParts][DEPTH_ / 16][4] = {};\n" : "");
  with("QUERIES_\n", kept ? kAttentionQueries.substr(1) : "");
  with("QUERY_PART_\n", kept ? "" : kAttentionQueryPart.substr(1));
  text = WithOtherName(text, "QUERY_AT_", kept ? "[d]" : "");
  text = WithOtherName(text, "INVERSE_", Inverse());
  // Without any keys no barrier at all has followed. A length in memory may say so even if no run without keys was understood.
  if (found_.keyless || found_.keys.find('[') != std::string::npos) text = WithOtherName(text, "__syncwarp", "__syncthreads");
  // What depends on whether keys behind the row are hidden.
  text = WithOtherName(text, "END_", End());
  text = WithOtherName(text, "SEEN_", terms_.Seen("WARP_ROWS_"));
  text = WithOtherName(text, "HIDDEN_", terms_.Hidden("own_row + i * 16 + e / 2 * 8 + lane / 4"));
  if (terms_.has_scores()) with("SCORE_\n", terms_.ScoreStep("          "));
  return BodyOf(terms_.FromWindow(text));
}

}  // namespace evo
