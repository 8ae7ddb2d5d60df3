#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kRowLaunch =
    "// evo:param B 64 128\n// evo:launch k(A, O, N, M) grid(ceil_div(N, B)) block(B)\n#ifndef B\n#define B 128\n#endif\n";

// A kernel whose threads do a row each.
std::string Rows(const std::string& body, const std::string& launch = kRowLaunch, const std::string& before = "") {
  return launch + before +
         "__global__ void k(const float* in, float* out, int n, int m) {\n  const int row = blockIdx.x * B + threadIdx.x;\n" +
         "  if (row >= n) return;\n" + body + "}\n";
}

std::string With(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

constexpr const char* kSum = "  float sum = 0.0f;\n  for (int c = 0; c < m; ++c) sum += in[row * m + c];\n  out[row] = sum;\n";

TEST(ThreadPerRowToWarp, SharesSumsAndLeavesStoresToOneLane) {
  const auto children = ChildrenOf("thread_per_row_to_warp", Rows(kSum));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find("grid(ceil_div(N, B / 32)) block(B)"), std::string::npos) << children[0];
  EXPECT_NE(children[0].find(R"(  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * (B / 32) + threadIdx.x / 32;
  if (row >= n) return;
  float sum = 0.0f;
  for (int c = lane; c < m; c += 32) sum += in[row * m + c];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0) out[row] = sum;
)"),
            std::string::npos)
      << children[0];
}

TEST(ThreadPerRowToWarp, KnowsExtremesStepsAndSumsThatGoOn) {
  const auto extremes = ChildrenOf("thread_per_row_to_warp", Rows("  float top = in[row];\n  for (int c = 1; c < m; c += 2) {\n  "
                                                                  "  if (in[row * m + c] > top) top = in[row * m + c];\n  }\n  "
                                                                  "out[row] = top;\n"));
  ASSERT_THAT(extremes, SizeIs(1));
  EXPECT_NE(extremes[0].find("for (int c = 1 + lane * 2; c < m; c += 32 * 2) {"), std::string::npos);
  EXPECT_NE(extremes[0].find("top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, offset));"), std::string::npos);
  const auto again = ChildrenOf("thread_per_row_to_warp",
                                Rows("  float sum = in[0];\n  for (int c = 0; c < m; ++c) sum += in[c];\n  out[row] = sum;\n"));
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_NE(again[0].find("  if (lane != 0) sum = 0;\n  for (int c = lane;"), std::string::npos);
}

TEST(ThreadPerRowToWarp, SharesElementsAndSynchronisesReaders) {
  const char* const body =
      "  for (int c = 0; c < m; ++c) out[row * m + c] = in[row * m + c] * 2.0f;\n  float sum = 0.0f;\n"
      "  for (int c = 0; c < m; ++c) sum += out[row * m + c];\n  for (int c = 0; c < m; ++c) out[row * m + c] /= sum;\n";
  const auto children = ChildrenOf("thread_per_row_to_warp", Rows(body));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find("* 2.0f;\n  __syncwarp();\n"), std::string::npos);
}

TEST(ThreadPerRowToWarp, LeavesWhatLanesCannotShare) {
  for (const char* body :
       {"  float s = 0.0f;\n  for (int c = 0; c < m; ++c) s = s * 0.5f + in[c];\n  out[row] = s;\n",  // a recurrence
        "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) { s += in[c]; out[row * m + c] = s; }\n",   // prefix sums
        "  int at = 0;\n  float t = 0.0f;\n  for (int c = 0; c < m; ++c) if (in[c] > t) { t = in[c]; at = c; }\n  out[row] = "
        "at;\n",
        "  for (int c = 1; c < m; ++c) out[row * m + c] = out[row * m + c - 1] + in[c];\n",  // of the one before
        "  for (int c = 0; c < m; ++c) out[row * m + c % 3] = in[c];\n",                     // not its own element
        "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) { if (in[c] < 0.0f) break; s += in[c]; }\n  out[row] = s;\n",
        "  float s = 0.0f;\n  for (int c = m; c > 0; --c) s += in[c];\n  out[row] = s;\n",  // downwards
        "  for (int c = 0; c < m; ++c) atomicAdd(&out[c], in[row * m + c]);\n",
        "  __shared__ float all[128];\n  for (int c = 0; c < m; ++c) all[threadIdx.x] += in[c];\n  out[row] = all[0];\n",
        "  float s = 0.0f;\n  float* p = &s;\n  for (int c = 0; c < m; ++c) s += in[c];\n  out[row] = *p;\n",
        "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) s += in[c];\n  out[row] = __shfl_xor_sync(~0u, s, 1);\n",
        "  out[row] = in[row];\n"}) {
    EXPECT_THAT(ChildrenOf("thread_per_row_to_warp", Rows(body)), IsEmpty()) << body;
    EXPECT_THAT(ChildrenOf("thread_per_row_to_block", Rows(body)), IsEmpty()) << body;
  }
}

