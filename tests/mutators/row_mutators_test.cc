#include <gmock/gmock.h>

#include "tests/mutators/row_kernels.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

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
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  }
  if (lane == 0) out[row] = sum;
)"),
            std::string::npos)
      << children[0];
}

TEST(ThreadPerRowToWarp, LeavesAtomicsToOneLane) {
  const std::string sum = "  float sum = 0.0f;\n  for (int c = 0; c < m; ++c) sum += in[row * m + c];\n";
  const auto children = ChildrenOf("thread_per_row_to_warp", Rows(sum + "  if (sum > 0.0f) atomicAdd(&out[1], sum);\n"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0], HasSubstr("  if (sum > 0.0f) { if (lane == 0) atomicAdd(&out[1], sum); }"));
  for (const char* more :
       {"  float old = atomicAdd(&out[1], sum);\n  out[2] = old;\n", "  atomicAdd(&out[1], sum);\n  out[row] = sum;\n",
        "  atomicAdd(&out[1], out[0]);\n", "  float* total = out;\n  atomicAdd(total, sum);\n"})
    EXPECT_THAT(ChildrenOf("thread_per_row_to_warp", Rows(sum + more)), IsEmpty()) << more;
  EXPECT_THAT(ChildrenOf("thread_per_row_to_warp", Rows("  for (int c = 0; c < m; ++c) atomicAdd(&out[c], in[row * m + c]);\n")),
              IsEmpty());
}

TEST(ThreadPerRowToWarp, HandlesExtremesStepsAndSumsThatDoNotBeginAtZero) {
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
       {// a recurrence
        "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) s = s * 0.5f + in[c];\n  out[row] = s;\n",
        // the value of an assignment, a term that depends on the sum, one that is skipped, one that is stored over
        "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) { float t = s += in[c]; out[row * m + c] = t; }\n",
        "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) { s += in[c] * s; out[row * m + c] = s; }\n",
        "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) { if (in[c] > 9.0f) continue; s += in[c]; out[row * m + c] = s; }\n",
        "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) { out[row * m + c] = s; s += out[row * m + c]; }\n",
        // the last of equal ones, a place that is no counter, a place that the loop reads
        "  int at = 0;\n  float t = 0.0f;\n  for (int c = 0; c < m; ++c) if (in[c] >= t) { t = in[c]; at = c; }\n  out[row] = "
        "at;\n",
        "  int at = 0;\n  float t = 0.0f;\n  for (int c = 0; c < m; ++c) if (in[c] > t) { t = in[c]; at = m - c; }\n  out[row] = "
        "at;\n",
        "  int at = 0;\n  float t = 0.0f;\n  for (int c = 0; c < m; ++c) { if (in[c] > t) { t = in[c]; at = c; } out[c] = at; "
        "}\n",
        "  int at = 0;\n  float t = 0.0f;\n  for (int c = 0; c < m; ++c) if (in[c] > t) { t = in[c + 1]; at = c; }\n  out[row] = "
        "at;\n",
        "  for (int c = 1; c < m; ++c) out[row * m + c] = out[row * m + c - 1] + in[c];\n",  // depends on the previous element
        "  for (int c = 0; c < m; ++c) out[row * m + c % 3] = in[c];\n",  // not an element that the counter selects
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

TEST(ThreadPerRowToWarp, SharesExtremesWithTheirPlaces) {
  const auto children =
      ChildrenOf("thread_per_row_to_warp",
                 Rows("  float top = in[row * m];\n  int at = 0;\n  for (int c = 1; c < m; ++c) {\n    if (top < in[row "
                      "* m + c]) {\n      at = c;\n      top = in[row * m + c];\n    }\n  }\n  out[row] = at;\n"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find(R"(  for (int offset = 16; offset > 0; offset /= 2) {
    const float other_top = __shfl_xor_sync(0xffffffffu, top, offset);
    const int other_at = __shfl_xor_sync(0xffffffffu, at, offset);
    if (other_top > top || (other_top == top && other_at < at)) {
      top = other_top;
      at = other_at;
    }
  }
  if (lane == 0) out[row] = at;
)"),
            std::string::npos)
      << children[0];
  const auto blocks =
      ChildrenOf("thread_per_row_to_block",
                 Rows("  float low = 9.0f;\n  int at = -1;\n  for (int c = 0; c < m; ++c)\n    if (in[c] < low) {\n      "
                      "low = in[c];\n      at = c;\n    }\n  out[row] = at;\n"));
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_NE(blocks[0].find("if (warp_partials[warp] < low || (warp_partials[warp] == low && warp_places[warp] < at)) {"),
            std::string::npos)
      << blocks[0];
}

TEST(ThreadPerRowToWarp, CountsWhatAConditionFinds) {
  const auto children = ChildrenOf(
      "thread_per_row_to_warp",
      Rows("  int n1 = 0;\n  for (int c = 0; c < m; ++c) {\n    if (in[row * m + c] > 1.0f) n1++;\n  }\n  out[row] = n1;\n"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find("n1 += __shfl_xor_sync(0xffffffffu, n1, offset);"), std::string::npos) << children[0];
}

TEST(ThreadPerRowToWarp, ScansRunningSumsByTiles) {
  const auto children =
      ChildrenOf("thread_per_row_to_warp",
                 Rows("  float s = 0.0f;\n  for (int c = 0; c < m; ++c) {\n    s += in[row * m + c];\n    out[row * m + "
                      "c] = s;\n  }\n"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find(R"(  for (int first = 0; first < m; first += 32 * ITEMS) {
    float sums[ITEMS];
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int c = first + item * 32 + lane;
      sums[item] = 0;
      if (c < m) sums[item] = in[row * m + c];
    }
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      for (int offset = 1; offset < 32; offset *= 2) {
        const float left = __shfl_up_sync(0xffffffffu, sums[item], offset);
        if (lane >= offset) sums[item] += left;
      }
    }
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
      const int c = first + item * 32 + lane;
      if (c < m) {
        const float running = s + sums[item];
        out[row * m + c] = running;
      }
      s += __shfl_sync(0xffffffffu, sums[item], 31);
    }
  }
)"),
            std::string::npos)
      << children[0];
}

