#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A kernel that sums up x into out, with these lines in the place of the load and of the tree.
std::string Summing(const std::string& load, const std::string& tree,
                    const std::string& end = "if (t == 0) atomicAdd(out, s[0]);") {
  return "// evo:launch total(x, out, N) grid(ceil_div(N, 256)) block(256)\n"
         "__global__ void total(const float* x, float* out, int n) {\n"
         "  __shared__ float s[256];\n"
         "  int t = threadIdx.x;\n"
         "  int i = blockIdx.x * blockDim.x + t;\n  " +
         load + "\n  __syncthreads();\n  " + tree + "\n  " + end + "\n}\n";
}

constexpr char kLoad[] = "s[t] = i < n ? x[i] : 0.0f;";
constexpr char kTree[] = "for (int d = 128; d > 0; d /= 2) {\n    if (t < d) s[t] += s[t + d];\n    __syncthreads();\n  }";

std::string Reduced(const std::string& source) {
  const auto children = ChildrenOf("reduce_grid", source);
  return children.empty() ? "" : children.front();
}

// Why the kernels of a source are left as they are.
std::string Refused(const std::string& source) {
  const Parent parent(source);
  EXPECT_TRUE(parent.tree->errors().empty()) << parent.tree->errors().front();
  const SourceMutator& mutator = SourceMutatorNamed("reduce_grid");
  EXPECT_THAT(mutator.Proposals(parent.Context()), IsEmpty()) << source;
  std::string all;
  for (const std::string& why : mutator.Refusals(parent.Context())) all += why + "\n";
  return all;
}

TEST(ReduceGrid, ReadsAsAPersonWouldHaveWrittenIt) {
  const std::string child = Reduced(Summing(kLoad, kTree));
  EXPECT_THAT(child, HasSubstr("grid(min(ceil_div(N, 256), BLOCKS)) block(THREADS)"));
  EXPECT_THAT(child, HasSubstr("// evo:param THREADS 32 64 128 256 512 1024\n// evo:param ITEMS 1 2 4 8\n"
                               "// evo:param VECTOR 1 2 4\n// evo:param BLOCKS 16 66 132 264 528 1056 2112 4224\n"));
  EXPECT_THAT(child, HasSubstr("      for (int k = 0; k < ITEMS * VECTOR; ++k) {\n"
                               "        sum += x_part[k / VECTOR].at[k % VECTOR];\n"));
  EXPECT_THAT(child, HasSubstr("        sum += x[i];\n"));
  EXPECT_THAT(child, HasSubstr("    if (threadIdx.x == 0) atomicAdd(out, sum);\n"));
  std::istringstream lines(child);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 130u) << line;
}

TEST(ReduceGrid, UnderstandsTreesByRunningThem) {
  for (const char* tree :
       {kTree, "for (int d = 1; d < 256; d *= 2) {\n    if (t % (2 * d) == 0) s[t] += s[t + d];\n    __syncthreads();\n  }",
        "for (int d = 1; d < blockDim.x; d <<= 1) {\n    int at = 2 * d * t;\n    if (at < 256) s[at] = s[at + d] + s[at];\n"
        "    __syncthreads();\n  }",
        "int d = blockDim.x / 2;\n  while (d != 0) {\n    if (t < d) s[t] += s[t + d];\n    __syncthreads();\n    d /= 2;\n  }",
        "for (int d = 64; d > 0; d /= 4) {\n    if (t < d) s[t] += s[t + d] + s[t + 2 * d] + s[t + 3 * d];\n"
        "    __syncthreads();\n  }"})
    EXPECT_THAT(Reduced(Summing(kLoad, tree)), HasSubstr("__shfl_down_sync")) << tree;
}

TEST(ReduceGrid, KeepsTheBlocksWhereTheirResultsAreTheAnswer) {
  const std::string child = Reduced(Summing(kLoad, kTree, "if (t == 0) out[blockIdx.x] = s[0] / n;"));
  EXPECT_THAT(child, HasSubstr("grid(ceil_div(N, 256)) block(THREADS)"));
  EXPECT_THAT(child, HasSubstr("  const int begin = blockIdx.x * 256;\n"
                               "  const int end = begin + 256 < n ? begin + 256 : n;\n"));
  EXPECT_THAT(child, HasSubstr("if (threadIdx.x == 0) out[blockIdx.x] = sum / n;"));
  EXPECT_THAT(child, Not(HasSubstr("BLOCKS")));
}

