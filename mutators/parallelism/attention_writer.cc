#include "mutators/parallelism/attention_writer.h"

#include <fmt/format.h>

#include <array>

#include "kernel_templates/brought_parameters.h"
#include "mutators/analysis/indentation.h"
#include "mutators/analysis/source_query.h"

namespace evo {
namespace {

using namespace std::string_view_literals;

// Names of the texts below that the source may have already, and get a number behind them then.
constexpr std::array kAttentionNames{
    "kThreads"sv,  "kRows"sv,     "kParts"sv,  "tiles"sv,  "queries"sv, "tile_k"sv, "tile_v"sv,  "warp"sv,
    "lane"sv,      "first_row"sv, "own_row"sv, "factor"sv, "query"sv,   "sums"sv,   "largest"sv, "weights"sv,
    "end"sv,       "steps"sv,     "step"sv,    "next"sv,   "t"sv,       "place"sv,  "d"sv,       "key"sv,
    "row"sv,       "slot"sv,      "scores"sv,  "part"sv,   "i"sv,       "j"sv,      "e"sv,       "r"sv,
    "first_key"sv, "most"sv,      "shift"sv,   "fade"sv,   "sum"sv,     "left"sv,   "weight"sv,  "inverse"sv,
    "last_row"sv,  "last_key"sv,  "score"sv,   "from_q"sv, "from_k"sv,  "count"sv,  "from_v"sv,  "to"sv};

constexpr std::string_view kBeginText = R"(
  // A warp keeps the scores, weights and sums of its query rows in registers. Tiles of keys and values come through a ring in
  // shared memory; eight more elements in a row keep the rows that are read together in different banks.
  constexpr int kThreads = WARPS_ * 32, kRows = WARPS_ * WARP_ROWS_, kParts = WARP_ROWS_ / 16;
  extern __shared__ __align__(16) unsigned char tiles[];
  ELEMENT_ (*queries)[DEPTH_ + 8] = reinterpret_cast<ELEMENT_ (*)[DEPTH_ + 8]>(tiles);
  ELEMENT_ (*tile_k)[TILE_KEYS_][DEPTH_ + 8] = reinterpret_cast<ELEMENT_ (*)[TILE_KEYS_][DEPTH_ + 8]>(queries + kRows);
  ELEMENT_ (*tile_v)[TILE_KEYS_][DEPTH_ + 8] = tile_k + STAGES_;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int last_row = ROWS_, last_key = KEYS_;
  const int first_row = BLOCK_ * kRows, own_row = first_row + warp * WARP_ROWS_;
  const ELEMENT_* from_q = Q_;
  const ELEMENT_* from_k = K_;
  const ELEMENT_* from_v = V_;
#pragma unroll 4
  for (int t = threadIdx.x; t < kRows * (DEPTH_ / 8); t += kThreads) {
    const int place = t / (DEPTH_ / 8), d = t % (DEPTH_ / 8) * 8, row = first_row + place;
    CopyVector(&queries[place][d], from_q + ((long long)row * Q_STRIDE_ + d), row < last_row ? 8 : 0);
  }
  // Scores become powers of two instead of powers of e.
  const float factor = SCALE_ * 1.44269504f;
  unsigned query[kParts][DEPTH_ / 16][4] = {};
  float sums[kParts][DEPTH_ / 8][4] = {}, weights[kParts][2] = {}, largest[kParts][2];
#pragma unroll
  for (int i = 0; i < kParts; ++i) largest[i][0] = largest[i][1] = -INFINITY;
  const int end = END_;
  const int steps = (end + TILE_KEYS_ - 1) / TILE_KEYS_;
  for (int step = 1 - STAGES_; step < steps; ++step) {
    if (step >= 0) {
      __pipeline_wait_prior(STAGES_ - 2);
      __syncthreads();
    }
    const int next = step + STAGES_ - 1;
    if (next < steps) {
#pragma unroll 4
      for (int t = threadIdx.x; t < TILE_KEYS_ * (DEPTH_ / 8); t += kThreads) {
        const int place = t / (DEPTH_ / 8), d = t % (DEPTH_ / 8) * 8, key = next * TILE_KEYS_ + place;
        const int count = key < last_key ? 8 : 0;
        CopyVector(&tile_k[next % STAGES_][place][d], from_k + ((long long)key * K_STRIDE_ + d), count);
        CopyVector(&tile_v[next % STAGES_][place][d], from_v + ((long long)key * V_STRIDE_ + d), count);
      }
    }
    __pipeline_commit();
    if (step < 0) continue;
    if (step == 0) {
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
#pragma unroll
        for (int d = 0; d < DEPTH_ / 16; ++d) {
          LoadMatrices(query[i][d], &queries[warp * WARP_ROWS_ + i * 16 + lane % 16][d * 16 + lane / 16 * 8]);
        }
      }
    }
    const int slot = step % STAGES_, first_key = step * TILE_KEYS_;
)";

constexpr std::string_view kScoresText = R"(
    float scores[kParts][TILE_KEYS_ / 8][4] = {};
#pragma unroll
    for (int d = 0; d < DEPTH_ / 16; ++d) {
#pragma unroll
      for (int j = 0; j < TILE_KEYS_ / 16; ++j) {
        unsigned part[4];
        LoadMatrices(part, &tile_k[slot][j * 16 + lane / 16 * 8 + lane % 8][d * 16 + lane / 8 % 2 * 8]);
#pragma unroll
        for (int i = 0; i < kParts; ++i) {
          MultiplyAdd(scores[i][2 * j], query[i][d], part[0], part[1]);
          MultiplyAdd(scores[i][2 * j + 1], query[i][d], part[2], part[3]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
#pragma unroll
      for (int j = 0; j < TILE_KEYS_ / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) scores[i][j][e] *= factor;
      }
    }
    if (first_key + TILE_KEYS_ > SEEN_) {
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
#pragma unroll
        for (int j = 0; j < TILE_KEYS_ / 8; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int key = first_key + j * 8 + lane % 4 * 2 + e % 2;
            if (HIDDEN_) scores[i][j][e] = -INFINITY;
          }
        }
      }
    }
)";

