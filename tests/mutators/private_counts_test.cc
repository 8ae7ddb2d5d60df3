#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Counting(const std::string& body, const std::string& launch = "grid(ceil_div(N, 256)) block(256)",
                     const std::string& counts = "int* H", const std::string& before = "") {
  return before + "// evo:launch count(X, H, N) " + launch + "\n__global__ void count(const int* X, " + counts + ", int n) {\n" +
         body + "}\n";
}

constexpr char kPlain[] = R"(  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) atomicAdd(&H[X[i]], 1);
)";

std::string RefusedCounting(const std::string& source) {
  const auto refusals = RefusalsOf("private_counts", source);
  return refusals.empty() ? "" : refusals.front();
}

TEST(PrivateCounts, ReadsAsAPersonWouldHaveWrittenIt) {
  EXPECT_THAT(ChildrenOf("private_counts", Counting(kPlain)), ElementsAre(HasSubstr(R"(
__global__ void count(const int* X, int* H, int n, unsigned int blocks) {
  // COPIES copies of the first COUNTS elements of H, for the block alone; the copies of one are neighbours.
  __shared__ unsigned int counts[COUNTS * COPIES];
  const int thread = threadIdx.x;
  const int threads = blockDim.x;
  for (int i = thread; i < COUNTS * COPIES; i += threads) counts[i] = 0;
  __syncthreads();
  for (unsigned int block = blockIdx.x; block < blocks; block += gridDim.x) {
    const int i = block * 256 + threadIdx.x;
    if (i < n) {
      const int bin = X[i];
      if (static_cast<unsigned int>(bin) < COUNTS)
        atomicAdd(&counts[bin * COPIES + thread % COPIES], 1);
      else
        atomicAdd(&H[bin], 1);
    }
  }
  __syncthreads();
  for (int i = thread; i < COUNTS; i += threads) {
    unsigned int sum = 0;
    for (int copy = 0; copy < COPIES; ++copy) sum += counts[i * COPIES + (copy + i) % COPIES];
    if (sum != 0) atomicAdd(&H[i], sum);
  }
}
)")));
}

TEST(PrivateCounts, BringsCountsCopiesAndBlocks) {
  const auto children = ChildrenOf("private_counts", Counting(kPlain));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0], HasSubstr("// evo:param COUNTS 256 512 1024 2048 4096\n// evo:param COPIES 1 2 4 8 16 32\n"
                                     "// evo:param BLOCKS 1 2 4 8 16 33 66 132 264 528 1056\n"
                                     "// evo:constraint COUNTS * COPIES * 4 <= 49152\n"));
  EXPECT_THAT(children[0], HasSubstr("count(X, H, N, ceil_div(N, 256)) grid(min(ceil_div(N, 256), BLOCKS)) block(256)"));
}

// In loops, behind early returns, by pointers, in several places, with any amount.
TEST(PrivateCounts, UnderstandsWhatStudentsWrite) {
  const auto looped = ChildrenOf("private_counts", Counting(R"(  for (int k = 0; k < 4; ++k) {
    const int i = (blockIdx.x * 4 + k) * 256 + threadIdx.x;
    if (i >= n) continue;
    atomicAdd(H + (X[i] & 63), X[i]);
    if (X[i] > 9) atomicAdd(&(H[64]), 1);
  }
)"));
  ASSERT_THAT(looped, SizeIs(1));
  EXPECT_THAT(looped[0], HasSubstr("      const int bin = (X[i] & 63);\n"));
  EXPECT_THAT(looped[0], HasSubstr("atomicAdd(&counts[bin * COPIES + thread % COPIES], X[i]);\n"));
  EXPECT_THAT(looped[0], HasSubstr("      if (X[i] > 9) {\n        const int bin = 64;\n"));

  const auto returning = ChildrenOf("private_counts", Counting(R"(  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  unsigned long where = X[i] % 1000u;
  atomicAdd(&H[where], 2u);
)",
                                                               "grid(ceil_div(N, 256)) block(256)", "unsigned int* H"));
  ASSERT_THAT(returning, SizeIs(1));
  EXPECT_THAT(returning[0], HasSubstr("    if (i >= n) continue;\n"));
  EXPECT_THAT(returning[0], HasSubstr("      const unsigned long long bin = where;\n"
                                      "      if (static_cast<unsigned long long>(bin) < COUNTS)\n"));
}

