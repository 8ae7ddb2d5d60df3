#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string Kernel(const std::string& launch, const std::string& parameters, const std::string& body) {
  return "// evo:launch " + launch + "\n__global__ void k(" + parameters + ") {\n" + body + "}\n";
}

TEST(SharedStage, StagesWhatAllThreadsRead) {
  const std::string child = Bodies("shared_stage",
                                   "  float s = 0;\n  for (int i = 0; i < n; ++i) s += in[i] * scale;\n"
                                   "  out[threadIdx.x] = s;\n")[1];
  EXPECT_EQ(child,
            "  float s = 0;\n"
            "  {\n"
            "    constexpr int kStage = 16;\n"
            "    __shared__ float staged[kStage];\n"
            "    for (int stage = 0; stage < n; stage += kStage) {\n"
            "      for (int item = threadIdx.x; item < kStage; item += blockDim.x) {\n"
            "        const int i = stage + item;\n"
            "        if (i < n) staged[i - stage] = in[i];\n"
            "      }\n"
            "      __syncthreads();\n"
            "      const int stage_end = stage + kStage < n ? stage + kStage : n;\n"
            "      for (int i = stage; i < stage_end; ++i) {\n"
            "        s += staged[i - stage] * scale;\n"
            "      }\n"
            "      __syncthreads();\n"
            "    }\n"
            "  }\n"
            "  out[threadIdx.x] = s;\n");
}

TEST(SharedStage, UsesAKnownNumberOfIterations) {
  const std::string body = "  float s = 0;\n  for (int i = 0; i <= 31; i++) s += in[i] * scale;\n  out[threadIdx.x] = s;\n";
  const auto children = Bodies("shared_stage", body);
  ASSERT_THAT(children, SizeIs(3));
  EXPECT_THAT(children[2], HasSubstr("        staged[i - stage] = in[i];\n"));
  EXPECT_THAT(children[2], HasSubstr("for (int i = stage; i <= stage + kStage - 1; i++) {\n"));
}

TEST(SharedStage, KeepsThreadsPastTheEndRunning) {
  const std::string body =
      "  const int row = blockIdx.y * 8 + threadIdx.y;\n"
      "  const int column = blockIdx.x * 16 + threadIdx.x;\n"
      "  if (row >= n || column >= n) return;\n"
      "  float s = 0;\n"
      "  for (int i = 0; i < n; ++i) s += a[row * n + i] * b[i * n + column];\n"
      "  out[row * n + column] = s;\n";
  const auto children = ChildrenOf("shared_stage", Kernel("k(A, B, C, N) grid(ceil_div(N, 16), ceil_div(N, 8)) block(16, 8)",
                                                          "const float* a, const float* b, float* out, int n", body));
  ASSERT_THAT(children, SizeIs(12));
  EXPECT_THAT(children[0], HasSubstr("  const int row_asked = blockIdx.y * 8 + threadIdx.y;\n"
                                     "  const int row = row_asked < n ? row_asked : n - 1;\n"));
  EXPECT_THAT(children[0], HasSubstr("  const bool inside = row_asked < n && column_asked < n;\n"));
  EXPECT_THAT(children[0], HasSubstr("  if (inside) out[row * n + column] = s;\n"));
  EXPECT_THAT(children[0], HasSubstr("__shared__ float staged[8][kStage];\n"));
  EXPECT_THAT(children[0], HasSubstr("s += staged[threadIdx.y][i - stage] * b[i * n + column];\n"));
  EXPECT_THAT(children[4], HasSubstr("__shared__ float staged[kStage][16];\n"));
  EXPECT_THAT(children[8], HasSubstr("s += staged_0[threadIdx.y][i - stage] * staged_1[i - stage][threadIdx.x];\n"));
}

TEST(SharedStage, HandlesAConditionAroundTheWork) {
  const std::string body =
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n)\n  {\n"
      "    float s = 0;\n"
      "    for (int j = 0; j < m; j++) s += a[i * m + j] * w[j];\n"
      "    out[i] = s;\n  }\n";
  const auto children = ChildrenOf("shared_stage", Kernel("k(A, W, C, N, M) grid(ceil_div(N, 64)) block(64)",
                                                          "float* a, float* w, float* out, int n, int m", body));
  ASSERT_THAT(children, SizeIs(4));
  EXPECT_THAT(children[0], HasSubstr("  const bool inside = i_asked < n;\n  if (__syncthreads_or(inside))\n"));
  EXPECT_THAT(children[0], HasSubstr("if (j < m) staged[j - stage] = w[j];\n"));
  EXPECT_THAT(children[0], HasSubstr("    if (inside) out[i] = s;\n"));
}