TEST(ReduceGrid, RewritesBothLaunchesAtOnceAndTellsTheSecondHowManyBlocksThereAre) {
  const std::string source = LoadTemplate(ShareDirectory() / "kernel_templates" / "vector_sum" / "naive.cu").text;
  const auto children = ChildrenOf("reduce_grid", source);
  ASSERT_EQ(children.size(), 3u) << "both, the first, the second";
  EXPECT_THAT(children[0],
              HasSubstr("vector_sum_blocks(X, sums, N) grid(min(ceil_div(N, BLOCK * ITEMS), BLOCKS)) block(THREADS)"));
  EXPECT_THAT(children[0],
              HasSubstr("vector_sum_last(sums, Y, min(ceil_div(N, BLOCK * ITEMS), BLOCKS)) grid(1) block(THREADS_2)"));
  EXPECT_THAT(children[1], HasSubstr("vector_sum_last(sums, Y, min(ceil_div(N, BLOCK * ITEMS), BLOCKS)) grid(1) block(BLOCK)"));
  EXPECT_THAT(children[2], HasSubstr("vector_sum_last(sums, Y, ceil_div(N, BLOCK * ITEMS)) grid(1) block(THREADS)"));
}

TEST(ReduceGrid, GivesItsLoopsNamesThatTheElementsNumberDoesNotHave) {
  const std::string child =
      Reduced(Summing("float sum = 0.0f;\n  for (int k = i; k < n; k += 256 * gridDim.x) sum += x[k];\n"
                      "  s[t] = sum;",
                      kTree));
  EXPECT_THAT(child, HasSubstr("for (int k_2 = 0; k_2 < ITEMS; ++k_2) {"));
}

// The kernel is rewritten for all of its launches; none of them gets other elements or arguments.
TEST(ReduceGrid, KeepsTheGridsOfAKernelThatIsLaunchedTwice) {
  const std::string kernel = With(Summing(kLoad, kTree, "if (t == 0) out[blockIdx.x] = s[0];"),
                                  "// evo:launch total(x, out, N) grid(ceil_div(N, 256)) block(256)\n",
                                  "// evo:workspace part f32 [ceil_div(N, 256)]\n"
                                  "// evo:launch total(x, part, N) grid(ceil_div(N, 256)) block(256)\n"
                                  "// evo:launch total(part, out, ceil_div(N, 256)) grid(1) block(256)\n");
  const auto children = ChildrenOf("reduce_grid", kernel);
  ASSERT_EQ(children.size(), 1u);
  EXPECT_THAT(children[0], HasSubstr("total(x, part, N) grid(ceil_div(N, 256)) block(THREADS)\n"));
  EXPECT_THAT(children[0], HasSubstr("total(part, out, ceil_div(N, 256)) grid(1) block(THREADS)\n"));
  EXPECT_THAT(Refused(With(kernel, "grid(1) block(256)", "grid(1) block(128)")), HasSubstr("with different blocks"));
  // Who gives results to a kernel that is launched twice changes none of its arguments.
  const std::string first = With(With(Summing(kLoad, kTree, "if (t == 0) out[blockIdx.x] = s[0];"), "void total(", "void first("),
                                 "// evo:launch total(x, out, N) grid(ceil_div(N, 256)) block(256)\n", "");
  const std::string thrice = With(kernel, "// evo:launch total(x, part, N)",
                                  "// evo:launch total(x, other, N) grid(1) block(256)\n"
                                  "// evo:workspace other f32 [1]\n// evo:launch first(x, part, N)") +
                             first;
  for (const std::string& child : ChildrenOf("reduce_grid", thrice)) {
    EXPECT_THAT(child, HasSubstr("total(x, other, N) grid(1)")) << child;
    EXPECT_THAT(child, HasSubstr("total(part, out, ceil_div(N, 256))")) << child;
  }
}

// A kernel with two results of x, with these lines in the place of the loop and of what is left in the end.
std::string TwoResults(const std::string& turn, const std::string& end) {
  return "// evo:launch both(x, out, N) grid(64) block(32)\n"
         "__global__ void both(const float* x, float* out, int n) {\n"
         "  float a = 0.0f, b = 0.0f;\n"
         "  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 32 * gridDim.x) {\n    " +
         turn +
         "\n  }\n"
         "  for (int d = 16; d > 0; d /= 2) {\n"
         "    a += __shfl_down_sync(~0u, a, d);\n"
         "    b += __shfl_down_sync(~0u, b, d);\n"
         "  }\n  " +
         end + "\n}\n";
}

