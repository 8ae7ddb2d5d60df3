#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::string kUse = "  out[threadIdx.x] = t[127 - threadIdx.x];\n";

TEST(AsyncStage, CopiesWithoutRegisters) {
  const auto children =
      ChildrenOf("async_stage",
                 PlainKernel("  __shared__ float t[128];\n  t[threadIdx.x] = in[n + threadIdx.x];\n  __syncthreads();\n" + kUse));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0],
              HasSubstr("// evo:launch k(A, B, N, S) grid(1) block(128)\n#include <cuda_pipeline.h>\n#pragma nv_hdrstop\n"));
  EXPECT_THAT(children[0], HasSubstr("  __pipeline_memcpy_async(&t[threadIdx.x], &in[n + threadIdx.x], sizeof(float));\n"
                                     "  __pipeline_commit();\n  __pipeline_wait_prior(0);\n  __syncthreads();\n"));
}

TEST(AsyncStage, StoresZerosWithoutACopy) {
  const std::string expected =
      "  if (n > 3) {\n    __pipeline_memcpy_async(&t[threadIdx.x], &in[threadIdx.x], sizeof(float));\n  } else {\n"
      "    t[threadIdx.x] = 0.0f;\n  }\n";
  for (const std::string& copy : {std::string("  t[threadIdx.x] = n > 3 ? in[threadIdx.x] : 0.0f;\n"),
                                  std::string("  float v = 0.0f;\n  if (n > 3) v = in[threadIdx.x];\n  t[threadIdx.x] = v;\n")}) {
    const auto children = Bodies("async_stage", "  __shared__ float t[128];\n" + copy + "  __syncthreads();\n" + kUse);
    ASSERT_THAT(children, SizeIs(1)) << copy;
    EXPECT_THAT(children[0], HasSubstr(expected));
  }
}

TEST(AsyncStage, WaitsAfterTheCallOfAFunctionThatCopies) {
  const auto children = ChildrenOf("async_stage",
                                   "// evo:launch k(A, B, N) grid(1) block(32)\n#include <cuda_fp16.h>\n"
                                   "__device__ void Load(float* to, const float* from) {\n"
                                   "  for (int i = threadIdx.x; i < 64; i += 32) to[i] = from[i];\n}\n"
                                   "__global__ void k(const float* in, float* out, int n) {\n"
                                   "  __shared__ float t[64];\n"
                                   "  for (int i = 0; i < n; i += 64) {\n"
                                   "    Load(t, in + i);\n    __syncthreads();\n    out[i + threadIdx.x] = t[63 - threadIdx.x];\n"
                                   "    __syncthreads();\n  }\n}\n");
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0], HasSubstr("#include <cuda_fp16.h>\n#include <cuda_pipeline.h>\n"));
  EXPECT_THAT(children[0], HasSubstr("__pipeline_memcpy_async(&to[i], &from[i], sizeof(float));"));
  EXPECT_THAT(children[0],
              HasSubstr("    Load(t, in + i);\n    __pipeline_commit();\n    __pipeline_wait_prior(0);\n    __syncthreads();\n"
                        "    out"));
}

TEST(AsyncStage, LeavesCopiesThatAreReadBeforeTheBarrier) {
  const std::string copy = "  t[threadIdx.x] = in[threadIdx.x];\n";
  for (const std::string& body : {
           copy + "  t[threadIdx.x] += 1.0f;\n  __syncthreads();\n" + kUse,
           copy + kUse,
           copy + "  if (n > 0) out[0] = t[threadIdx.x];\n  __syncthreads();\n" + kUse,
           copy + "  t[0] = 1.0f;\n  __syncthreads();\n" + kUse,
           // The copy is followed by the barrier at the loop's beginning.
           "  for (int i = 0; i < n; ++i) {\n    __syncthreads();\n" + kUse + "    __syncthreads();\n" + copy + "  }\n",
           // The copy changes the value, or reads memory that is written.
           std::string("  t[threadIdx.x] = in[threadIdx.x] * 2.0f;\n  __syncthreads();\n") + kUse,
           std::string("  t[threadIdx.x] = out[threadIdx.x];\n  __syncthreads();\n") + kUse,
           std::string("  t[threadIdx.x] = n > 3 ? in[threadIdx.x] : 1.0f;\n  __syncthreads();\n") + kUse,
       }) {
    EXPECT_THAT(Bodies("async_stage", "  __shared__ float t[128];\n" + body), IsEmpty()) << body;
  }
  EXPECT_THAT(Bodies("async_stage", "  float t[128];\n" + copy + "  __syncthreads();\n" + kUse), IsEmpty());
}

TEST(AsyncStage, LeavesTypesOfTwoBytes) {
  const std::string body = "  __shared__ half t[128];\n  t[threadIdx.x] = in[threadIdx.x];\n  __syncthreads();\n" + kUse;
  const std::string source =
      "// evo:launch k(A, B) grid(1) block(128)\n#include <cuda_fp16.h>\n__global__ void k(const half* in, half* out) {\n";
  EXPECT_THAT(ChildrenOf("async_stage", source + body + "}\n"), IsEmpty());
}

TEST(AsyncStage, IncludesItsHeaderOnce) {
  const auto children =
      ChildrenOf("async_stage",
                 "// evo:launch k(A, B) grid(1) block(32)\n#include <cuda_pipeline.h>\n"
                 "__global__ void k(const float* in, float* out) {\n  __shared__ float t[32];\n"
                 "  t[threadIdx.x] = in[threadIdx.x];\n  __syncthreads();\n  out[threadIdx.x] = t[31 - threadIdx.x];\n}\n");
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_EQ(children[0].find("#include"), children[0].rfind("#include"));
}

}  // namespace
}  // namespace evo
