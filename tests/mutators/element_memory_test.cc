#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A kernel with one element a thread.
std::string OneElement(const std::string& parameters, const std::string& statements, const std::string& arguments = "A, B, N") {
  return "// evo:launch k(" + arguments + ") grid(ceil_div(N, 64)) block(64)\n__global__ void k(" + parameters +
         ") {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n" + statements + "}\n";
}

TEST(ElementVectors, TakeAlignedElementsTogether) {
  const auto children =
      ChildrenOf("vector_load", OneElement("const unsigned char* a, unsigned char* b, int n", "  b[i] = a[i];\n"));
  ASSERT_THAT(children, SizeIs(3));  // 16, 8 and 4 bytes
  EXPECT_THAT(children[0], HasSubstr("grid(ceil_div(N, 64 * 16))"));
  EXPECT_THAT(children[0], HasSubstr("const int first_i = (blockIdx.x * blockDim.x + threadIdx.x) * 16;"));
  EXPECT_THAT(children[0], HasSubstr("if (first_i + 15 < n &&"));
  EXPECT_THAT(children[0], HasSubstr("reinterpret_cast<uint4*>(&b[first_i])[0] = reinterpret_cast<uint4*>(items_0)[0];"));
  EXPECT_THAT(children[0], HasSubstr("for (int i = first_i; i < n && i < first_i + 16; ++i) {\n      b[i] = a[i];"));
}

TEST(ElementVectors, MoveSeveralPiecesOfALongerType) {
  const auto children = ChildrenOf("vector_load", OneElement("const unsigned char* a, float* b, int n", "  b[i] = a[i];\n"));
  ASSERT_THAT(children, SizeIs(3));
  EXPECT_THAT(children[0], HasSubstr("reinterpret_cast<float4*>(&b[first_i])[3] = reinterpret_cast<float4*>(items_0)[3];"));
}

TEST(ElementVectors, LoadWhatIsChangedInPlace) {
  const auto children = ChildrenOf("vector_load", OneElement("const float* a, float* b, int n", "  b[i] += a[i];\n"));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_THAT(children[0], HasSubstr("items_0[item] += items_1[item];"));
  EXPECT_THAT(children[0], HasSubstr("= reinterpret_cast<const float4*>(&b[first_i])[0];"));
}

TEST(ElementVectors, LeaveOtherElements) {
  for (const char* statements : {
           "  b[2 * i] = a[n - i];\n",                  // no neighbours
           "  if (n > 8) b[i] = a[i];\n",               // not for every element
           "  b[i] = b[i + 1];\n",                      // reads what others store
           "  const float* p = &a[i];\n  b[0] = *p;\n"  // one element for all threads
       }) {
    EXPECT_THAT(ChildrenOf("vector_load", OneElement("const float* a, float* b, int n", statements)), IsEmpty()) << statements;
  }
}

TEST(ElementVectors, SeeTemplatesAndLoopsOfThreads) {
  const auto children = ChildrenOf("vector_load", R"(// evo:launch k<float>(A, B, N) grid(8) block(64)
template <typename T>
__global__ void k(const T* a, T* b, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) b[i] = a[i];
}
)");
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_THAT(children[0], HasSubstr("grid(ceil_div(N, 64 * 4))"));
}

// A kernel that permutes the axes of an array of M * N elements.
std::string Permutation(const std::string& statements) {
  return "// evo:launch k(A, B, M, N) grid(ceil_div(M * N, 64)) block(64)\n"
         "__global__ void k(const float* a, float* b, int m, int n) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= m * n) return;\n" +
         statements + "}\n";
}

TEST(ExchangeTile, LoadsAlongOneAxisAndStoresAlongTheOther) {
  const auto children = ChildrenOf("coalesce_exchange", Permutation("  const int c = i / n;\n  b[i % n * m + c] = a[i];\n"));
  EXPECT_THAT(children, IsEmpty());  // `i % n` is no variable
  const auto tiles = ChildrenOf("coalesce_exchange", Permutation("  const int c = i / n, d = i % n;\n  b[d * m + c] = a[i];\n"));
  ASSERT_THAT(tiles, SizeIs(1));
  EXPECT_THAT(tiles[0], HasSubstr("grid(ceil_div(N, 32) * ceil_div(ceil_div(M * N, N), 32)) block(32, 8)"));
  EXPECT_THAT(tiles[0], HasSubstr("__shared__ float tile[32][33];"));
  EXPECT_THAT(tiles[0], HasSubstr("tile[part][threadIdx.x] = a[i];"));
  EXPECT_THAT(tiles[0], HasSubstr("b[d * m + c] = tile[threadIdx.x][part];"));
}

TEST(ExchangeTile, LeavesElementsThatNeedNone) {
  for (const char* statements : {"  const int c = i / n;\n  b[i] = a[i] + c;\n",                 // in order
                                 "  const int c = i / n, d = i % n;\n  b[d * m + c] = b[i];\n",  // in place
                                 "  const int c = i / n, d = i % n;\n  b[d * m + c] = a[i];\n  b[0] = 1;\n",
                                 "  const int c = i / n, d = i % n;\n  const int e = a[c];\n  b[d * m + c] = a[i + e];\n"})
    EXPECT_THAT(ChildrenOf("coalesce_exchange", Permutation(statements)), IsEmpty()) << statements;
}

TEST(RegisterTile, NamesVariablesOfOneStatementForEachElement) {
  const auto children = ChildrenOf(
      "register_tile", OneElement("const float* a, float* b, int n", "  const int c = i + 1, d = n;\n  b[i] = a[c] + d;\n"));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_THAT(children[0], HasSubstr("const int c_1 = i_1 + 1, d_1 = n;"));
}

TEST(PrivateCounts, KeepsTheBlockOfABin) {
  const auto children = ChildrenOf("private_counts", R"(// evo:launch k(A, H, N) grid(N) block(64)
#define ROW blockIdx.x
__global__ void k(const int* a, int* h, int n) { atomicAdd(&h[ROW * 8 + a[threadIdx.x]], 1); }
)");
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0], HasSubstr("const unsigned int bin = block * 8 + a[threadIdx.x];"));
  EXPECT_THAT(children[0], Not(HasSubstr("blockIdx.x * 8")));
}

}  // namespace
}  // namespace evo
