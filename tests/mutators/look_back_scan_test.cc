#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "tests/mutators/mutating.h"
#include "tests/mutators/scan_kernels.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string Shipped(const char* place) {
  return LoadTemplate(ShareDirectory() / "kernel_templates" / fmt::format("{}.cu", place)).text;
}

// The child of a source that is a scan; else empty, and the test fails with the reason.
std::string Scanned(const std::string& source) {
  const auto children = ChildrenOf("look_back_scan", source);
  EXPECT_EQ(children.size(), 1u) << testing::PrintToString(RefusalsOf("look_back_scan", source)) << source;
  return children.empty() ? "" : children.front();
}

// Of several launches, one may be a scan of parts by itself.
std::string NotScanned(const std::string& source) {
  const auto children = ChildrenOf("look_back_scan", source);
  if (source.find("evo:launch") == source.rfind("evo:launch")) {
    EXPECT_THAT(children, IsEmpty()) << source;
  }
  EXPECT_THAT(children, Each(Not(HasSubstr("ticket")))) << source;
  std::string all;
  for (const std::string& why : RefusalsOf("look_back_scan", source)) all += why + "\n";
  return all;
}

TEST(LookBackScan, ReadsAsAPersonWouldHaveWrittenIt) {
  const std::string child = Scanned(Shipped("prefix_sum/naive"));
  EXPECT_THAT(child, HasSubstr("// evo:workspace states u64 [ceil_div(N, THREADS * ITEMS)]\n"
                               "// evo:workspace ticket u32 [1]\n"
                               "// evo:memset states 0\n"
                               "// evo:memset ticket 0\n"
                               "// evo:launch prefix_sum_blocks(X, Y, states, ticket, N) grid(ceil_div(N, THREADS * ITEMS)) "
                               "block(THREADS)\n"));
  EXPECT_THAT(child, HasSubstr("// evo:param THREADS 128 256 512 1024\n// evo:param ITEMS 4 8 16 32\n"));
  EXPECT_THAT(child, HasSubstr("prefix_sum_blocks(const float* __restrict__ X, float* __restrict__ Y,"));
  EXPECT_THAT(child, HasSubstr("values[k].x += before;"));
  EXPECT_THAT(child, HasSubstr("always added from left to right")) << "the same bits in every run";
  // Nothing is left of the other launches, nor comments on them.
  for (const char* gone :
       {"evo:workspace sums", "prefix_sum_sums", "prefix_sum_add", "Scan(float* partials)", "Each of the block's"})
    EXPECT_THAT(child, Not(HasSubstr(gone)));
  EXPECT_THAT(child, Not(HasSubstr("\n\n\n")));
  EXPECT_THAT(child, Not(HasSubstr("@")));
  std::istringstream lines(child);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 130u) << line;
}

TEST(LookBackScan, KnowsSumsWithoutTheElementItself) {
  const std::string child = Scanned(Shipped("prefix_sum_exclusive/naive"));
  EXPECT_THAT(child, HasSubstr("values[k] = make_int4(before, before + values[k].x,"));
  EXPECT_THAT(child, HasSubstr("32 tiles at a time")) << "integers may be added in any order";
}

TEST(LookBackScan, UnderstandsScansByRunningThem) {
  EXPECT_THAT(Scanned(kSweeps), HasSubstr("// evo:launch sweep(X, Y, states, ticket, N)"));
  EXPECT_THAT(Scanned(kSweeps), Not(HasSubstr("shared(")));
  EXPECT_THAT(Scanned(kShuffles), Not(HasSubstr("block_scan")));
  EXPECT_THAT(Scanned(kSerial), HasSubstr("block(THREADS)"));
  EXPECT_THAT(Scanned(kTwoRows), HasSubstr("rows(X, Y, states, ticket, N)"));
  EXPECT_THAT(Scanned(kReadTwice), HasSubstr("make_int4(before, "));
  EXPECT_THAT(Scanned(Shipped("prefix_sum/naive")), HasSubstr("LoadFour"));
}