constexpr std::string_view kWeightsText = R"(
    // Scores become weights relative to the row's largest score so far, and sums that were relative to a smaller one shrink. Four
    // lanes share a row.
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float most = largest[i][r];
#pragma unroll
        for (int j = 0; j < TILE_KEYS_ / 8; ++j) most = fmaxf(most, fmaxf(scores[i][j][2 * r], scores[i][j][2 * r + 1]));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
        // While all scores are -infinity, their difference would be no number.
        const float shift = most == -INFINITY ? 0.0f : most;
        const float fade = PowerOfTwo(largest[i][r] - shift);
        float sum = weights[i][r] * fade;
#pragma unroll
        for (int j = 0; j < TILE_KEYS_ / 8; ++j) {
#pragma unroll
          for (int e = 2 * r; e < 2 * r + 2; ++e) {
            scores[i][j][e] = PowerOfTwo(scores[i][j][e] - shift);
            sum += scores[i][j][e];
          }
        }
#pragma unroll
        for (int d = 0; d < DEPTH_ / 8; ++d) {
          sums[i][d][2 * r] *= fade;
          sums[i][d][2 * r + 1] *= fade;
        }
        largest[i][r] = most;
        weights[i][r] = sum;
      }
    }
#pragma unroll
    for (int j = 0; j < TILE_KEYS_ / 16; ++j) {
      unsigned left[kParts][4];
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          left[i][e] = Pack(scores[i][2 * j + e / 2][e % 2 * 2], scores[i][2 * j + e / 2][e % 2 * 2 + 1]);
        }
      }
#pragma unroll
      for (int d = 0; d < DEPTH_ / 16; ++d) {
        unsigned part[4];
        LoadTransposed(part, &tile_v[slot][j * 16 + lane % 16][d * 16 + lane / 16 * 8]);
#pragma unroll
        for (int i = 0; i < kParts; ++i) {
          MultiplyAdd(sums[i][2 * d], left[i], part[0], part[1]);
          MultiplyAdd(sums[i][2 * d + 1], left[i], part[2], part[3]);
        }
      }
    }
  }
)";

constexpr std::string_view kRowsText = R"(
  __pipeline_wait_prior(0);
  __syncwarp();  // with one tile no barrier has followed the loads of the queries, whose place the output takes
  OUTPUT_* to = O_;
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float weight = weights[i][r];
      weight += __shfl_xor_sync(0xffffffffu, weight, 1);
      weight += __shfl_xor_sync(0xffffffffu, weight, 2);
      const float inverse = 1.0f / weight;
)";

// The warp's rows go through shared memory, where its queries were.
constexpr std::string_view kStoreElementsText = R"(
      const int place = warp * WARP_ROWS_ + i * 16 + r * 8 + lane / 4;
#pragma unroll
      for (int d = 0; d < DEPTH_ / 8; ++d) {
        *reinterpret_cast<unsigned*>(&queries[place][d * 8 + lane % 4 * 2]) =
            Pack(sums[i][d][2 * r] * inverse, sums[i][d][2 * r + 1] * inverse);
      }
    }
  }
  __syncwarp();
#pragma unroll 4
  for (int t = lane; t < WARP_ROWS_ * (DEPTH_ / 8); t += 32) {
    const int place = t / (DEPTH_ / 8), d = t % (DEPTH_ / 8) * 8, row = own_row + place;
    if (row < last_row) StoreVector(to + ((long long)row * O_STRIDE_ + d), &queries[warp * WARP_ROWS_ + place][d]);
  }
)";

constexpr std::string_view kStoreNumbersText = R"(
      const int row = own_row + i * 16 + r * 8 + lane / 4;
      if (row >= last_row) continue;