// An image: blocks of two dimensions, and a loop over either axis of the grid.
TEST(PrivateCounts, KnowsGridsOfTwoDimensions) {
  const auto children =
      ChildrenOf("private_counts", Counting(R"(  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  if (x < n && y < n) atomicAdd(&H[X[y * n + x]], 1ull);
)",
                                            "grid(ceil_div(N, 16), ceil_div(N, 16)) block(16, 16)", "unsigned long long* H"));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_THAT(children[0], HasSubstr("const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;"));
  EXPECT_THAT(children[0], HasSubstr("__shared__ unsigned long long counts[COUNTS * COPIES];"));
  EXPECT_THAT(children[0], HasSubstr("COUNTS * COPIES * 8 <= 49152"));
  EXPECT_THAT(children[1], HasSubstr("grid(ceil_div(N, 16), min(ceil_div(N, 16), BLOCKS))"));
}

TEST(PrivateCounts, KnowsVariablesThatPointIntoTheCounts) {
  const auto children = ChildrenOf("private_counts", Counting("  int* row = H + X[blockIdx.x] * 8;\n"
                                                              "  if (threadIdx.x < n) atomicAdd(&row[X[threadIdx.x]], 1);\n"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0], HasSubstr("      const long long bin = row - H + (X[threadIdx.x]);\n"));
  EXPECT_THAT(RefusedCounting(Counting("  int* row = H + H[3];\n  atomicAdd(&row[blockIdx.x], 1);\n")), HasSubstr("does more"))
      << "the counts are not what they would be";
  EXPECT_THAT(RefusedCounting(Counting("  int* row = H + 3;\n  atomicAdd(&row[blockIdx.x], 1);\n  if (row[1] > 3) H[1] = 0;\n")),
              HasSubstr("does more"));
  EXPECT_THAT(ChildrenOf("private_counts", Counting("  int* row = H;\n  row += n;\n  atomicAdd(&row[blockIdx.x], 1);\n")),
              IsEmpty());
}

constexpr char kThreadPerBin[] = R"(  const int bin = blockIdx.x * 256 + threadIdx.x;
  if (bin >= 64) return;
  int found = 0;
  for (int i = 0; i < n; i++)
    if (X[i] == bin) found++;
  H[bin] = found;
)";

TEST(PrivateCounts, CountsOnceForThreadsWithABinEach) {
  const auto children = ChildrenOf("private_counts", Counting(kThreadPerBin, "grid(1) block(256)"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0], HasSubstr("// evo:workspace totals u32 [(1) * (256)]\n// evo:memset totals 0\n"
                                     "// evo:launch count_values(X, H, N, totals, (1) * (256)) grid(BLOCKS) block(THREADS)\n"
                                     "// evo:launch count(X, H, N, totals) grid(1) block(256)\n"));
  EXPECT_THAT(children[0], HasSubstr("    const long long value = X[i];\n"));
  EXPECT_THAT(children[0], HasSubstr("  int found = 0;\n  found += (int)totals[bin];\n  H[bin] = found;\n"));
}

TEST(PrivateCounts, LeavesThreadsWithABinEachThatDoMore) {
  const auto refused = [](const std::string& from, const std::string& to) {
    return RefusedCounting(Counting(With(kThreadPerBin, from, to), "grid(1) block(256)"));
  };
  EXPECT_THAT(refused("X[i] == bin", "X[i] * bin == bin"), HasSubstr("what it looks at depends on bin"));
  EXPECT_THAT(refused("X[i] == bin", "X[i] * 0.5f == bin"), HasSubstr("is no integer"));
  EXPECT_THAT(refused("X[i] == bin", "H[i] == bin"), HasSubstr("what it looks at depends on H"));
  EXPECT_THAT(refused("if (bin >= 64) return;", "if (n > 9) return;"), HasSubstr("decide whether it counts"));
  EXPECT_THAT(refused("blockIdx.x * 256 + threadIdx.x", "threadIdx.x / 2"), HasSubstr("that bin is a number of its own"));
  EXPECT_THAT(refused("found++;", "found += i;"), IsEmpty());
}

constexpr char kSharedCounts[] = R"(  __shared__ int local[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) local[b] = 0;
  __syncthreads();
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) atomicAdd(&local[X[i] & 63], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x)
    if (local[b] > 0) atomicAdd(&H[b], local[b]);
)";

// One copy becomes several, and blocks take more elements.
TEST(PrivateCounts, DividesCountsInSharedMemoryAnew) {
  const auto children = ChildrenOf("private_counts", Counting(kSharedCounts));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0], HasSubstr("__shared__ unsigned int counts[COUNTS * COPIES];"));
  EXPECT_THAT(children[0], HasSubstr("const long long bin = X[i] & 63;"));
  EXPECT_THAT(children[0], HasSubstr("if (bin >= 0 && bin < 64)")) << "what was not added in the end is not counted";
  EXPECT_THAT(children[0], testing::Not(HasSubstr("local[")));
}

