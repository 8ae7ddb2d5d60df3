#pragma once

#include <string_view>

namespace evo {

// Parts of the body of a fused attention, in this order, each with a newline before it. Words that end with _ stand for what the
// source says. Where there is a choice: the output has elements of the other matrices, or floats.
extern const std::string_view kAttentionBegin;
// The queries of a warp stay in registers, or are loaded in each step where rows are long.
extern const std::string_view kAttentionQueries, kAttentionQueryPart;
extern const std::string_view kAttentionScores;
// Scores are only scaled, or something is added to them or a mask hides some.
extern const std::string_view kAttentionScaled, kAttentionTerms;
extern const std::string_view kAttentionWeights;
extern const std::string_view kAttentionRows;
extern const std::string_view kAttentionSums;
extern const std::string_view kFloatSums;
extern const std::string_view kAttentionTop;
extern const std::string_view kFloatTop;
extern const std::string_view kAttentionStoreElements, kAttentionStoreNumbers;
// The whole body for floats.
extern const std::string_view kFloatAttention;

}  // namespace evo