#pragma unroll
      for (int d = 0; d < DEPTH_ / 8; ++d) {
        to[(long long)row * O_STRIDE_ + d * 8 + lane % 4 * 2] = sums[i][d][2 * r] * inverse;
        to[(long long)row * O_STRIDE_ + d * 8 + lane % 4 * 2 + 1] = sums[i][d][2 * r + 1] * inverse;
      }
    }
  }
)";

// Of floats.
constexpr std::string_view kFloatText = R"(
  // Some threads of a warp share a row of queries: each has every kRowThreads-th element. Tiles of keys and values are in shared
  // memory for all rows of the block.
  constexpr int kThreads = WARPS_ * 32, kRows = kThreads / WARP_ROWS_, kParts = (DEPTH_ + WARP_ROWS_ - 1) / WARP_ROWS_;
  extern __shared__ __align__(16) unsigned char tiles[];
  float* tile_k = reinterpret_cast<float*>(tiles);
  float* tile_v = tile_k + TILE_KEYS_ * DEPTH_;
  const int part = threadIdx.x % WARP_ROWS_, last_row = ROWS_, last_key = KEYS_;
  const int first_row = BLOCK_ * kRows, row = first_row + threadIdx.x / WARP_ROWS_;
  const float* from_q = Q_;
  const float* from_k = K_;
  const float* from_v = V_;
  const float factor = SCALE_;
  float query[kParts] = {}, sums[kParts] = {}, largest = -INFINITY, weights = 0.0f;
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    const int d = i * WARP_ROWS_ + part;
    if (row < last_row && d < DEPTH_) query[i] = from_q[(long long)row * Q_STRIDE_ + d] * factor;
  }
  const int end = END_;
  for (int first_key = 0; first_key < end; first_key += TILE_KEYS_) {
    const int count = min(TILE_KEYS_, end - first_key);
    __syncthreads();
    for (int t = threadIdx.x; t < count * DEPTH_; t += kThreads) {
      const int place = t / DEPTH_, d = t % DEPTH_, key = first_key + place;
      tile_k[t] = from_k[(long long)key * K_STRIDE_ + d];
      tile_v[t] = from_v[(long long)key * V_STRIDE_ + d];
    }
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      float score = 0.0f;
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        const int d = i * WARP_ROWS_ + part;
        if (d < DEPTH_) score += query[i] * tile_k[j * DEPTH_ + d];
      }
#pragma unroll
      for (int e = WARP_ROWS_ / 2; e > 0; e /= 2) score += __shfl_xor_sync(0xffffffffu, score, e);
      if (HIDDEN_) continue;
      const float most = fmaxf(largest, score), fade = expf(largest - most), weight = expf(score - most);
      weights = weights * fade + weight;
#pragma unroll
      for (int i = 0; i < kParts; ++i) {
        const int d = i * WARP_ROWS_ + part;
        if (d < DEPTH_) sums[i] = sums[i] * fade + weight * tile_v[j * DEPTH_ + d];
      }
      largest = most;
    }
  }
  float* to = O_;
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    const int d = i * WARP_ROWS_ + part;
    if (row < last_row && d < DEPTH_) to[(long long)row * O_STRIDE_ + d] = sums[i] / weights;
  }
)";

}  // namespace

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
  for (const int guard : found_.guards) text += fmt::format("  {}\n", tree_.Text(guard));
  return text;
}

std::string AttentionWriter::Body() const {
  if (found_.element == "float") {
    std::string text(kFloatText.substr(1));
    text = WithOtherName(text, "END_", found_.causal ? "min(last_key, first_row + kRows)" : "last_key");
    text = WithOtherName(text, "HIDDEN_", found_.causal ? "first_key + j > row" : "false");
    if (!found_.causal) text.replace(text.find("      if (false) continue;\n"), 27, "");
    return fmt::format("{{\n{}{}}}", Declarations(), Filled(Own(text)));
  }
  std::string text;
  for (const std::string_view part : {kBeginText, kScoresText, kWeightsText, kRowsText,
                                      found_.output == found_.element ? kStoreElementsText : kStoreNumbersText})
    text += part.substr(1);
  // Without any keys, which a length in memory may say, no barrier at all has followed.
  if (found_.keys.find('[') != std::string::npos) text = WithOtherName(text, "__syncwarp", "__syncthreads");
  // What depends on whether keys behind the row are hidden.
  text = WithOtherName(text, "END_", found_.causal ? "min(last_key, first_row + kRows)" : "last_key");
  text = WithOtherName(text, "SEEN_", found_.causal ? "min(last_key, own_row + 1)" : "last_key");
  text = WithOtherName(text, "HIDDEN_",
                       found_.causal ? "key >= last_key || key > own_row + i * 16 + e / 2 * 8 + lane / 4" : "key >= last_key");
  return fmt::format("{{\n{}{}}}", Declarations(), Filled(Own(text)));
}

}  // namespace evo