TEST(LookBackScan, TakesUnsignedElementsAndSizesOf64Bits) {
  const std::string child = Scanned(
      "// evo:launch running(X, Y, i64(N)) grid(1) block(1)\n"
      "__global__ void running(const unsigned* x, unsigned* y, long long n) {\n  unsigned sum = 0;\n"
      "  for (long long i = 0; i < n; ++i) {\n    y[i] = sum;\n    sum += x[i];\n  }\n}\n");
  EXPECT_THAT(child, HasSubstr("running(X, Y, states, ticket, i64(N))"));
  EXPECT_THAT(child, HasSubstr("make_uint4(before"));
  EXPECT_THAT(child, HasSubstr("const long long begin = (long long)tile * kTile;"));
}

TEST(LookBackScan, TakesScansInPlace) {
  const std::string child = Scanned(
      "// evo:launch running(X, N) grid(1) block(1)\n"
      "__global__ void running(int* x, int n) {\n  for (int i = 1; i < n; ++i) x[i] += x[i - 1];\n}\n");
  EXPECT_THAT(child, HasSubstr("running(X, X, states, ticket, N)"));
  EXPECT_THAT(child, Not(HasSubstr("__restrict__")));
}

// A child is right whatever these parameters are, if the parent was right for all their values.
TEST(LookBackScan, NeedsParametersOnlyWhereTheParentDoes) {
  const auto needed = [](const std::string& source) {
    const Parent parent(source);
    const SourceMutator& mutator = SourceMutatorNamed("look_back_scan");
    const auto proposals = mutator.Proposals(parent.Context());
    EXPECT_EQ(proposals.size(), 1u);
    return proposals.empty() ? Parameters{} : proposals.front().parameters;
  };
  EXPECT_THAT(needed(Shipped("prefix_sum/naive")), IsEmpty());
  EXPECT_THAT(needed(kTwoRows), IsEmpty());
  // With 256 threads the last step is missing.
  const std::string fixed = With(kTwoRows, "int d = 1; d < WIDTH", "int d = 1; d < 128");
  EXPECT_THAT(needed(fixed), ElementsAre(std::pair<const std::string, std::int64_t>("WIDTH", 128)));
}

TEST(LookBackScan, RefusesWhatComputesSomethingElse) {
  const std::string naive = Shipped("prefix_sum/naive");
  EXPECT_THAT(NotScanned(With(naive, "Y[i] += sums[blockIdx.x]", "Y[i] += sums[blockIdx.x + 1]")), HasSubstr("outside of sums"));
  EXPECT_THAT(NotScanned(With(naive, "before + partials[thread - 1] : before;", "before + partials[thread] : before;")),
              HasSubstr("is no prefix sum"))
      << "the block's own sum counts twice";
  EXPECT_THAT(NotScanned(With(naive, "distance < BLOCK", "distance < BLOCK / 2")), HasSubstr("is no prefix sum"));
  EXPECT_THAT(NotScanned(With(kSerial, "i < n", "i < n - 1")), HasSubstr("is not stored")) << "a part of the elements";
  EXPECT_THAT(Scanned(With(kSerial, "y[i - 1] + x[i]", "i % 24 == 0 ? x[i] : y[i - 1] + x[i]")),
              HasSubstr("grid(ceil_div(ceil_div(N, 24), THREADS))"))
      << "parts";
  EXPECT_THAT(NotScanned(With(kSerial, "y[i - 1] + x[i]", "i % 24 == 0 || i == 30 ? x[i] : y[i - 1] + x[i]")),
              HasSubstr("is no prefix sum"))
      << "short segments";
  EXPECT_THAT(NotScanned("// evo:launch running(X, Y, N) grid(1) block(1)\n"
                         "__global__ void running(const float *x, float *y, int n) {\n  float sum = 0.0f;\n"
                         "  for (int i = n - 1; i >= 0; --i) {\n    sum += x[i];\n    y[i] = sum;\n  }\n}\n"),
              HasSubstr("is no prefix sum"))
      << "from the other end";
  EXPECT_THAT(NotScanned(With(kSerial, "y[i - 1] + x[i]", "fmaxf(y[i - 1], x[i])")), HasSubstr("fmaxf"));
  EXPECT_THAT(NotScanned(With(kSerial, "y[i - 1] + x[i]", "y[i - 1] + x[i] * x[i]")),
              HasSubstr("`x[i] * x[i]` is computed from data"));
  EXPECT_THAT(NotScanned(With(kSerial, "y[i - 1] + x[i]", "y[i - 1] + 2.0f * x[i]")), HasSubstr("is no prefix sum"));
  EXPECT_THAT(NotScanned(With(kSerial, "y[0] = x[0]", "y[0] = x[0] + 1.0f")), HasSubstr("is no prefix sum"));
  EXPECT_THAT(NotScanned(With(kSerial, "y[i] =", "if (x[i] > 0.0f) y[i] =")), HasSubstr("data decides `x[i] > 0.0f`"));
}