TEST(SharedStage, StagesRowsThatAFunctionReads) {
  const std::string source =
      "// evo:launch k(A, B, N) grid(1) block(32)\n"
      "__device__ float Dot(const float* a, const float* b) {\n  float s = 0;\n"
      "  for (int d = 0; d < 8; ++d) s += a[d] * b[d];\n  return s;\n}\n"
      "__global__ void k(const float* in, float* out, int n) {\n"
      "  float s = 0;\n"
      "  for (int i = 0; i < n; ++i) s += Dot(in + threadIdx.x * 8, in + i * 8);\n"
      "  out[threadIdx.x] = s;\n}\n";
  const auto children = ChildrenOf("shared_stage", source);
  ASSERT_THAT(children, SizeIs(4));
  EXPECT_THAT(children[0], HasSubstr("__shared__ float staged[kStage][8];\n"));
  EXPECT_THAT(children[0], HasSubstr("if (i < n) staged[i - stage][place] = (in + i * 8)[place];\n"));
  EXPECT_THAT(children[0], HasSubstr("s += Dot(in + threadIdx.x * 8, staged[i - stage]);\n"));
}

TEST(SharedStage, StagesWhatInnerLoopsRead) {
  const auto children = Bodies("shared_stage",
                               "  float s[4] = {};\n"
                               "  for (int i = 0; i < n; ++i) {\n"
                               "    const int from = i * 4;\n"
                               "    for (int c = 0; c < 4; ++c) s[c] += in[from + c];\n"
                               "  }\n"
                               "  out[threadIdx.x] = s[0] + s[1] + s[2] + s[3];\n");
  ASSERT_FALSE(children.empty());
  EXPECT_THAT(children[0], HasSubstr("__shared__ float staged[kStage][4];\n"));
  EXPECT_THAT(children[0], HasSubstr("        if (i < n) {\n          const int from = i * 4;\n"
                                     "          staged[i - stage][c] = in[from + c];\n        }\n"));
  EXPECT_THAT(children[0], HasSubstr("s[c] += staged[i - stage][c];\n"));
}

TEST(SharedStage, LeavesReadsThatAreNotSharedOrNotAlwaysMade) {
  const std::string sum = "out[threadIdx.x] = s;\n";
  for (const std::string& body : {
           // Each thread reads its own elements.
           "  float s = 0;\n  for (int i = 0; i < n; ++i) s += in[i * 128 + threadIdx.x];\n  " + sum,
           "  float s = 0;\n  for (int i = threadIdx.x; i < n; i += 1) s += in[i];\n  " + sum,
           // Only some threads enter the loop, or stay in it.
           "  float s = 0;\n  if (threadIdx.x < 7) {\n    for (int i = 0; i < n; ++i) s += in[i];\n  }\n  " + sum,
           "  float s = 0;\n  const int end = threadIdx.x;\n  for (int i = 0; i < end; ++i) s += in[i];\n  " + sum,
           "  if (in[threadIdx.x] > 0) return;\n  float s = 0;\n  for (int i = 0; i < n; ++i) s += in[i];\n  " + sum,
           "  float s = 0;\n  for (int i = 0; i < n; ++i) {\n    if (s > 9) break;\n    s += in[i];\n  }\n  " + sum,
           // Not read in every iteration, or changed in the loop.
           "  float s = 0;\n  for (int i = 0; i < n; ++i) {\n    if (i != 3) s += in[i];\n  }\n  " + sum,
           "  float s = 0;\n  for (int i = 0; i < n; ++i) s += out[i];\n  " + sum,
           "  float s = 0;\n  int j = 0;\n  for (int i = 0; i < n; ++i) s += in[j++];\n  " + sum,
           // The same element in every iteration.
           "  float s = 0;\n  for (int i = 0; i < n; ++i) s += in[n];\n  " + sum,
       }) {
    EXPECT_THAT(Bodies("shared_stage", body), IsEmpty()) << body;
  }
}

TEST(SharedStage, LeavesGuardsThatItDoesNotUnderstand) {
  const std::string loop = "  float s = 0;\n  for (int j = 0; j < n; ++j) s += in[j];\n";
  const std::string index = "  const int i = blockIdx.x * 128 + threadIdx.x;\n";
  EXPECT_THAT(Bodies("shared_stage", index + "  if (i >= n) return;\n" + loop + "  out[i] = s;\n"), Not(IsEmpty()));
  for (const std::string& body : {
           index + "  if (i >= n) return;\n" + loop + "  out[blockIdx.x * 128 + threadIdx.x] = s;\n",
           index + "  if (i >= n && scale > 0) return;\n" + loop + "  out[i] = s;\n",
           index + "  if (i >= n) return;\n  if (in[i] > 0) return;\n" + loop + "  out[i] = s;\n",
           index + "  if (i >= n) return;\n" + loop + "  atomicAdd(&out[i], s);\n",
           index + "  if (i >= n) return;\n" + loop + "  out[i] += s;\n",
           index + "  out[i] = 0;\n  if (i >= n) return;\n" + loop + "  out[i] = s;\n",
           index + "  if (i < n) {\n  " + loop + "  out[i] = s;\n  }\n  out[n + i] = 1;\n",
       }) {
    EXPECT_THAT(Bodies("shared_stage", body), IsEmpty()) << body;
  }
}

}  // namespace
}  // namespace evo