constexpr char kTwoSums[] = "a += x[i];\n    b += x[i] * x[i];";
constexpr char kAddBoth[] = "if (threadIdx.x == 0) {\n    atomicAdd(&out[0], a);\n    atomicAdd(&out[1], b);\n  }";

TEST(ReduceGrid, GivesEachOfSeveralResultsAValueAndItsShuffles) {
  const std::string child = Reduced(TwoResults(kTwoSums, kAddBoth));
  EXPECT_THAT(child, HasSubstr("  for (int offset = 16; offset > 0; offset /= 2) {\n"
                               "    a += __shfl_down_sync(0xffffffffu, a, offset);\n"
                               "    b += __shfl_down_sync(0xffffffffu, b, offset);\n  }\n"));
  EXPECT_THAT(child, HasSubstr("    if (threadIdx.x == 0) {\n      atomicAdd(&out[0], a);\n      atomicAdd(&out[1], b);\n    }"));
  EXPECT_THAT(child, HasSubstr("grid(max(1, min(ceil_div(N, THREADS), BLOCKS))) block(THREADS)"));
}

// Of few elements a block takes as many as it has threads; of more it takes more.
TEST(ReduceGrid, RefusesPartsThatGrowWithTheNumberOfElements) {
  const std::string source =
      "// evo:launch totals(x, out, N) grid(64) block(64)\n"
      "__global__ void totals(const float* x, float* out, int n) {\n"
      "  __shared__ float s[64];\n"
      "  int part = (n + 4095) / 4096 * 64;\n"
      "  int begin = blockIdx.x * part;\n"
      "  int end = begin + part < n ? begin + part : n;\n"
      "  float sum = 0;\n"
      "  for (int i = begin + threadIdx.x; i < end; i += 64) sum += x[i];\n"
      "  s[threadIdx.x] = sum;\n  __syncthreads();\n"
      "  for (int d = 32; d > 0; d /= 2) {\n    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];\n    "
      "__syncthreads();\n  }\n"
      "  if (threadIdx.x == 0) out[blockIdx.x] = s[0];\n}\n";
  EXPECT_THAT(Refused(source), HasSubstr("its blocks take more elements each where there are more"));
  EXPECT_THAT(ChildrenOf("reduce_grid", With(source, "(n + 4095) / 4096 * 64", "64")), testing::Not(IsEmpty()));
}

// A place that depends on the element is none for a sum of all.
TEST(ReduceGrid, RefusesPlacesThatDependOnTheElement) {
  const std::string source =
      "// evo:launch deposit(x, out, N) grid(ceil_div(N, 256)) block(256)\n"
      "__global__ void deposit(const float* x, float* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) {\n    int cell = (int)x[i];\n    atomicAdd(out + cell, x[i]);\n  }\n}\n";
  EXPECT_THAT(Refused(source), HasSubstr("depends on `cell`"));
}

TEST(ReduceGrid, RefusesSeveralResultsThatDoNotHaveTheSameElements) {
  EXPECT_THAT(Refused(TwoResults("a += x[i];\n    if (i > 0) b += x[i] * x[i];", kAddBoth)), HasSubstr("exactly once"));
  EXPECT_THAT(Refused(TwoResults("a += x[i];\n    b += a;", kAddBoth)), HasSubstr("exactly once"));
  EXPECT_THAT(Refused(TwoResults("a += x[i];\n    b = fmaxf(b, x[i]);", kAddBoth)), HasSubstr("in more than one way"));
  EXPECT_THAT(Refused(TwoResults(kTwoSums, "if (threadIdx.x < 2) atomicAdd(&out[threadIdx.x], threadIdx.x == 0 ? a : b);")),
              HasSubstr("exactly once"))
      << "which result it is depends on the thread";
}

