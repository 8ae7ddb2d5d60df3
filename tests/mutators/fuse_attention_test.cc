#include <gmock/gmock.h>

#include <sstream>

#include "mutators/analysis/kernel_kind.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// With blocks for large problems; the other child has smaller ones.
std::string Fused(const std::string& source) {
  const auto children = ChildrenOf("fuse_attention", source);
  EXPECT_THAT(children, SizeIs(2)) << source;
  return children.empty() ? "" : children.front();
}

std::vector<std::string> WhyNotFused(const std::string& source) { return RefusalsOf("fuse_attention", source); }

// Scores in a function, three passes, a batch and heads.
constexpr const char* kThreePasses = R"(
// evo:launch attend(Q, K, V, O, S, D, scale) grid(ceil_div(S, 64), H, B) block(64)
#include <cuda_fp16.h>
#define DEPTH 16

__device__ float Score(const half* a, const half* b) {
  float sum = 0.0f;
  for (int d = 0; d < DEPTH; ++d) sum += __half2float(a[d]) * __half2float(b[d]);
  return sum;
}

__global__ void attend(const half* Q, const half* K, const half* V, half* O, int length, int depth, float scale) {
  if (depth != DEPTH) return;
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= length) return;
  const int head = (blockIdx.z * gridDim.y + blockIdx.y) * length * DEPTH;
  const int end = length;
  const half* query = Q + head + row * depth;
  float largest = -INFINITY;
  for (int key = 0; key < end; ++key) largest = fmaxf(largest, Score(query, K + head + key * DEPTH) * scale);
  float weights = 0.0f;
  for (int key = 0; key < end; ++key) weights += expf(Score(query, K + head + key * DEPTH) * scale - largest);
  for (int d = 0; d < DEPTH; ++d) {
    float sum = 0.0f;
    for (int key = 0; key < end; ++key) {
      sum += expf(Score(query, K + head + key * DEPTH) * scale - largest) * __half2float(V[head + key * DEPTH + d]);
    }
    O[head + row * DEPTH + d] = __float2half(sum / weights);
  }
}
)";

// Queries and keys of two lengths, masked scores in place of a shorter loop, and an output in float.
constexpr const char* kCross = R"(
// evo:launch cross(Y, X, M, W, N, L) grid(H, ceil_div(N, 32)) block(32)
#include <cuda_bf16.h>
constexpr int kWidth = 16;
using bf = __nv_bfloat16;
__global__ void cross(float* y, const bf* x, const bf* m, const bf* w, long long n, long long l) {
  const long long i = blockIdx.y * 32 + threadIdx.x;
  if (i < n) {
    float best = -1e9f, total = 0.f, out[kWidth] = {};
    for (int pass = 0; pass < 2; pass++) {
      for (long long j = 0; j < l; ++j) {
        float score = 0.f;
        for (int c = 0; c < kWidth; ++c) {
          const float q = __bfloat162float(x[(blockIdx.x * n + i) * kWidth + c]) * 0.25f;
          score += q * __bfloat162float(m[(blockIdx.x * l + j) * kWidth + c]);
        }
        if (j > i) score = -1e9f;
        if (pass == 0) {
          best = score > best ? score : best;
        } else {
          const float weight = __expf(score - best);
          total += weight;
          for (int c = 0; c < kWidth; ++c) out[c] += weight * __bfloat162float(w[(blockIdx.x * l + j) * kWidth + c]);
        }
      }
    }
    for (int c = 0; c < kWidth; ++c) y[(blockIdx.x * n + i) * kWidth + c] = out[c] / total;
  }
}
)";