TEST(ThreadPerRowToWarp, LeavesOtherKernels) {
  const std::string rows = Rows(kSum);
  for (const std::string& text :
       {With(rows, "block(B)", "block(B, 2)"), With(rows, "in[row * m + c]", "in[row * m + c + threadIdx.x]"),
        With(rows, "blockIdx.x * B", "blockIdx.x * 100"), With(rows, "k(A, O,", "k(A, A,"),
        With(rows, "// evo:param B 64 128", "// evo:param B 16 128"), With(rows, "c < m", "c < m + gridDim.x"),
        Rows("  float sum = 0.0f;\n  for (int c = 0; c < m; ++c) sum += F(in, c);\n  out[row] = sum;\n", kRowLaunch,
             "__device__ float F(const float* p, int c) { return p[c + threadIdx.x]; }\n")}) {
    EXPECT_THAT(ChildrenOf("thread_per_row_to_warp", text), IsEmpty()) << text;
    EXPECT_THAT(ChildrenOf("thread_per_row_to_block", text), IsEmpty()) << text;
  }
}

TEST(ThreadPerRowToBlock, PutsWarpsTogetherInSharedMemory) {
  const auto children = ChildrenOf("thread_per_row_to_block", Rows(kSum));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find("grid(N) block(B)"), std::string::npos);
  EXPECT_NE(children[0].find(R"(  const int thread = threadIdx.x;
  const int row = blockIdx.x;
  if (row >= n) return;
  float sum = 0.0f;
  for (int c = thread; c < m; c += B) sum += in[row * m + c];
  {
    __shared__ float warp_partials[32];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (thread % 32 == 0) warp_partials[thread / 32] = sum;
    __syncthreads();
    sum = warp_partials[0];
    for (int warp = 1; warp < B / 32; ++warp) sum += warp_partials[warp];
  }
  if (thread == 0) out[row] = sum;
)"),
            std::string::npos)
      << children[0];
  // Another grid than ceil_div keeps every row.
  const auto other = ChildrenOf("thread_per_row_to_block", With(Rows(kSum), "ceil_div(N, B)", "(N + B - 1) / B"));
  ASSERT_THAT(other, SizeIs(1));
  EXPECT_NE(other[0].find("grid(((N + B - 1) / B) * B)"), std::string::npos);
}

std::string Tree(const std::string& loop, const std::string& block = "128") {
  return "// evo:launch k(A, O) grid(8) block(" + block + ")\n__global__ void k(const float* in, float* out) {\n" +
         "  __shared__ float part[128];\n  const int t = threadIdx.x;\n  part[t] = in[t] * 2.0f;\n  __syncthreads();\n" + loop +
         "  out[blockIdx.x] = part[0];\n}\n";
}

constexpr const char* kTree =
    "  for (int s = 128 / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    __syncthreads();\n  }\n";

TEST(WarpReduction, EndsATreeOrDoesAllOfIt) {
  const auto children = ChildrenOf("warp_reduction", Tree(kTree));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_NE(children[0].find("for (int s = 128 / 2; s >= 32; s >>= 1) {"), std::string::npos);
  EXPECT_NE(
      children[0].find("  if (t < 32) {\n    float value = part[t];\n    for (int offset = 16; offset > 0; offset /= 2) value "
                       "+= __shfl_down_sync(0xffffffffu, value, offset);\n    if (t == 0) part[0] = value;\n  }\n"
                       "  __syncthreads();\n"),
      std::string::npos)
      << children[0];
  EXPECT_NE(children[1].find("  float value = in[t] * 2.0f;\n"), std::string::npos) << children[1];
  EXPECT_NE(children[1].find("    value = t < 128 / 32 ? part[t] : 0;\n"), std::string::npos);
  EXPECT_EQ(children[1].find("part[t + s]"), std::string::npos);
}