TEST(ReduceGrid, ComputesWhatIsLeftOfSeveralResultsInOneThread) {
  const std::string variance = "if (threadIdx.x == 0) {\n    const float m = a / n;\n    out[0] = b / n - m * m;\n  }";
  const std::string alone = With(TwoResults(kTwoSums, variance), "grid(64)", "grid(1)");
  EXPECT_THAT(Reduced(alone), HasSubstr("    if (threadIdx.x == 0) {\n      const float m = a / n;\n"
                                        "      out[0] = b / n - m * m;\n    }"));
  EXPECT_THAT(Refused(With(alone, "grid(1)", "grid(8)")), HasSubstr("leaves a part of each block"));
  // A mean that is changed, or that only some threads have.
  EXPECT_THAT(Refused(With(With(alone, "const float m = a / n;", "float m = a / n;\n    m += 1.0f;"), "m * m", "m")),
              HasSubstr("neither an element nor a combination"));
}

TEST(ReduceGrid, AddsProductsAsTheKernelDoes) {
  const std::string child = Reduced(TwoResults("a = fmaf(x[i], x[n + i], a);\n    b += x[i];", kAddBoth));
  EXPECT_THAT(child, HasSubstr("        a = fmaf(x_part[k / VECTOR].at[k % VECTOR], x_part_2[k / VECTOR].at[k % VECTOR], a);\n"));
  EXPECT_THAT(child, HasSubstr("        a = fmaf(x[i], x[n + i], a);\n"));
  EXPECT_THAT(Refused(TwoResults("a = fmaf(a, x[i], x[n + i]);\n    b += x[i];", kAddBoth)),
              HasSubstr("neither an element nor a combination"));
}

TEST(ReduceGrid, CountsVotes) {
  const auto votes = [](const std::string& line) {
    return "// evo:launch count(x, out, N) grid(ceil_div(N, 64)) block(64)\n"
           "__global__ void count(const int* x, int* out, int n) {\n"
           "  int i = blockIdx.x * 64 + threadIdx.x;\n  " +
           line + "\n}\n";
  };
  const std::string add = "if (threadIdx.x == 0 && c > 0) atomicAdd(out, c);";
  const std::string child = Reduced(votes("int c = __syncthreads_count(i < n && x[i] == 3);\n  " + add));
  EXPECT_THAT(child, HasSubstr("c += x[i] == 3;"));
  EXPECT_THAT(child, HasSubstr("if (threadIdx.x == 0) atomicAdd(out, c);"));
  EXPECT_THAT(Refused(votes("int c = __syncthreads_count(i < n && x[i]);\n  " + add)), HasSubstr("whether a number is not 0"));
  EXPECT_THAT(Refused(votes("int c = i < n ? x[i] : 0;\n  for (int d = 16; d > 0; d /= 2) c += __shfl_down_sync(~0u, c, d);\n"
                            "  if (threadIdx.x % 32 == 0 && c > 0) atomicAdd(out, c);")),
              HasSubstr("several threads of a block compute"))
      << "a sum that is negative in one warp may not be so in another";
  EXPECT_THAT(Refused(votes("int c = __syncthreads_count(i < n ? x[i] : 0);\n  " + add)), HasSubstr("does not count conditions"));
  EXPECT_THAT(Refused(votes("int c = i < n && x[i];\n  if (c != 0) atomicAdd(out, c);")), HasSubstr("whether a number is not 0"));
  EXPECT_THAT(Refused(votes("if (i < n) {\n    int c = __syncthreads_count(x[i] == 3);\n    " + add + "\n  }")),
              HasSubstr("reach a barrier together"));
  EXPECT_THAT(
      Refused(votes("unsigned v = __ballot_sync(~0u, i < n && x[i] == 3);\n  if (threadIdx.x % 32 == 0) atomicAdd(out, v);")),
      HasSubstr("in more than one way"));
}

