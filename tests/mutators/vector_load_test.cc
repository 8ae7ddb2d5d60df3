#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(VectorLoad, ChecksAlignmentAndKeepsTheRemainder) {
  const auto children =
      Bodies("vector_load", "#pragma unroll 2\n  for (int i = 0; i < n; ++i) {\n    out[i] = in[i + 8] * in[2 * i];\n  }\n");
  ASSERT_THAT(children, SizeIs(4));  // two and four elements, with the store and without
  EXPECT_EQ(children[2], R"(  {
    int i = 0;
    if (reinterpret_cast<unsigned long long>(&in[i + 8]) % 16 == 0 && reinterpret_cast<unsigned long long>(&out[i]) % 16 == 0) {
#pragma unroll 2
      for (; i + 3 < n; i += 4) {
        alignas(16) float items_0[4];
        *reinterpret_cast<float4*>(items_0) = *reinterpret_cast<const float4*>(&in[i + 8]);
        alignas(16) float items_1[4];
#pragma unroll
        for (int item = 0; item < 4; ++item) {
          items_1[item] = items_0[item] * in[2 * (i + item)];
        }
        *reinterpret_cast<float4*>(&out[i]) = *reinterpret_cast<float4*>(items_1);
      }
    }
    for (; i < n; ++i) {
      out[i] = in[i + 8] * in[2 * i];
    }
  }
)");
}

TEST(VectorLoad, ReachesTheFirstAlignedElement) {
  const auto children = Bodies("vector_load", "  float s = 0;\n  for (int i = 1; i < n; ++i) s += in[i];\n  out[0] = s;\n");
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_NE(
      children[0].find("for (; i < n && reinterpret_cast<unsigned long long>(&in[i]) % 8 != 0; ++i) {\n      s += in[i];\n"),
      std::string::npos);
}

TEST(VectorLoadShared, HandlesLoopsDividedAmongThreads) {
  const auto children =
      Bodies("vector_load_shared", "  const int t = threadIdx.x;\n  for (int i = t; i < n; i += 128) out[i] = in[i];\n");
  ASSERT_THAT(children, SizeIs(4));
  EXPECT_EQ(children[3], R"(  const int t = threadIdx.x;
  if (reinterpret_cast<unsigned long long>(&in[0]) % 16 == 0) {
    for (int i = t * 4; i + 3 < n; i += 4 * 128) {
      alignas(16) float items[4];
      *reinterpret_cast<float4*>(items) = *reinterpret_cast<const float4*>(&in[i]);
#pragma unroll
      for (int item = 0; item < 4; ++item) {
        out[i + item] = items[item];
      }
    }
    for (int i = n / 4 * 4 + t; i < n; i += 128) {
      out[i] = in[i];
    }
  } else {
    for (int i = t; i < n; i += 128) {
      out[i] = in[i];
    }
  }
)");
  EXPECT_THAT(Bodies("vector_load_shared",
                     "  const int lane = threadIdx.x % 32;\n  for (int i = lane; i < n; i += 32) out[i] = in[i];\n"),
              SizeIs(4));
  EXPECT_THAT(Bodies("vector_load_shared", "  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];\n"), SizeIs(4));
  EXPECT_THAT(Bodies("vector_load", "  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];\n"), IsEmpty());
  EXPECT_THAT(Bodies("vector_load_shared", "  for (int i = 0; i < n; ++i) out[i] = in[i];\n"), IsEmpty());
}