// The maximum and the sum of exponentials in one pass, in several spellings, and what looks like it.
TEST(ThreadPerRowToWarp, SharesOnlineSums) {
  const auto with = [](const std::string& body) {
    return ChildrenOf(
        "thread_per_row_to_warp",
        Rows("  float t = -INFINITY, s = 0.0f;\n  for (int c = 0; c < m; ++c) {\n    const float v = in[row * m + c];\n" + body +
             "  }\n  out[row] = t + logf(s);\n"));
  };
  const auto children = with("    if (v > t) {\n      s *= expf(t - v);\n      t = v;\n    }\n    s += expf(v - t);\n");
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find(R"(  const float own_t = t;
  for (int offset = 16; offset > 0; offset /= 2) {
    t = fmaxf(t, __shfl_xor_sync(0xffffffffu, t, offset));
  }
  if (t != own_t) s *= expf(own_t - t);
  for (int offset = 16; offset > 0; offset /= 2) {
    s += __shfl_xor_sync(0xffffffffu, s, offset);
  }
)"),
            std::string::npos)
      << children[0];
  EXPECT_THAT(with("    const float old = t;\n    t = fmaxf(t, v);\n    s = s * exp2f(old - t) + exp2f(v - t);\n"), SizeIs(1));
  EXPECT_THAT(with("    if (v <= t) s += __expf(v - t);\n    else {\n      s = 1.0f + s * __expf(t - v);\n      t = v;\n    }\n"),
              SizeIs(1));
  EXPECT_THAT(with("    if (v > t) t = v;\n    s += expf(v - t);\n"), IsEmpty()) << "not rescaled";
  EXPECT_THAT(with("    if (v > t) {\n      s *= expf(v - t);\n      t = v;\n    }\n    s += expf(v - t);\n"), IsEmpty());
  EXPECT_THAT(with("    if (v > t) {\n      s *= expf(t - v);\n      t = v;\n    }\n    s += exp2f(v - t);\n"), IsEmpty())
      << "two bases";
  EXPECT_THAT(with("    if (v > t) {\n      s *= expf(t - v);\n      t = v;\n    }\n    s += v * expf(v - t);\n"), IsEmpty());
}

