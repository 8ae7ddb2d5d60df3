#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(SharedPadding, PadsRowsAndRemovesPadding) {
  const std::string uses =
      "  t[threadIdx.x][n] = in[0];\n  t[n][1] += 1.0f;\n  __syncthreads();\n  out[0] = t[n][threadIdx.x];\n";
  const auto children = Bodies("shared_padding", "  __shared__ float t[32][32];\n" + uses);
  ASSERT_THAT(children, SizeIs(4));
  EXPECT_THAT(children[0], HasSubstr("__shared__ float t[32][32 + 1];\n"));
  EXPECT_THAT(children[3], HasSubstr("__shared__ float t[32][32 + 8];\n"));
  const std::string few =
      "  t[n][n % 32] = in[0];\n  for (int i = 0; i < 32; i += 8) t[n][i + 7] += 1.0f;\n  __syncthreads();\n  out[0] = "
      "t[n][3];\n";
  const auto changed = Bodies("shared_padding", "  __shared__ float t[32][32 + 1];\n" + few);
  ASSERT_THAT(changed, SizeIs(4));
  EXPECT_THAT(changed[0], HasSubstr("__shared__ float t[32][32];\n"));
  EXPECT_THAT(changed[1], HasSubstr("__shared__ float t[32][32 + 2];\n"));
  // Only as much padding as there is room for.
  EXPECT_THAT(Bodies("shared_padding", "  __shared__ float t[96][124];\n" + uses), SizeIs(3));
}

// A tile with an edge is spelled as one with padding.
TEST(SharedPadding, KeepsWhatMayBeUsed) {
  const std::string tile = "  __shared__ float t[18][16 + 2];\n  t[n][0] = in[0];\n  __syncthreads();\n";
  EXPECT_THAT(Bodies("shared_padding", tile + "  out[0] = t[n][15];\n"), SizeIs(4));
  EXPECT_THAT(Bodies("shared_padding", tile + "  out[0] = t[n][16];\n"), SizeIs(3)) << "one column is left over";
  for (const char* column : {"17", "n", "n % 16 + 2", "threadIdx.x"}) {
    const auto children = Bodies("shared_padding", tile + "  out[0] = t[n][" + column + "];\n");
    ASSERT_THAT(children, SizeIs(2)) << column;
    EXPECT_THAT(children[0], HasSubstr("t[18][16 + 4]"));
  }
}

TEST(SharedPadding, LeavesArraysWhoseRowsAreUsedAsAWhole) {
  for (const char* body : {"  __shared__ float t[1024];\n  t[n] = in[0];\n  out[0] = t[n];\n",
                           "  float t[8][8];\n  t[n][n] = in[0];\n  out[0] = t[0][n];\n",
                           "  __shared__ float t[8][8];\n  float* p = t[n];\n  p[9] = in[0];\n  out[0] = t[0][n];\n",
                           "  __shared__ float t[8][8];\n  float* p = &t[n][0];\n  p[9] = in[0];\n  out[0] = t[0][n];\n",
                           "  __shared__ float t[8][8];\n  t[0][n] = sizeof(t);\n  out[0] = t[n][0];\n",
                           "  __shared__ float t[8][8];\n  atomicAdd(&t[0][n], 1.0f);\n  out[0] = t[n][0];\n"}) {
    EXPECT_THAT(Bodies("shared_padding", body), IsEmpty()) << body;
    EXPECT_THAT(Bodies("shared_swizzle", body), IsEmpty()) << body;
  }
}

TEST(SharedSwizzle, SwizzlesColumnsAndUndoesIt) {
  const std::string plain =
      "  __shared__ float t[8][32];\n  t[n + 1][threadIdx.x] = in[0];\n  __syncthreads();\n  out[0] = t[threadIdx.x][n + 1];\n";
  const std::string turned =
      "  __shared__ float t[8][32];\n  t[n + 1][threadIdx.x ^ (n + 1) % 32] = in[0];\n  __syncthreads();\n"
      "  out[0] = t[threadIdx.x][(n + 1) ^ threadIdx.x % 32];\n";
  EXPECT_THAT(Bodies("shared_swizzle", plain), ElementsAre(turned));
  EXPECT_THAT(Bodies("shared_swizzle", turned), ElementsAre(plain));
}

TEST(SharedSwizzle, NeedsRowsOfAPowerOfTwo) {
  const std::string uses = "  t[n][0] = in[0];\n  __syncthreads();\n  out[0] = t[0][n];\n";
  EXPECT_THAT(Bodies("shared_swizzle", "  __shared__ float t[8][16];\n" + uses), SizeIs(1));
  EXPECT_THAT(Bodies("shared_swizzle", "  __shared__ float t[8][12];\n" + uses), IsEmpty());
  EXPECT_THAT(Bodies("shared_swizzle", "  __shared__ float t[8][15 + 1];\n" + uses), IsEmpty());
  EXPECT_THAT(Bodies("shared_swizzle", "  __shared__ float t[8][16];\n  t[n++][0] = in[0];\n  out[0] = t[0][n];\n"), IsEmpty());
}

// The row has another length in another case.
TEST(SharedSwizzle, LeavesRowsWhoseLengthIsASize) {
  const std::string rest =
      "// evo:launch k(N) grid(1) block(1)\n#ifndef WIDTH\n#define WIDTH 16\n#endif\n#define ROW (WIDTH * 1)\n"
      "__global__ void k(int n) {\n  __shared__ float t[8][ROW];\n  t[n][0] = 1.0f;\n  __syncthreads();\n  t[0][n] = "
      "t[n][1];\n}\n";
  EXPECT_THAT(ChildrenOf("shared_swizzle", rest), SizeIs(1));
  EXPECT_THAT(ChildrenOf("shared_swizzle", "// evo:size WIDTH = W\n" + rest), IsEmpty());
}

}  // namespace
}  // namespace evo