TEST(FuseAttention, BringsParametersAndBlocks) {
  const std::string child = Fused(kThreePasses);
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:param TILE_KEYS 32 64 128\n"), HasSubstr("// evo:param WARPS 1 2 4 8\n"),
                           HasSubstr("// evo:param WARP_ROWS 16 32\n"), HasSubstr("// evo:param STAGES 2 3\n"),
                           HasSubstr("// evo:constraint WARP_ROWS / 16 * (TILE_KEYS / 2 + 12) <= 192\n")));
  EXPECT_THAT(child, HasSubstr("__pipeline_wait_prior(0);\n  __syncwarp();")) << "racecheck: the output takes the queries' place";
  EXPECT_THAT(child, HasSubstr("grid(ceil_div(S, WARPS * WARP_ROWS), H, B) block(WARPS * 32) "
                               "shared((WARPS * WARP_ROWS + 2 * STAGES * TILE_KEYS) * 48)\n"));
  EXPECT_THAT(child,
              AllOf(HasSubstr("#include <cuda_pipeline.h>\n"), HasSubstr("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "),
                    HasSubstr("ex2.approx.ftz.f32 %0, %1;")));
}

TEST(FuseAttention, HasAKindOfItsOwn) { EXPECT_EQ(KernelKind(Parent(kThreePasses).Context()), "attention"); }

// What does not depend on the row, the key and the column stays as the kernel says it.
TEST(FuseAttention, KeepsAddressesScaleAndGuards) {
  const std::string child = Fused(kThreePasses);
  EXPECT_THAT(child, AllOf(HasSubstr("  const int head = (blockIdx.z * gridDim.y + blockIdx.y) * length * DEPTH;\n"),
                           HasSubstr("  if (depth != DEPTH) return;\n"), HasSubstr("const half* from_k = K + head;\n"),
                           HasSubstr("const float factor = scale * 1.44269504f;\n"),
                           HasSubstr("const int last_row = length, last_key = length;\n")));
  std::istringstream lines(child);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), line.starts_with("// evo:") ? 250u : 150u) << line;
}

TEST(FuseAttention, FindsLengthsMasksAndTypes) {
  const std::string child = Fused(kCross);
  EXPECT_THAT(child, AllOf(HasSubstr("const int last_row = n, last_key = l;\n"), HasSubstr("key > own_row + i * 16"),
                           HasSubstr("f32.bf16.bf16.f32"), HasSubstr("float* to = y + "),
                           HasSubstr("grid(H, ceil_div(N, WARPS * WARP_ROWS)) block(WARPS * 32)")));
  EXPECT_THAT(child, AllOf(HasSubstr("int(gridDim.y - 1 - blockIdx.y)"), HasSubstr("0.25f * 1.44269504f")));
}

// The same values by other code.
TEST(FuseAttention, DoesNotMindHowScoresAreComputed) {
  const std::vector<std::pair<const char*, const char*>> ways{
      {"largest = fmaxf(largest, Score(query, K + head + key * DEPTH) * scale)",
       "{ float s = scale * Score(query, K + head + key * DEPTH); if (s > largest) largest = s; }"},
      {"float largest = -INFINITY;", "float largest = -3.0e38f;"},
      {"sum += __half2float(a[d]) * __half2float(b[d])", "sum = fmaf(float(b[d]), (float)a[d], sum)"},
      {"const int end = length;", "int end = length;"},
      {"O[head + row * DEPTH + d] = __float2half(sum / weights)",
       "O[head + row * DEPTH + d] = __float2half(__fdividef(sum, weights))"},
      {"(sum / weights)", "(weights > 0.0f ? sum / weights : 0.0f)"}};
  for (const auto& [from, to] : ways) EXPECT_THAT(WhyNotFused(With(kThreePasses, from, to)), IsEmpty()) << to;
}

// A row without keys is what the parent makes of it: 0 / 0, zero, or nothing is stored.
TEST(FuseAttention, KeepsWhatRowsWithoutKeysAre) {
  const std::string cross = Fused(kCross);
  EXPECT_THAT(cross, AllOf(HasSubstr("inverse = 1.0f / weight;"), HasSubstr("__syncthreads();  // with one tile no barrier")));
  const char* const result = "= out[c] / total;";
  const std::string zero = "inverse = weight > 0.0f ? 1.0f / weight : 0.0f;";
  for (const char* to :
       {"= total > 0.f ? out[c] / total : 0.f;", "= out[c] / fmaxf(total, 1e-8f);", "= l == 0 ? 0.f : out[c] / total;"})
    EXPECT_THAT(Fused(With(kCross, result, to)), HasSubstr(zero)) << to;
  EXPECT_THAT(Fused(With(kCross, "if (i < n) {", "if (i < n && l > 0) {")), HasSubstr("if (l <= 0) return;\n"));
  EXPECT_THAT(WhyNotFused(With(kCross, result, "= total > 0.f ? out[c] / total : 1.f;")),
              ElementsAre("cross: a row without keys is neither 0 / 0 nor zero"));
  // Rows that all have a key, but perhaps scores of minus infinity only.
  EXPECT_THAT(Fused(kThreePasses), HasSubstr("inverse = 1.0f / weight;"));
  EXPECT_THAT(Fused(With(kThreePasses, "(sum / weights)", "(weights > 0.0f ? sum / weights : 0.0f)")), HasSubstr(zero));
}