TEST(VectorLoadShared, BeginsBehindABase) {
  const auto from_one =
      Bodies("vector_load_shared", "  const int t = threadIdx.x;\n  for (int i = 1 + t; i < n; i += 128) out[i] = in[i];\n");
  ASSERT_THAT(from_one, SizeIs(4));
  EXPECT_EQ(from_one[3].substr(0, from_one[3].find("      alignas")), R"(  const int t = threadIdx.x;
  if (reinterpret_cast<unsigned long long>(&in[0]) % 16 == 0) {
    for (int i = 1 + t; i < 4 && i < n; i += 128) {
      out[i] = in[i];
    }
    for (int i = 4 + t * 4; i + 3 < n; i += 4 * 128) {
)");
  EXPECT_THAT(from_one[3], testing::HasSubstr("    for (int i = 4 + (n - 4) / 4 * 4 + t; i < n; i += 128) {\n"));
  const auto from_row = Bodies(
      "vector_load_shared", "  for (int i = blockIdx.x * 7 + threadIdx.x; i < (blockIdx.x + 1) * 7; i += 128) out[i] = in[i];\n");
  EXPECT_THAT(from_row, IsEmpty()) << "the bound is unsigned";
  const auto from_base =
      Bodies("vector_load_shared",
             "  const int b = blockIdx.x * 7;\n  for (int i = b + threadIdx.x; i < b + n; i += 128) out[i] = in[i];\n");
  ASSERT_THAT(from_base, SizeIs(4));
  EXPECT_THAT(from_base[3], testing::HasSubstr("(&in[b]) % 16 == 0"));
  EXPECT_THAT(from_base[3], testing::HasSubstr("for (int i = b + threadIdx.x * 4; i + 3 < (b + n); i += 4 * 128) {"));
  EXPECT_THAT(from_base[3], testing::HasSubstr("for (int i = b + ((b + n) - b) / 4 * 4 + threadIdx.x; i < b + n; i += 128) {"));
}

// A load under a condition, if a loop before has made it in every turn: then it may be made for whole vectors.
TEST(VectorLoadShared, LoadsUnderAConditionWhatWasReadBefore) {
  const std::string sum = "  float s = 0;\n  for (int i = threadIdx.x; i < n; i += 128) s += in[i];\n";
  const std::string scaled = "  for (int i = threadIdx.x; i < n; i += 128) out[i] = s > 0 ? in[i] / s : 0;\n";
  const auto both = Bodies("vector_load_shared", sum + scaled);
  ASSERT_THAT(both, testing::Not(IsEmpty()));
  EXPECT_TRUE(std::any_of(both.begin(), both.end(), [](const std::string& body) {
    return body.find("items_1[item] = s > 0 ? items_0[item] / s : 0;") != std::string::npos;
  })) << both.back();
  for (const std::string& body :
       {"  float s = n;\n" + scaled, "  float s = 0;\n  for (int i = threadIdx.x; i < n - 1; i += 128) s += in[i];\n" + scaled,
        "  float s = 0;\n  for (int i = threadIdx.x; i < n; i += 128) s += i > 3 ? in[i] : 0;\n" + scaled}) {
    for (const std::string& child : Bodies("vector_load_shared", body))
      EXPECT_EQ(child.find("items_0[item] / s"), std::string::npos) << child;
  }
}

TEST(VectorLoadShared, LeavesDivisionsThatItDoesNotUnderstand) {
  for (const char* body : {"  for (int i = threadIdx.x; i < n; i += 64) out[i] = in[i];\n",  // the block has 128 threads
                           "  for (int i = n; i < 2 * n; i += 128) out[i] = in[i];\n",
                           "  for (int i = threadIdx.x; i <= n; i += 128) out[i] = in[i];\n",
                           // A thread may later read what it wrote itself; another thread might not have written it yet.
                           "  __shared__ float t[512];\n  for (int i = threadIdx.x; i < 512; i += 128) t[i] = in[i];\n",
                           "  float t[8];\n  for (int i = threadIdx.x; i < n; i += 128) t[i / 128] = in[i];\n  out[0] = t[0];\n",
                           "  for (int i = threadIdx.x; i < n; i += 128) out[i] += in[i];\n",
                           "  for (int i = threadIdx.x; i < n; i += 128) out[i] = __shfl_sync(~0u, in[i], 0);\n"}) {
    EXPECT_THAT(Bodies("vector_load_shared", body), IsEmpty()) << body;
  }
}

TEST(VectorLoad, LeavesWrittenAndStridedElements) {
  for (const char* body :
       {"  for (int i = 0; i < n; ++i) out[i + 1] = out[i];\n",  // the loop reads what it wrote
        "  for (int i = 0; i < n; ++i) out[2 * i] = in[n - i];\n",
        "  float t[8];\n  float s = 0;\n  for (int i = 0; i < 8; ++i) s += t[i];\n  out[0] = s;\n",  // an array in registers
        "  float s = 0;\n  for (int i = 0; i < n; ++i) if (i > 3) s += in[i];\n  out[0] = s;\n",
        "  float s = 0;\n  for (int i = 0; i < n; ++i) { in += 1; s += in[i]; }\n  out[0] = s;\n"}) {
    EXPECT_THAT(Bodies("vector_load", body), IsEmpty()) << body;
  }
  // Two stores must stay in order, so only the loads become vectors.
  EXPECT_THAT(Bodies("vector_load", "  for (int i = 0; i < n; ++i) {\n    out[i] = in[i];\n    out[i + 1] = 0;\n  }\n"),
              SizeIs(2));
}

TEST(VectorLoad, TakesHalvesAsWordsAndSharedMemory) {
  const std::string text = "#include <cuda_fp16.h>\n" +
                           PlainKernel("  float s = 0;\n  for (int i = 0; i < n; ++i) s += __half2float(in[i]);\n  out[0] = s;\n",
                                       "const half* in, float* out, int n, float scale");
  const auto children = ChildrenOf("vector_load", text);
  ASSERT_THAT(children, SizeIs(3));
  EXPECT_TRUE(AnyContains(children, "*reinterpret_cast<uint4*>(items) = *reinterpret_cast<const uint4*>(&in[i]);"));
  EXPECT_TRUE(AnyContains(children, "s += __half2float(items[item]);"));
  EXPECT_THAT(Bodies("vector_load",
                     "  __shared__ float t[8][8];\n  t[n][0] = in[0];\n  __syncthreads();\n  float s = 0;\n"
                     "  for (int i = 0; i < 8; ++i) s += t[n][i];\n  out[0] = s;\n"),
              SizeIs(2));
}

// The sum of a block, of a pointer that is no pointer to constants.
std::vector<std::string> OfChangeable(const std::string& before) {
  return ChildrenOf("vector_load_shared",
                    "// evo:launch k(X, Y, N) grid(1) block(128)\n"
                    "__device__ void Clear(float* p) { *p = 0.0f; }\n"
                    "__global__ void k(float* x, float* y, int n) {\n  __shared__ float s[128];\n" +
                        before +
                        "  float sum = 0.0f;\n  float* row = x + 8;\n"
                        "  for (int i = threadIdx.x; i < n; i += 128) sum += row[i];\n"
                        "  s[threadIdx.x] = sum;\n  __syncthreads();\n"
                        "  if (threadIdx.x == 0) y[0] = s[0] + s[64];\n}\n");
}

TEST(VectorLoadShared, ReadsWhatAKernelOnlyReads) {
  EXPECT_THAT(OfChangeable(""), SizeIs(2));
  EXPECT_THAT(OfChangeable("  x[threadIdx.x] = 0.0f;\n"), IsEmpty());
  EXPECT_THAT(OfChangeable("  float* z = x;\n  z[threadIdx.x] = 0.0f;\n"), IsEmpty());
  EXPECT_THAT(OfChangeable("  float* z = y;\n  z = x;\n  z[threadIdx.x] = 0.0f;\n"), IsEmpty());
  EXPECT_THAT(OfChangeable("  float& first = x[0];\n  first = 0.0f;\n"), IsEmpty());
  EXPECT_THAT(OfChangeable("  atomicAdd(&x[8], 1.0f);\n"), IsEmpty());
  EXPECT_THAT(OfChangeable("  Clear(x + 8);\n"), IsEmpty());
}

}  // namespace
}  // namespace evo
