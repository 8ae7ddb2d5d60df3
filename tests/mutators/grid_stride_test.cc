#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Launched(const std::string& body, const std::string& launch = "grid(ceil_div(N, 128)) block(128)",
                     const std::string& before = "") {
  return before + "// evo:launch k(A, B, N) " + launch + "\n__global__ void k(const float* in, float* out, int n) {\n" + body +
         "}\n";
}

TEST(GridStride, EachBlockDoesTheWorkOfSeveral) {
  const auto children = ChildrenOf("grid_stride", Launched(R"(  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i];
)"));
  ASSERT_THAT(children, SizeIs(3));
  EXPECT_EQ(children[1], R"(// evo:launch k(A, B, N, ceil_div(N, 128)) grid(ceil_div(ceil_div(N, 128), 4)) block(128)
__global__ void k(const float* in, float* out, int n, unsigned int blocks) {
  for (unsigned int block = blockIdx.x; block < blocks; block += gridDim.x) {
    const int i = block * 128 + threadIdx.x;
    if (i >= n) continue;
    out[i] = in[i];
  }
}
)");
}

TEST(GridStride, IndentsAsTheFileDoes) {
  const auto children = ChildrenOf("grid_stride", Launched(R"(	__shared__ float t;
	const int i = blockIdx.x * 128 + threadIdx.x;
#if WITH_CHECK
	if (i > 7) t = 0;
#endif

	if (i < n) {
		// Not past the end.
		out[i] = in[i];
	}
)"));
  ASSERT_THAT(children, SizeIs(3));
  EXPECT_THAT(children[0], HasSubstr(R"(	for (unsigned int block = blockIdx.x; block < blocks; block += gridDim.x) {
		__syncthreads();   // shared memory is reused from here on
		__shared__ float t;
		const int i = block * 128 + threadIdx.x;
#if WITH_CHECK
		if (i > 7) t = 0;
#endif

		if (i < n) {
			// Not past the end.
			out[i] = in[i];
		}
	}
})"));
}

TEST(GridStride, SynchronisesBetweenBlocksThatUseSharedMemory) {
  const auto children = ChildrenOf("grid_stride", Launched(R"(  __shared__ float t[128];
  if (n < 3) return;
  t[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = t[127 - threadIdx.x];
)",
                                                           "grid(2, N) block(128)"));
  ASSERT_THAT(children, SizeIs(3));  // the kernel does not use blockIdx.y
  EXPECT_THAT(children[0], HasSubstr("{\n    __syncthreads();"));
  EXPECT_THAT(children[0], HasSubstr("k(A, B, N, 2) grid(ceil_div(2, 2), N)"));
  EXPECT_THAT(children[0], HasSubstr("  if (n < 3) continue;"));
  EXPECT_THAT(children[0], HasSubstr("in[block * 128 + threadIdx.x]"));
  EXPECT_THAT(children[0], HasSubstr("out[block * 128 + threadIdx.x]"));
}

TEST(GridStride, KeepsTheNumberOfBlocksThatTheKernelSees) {
  const auto children = ChildrenOf("grid_stride", Launched("  out[blockIdx.x] = gridDim.x;\n"));
  ASSERT_THAT(children, SizeIs(3));
  EXPECT_NE(children[0].find("    out[block] = blocks;\n"), std::string::npos) << children[0];
}

TEST(GridStride, LeavesOtherKernels) {
  const std::string plain = "  out[blockIdx.x] = in[0];\n";
  EXPECT_THAT(ChildrenOf("grid_stride", Launched(plain)), SizeIs(3));
  EXPECT_THAT(ChildrenOf("grid_stride", Launched(plain, "grid(1) block(128)")), IsEmpty());
  EXPECT_THAT(ChildrenOf("grid_stride", Launched(plain, "grid(N) block(128) cooperative")), IsEmpty());
  EXPECT_THAT(ChildrenOf("grid_stride", Launched("  out[threadIdx.x] = in[0];\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("grid_stride", Launched("  out[blockIdx.x] = B();\n", "grid(N) block(1)",
                                                 "__device__ int B() { return gridDim.x; }\n")),
              IsEmpty());
  EXPECT_THAT(ChildrenOf("grid_stride", Launched("  out[blockIdx.x] = B();\n", "grid(N) block(1)",
                                                 "__device__ int B() { return blockIdx.x; }\n")),
              IsEmpty());
  EXPECT_THAT(ChildrenOf("grid_stride", Launched("  out[blockIdx.x] = B;\n", "grid(N) block(1)", "#define B blockIdx.x\n")),
              SizeIs(3));  // the macro is written out
  EXPECT_THAT(ChildrenOf("grid_stride", "// evo:launch k(A, A, N) grid(N) block(1)\n" + Launched(plain)),
              IsEmpty());  // launched twice
  EXPECT_THAT(ChildrenOf("grid_stride", Launched("  for (int i = 0; i < n; ++i) if (in[blockIdx.x] > i) return;\n")), IsEmpty());
  // Threads that return early would already wait at the next block's barrier.
  EXPECT_THAT(
      ChildrenOf("grid_stride",
                 Launched("  __shared__ float t;\n  if (threadIdx.x > n) return;\n  t = in[0];\n  out[blockIdx.x] = t;\n")),
      IsEmpty());
}

}  // namespace
}  // namespace evo