TEST(PrivateCounts, LeavesOtherCountsInSharedMemory) {
  const std::pair<const char*, const char*> kOthers[] = {
      {"b < 64; b += blockDim.x) local[b] = 0", "b < 32; b += blockDim.x) local[b] = 0"},  // some are not set to zero
      {"local[b] = 0;", "local[b] = 1;"},
      {"local[X[i] & 63], 1)", "local[X[i] & 63], X[i])"},  // sums below zero are not added
      {"atomicAdd(&H[b], local[b])", "atomicAdd(&H[b], local[63 - b])"},
      {"atomicAdd(&H[b], local[b])", "atomicAdd(&H[b / 2], local[b])"},
      {"if (i < n)", "if (local[0] < 9)"},
      {"if (i < n)", "if (i >= n) return;\n  if (i < n)"},
      {"  __syncthreads();\n  const int i", "  const int i"}};
  for (const auto& [from, to] : kOthers)
    EXPECT_THAT(RefusedCounting(Counting(With(kSharedCounts, from, to))), HasSubstr("wait for each other")) << to;
}

// Blocks of other kernels are their own; those that a function sees are not.
TEST(PrivateCounts, TakesOneOfSeveralKernels) {
  const std::string other = "\n__global__ void cut(int* H) {\n  if (H[blockIdx.x] > 9) H[blockIdx.x] = 9;\n}\n";
  const std::string launch = "// evo:launch cut(H) grid(9) block(1)\n";
  const auto children = ChildrenOf("private_counts", Counting(kPlain) + launch + other);
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0], HasSubstr("if (H[blockIdx.x] > 9) H[blockIdx.x] = 9;"));
  const std::string function = "\n__device__ int first(int n) {\n  if (n < 3) return 0;\n  return blockIdx.x;\n}\n";
  EXPECT_THAT(
      ChildrenOf("private_counts", Counting("  const int i = blockIdx.x * 256 + threadIdx.x;\n  const int at = first(n);\n"
                                            "  if (i < n) atomicAdd(&H[X[i] + at], 1);\n",
                                            "grid(ceil_div(N, 256)) block(256)", "int* H", function)),
      IsEmpty());
}

TEST(PrivateCounts, LeavesOthersAndSaysWhy) {
  EXPECT_THAT(RefusedCounting(Counting("  X[0] > 3 ? atomicAdd(&H[0], 1) : 0;\n  atomicAdd(&H[threadIdx.x], 1);\n")),
              HasSubstr("count: it does more with `H` than add by atomics whose result nobody uses"));
  EXPECT_THAT(RefusedCounting(Counting("  atomicAdd(&H[X[threadIdx.x]], 1);\n  if (H[0] > 3) H[1] = 0;\n")),
              HasSubstr("does more"));
  EXPECT_THAT(RefusedCounting(Counting("  int old = atomicAdd(&H[1], 1);\n  atomicAdd(&H[old], 1);\n")), HasSubstr("does more"));
  EXPECT_THAT(RefusedCounting(Counting("  atomicAdd(&H[blockIdx.x], 1.0f);\n", "grid(N) block(32)", "float* H")),
              HasSubstr("no integers"));
  EXPECT_THAT(
      RefusedCounting(Counting("  __shared__ int s;\n  s = 1;\n  __syncthreads();\n  atomicAdd(&H[X[blockIdx.x]], s);\n")),
      HasSubstr("wait for each other"));
  EXPECT_THAT(RefusedCounting(Counting("  atomicAdd(&H[X[blockIdx.x]], 1);\n  __threadfence();\n")),
              HasSubstr("wait for each other"));
  EXPECT_THAT(RefusedCounting("// evo:launch count(A, A, N) grid(N) block(32)\n__global__ void count(int* X, int* H, int n) {\n"
                              "  atomicAdd(&H[X[blockIdx.x]], 1);\n}\n"),
              HasSubstr("`H` may be the memory of another one"));
  EXPECT_THAT(ChildrenOf("private_counts", Counting("  atomicMax(&H[X[blockIdx.x]], 1);\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("private_counts", Counting("  atomicAdd(&H[X[threadIdx.x]], 1);\n", "grid(1) block(64)")), IsEmpty());
}

}  // namespace
}  // namespace evo
