#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const char* const kNest = R"(  float sums[4] = {};
  for (int e = 0; e < 4; ++e) {
    for (int t = 0; t < n; ++t) {
      sums[e] += in[e + t] * scale;
    }
  }
  for (int e = 0; e < 4; ++e) out[e] = sums[e];
)";

TEST(LoopInterchange, ExchangesHeaders) {
  const auto children = Bodies("loop_interchange", kNest);
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find(
                "  for (int t = 0; t < n; ++t) {\n    for (int e = 0; e < 4; ++e) {\n      sums[e] += in[e + t] * scale;\n"),
            std::string::npos);
  EXPECT_TRUE(AnyContains(Bodies("loop_interchange",
                                 "  float a[4][4];\n  for (int i = 0; i < 4; ++i)\n    for (int j = 0; j < 4; ++j) a[i][j] = "
                                 "in[i * n + j];\n  out[0] = a[n][n];\n"),
                          "  for (int j = 0; j < 4; ++j)\n    for (int i = 0; i < 4; ++i) a[i][j]"));
}

TEST(LoopInterchange, MovesDeclarationsIntoTheInnerLoop) {
  const std::string start = "  float s[4] = {};\n  for (int i = 0; i < n; ++i) {\n";
  const std::string loop = "    for (int c = 0; c < 4; ++c) s[c] += w * in[c];\n";
  const std::string end = "  }\n  out[0] = s[n];\n";
  const auto children = Bodies("loop_interchange", start + "    const float w = in[i] * scale;\n" + loop + end);
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_EQ(children[0],
            "  float s[4] = {};\n  for (int c = 0; c < 4; ++c) {\n    for (int i = 0; i < n; ++i) {\n"
            "      const float w = in[i] * scale;\n      s[c] += w * in[c];\n    }\n  }\n  out[0] = s[n];\n");
  for (const char* before : {"    float w = in[i];\n    w *= 2;\n", "    const float w = atomicAdd(out, 1.0f);\n",
                             "    const float w = s[0];\n", "    const float w = in[i];\n    out[i] = w;\n"}) {
    EXPECT_THAT(Bodies("loop_interchange", start + before + loop + end), IsEmpty()) << before;
  }
}

TEST(UnrollAndJam, RunsTwoIterationsInOneInnerLoop) {
  const auto children = Bodies("unroll_and_jam", R"(  for (int r = threadIdx.x; r < n; r += 32) {
    const float bias = in[r];
    float sum = bias;
#pragma unroll 4
    for (int c = 0; c < n; ++c) sum += in[r * n + c];
    out[r] = sum * bias;
  }
)");
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_EQ(children[0], R"(  {
    int r = threadIdx.x;
    for (; r + 32 < n; r += 2 * 32) {
      const float bias = in[r];
      float sum = bias;
      const float bias_1 = in[r + 32];
      float sum_1 = bias_1;
#pragma unroll 4
      for (int c = 0; c < n; ++c) {
        sum += in[r * n + c];
        sum_1 += in[(r + 32) * n + c];
      }
      out[r] = sum * bias;
      out[r + 32] = sum_1 * bias_1;
    }
    for (; r < n; r += 32) {
      const float bias = in[r];
      float sum = bias;
#pragma unroll 4
      for (int c = 0; c < n; ++c) sum += in[r * n + c];
      out[r] = sum * bias;
    }
  }
)");
  EXPECT_THAT(Bodies("unroll_and_jam", kNest), SizeIs(2));
}

TEST(UnrollAndJam, SeesThroughFunctionsThatOnlyRead) {
  const std::string nest =
      "  float sums[4] = {};\n  for (int r = 0; r < n; ++r) {\n    const float w = F(in + r);\n"
      "    for (int c = 0; c < 4; ++c) sums[c] += w * in[c];\n  }\n  out[0] = sums[n];\n";
  const std::string reads =
      "__device__ float F(const float* p) { float s = 0; for (int i = 0; i < 4; ++i) s += p[i]; return s; }\n";
  const std::string writes = "__device__ float x;\n__device__ float F(const float* p) { x = p[0]; return x; }\n";
  EXPECT_THAT(ChildrenOf("unroll_and_jam", reads + PlainKernel(nest)), SizeIs(2));
  EXPECT_THAT(ChildrenOf("unroll_and_jam", writes + PlainKernel(nest)), IsEmpty());
}

// A nest `for r { for c { BODY } }`.
std::string Nested(const std::string& body, const std::string& inner = "int c = 0; c < n; ++c") {
  return "  float s = 0;\n  float a[8];\n  __shared__ float t[8];\n  for (int r = 0; r < n; ++r) {\n    for (" + inner +
         ") {\n      " + body + "\n    }\n  }\n  out[0] = s + a[n] + t[n];\n";
}

TEST(Nests, AreLeftIfTheirOrderMatters) {
  EXPECT_THAT(Bodies("loop_interchange", Nested("s += in[r + c];")), SizeIs(1));
  for (const char* body :
       {"s = in[r + c];", "s = s * 0.5f + in[c];", "a[c] = in[r];", "out[c] = in[r];", "t[c] += in[r];", "__syncthreads();",
        "a[c] += in[r]; s += a[r];",                   // reads a sum that is not complete
        "out[c] += t[c]; if (out[c] > 0) s += 1.0f;",  // reads what it writes
        "s += __shfl_xor_sync(~0u, in[c], 1);", "if (in[c] > 1.0f) return;", "if (in[c] > 1.0f) continue;",
        "float* p = a; p[c] = in[r];", "atomicAdd(out, in[c]);", "*out += t[c];", "a[c]++;"}) {
    EXPECT_THAT(Bodies("loop_interchange", Nested(body)), IsEmpty()) << body;
    EXPECT_THAT(Bodies("unroll_and_jam", Nested(body)), IsEmpty()) << body;
  }
  for (const char* inner : {"int c = r; c < n; ++c", "int c = 0; c < r; ++c", "int c = 0; c < n; c += r"}) {
    EXPECT_THAT(Bodies("loop_interchange", Nested("s += in[c];", inner)), IsEmpty()) << inner;
    EXPECT_THAT(Bodies("unroll_and_jam", Nested("s += in[c];", inner)), IsEmpty()) << inner;
  }
}

TEST(Nests, UnrollAndJamLeavesDependentIterations) {
  for (const char* body : {"    const float w = s;\n    for (int c = 0; c < n; ++c) s += w * in[c];\n",
                           "    const float w = a[0];\n    for (int c = 0; c < 8; ++c) a[c] += w;\n",
                           "    float w = out[r];\n    for (int c = 0; c < n; ++c) w += in[c];\n    out[r + 1] = w;\n",
                           "    for (int c = 0; c < n; ++c) s += in[c];\n    out[r] = s;\n",
                           "    float w = t[r];\n    for (int c = 0; c < n; ++c) w += in[c];\n    t[r + 1] = w;\n",
                           "    float w = 0;\n    for (int c = 0; c < n; ++c) w += in[c];\n    __syncthreads();\n"}) {
    const std::string source = "  float s = 0;\n  float a[8] = {};\n  __shared__ float t[8];\n  for (int r = 0; r < n; ++r) {\n" +
                               std::string(body) + "  }\n  out[0] = s + a[n] + t[n];\n";
    EXPECT_THAT(Bodies("unroll_and_jam", source), IsEmpty()) << body;
  }
}

}  // namespace
}  // namespace evo