// What only one launch does is told from what all of them do.
TEST(LookBackScan, TakesOneLaunchWhereAllAreNoScan) {
  const std::string naive = Shipped("prefix_sum/naive");
  const auto children = ChildrenOf("look_back_scan", With(naive, "Y[i] += sums[blockIdx.x]", "Y[i] += 2.0f * sums[blockIdx.x]"));
  ASSERT_EQ(children.size(), 1u);
  EXPECT_THAT(children[0], HasSubstr("// evo:launch scan_of_parts(X, Y, sums, i64(N)) grid(ceil_div(N, 256)) block(THREADS)\n"));
  EXPECT_THAT(children[0], HasSubstr("// evo:launch prefix_sum_add("));
  EXPECT_THAT(children[0], HasSubstr("evo:workspace sums")) << "others need it";
  const std::string wrong = With(With(naive, "Y[i] += sums[blockIdx.x]", "Y[i] += 2.0f * sums[blockIdx.x]"),
                                 "if (thread == BLOCK - 1) sums[", "if (thread == BLOCK - 2) sums[");
  EXPECT_THAT(ChildrenOf("look_back_scan", wrong), IsEmpty()) << "not the sum of the part";
}

// An error that shows only where there are more blocks than a block has threads, or at an edge.
TEST(LookBackScan, RefusesWhatIsRightForFewElementsOnly) {
  const std::string naive = Shipped("prefix_sum/naive");
  EXPECT_THAT(Scanned(With(naive, "before += partials[BLOCK - 1];", "")), HasSubstr("when(N <= 65536)"))
      << "sums of blocks in one round";
  EXPECT_THAT(Scanned(With(naive, "partials[thread] = i < n ? X[i] : 0.0f;", "partials[thread] = X[i];")),
              AllOf(HasSubstr(" when(N % 256 == 0)\n"), HasSubstr("prefix_sum_blocks(X, Y, sums, N) grid(ceil_div(N, BLOCK)) "
                                                                  "block(BLOCK) when(!(N % 256 == 0))\n")))
      << "whole blocks";
}

TEST(LookBackScan, RefusesRaces) {
  const std::string naive = Shipped("prefix_sum/naive");
  EXPECT_THAT(NotScanned(With(naive, "    __syncthreads();\n    partials[thread] += left;", "    partials[thread] += left;")),
              HasSubstr("threads race for `partials`"));
  EXPECT_THAT(Scanned(With(naive, "    __syncthreads();   // all threads have read", "    // all threads have read")),
              HasSubstr("when(N <= 65536)"))
      << "the sums of blocks are scanned in one round there";
  EXPECT_THAT(NotScanned(With(kShuffles, "  __syncthreads();\n  if (warp == 0) {", "  if (warp == 0) {")),
              HasSubstr("`warps` is read while another thread writes it"));
  EXPECT_THAT(NotScanned("// evo:launch chained(X, Y, N) grid(N) block(1)\n"
                         "__global__ void chained(const float* x, float* y, int n) {\n"
                         "  for (int i = blockIdx.x; i <= blockIdx.x; ++i) y[i] = i > 0 ? y[i - 1] + x[i] : x[i];\n}\n"),
              HasSubstr("`Y` is read while another thread writes it"))
      << "blocks run in any order";
}