TEST(ThreadPerRowToWarp, CombinesRunningVariances) {
  const auto with = [](const std::string& body, const std::string& start = "int k = 0;") {
    return ChildrenOf("thread_per_row_to_warp", Rows("  float m1 = 0.0f, m2 = 0.0f;\n  " + start +
                                                     "\n  for (int c = 0; c < m; ++c) {\n    const float v = in[row * m + c];\n" +
                                                     body + "  }\n  out[row] = m2 / m + m1;\n"));
  };
  const auto children = with("    ++k;\n    const float d = v - m1;\n    m1 += d / k;\n    m2 += d * (v - m1);\n");
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find(R"(  const int own_k = k;
  for (int offset = 16; offset > 0; offset /= 2) {
    k += __shfl_xor_sync(0xffffffffu, k, offset);
  }
  const float own_m1 = m1;
  if (k > 0) m1 *= static_cast<float>(own_k) / k;
  for (int offset = 16; offset > 0; offset /= 2) {
    m1 += __shfl_xor_sync(0xffffffffu, m1, offset);
  }
  m2 += own_k * (own_m1 - m1) * (own_m1 - m1);
)"),
            std::string::npos)
      << children[0];
  const auto by_turns = with("    const float d = v - m1;\n    m1 += d / (c + 1);\n    m2 += d * d * c / (c + 1);\n", "");
  ASSERT_THAT(by_turns, SizeIs(1));
  EXPECT_NE(by_turns[0].find("m1 += d / ((c / 32) + 1);"), std::string::npos) << by_turns[0];
  EXPECT_THAT(with("    ++k;\n    const float d = v - m1;\n    m1 += d / k;\n    m2 += d * d;\n"), IsEmpty());
  EXPECT_THAT(with("    const float d = v - m1;\n    m1 += d / (k + 1);\n    m2 += d * (v - m1);\n"), IsEmpty()) << "k stays 0";
  EXPECT_THAT(with("    const float d = v - m1;\n    m1 += d / (c + 2);\n    m2 += d * (v - m1);\n", ""), IsEmpty());
  EXPECT_THAT(with("    ++k;\n    const float d = v - m1;\n    m1 += d / k;\n    m2 += d * (v - m1);\n", "int k = 1;"), IsEmpty())
      << "a value that is not there";
  EXPECT_THAT(with("    ++k;\n    const float d = v - m1;\n    m1 += d * (1 / k);\n    m2 += d * (v - m1);\n"), IsEmpty())
      << "an integer quotient";
}

TEST(ThreadPerRowToWarp, LeavesOtherKernels) {
  const std::string rows = Rows(kSum);
  for (const std::string& text :
       {With(rows, "block(B)", "block(B, 2)"), With(rows, "in[row * m + c]", "in[row * m + c + threadIdx.x]"),
        With(rows, "blockIdx.x * B", "blockIdx.x * 100"), With(rows, "k(A, O,", "k(A, A,"),
        With(rows, "c < m", "c < m + gridDim.x"),
        Rows("  float sum = 0.0f;\n  for (int c = 0; c < m; ++c) sum += F(in, c);\n  out[row] = sum;\n", kRowLaunch,
             "__device__ float F(const float* p, int c) { return p[c + threadIdx.x]; }\n")}) {
    EXPECT_THAT(ChildrenOf("thread_per_row_to_warp", text), IsEmpty()) << text;
    EXPECT_THAT(ChildrenOf("thread_per_row_to_block", text), IsEmpty()) << text;
  }
  // Half a warp. A block gets a size of its own, and the kernel loses bounds that rule it out.
  const std::string halves = With(rows, "// evo:param B 64 128", "// evo:param B 16 128");
  EXPECT_THAT(ChildrenOf("thread_per_row_to_warp", halves), ElementsAre(HasSubstr("block(32)")));
  EXPECT_THAT(ChildrenOf("thread_per_row_to_block", halves), SizeIs(1));
  EXPECT_THAT(ChildrenOf("thread_per_row_to_block", With(halves, "void k(", "void __launch_bounds__(B) k(")),
              ElementsAre(Not(HasSubstr("__launch_bounds__"))));
  const auto bounded = ChildrenOf("thread_per_row_to_block", With(rows, "void k(", "void __launch_bounds__(B) k("));
  ASSERT_THAT(bounded, SizeIs(1));
  EXPECT_NE(bounded[0].find("c += B)"), std::string::npos);
}