TEST(WarpReduction, KnowsExtremesAndOtherSpellings) {
  const std::string extreme =
      "  for (unsigned s = blockDim.x / 2; s >= 1; s /= 2) {\n    if (t < s) {\n      part[t] = fmaxf(part[t], part[s + t]);\n   "
      " }\n    __syncthreads();\n  }\n";
  const auto children = ChildrenOf("warp_reduction", Tree(extreme));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_TRUE(AnyContains(children, "value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, offset));"));
  EXPECT_TRUE(AnyContains(children, "t < blockDim.x / 32 ? part[t] : part[0];"));
}

TEST(WarpReduction, LeavesOtherLoops) {
  for (const auto& [from, to] :
       {std::pair("s >>= 1", "s >>= 2"), std::pair("part[t + s]", "part[t + s + 1]"), std::pair("s > 0", "s > 1"),
        std::pair("t < s", "t <= s"), std::pair("    __syncthreads();\n", ""), std::pair("+=", "-="),
        std::pair("128 / 2", "96 / 2"), std::pair("128 / 2", "16 / 2")}) {
    EXPECT_THAT(ChildrenOf("warp_reduction", Tree(With(kTree, from, to))), IsEmpty()) << to;
  }
  EXPECT_THAT(ChildrenOf("warp_reduction", Tree(kTree, "16, 8")), IsEmpty()) << "not one thread after another";
}

TEST(WorkPerThread, DividesTheGridAndRepeatsTheRest) {
  const auto children = ChildrenOf("work_per_thread", Rows("  out[row] = in[row];\n"));
  ASSERT_THAT(children, SizeIs(4));
  EXPECT_NE(children[0].find("grid(ceil_div(N, B * 2))"), std::string::npos);
  EXPECT_NE(
      children[0].find("  for (int item = 0; item < 2; ++item) {\n  const int row = (blockIdx.x * 2 + item) * B + threadIdx.x;\n"
                       "  if (row >= n) continue;\n  out[row] = in[row];\n  }\n}"),
      std::string::npos)
      << children[0];
  EXPECT_NE(children[3].find("const int row = (blockIdx.x * B + threadIdx.x) * 4 + item;"), std::string::npos) << children[3];
}

TEST(WorkPerThread, LeavesWhatCannotBeRepeated) {
  const std::string rows = Rows("  out[row] = in[row];\n");
  for (const std::string& text :
       {With(rows, "  if (row >= n) return;\n", ""),                 // nothing keeps elements past the end out
        With(rows, "  out[row]", "  __syncthreads();\n  out[row]"),  // threads that are left out would be waited for
        With(rows, "  out[row]", "  for (int i = 0; i < m; ++i) if (in[i] < 0.0f) return;\n  out[row]"),
        With(rows, "  out[row]", "  in += m;\n  out[row]"),  // the second item would go on from there
        With(rows, "in[row]", "in[row + blockIdx.x]"), With(rows, "in[row]", "in[row + gridDim.x]")}) {
    EXPECT_THAT(ChildrenOf("work_per_thread", text), IsEmpty()) << text;
  }
}