// A block waits for the carry of the one before it, in the order of tickets.
constexpr char kChained[] = R"(
// evo:workspace ticket u32 [1]
// evo:workspace ready u32 [ceil_div(N, 64)]
// evo:workspace carry f32 [ceil_div(N, 64)]
// evo:memset ticket 0
// evo:memset ready 0
// evo:launch chain(X, Y, ticket, ready, carry, N) grid(ceil_div(N, 64)) block(64)
__global__ void chain(const float* x, float* y, unsigned* ticket, volatile unsigned* ready, volatile float* carry, int n) {
  __shared__ unsigned mine;
  __shared__ float s[64];
  __shared__ float before;
  if (threadIdx.x == 0) mine = atomicAdd(ticket, 1u);
  __syncthreads();
  unsigned b = mine;
  int i = b * 64 + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 1; d < 64; d <<= 1) {
    float v = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += v;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    float sum = 0;
    if (b > 0) {
      while (ready[b - 1] == 0) {}
      __threadfence();
      sum = carry[b - 1];
    }
    carry[b] = sum + s[63];
    __threadfence();
    ready[b] = 1;
    before = sum;
  }
  __syncthreads();
  if (i < n) y[i] = before + s[threadIdx.x];
}
)";

TEST(LookBackScan, UnderstandsBlocksThatWaitForEachOther) {
  const std::string child = Scanned(kChained);
  EXPECT_THAT(child, Not(HasSubstr("carry"))) << "what only the old kernel used goes";
  Scanned(With(kChained, "volatile float* carry", "float* carry"));
  Scanned(With(kChained, "      __threadfence();\n      sum", "      sum"));
  const std::string plain = With(kChained, "volatile float* carry", "float* carry");
  EXPECT_THAT(NotScanned(With(plain, "      __threadfence();\n      sum", "      sum")),
              HasSubstr("`carry` is read while another thread writes it"))
      << "it may be read before the flag";
  EXPECT_THAT(NotScanned(With(kChained, "    __threadfence();\n    ready", "    ready")),
              HasSubstr("`carry` is read while another thread writes it"))
      << "the flag may be there before the carry";
  EXPECT_THAT(NotScanned(With(kChained, "      while (ready[b - 1] == 0) {}\n", "")), HasSubstr("is read while another"));
  EXPECT_THAT(NotScanned(With(kChained, "volatile unsigned* ready", "unsigned* ready")),
              HasSubstr("`ready` is read while another"));
  EXPECT_THAT(NotScanned(With(kChained, "unsigned b = mine", "unsigned b = blockIdx.x")), HasSubstr("it waits for what no block"))
      << "the block before it may not have started";
  EXPECT_THAT(NotScanned(With(kChained, "ready[b] = 1;", "ready[b] = 0;")), HasSubstr("it waits for what no block"));
  EXPECT_THAT(NotScanned(With(kChained, "carry[b] = sum + s[63];", "carry[b] = s[63];")), HasSubstr("is no prefix sum"));
}

// One block, an element for each of its threads.
constexpr char kOneBlock[] = R"(
// evo:launch small(X, Y, N) grid(1) block(256)
__global__ void small(const float* x, float* y, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  s[t] = t > 0 && t < n ? x[t - 1] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    const float v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  if (t < n) y[t] = s[t];
}
)";

TEST(LookBackScan, StandsBesideWhatIsRightForSoManyElements) {
  const std::string child = Scanned(kOneBlock);
  EXPECT_THAT(child, HasSubstr("block(THREADS) when(N <= 256)\n// evo:launch small(X, Y, N) grid(1) block(256) when(N > 256)\n"));
  EXPECT_THAT(child, HasSubstr("__global__ void small(const float* x")) << "as it was";
  EXPECT_THAT(child, HasSubstr("LoadFour(x, first + k * 128, loaded, whole && loaded == own)")) << "the last may not be there";
  EXPECT_THAT(NotScanned(With(kOneBlock, "d < 256", "d < 128")), HasSubstr("prefix sum")) << "wrong for fewer";
  EXPECT_THAT(NotScanned(With(kOneBlock, "    __syncthreads();\n    s[t] += v;", "    s[t] += v;")), HasSubstr("race"));
}