TEST(ThreadPerRowToBlock, CombinesWarpsInSharedMemory) {
  const auto children = ChildrenOf("thread_per_row_to_block", Rows(kSum));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find("grid(N) block(THREADS)"), std::string::npos);
  EXPECT_NE(children[0].find(R"(  const int thread = threadIdx.x;
  const int row = blockIdx.x;
  if (row >= n) return;
  float sum = 0.0f;
  for (int c = thread; c < m; c += THREADS) sum += in[row * m + c];
  {
    __shared__ float warp_partials[32];
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    if (thread % 32 == 0) warp_partials[thread / 32] = sum;
    __syncthreads();
    sum = warp_partials[0];
    for (int warp = 1; warp < THREADS / 32; ++warp) {
      sum += warp_partials[warp];
    }
  }
  if (thread == 0) out[row] = sum;
)"),
            std::string::npos)
      << children[0];
  // A grid that is no ceil_div still covers every row.
  const auto other = ChildrenOf("thread_per_row_to_block", With(Rows(kSum), "ceil_div(N, B)", "(N + B - 1) / B"));
  ASSERT_THAT(other, SizeIs(1));
  EXPECT_NE(other[0].find("grid(((N + B - 1) / B) * B)"), std::string::npos);
}

std::string Tree(const std::string& loop, const std::string& block = "128") {
  return "// evo:launch k(A, O) grid(8) block(" + block + ")\n__global__ void k(const float* in, float* out) {\n" +
         "  __shared__ float part[128];\n  const int t = threadIdx.x;\n  part[t] = in[t] * 2.0f;\n  __syncthreads();\n" + loop +
         "  out[blockIdx.x] = part[0];\n}\n";
}

constexpr const char* kTreeOfRow =
    "  for (int s = 128 / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    __syncthreads();\n  }\n";

TEST(WarpReduction, ReplacesTheLastStepsOrTheWholeTree) {
  const auto children = ChildrenOf("warp_reduction", Tree(kTreeOfRow));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_NE(children[0].find("for (int s = 128 / 2; s >= 32; s >>= 1) {"), std::string::npos);
  EXPECT_NE(children[0].find(
                "  if (t < 32) {\n    float value = part[t];\n    for (int offset = 16; offset > 0; offset /= 2) {\n      value "
                "+= __shfl_down_sync(0xffffffffu, value, offset);\n    }\n    if (t == 0) part[0] = value;\n  }\n"
                "  __syncthreads();\n"),
            std::string::npos)
      << children[0];
  EXPECT_NE(children[1].find("  float value = in[t] * 2.0f;\n"), std::string::npos) << children[1];
  EXPECT_NE(children[1].find("    value = t < 128 / 32 ? part[t] : 0;\n"), std::string::npos);
  EXPECT_EQ(children[1].find("part[t + s]"), std::string::npos);
}

TEST(WarpReduction, HandlesExtremesAndOtherSpellings) {
  const std::string extreme =
      "  for (unsigned s = blockDim.x / 2; s >= 1; s /= 2) {\n    if (t < s) {\n      part[t] = fmaxf(part[t], part[s + t]);\n   "
      " }\n    __syncthreads();\n  }\n";
  const auto children = ChildrenOf("warp_reduction", Tree(extreme));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_TRUE(AnyContains(children, "value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, offset));"));
  EXPECT_TRUE(AnyContains(children, "t < blockDim.x / 32 ? part[t] : part[0];"));
  // Lanes that have read part[0] must have done so before the first one replaces it, which shuffles do not order.
  EXPECT_TRUE(AnyContains(children, "    __syncwarp();\n    if (t == 0) part[0] = value;\n"));
}

TEST(WarpReduction, LeavesOtherLoops) {
  for (const auto& [from, to] :
       {std::pair("s >>= 1", "s >>= 2"), std::pair("part[t + s]", "part[t + s + 1]"), std::pair("s > 0", "s > 1"),
        std::pair("t < s", "t <= s"), std::pair("    __syncthreads();\n", ""), std::pair("+=", "-="),
        std::pair("128 / 2", "96 / 2"), std::pair("128 / 2", "16 / 2")}) {
    EXPECT_THAT(ChildrenOf("warp_reduction", Tree(With(kTreeOfRow, from, to))), IsEmpty()) << to;
  }
  EXPECT_THAT(ChildrenOf("warp_reduction", Tree(kTreeOfRow, "16, 8")), IsEmpty()) << "the block has two dimensions";
}

}  // namespace
}  // namespace evo
