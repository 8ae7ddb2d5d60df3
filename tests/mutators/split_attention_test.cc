#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// One query a head, in three kernels.
constexpr const char* kDecoding = R"(
// evo:workspace weights f32 [H, S]
// evo:launch score(Q, K, weights, S, f32(0.25)) grid(ceil_div(S, 32), H) block(32)
// evo:launch normalise(weights, S) grid(H) block(1)
// evo:launch mix(weights, V, O, S) grid(H) block(16)
#include <cuda_fp16.h>

__global__ void score(const half* Q, const half* K, float* scores, int length, float scale) {
  const int key = blockIdx.x * 32 + threadIdx.x;
  if (key >= length) return;
  float sum = 0.0f;
  for (int d = 0; d < 16; ++d) {
    sum += __half2float(Q[blockIdx.y * 16 + d]) * __half2float(K[(blockIdx.y * length + key) * 16 + d]);
  }
  scores[blockIdx.y * length + key] = sum * scale;
}

__global__ void normalise(float* scores, int length) {
  float* row = scores + blockIdx.x * length;
  float most = row[0], sum = 0.0f;
  for (int key = 1; key < length; ++key) most = fmaxf(most, row[key]);
  for (int key = 0; key < length; ++key) sum += expf(row[key] - most);
  for (int key = 0; key < length; ++key) row[key] = expf(row[key] - most) / sum;
}

__global__ void mix(const float* weights, const half* V, half* O, int length) {
  float sum = 0.0f;
  for (int key = 0; key < length; ++key) {
    sum += weights[blockIdx.x * length + key] * __half2float(V[(blockIdx.x * length + key) * 16 + threadIdx.x]);
  }
  O[blockIdx.x * 16 + threadIdx.x] = __float2half(sum);
}
)";

std::string With(std::string source, const std::string& old, const std::string& other) {
  const std::size_t at = source.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return at == std::string::npos ? source : source.replace(at, old.size(), other);
}

TEST(FuseAttention, MergesKernelsAndDividesTheKeysOfAHead) {
  const auto children = ChildrenOf("fuse_attention", kDecoding);
  ASSERT_THAT(children, SizeIs(2));
  const std::string& child = children.front();
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:workspace part_sums f32 [H, PARTS, 16]\n"),
                           HasSubstr("// evo:workspace part_states f32 [H, PARTS, 2]\n"),
                           HasSubstr("grid(H, PARTS) block(WARPS * 32)\n"), HasSubstr("grid(H) block(16)")));
  EXPECT_THAT(child,
              AllOf(Not(HasSubstr("evo:workspace weights")), Not(HasSubstr("launch score(")), Not(HasSubstr("void normalise("))));
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:param PARTS 1 4 8 16 32 64 128\n"), HasSubstr("// evo:param LANES 1 2\n"),
                           HasSubstr("reinterpret_cast<const uint4*>(from_k ")));
}

// What differs from an attention at some size or in some row only has no child.
TEST(FuseAttention, LeavesKernelsThatAreNoAttentionTogether) {
  const std::pair<const char*, const char*> changes[] = {
      {"for (int key = 0; key < length; ++key) {", "for (int key = 1; key < length; ++key) {"},
      {"for (int key = 0; key < length; ++key) {", "for (int key = 0; key < length && key < 40; ++key) {"},
      {"for (int key = 0; key < length; ++key) sum", "for (int key = 1; key < length; ++key) sum"},
      {"scores[blockIdx.y * length + key] = sum * scale;", "scores[blockIdx.y * length + key] = sum * scale + 0.1f * key;"},
      {"scores[blockIdx.y * length + key] = sum * scale;", "scores[blockIdx.y * length + key] = fminf(sum * scale, 30.0f);"},
      {"V[(blockIdx.x * length + key)", "V[(0 * length + key)"},
      {"K[(blockIdx.y * length + key) * 16 + d]", "K[(blockIdx.y * length + (key + 1) % length) * 16 + d]"},
      {"O[blockIdx.x * 16 + threadIdx.x] =", "if (blockIdx.x != 1) O[blockIdx.x * 16 + threadIdx.x] ="},
      {"row[key] = expf(row[key] - most) / sum;", "row[key] = expf(row[0] - most) / sum;"},
      {"float most = row[0]", "float most = blockIdx.x > 0 ? row[-1] : row[0]"}};
  for (const auto& [old, other] : changes)
    EXPECT_THAT(ChildrenOf("fuse_attention", With(kDecoding, old, other)), IsEmpty()) << other;
}

// Rows of the workspace that another block of the same launch writes.
TEST(FuseAttention, LeavesKernelsThatReadWhatOthersStore) {
  EXPECT_THAT(ChildrenOf("fuse_attention",
                         With(kDecoding, "sum += expf(row[key] - most);", "sum += expf(row[key] - most) + 0.0f * scores[0];")),
              IsEmpty());
}

// Each head has its own keys: a block has a head, and the grid's next axis the parts.
constexpr const char* kOneQuery = R"(
// evo:launch attend(Q, K, V, L, O, S, G) grid(H, B) block(32)
#include <cuda_bf16.h>
__global__ void __launch_bounds__(32) attend(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V, const int* L,
                                             float* O, int length, int groups) {
  const int head = blockIdx.x, lane = threadIdx.x;
  const __nv_bfloat16* q = Q + (blockIdx.y * gridDim.x + head) * 32;
  const long long first = (long long)(blockIdx.y * (gridDim.x / groups) + head / groups) * length * 32;
  float most = -INFINITY, weights = 0.0f, sum = 0.0f;
  for (int key = 0; key < L[blockIdx.y]; ++key) {
    float score = __bfloat162float(q[lane]) * __bfloat162float(K[first + key * 32 + lane]) * 0.17677669f;
    for (int i = 16; i > 0; i /= 2) score += __shfl_xor_sync(0xffffffffu, score, i);
    const float next = fmaxf(most, score), fade = expf(most - next), weight = expf(score - next);
    weights = weights * fade + weight;
    sum = sum * fade + weight * __bfloat162float(V[first + key * 32 + lane]);
    most = next;
  }
  O[(blockIdx.y * gridDim.x + head) * 32 + lane] = weights > 0.0f ? sum / weights : 0.0f;
}
)";

TEST(FuseAttention, KeepsWhereTheKeysOfAHeadBeginAndEnd) {
  const auto children = ChildrenOf("fuse_attention", kOneQuery);
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_THAT(
      children.front(),
      AllOf(HasSubstr("__global__ void __launch_bounds__(WARPS * 32) attend_parts("),
            HasSubstr("__global__ void __launch_bounds__(32) attend("), HasSubstr("last_key = L[blockIdx.y], part = blockIdx.z;"),
            HasSubstr("grid(H, B, PARTS) block(WARPS * 32)"), HasSubstr("weights > 0.0f ? sum / weights : 0.0f")));
}

// A third axis of the grid is left for the parts only if the kernel does not name it.
TEST(FuseAttention, RefusesHeadsWithoutAnAxisForTheParts) {
  const std::string named = With(kOneQuery, "head / groups)", "head / groups + gridDim.z - 1)");
  EXPECT_THAT(ChildrenOf("fuse_attention", named), IsEmpty());
  EXPECT_THAT(RefusalsOf("fuse_attention", named), Contains(HasSubstr("it names gridDim.z")));
}

}  // namespace
}  // namespace evo
