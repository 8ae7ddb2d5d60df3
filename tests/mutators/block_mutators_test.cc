#include <gmock/gmock.h>

#include "tests/mutators/row_kernels.h"

namespace evo {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::string Grid(const std::string& body) {
  return "// evo:launch k(A, O, N) grid(N, ceil_div(N, 8)) block(32)\n__global__ void k(const float* in, float* out, int n) {\n" +
         body + "}\n";
}

TEST(BlockOrder, RenumbersBlocks) {
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

TEST(BlockOrder, LeavesKernelsWithHiddenUsesOfTheIndex) {
  const std::string uses = "  out[blockIdx.x + n * blockIdx.y] = 1.0f;\n";
  EXPECT_THAT(ChildrenOf("block_order", Grid("  out[blockIdx.x] = 1.0f;\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("block_order", "#define ROW blockIdx.y\n" + Grid(uses + "  out[ROW] = 1.0f;\n")), SizeIs(4));
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

TEST(BlockShape, LeavesBlocksWhoseSizeTheCodeContains) {
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

TEST(BarrierNarrow, RemovesTheSecondOfTwoBarriers) {
  const auto with = [](const std::string& between) {
    return "// evo:launch k(A) grid(1) block(64)\n__global__ void k(float* a) {\n  a[0] = 1.0f;\n  __syncthreads();\n" + between +
           "  __syncthreads();\n  a[1] = a[0];\n}\n";
  };
  EXPECT_THAT(ChildrenOf("barrier_narrow", with("  const int i = threadIdx.x + 1;\n")), SizeIs(1));
  for (const char* between :
       {"  a[2] = 1.0f;\n", "  const float x = a[0];\n", "  if (a[0] > 0.0f) return;\n", "  atomicAdd(a, 1.0f);\n"})
    EXPECT_THAT(ChildrenOf("barrier_narrow", with(between)), IsEmpty()) << between;
}

}  // namespace
}  // namespace evo