TEST(ReduceGrid, TakesTheTurnsOfALoopOfAllThreadsWithTheElements) {
  const auto rows = [](const std::string& loops) {
    return "// evo:launch rows(x, out, R, N) grid(1) block(32)\n"
           "__global__ void rows(const float* x, float* out, int r, int n) {\n  float a = 0.0f;\n  " +
           loops +
           "\n  for (int d = 16; d > 0; d /= 2) a += __shfl_down_sync(~0u, a, d);\n  if (threadIdx.x == 0) out[0] = a;\n}\n";
  };
  const std::string turn = "for (int i = threadIdx.x; i < n; i += 32) a += x[j * n + i];";
  const std::string child = Reduced(rows("for (int j = 0; j < r; ++j)\n    " + turn));
  EXPECT_THAT(child, HasSubstr("  for (int j = 0; j < r; ++j) {\n    for (int first = 0; first < n; first += kRound) {\n"));
  // Every other row, or a part of it that depends on the row; two turns would not tell all of these.
  for (const char* from :
       {"if (j % 2 == 0) for (int i = threadIdx.x;", "if (j < 2) for (int i = threadIdx.x;", "for (int i = threadIdx.x + j / 2;"})
    EXPECT_THAT(Refused(rows("for (int j = 0; j < r; ++j)\n    " + With(turn, "for (int i = threadIdx.x;", from))),
                HasSubstr("its work depends on `r`"));
  EXPECT_THAT(Refused(rows("for (int j = 0; j < r - 1; ++j)\n    " + turn)), HasSubstr("its work depends on `r`"));
}

TEST(ReduceGrid, RefusesAtomicsThatAreNotOrderedWithTheirStart) {
  const auto counting = [](const std::string& barrier) {
    return Summing("if (t == 0) s[0] = 0.0f;\n  " + barrier + "if (i < n) atomicAdd(&s[0], x[i]);", "");
  };
  EXPECT_THAT(Reduced(counting("__syncthreads();\n  ")), HasSubstr("__shfl_down_sync"));
  EXPECT_THAT(Refused(counting("")), HasSubstr("threads race for `s`"));
}

TEST(ReduceGrid, RefusesWhatIsNoReductionOrNotUnderstood) {
  const std::string wrong_half =
      "for (int d = 128; d > 1; d /= 2) {\n    if (t < d) s[t] += s[t + d];\n    __syncthreads();\n  }";
  EXPECT_THAT(Refused(Summing(kLoad, wrong_half)), HasSubstr("exactly once"));
  const std::string raced = "for (int d = 128; d > 0; d /= 2) {\n    if (t < d) s[t] += s[t + d];\n  }";
  EXPECT_THAT(Refused(Summing(kLoad, raced)), HasSubstr("`s` is read while another thread writes it"));
  const std::string parted = "if (t < 128) {\n    s[t] += s[t + 128];\n    __syncthreads();\n  }";
  EXPECT_THAT(Refused(Summing(kLoad, parted)), HasSubstr("not all threads of a block reach a barrier together"));
  // Where no partial result begins with it, it does not change the result.
  EXPECT_THAT(Reduced(Summing("s[t] = i < n ? x[i] : 1.0f;", kTree)),
              AllOf(HasSubstr(" when(N % 256 == 0)\n"), HasSubstr("total(x, out, N) grid(ceil_div(N, 256)) block(256) "
                                                                  "when(!(N % 256 == 0))\n")));
  EXPECT_THAT(Refused(Summing("s[t] = i < n ? x[i] : 0.0f;",
                              "for (int d = 128; d > 0; d /= 2) {\n    if (t < d) s[t] = fmaxf(s[t], "
                              "s[t + d]);\n    __syncthreads();\n  }")),
              HasSubstr("combines in more than one way"));
  EXPECT_THAT(Refused(Summing(kLoad, kTree, "atomicAdd(out + t, s[t]);")), HasSubstr("exactly once"));
  EXPECT_THAT(
      Refused(Summing("float v = i < n ? x[i] : 0.0f;", "for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);",
                      "if (t % 32 == 0) atomicAdd(out, sqrtf(v));")),
      HasSubstr("several threads of a block compute"));
  EXPECT_THAT(Reduced(Summing(kLoad, kTree, "if (t == 0) atomicAdd(out + i, s[0]);")), HasSubstr("when(!(N <= 256))"))
      << "the sum of one block has the first place";
  EXPECT_THAT(Refused(Summing("s[t] = i <= n ? x[i] : 0.0f;", kTree)), HasSubstr("exactly once")) << "one more than n";
  EXPECT_THAT(Refused(Summing("s[t] = i < n ? x[i] * t : 0.0f;", kTree)), HasSubstr("is not a function of one index"));
  EXPECT_THAT(Refused("// evo:launch count(x, out, N) grid(ceil_div(N, 256)) block(256)\n"
                      "__global__ void count(const int* x, int* out, int n) {\n"
                      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) atomicAdd(&out[x[i]], 1);\n}\n"),
              Not(IsEmpty()))
      << "a histogram";
}

}  // namespace
}  // namespace evo