// Whether a row may have no keys is unknown where such a run is not understood.
TEST(FuseAttention, WaitsForAllThreadsWhereKeysMayBeNone) {
  const std::string passed = With(With(kThreePasses, "attend(Q, K, V, O, S", "attend(Q, K, V, lengths, O, S"), "const half* V,",
                                  "const half* V, const int* lengths,");
  const std::string known = With(passed, "end = length;", "end = lengths[blockIdx.z];");
  for (const std::string& source : {known, With(known, "blockIdx.z];", "blockIdx.z];\n  if (end == 0) __nanosleep(1);")})
    EXPECT_THAT(Fused(source), HasSubstr("__pipeline_wait_prior(0);\n  __syncthreads();"));
}

TEST(FuseAttention, SaysWhyNot) {
  EXPECT_THAT(WhyNotFused(kThreePasses), IsEmpty());
  const std::vector<std::tuple<const char*, const char*, const char*>> changes{
      {"V[head + key * DEPTH + d]", "V[head + key * 2 * DEPTH + 2 * d]", "attend: the elements of a row of V are no neighbours"},
      {"int length, int depth, float scale", "int length, int depth, float scale, const float* bias",
       "its launch line has another number of arguments"},
      {"expf(Score(query, K + head + key * DEPTH) * scale - largest) * __half2float",
       "expf(Score(query, K + head + key * DEPTH) * scale - largest + 0.1f * key) * __half2float", "is not softmax("},
      {"(sum / weights)", "(fminf(sum / weights, 1.0f))", "it compares a score or a weight with 1"},
      {"if (row >= length) return;", "", "no bound is known for row"},
      {"const int end = length;", "const int end = min(length, row + 40);", "with 43 keys, what it stores is not"},
      {"const int end = length;", "const int end = min(length, row + 4 * 32);", "with 131 keys, what it stores is not"},
      {"const int end = length;", "const int end = depth > 8 ? length : row + 1;", ""},
      {"const half* query = Q + head + row * depth;", "const half* query = Q + head + row / 2 * depth;",
       "where Q begins depends on the thread"},
      {"= __float2half(sum / weights)", "= __float2half_rz(sum / weights)", "it calls __float2half_rz, which is not known"},
      {"#define DEPTH 16", "#define DEPTH 24", "its rows have 24 elements"},
      {"#define DEPTH 16", "// evo:size DEPTH = D\n#ifndef DEPTH\n#define DEPTH 16\n#endif", "`DEPTH`, which the case decides"},
      {"block(64)", "block(64, 2)", "threads along two axes"}};
  for (const auto& [from, to, why] : changes) {
    const std::string source = With(kThreePasses, from, to);
    if (*why == '\0') {
      EXPECT_THAT(WhyNotFused(source), IsEmpty()) << source;
      continue;
    }
    EXPECT_THAT(WhyNotFused(source), ElementsAre(HasSubstr(why))) << source;
  }
  const std::string flag =
      With(With(kThreePasses, "O, S, D, scale)", "O, S, D, scale, B)"), "float scale) {", "float scale, int causal) {");
  EXPECT_THAT(WhyNotFused(With(flag, "const int end = length;", "const int end = causal ? row + 1 : length;")),
              ElementsAre("attend: causal decides what it computes"));
}

}  // namespace
}  // namespace evo