// A sum of 8 bytes is published in two words.
TEST(LookBackScan, KnowsElementsOfEightBytes) {
  for (const char* type : {"double", "long long", "unsigned long long", "long"}) {
    const std::string child = Scanned(
        fmt::format("// evo:launch running(X, Y, N) grid(1) block(1)\n__global__ void running(const {0} *x, {0} *y, int n) {{\n"
                    "  {0} sum = 0;\n  for (int i = 0; i < n; ++i) {{\n    sum += x[i];\n    y[i] = sum;\n  }}\n}}\n",
                    type));
    EXPECT_THAT(child, HasSubstr("// evo:workspace states u64 [2 * ceil_div(N, THREADS * ITEMS)]"));
    EXPECT_THAT(child, HasSubstr(fmt::format("running(const {0}* __restrict__ X, {0}* __restrict__ Y,", type)));
    EXPECT_THAT(child, HasSubstr("Publish(published, tile, 1, total);"));
  }
}

// No kernel is launched just once.
TEST(LookBackScan, ReplacesLevelsThatOneKernelComputes) {
  const std::string child = Scanned(R"(
// evo:workspace A i32 [ceil_div(N, 64)]
// evo:workspace B i32 [1]
// evo:launch level(X, Y, A, N) grid(ceil_div(N, 64)) block(64)
// evo:launch level(A, A, B, ceil_div(N, 64)) grid(1) block(1024)
// evo:launch add(A, B, 0) grid(1) block(64)
// evo:launch add(Y, A, N) grid(ceil_div(N, 64)) block(64)
__global__ void level(const int* in, int* out, int* sums, int n) {
  __shared__ int s[1024];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  for (int d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    const int left = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += left;
  }
  if (i < n) out[i] = s[t];
  if (t == blockDim.x - 1) sums[blockIdx.x] = s[t];
}
__global__ void add(int* out, const int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && blockIdx.x > 0) out[i] += sums[blockIdx.x - 1];
}
)");
  EXPECT_THAT(child, HasSubstr("// evo:launch scan_by_look_back(X, Y, states, ticket, N) grid(ceil_div(N, THREADS * ITEMS)) "
                               "block(THREADS) when(N <= 65536)\n"))
      << "one block scans 1024 sums";
  EXPECT_THAT(child, HasSubstr("// evo:launch level(X, Y, A, N) grid(ceil_div(N, 64)) block(64) when(N > 65536)\n"));
}

TEST(LookBackScan, SaysWhyLaunchesInALoopAreNone) {
  EXPECT_THAT(
      NotScanned("// evo:workspace A f32 [N]\n// evo:repeat STEP < 9\n// evo:launch step(X, A, N, STEP) grid(N) block(1)\n"
                 "// evo:swap A Y\n// evo:end\n"
                 "__global__ void step(const float* in, float* out, int n, int d) {\n  int i = blockIdx.x;\n"
                 "  out[i] = i >= (1 << d) ? in[i] + in[i - (1 << d)] : in[i];\n}\n"),
      HasSubstr("they are in a loop"));
}

TEST(LookBackScan, RefusesOtherTypes) {
  const std::string shorts = With(With(kSerial, "const float *x", "const short *x"), "float *y", "short *y");
  EXPECT_THAT(NotScanned(shorts), Not(IsEmpty()));
  EXPECT_THAT(NotScanned(With(kSerial, "const float *x", "const int *x")), Not(IsEmpty())) << "converted on the way";
  EXPECT_THAT(NotScanned("// evo:launch running(X, Y, N) grid(1) block(1)\n"
                         "__global__ void running(const int *x, int *y, int n) {\n  float sum = 0;\n"
                         "  for (int i = 0; i < n; ++i) {\n    sum += x[i];\n    y[i] = sum;\n  }\n}\n"),
              HasSubstr("is computed from data"))
      << "sums of more than 24 bits are rounded";
}

TEST(LookBackScan, HasNoOpinionOnOtherKernels) {
  for (const char* place : {"gemm/naive", "softmax/naive", "transpose/tiled"})
    EXPECT_THAT(NotScanned(Shipped(place)), IsEmpty()) << place;
  EXPECT_THAT(NotScanned(Shipped("vector_sum/naive")), Not(IsEmpty()));
  EXPECT_THAT(NotScanned(Shipped("prefix_sum/look_back")), Not(IsEmpty())) << "it is one already";
}

}  // namespace
}  // namespace evo