TEST(ExpToExp2, FoldsTheScale) {
  const auto children = ChildrenOf("exp_to_exp2", Rows("  out[row] = expf(in[row] - out[row]);\n"));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_TRUE(AnyContains(children, "out[row] = exp2f((in[row] - out[row]) * 1.4426950408889634f);"));
  EXPECT_TRUE(AnyContains(children, "out[row] = exp2f(in[row] * 1.4426950408889634f - out[row] * 1.4426950408889634f);"));
  const auto two = ChildrenOf("exp_to_exp2", Rows("  out[row] = __expf(in[row] * out[0]) + expf(in[0]);\n"));
  EXPECT_TRUE(AnyContains(two, "exp2f(in[row] * (out[0] * 1.4426950408889634f)) + exp2f(in[0] * 1.4426950408889634f)"));
  // A sentinel times the scale is infinite: the difference of two is not to be taken apart.
  EXPECT_THAT(ChildrenOf("exp_to_exp2", Rows("  float top = -3.0e38f;\n  out[row] = expf(top - fmaxf(top, in[row]));\n")),
              SizeIs(1));
  EXPECT_THAT(ChildrenOf("exp_to_exp2", Rows("  out[row] = exp(double(in[row]));\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("exp_to_exp2",
                         Rows("  out[row] = expf(in[row]);\n", kRowLaunch, "__device__ float expf2(float x) { return x; }\n")),
              SizeIs(1));
}

std::string Grid(const std::string& body) {
  return "// evo:launch k(A, O, N) grid(N, ceil_div(N, 8)) block(32)\n__global__ void k(const float* in, float* out, int n) {\n" +
         body + "}\n";
}

TEST(BlockOrder, NumbersBlocksAnew) {
  const auto children =
      ChildrenOf("block_order", Grid("  const int i = blockIdx.x + n * blockIdx.y;\n  out[i] = in[i] + blockIdx.x;\n"));
  ASSERT_THAT(children, SizeIs(4));
  EXPECT_NE(
      children[0].find(
          "  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;\n  const unsigned block_column = block / gridDim.y;\n"
          "  const unsigned block_row = block % gridDim.y;\n  const int i = block_column + n * block_row;\n"
          "  out[i] = in[i] + block_column;\n"),
      std::string::npos)
      << children[0];
  EXPECT_NE(children[2].find("min(gridDim.y - group_row, 4u)"), std::string::npos);
}

TEST(BlockOrder, LeavesWhatItCannotSeeAllOf) {
  const std::string uses = "  out[blockIdx.x + n * blockIdx.y] = 1.0f;\n";
  EXPECT_THAT(ChildrenOf("block_order", Grid("  out[blockIdx.x] = 1.0f;\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("block_order", "#define ROW blockIdx.y\n" + Grid(uses + "  out[ROW] = 1.0f;\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("block_order", "__device__ int Row() { return blockIdx.y; }\n" + Grid(uses + "  out[Row()] = 1.0f;\n")),
              IsEmpty());
  EXPECT_THAT(ChildrenOf("block_order", Grid("  const uint3 b = blockIdx;\n" + uses + "  out[b.x] = 1.0f;\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("block_order", With(Grid(uses), "grid(N, ceil_div(N, 8))", "grid(N)")), IsEmpty());
}

std::string Literal(const std::string& launch, const std::string& body) {
  return "// evo:launch k(A, O, N) " + launch + "\n__global__ void k(const float* in, float* out, int n) {\n" + body + "}\n";
}

TEST(BlockShape, ChangesBlockAndGridTogether) {
  const char* const body = "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = in[i];\n";
  const auto children = ChildrenOf("block_shape", Literal("grid(ceil_div(N, 256)) block(256)", body));
  EXPECT_THAT(children, SizeIs(5));
  EXPECT_TRUE(AnyContains(children, "grid(ceil_div(N, 64)) block(64)"));
  const auto flat =
      ChildrenOf("block_shape",
                 Literal("grid(ceil_div(N, 16), ceil_div(N, 8)) block(16, 8)",
                         "  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * n + blockIdx.y * blockDim.y + threadIdx.y;\n"
                         "  if (i < n) out[i] = in[i];\n"));
  EXPECT_TRUE(AnyContains(flat, "grid(ceil_div(N, 32), ceil_div(N, 4)) block(32, 4)"));
  const auto strided = ChildrenOf(
      "block_shape",
      Literal("grid(N) block(128) shared(128 * 4)", "  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];\n"));
  EXPECT_TRUE(AnyContains(strided, "grid(N) block(512) shared(512 * 4)"));
}

TEST(BlockShape, LeavesBlocksThatTheCodeKnows) {
  const std::string body = "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = in[i];\n";
  EXPECT_THAT(
      ChildrenOf("block_shape", Literal("grid(ceil_div(N, 256)) block(256)", "  __shared__ float s[256];\n  s[0] = 1;\n" + body)),
      IsEmpty());
  EXPECT_THAT(
      ChildrenOf("block_shape", Literal("grid(ceil_div(N, 256)) block(256)", "  if (threadIdx.x == 256) return;\n" + body)),
      IsEmpty());
  EXPECT_THAT(ChildrenOf("block_shape", "#define T 256\n" + Literal("grid(ceil_div(N, 256)) block(256)",
                                                                    "  if (threadIdx.x == T) return;\n" + body)),
              IsEmpty());
  EXPECT_THAT(ChildrenOf("block_shape", Literal("grid(N / 256) block(256)", body)), IsEmpty());
  EXPECT_THAT(ChildrenOf("block_shape", Literal("grid(64) block(256)", body)), IsEmpty());
  EXPECT_THAT(
      ChildrenOf("block_shape", Literal("grid(ceil_div(N, 256)) block(256)", "  out[blockIdx.x * 8 + threadIdx.x] = 1;\n")),
      IsEmpty());
}

TEST(IndexStrength, LetsAPointerRun) {
  const auto children = ChildrenOf(
      "index_strength", Rows("  float s = 0.0f;\n  for (int c = 0; c < m; ++c) s += in[row + c * m];\n  out[row] = s;\n"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find("  const float* in_at = in + row;\n  for (int c = 0; c < m; ++c, in_at += m) s += *in_at;\n"),
            std::string::npos)
      << children[0];
  const auto stores =
      ChildrenOf("index_strength", Rows("  for (int c = 2; c < m; c += 3) out[(long long)c * n + row] *= 2.0f;\n"));
  ASSERT_THAT(stores, SizeIs(1));
  EXPECT_NE(stores[0].find("  float* out_at = out + (((long long)2) * n + row);\n  for (int c = 2; c < m; c += 3, out_at += n * "
                           "3) *out_at *= 2.0f;\n"),
            std::string::npos)
      << stores[0];
}

TEST(IndexStrength, LeavesOtherIndices) {
  for (const char* loop :
       {"for (int c = 0; c < m; ++c) out[c * c] = 1.0f;", "for (int c = 0; c < m; ++c) out[c % 4] = 1.0f;",
        "for (int c = 0; c < m; ++c) out[row] = 1.0f;", "for (int c = 0; c < m; ++c) { out[c] = 1.0f; ++c; }",
        "for (int c = 0; c < m; ++c) { out[c + row] = 1.0f; m = 3; }", "for (int c = 0; c < m; ++c) { out[c] = 1.0f; out += m; }",
        "for (int c = 0; c < m; ++c) for (int d = 0; d < 0; --d) out[c + d] = 1.0f;"}) {
    EXPECT_THAT(ChildrenOf("index_strength", Rows(std::string("  ") + loop + "\n")), IsEmpty()) << loop;
  }
}

TEST(RegisterTile, WritesWhatDependsOnTheIndexForEach) {
  const auto children =
      ChildrenOf("register_tile", Rows("  const float* x = in + row * m;\n  const float scale = in[0];\n  float sum = 0.0f;\n"
                                       "  for (int c = 0; c < m; ++c) {\n    const float w = in[c];\n    sum += w * x[c];\n  }\n"
                                       "  out[row] = sum * scale;\n"));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_NE(children[0].find("grid(ceil_div(N, B * 2))"), std::string::npos);
  EXPECT_NE(children[0].find(R"(  const int row = (blockIdx.x * 2) * B + threadIdx.x;
  if (row >= n) return;
  const bool inside_1 = row + B < n;
  const int row_1 = inside_1 ? row + B : row;
  const float* x = in + row * m;
  const float* x_1 = in + row_1 * m;
  const float scale = in[0];
  float sum = 0.0f;
  float sum_1 = 0.0f;
  for (int c = 0; c < m; ++c) {
    const float w = in[c];
    sum += w * x[c];
    sum_1 += w * x_1[c];
  }
  out[row] = sum * scale;
  if (inside_1) { out[row_1] = sum_1 * scale; }
)"),
            std::string::npos)
      << children[0];
}

TEST(RegisterTile, KnowsTheConditionRoundTheBodyAndPragmas) {
  const std::string text = With(Rows("  if (row < n && m > 0) {\n    float sum = 0.0f;\n#pragma unroll 2\n    for (int c = 0; c "
                                     "< m; ++c) sum += in[row + c];\n"
                                     "    out[row] = sum;\n  }\n"),
                                "  if (row >= n) return;\n", "");
  const auto children = ChildrenOf("register_tile", text);
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_NE(children[0].find("  if (row < n && m > 0) {\n    const bool inside_1 = row + B < n;\n"), std::string::npos)
      << children[0];
  EXPECT_NE(children[0].find("#pragma unroll 2\n    for (int c = 0; c < m; ++c) {\n      sum += in[row + c];\n      sum_1 += "
                             "in[row_1 + c];\n    }\n"),
            std::string::npos)
      << children[0];
}

TEST(RegisterTile, LeavesWhatElementsDoNotShare) {
  for (const char* body :
       {"  for (int c = 0; c < row; ++c) out[row] = in[c];\n",                        // as many rounds as the index says
        "  for (int c = 0; c < m; ++c) { if (in[row] < c) break; out[row] = c; }\n",  // leaves when the element says
        "  float s = out[row + 1];\n  out[row] = s;\n",                               // reads what others store
        "  out[0] = in[0];\n",                                                        // one element for all
        "  if (in[row] < 0.0f) return;\n  out[row] = in[row];\n",                     // an end of its own
        "  in += row;\n  out[row] = in[0];\n",                                        // moves what was there before
        "  __syncthreads();\n  out[row] = in[row];\n", "  out[row] = __shfl_xor_sync(~0u, in[row], 1);\n",
        "  float s[4];\n  float* p = s;\n  s[0] = in[row];\n  out[row] = p[0];\n"}) {
    EXPECT_THAT(ChildrenOf("register_tile", Rows(body)), IsEmpty()) << body;
  }
  const std::string rows = Rows("  out[row] = in[row];\n");
  EXPECT_THAT(ChildrenOf("register_tile", rows), SizeIs(2));
  for (const std::string& text : {With(rows, "  if (row >= n) return;\n", ""), With(rows, "row >= n", "row > n"),
                                  With(rows, "row >= n", "row >= n && m > 0"), With(rows, "k(A, O,", "k(A, A,")}) {
    EXPECT_THAT(ChildrenOf("register_tile", text), IsEmpty()) << text;
  }
}

TEST(BarrierNarrow, NeedsBlocksOfOneWarp) {
  const std::string text =
      "// evo:param B 32 64\n// evo:launch k(A) grid(1) block(B)\n#ifndef B\n#define B 32\n#endif\n__global__ void k(float* a) "
      "{\n"
      "  a[0] = 1.0f;\n  __syncthreads();\n  a[1] = a[0];\n  __syncthreads();\n  a[2] = a[1];\n}\n";
  EXPECT_THAT(ChildrenOf("barrier_narrow", text), SizeIs(3));
  EXPECT_TRUE(AnyContains(ChildrenOf("barrier_narrow", text), "  __syncwarp();\n  a[1] = a[0];\n  __syncwarp();\n"));
  const Parent parent(text);
  const auto proposals = SourceMutatorNamed("barrier_narrow").Proposals(parent.Context());
  EXPECT_THAT(proposals.at(0).parameters, testing::ElementsAre(testing::Pair("B", 32)));
  EXPECT_THAT(ChildrenOf("barrier_narrow", With(text, "#define B 32", "#define B 64")), IsEmpty());
}

TEST(BarrierNarrow, TakesOutTheSecondOfTwo) {
  const auto with = [](const std::string& between) {
    return "// evo:launch k(A) grid(1) block(64)\n__global__ void k(float* a) {\n  a[0] = 1.0f;\n  __syncthreads();\n" + between +
           "  __syncthreads();\n  a[1] = a[0];\n}\n";
  };
  EXPECT_THAT(ChildrenOf("barrier_narrow", with("  const int i = threadIdx.x + 1;\n")), SizeIs(1));
  for (const char* between :
       {"  a[2] = 1.0f;\n", "  const float x = a[0];\n", "  if (a[0] > 0.0f) return;\n", "  atomicAdd(a, 1.0f);\n"})
    EXPECT_THAT(ChildrenOf("barrier_narrow", with(between)), IsEmpty()) << between;
}

TEST(AccumulatePrecision, ChangesTheTypeOfASum) {
  const auto children = ChildrenOf(
      "accumulate_precision",
      Rows("  float sum = 0.0f;\n  float x = 1.0f;\n  for (int c = 0; c < m; ++c) sum += in[c] * x;\n  out[row] = sum;\n"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find("  double sum = 0.0f;\n  float x = 1.0f;\n"), std::string::npos);
  EXPECT_TRUE(
      AnyContains(ChildrenOf("accumulate_precision", With(children[0], "double sum", "double  sum")), "  float  sum = 0.0f;\n"));
  for (const char* body :
       {"  float sum = 0.0f;\n  sum += in[0];\n  out[row] = sum;\n",                                    // in no loop
        "  float sum = 0.0f, x = 1.0f;\n  for (int c = 0; c < m; ++c) sum += x;\n  out[row] = sum;\n",  // not alone
        "  float sum = 0.0f;\n  float* p = &sum;\n  for (int c = 0; c < m; ++c) sum += 1.0f;\n  out[row] = *p;\n"}) {
    EXPECT_THAT(ChildrenOf("accumulate_precision", Rows(body)), IsEmpty()) << body;
  }
}

}  // namespace
}  // namespace evo
