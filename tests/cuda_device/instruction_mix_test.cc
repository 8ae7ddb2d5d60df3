// What the machine code of kernels consists of, in cubins that NVRTC and ptxas make. A kernel that asks for an instruction says
// how many there are.
#include "evaluator/compiler/nvrtc/instruction_mix.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/cuda_device/nvrtc_bench.h"

namespace evo {
namespace {

class InstructionMixTest : public NvrtcCompilerTest {
 protected:
  static InstructionMix MixOf(const std::string& source, const std::string& arch) {
    const CompileResult result = Compile(source, {"k"}, arch);
    EXPECT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
    EXPECT_GT(result.facts.mix.instructions, 0);
    return result.facts.mix;
  }
};

constexpr const char* kArchitectures[] = {"sm_80", "sm_89", "sm_90a"};

TEST_F(InstructionMixTest, CountsLoadsByTheirWidth) {
  for (const char* arch : kArchitectures) {
    SCOPED_TRACE(arch);
    const InstructionMix mix = MixOf(
        "__global__ void k(const float* a, const float2* b, const float4* c, const double* d, float4* o) {\n"
        "  const int i = threadIdx.x;\n  const float2 x = b[i];\n  float4 y = c[i];\n  y.x += x.x;\n  y.y += x.y;\n"
        "  y.z += a[i] + a[i + 7];\n  y.w += (float)d[i];\n  o[i] = y;\n}\n",
        arch);
    EXPECT_EQ(mix.loads_128, 1);
    EXPECT_EQ(mix.loads_64, 2);
    EXPECT_EQ(mix.loads_32, 2);
    EXPECT_EQ(mix.stores, 1);
    EXPECT_EQ(mix.conversions, 1);
    EXPECT_GE(mix.float_operations, 5);
    EXPECT_EQ(mix.branches, 0) << "the one behind the end does not count";
    EXPECT_EQ(mix.local_accesses + mix.barriers + mix.shared_loads + mix.tensor_operations + mix.special_functions, 0);
  }
}

TEST_F(InstructionMixTest, CountsWhatSharedMemoryTensorCoresAndCopiesNeed) {
  for (const char* arch : kArchitectures) {
    SCOPED_TRACE(arch);
    const InstructionMix mix = MixOf(
        "#include <cuda_fp16.h>\n#include <cuda_pipeline.h>\n#include <mma.h>\n#pragma nv_hdrstop\n"
        "__global__ void k(const float4* a, const half* h, float* o) {\n  __shared__ float4 s[32];\n"
        "  __pipeline_memcpy_async(&s[threadIdx.x], &a[threadIdx.x], 16);\n  __pipeline_commit();\n"
        "  __pipeline_wait_prior(0);\n  __syncthreads();\n"
        "  nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> x;\n"
        "  nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::col_major> y;\n"
        "  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;\n"
        "  nvcuda::wmma::fill_fragment(c, s[31 - threadIdx.x].x);\n  nvcuda::wmma::load_matrix_sync(x, h, 16);\n"
        "  nvcuda::wmma::load_matrix_sync(y, h + 256, 16);\n  nvcuda::wmma::mma_sync(c, x, y, c);\n"
        "  nvcuda::wmma::store_matrix_sync(o, c, 16, nvcuda::wmma::mem_row_major);\n}\n",
        arch);
    EXPECT_EQ(mix.async_copies, 1);
    EXPECT_EQ(mix.tensor_operations, 2) << "of 16 x 8 x 16";
    EXPECT_GE(mix.shared_loads, 1);
    EXPECT_GE(mix.barriers, 1);
    EXPECT_GT(mix.loads_32, 0);
  }
}

TEST_F(InstructionMixTest, CountsSpecialFunctionsBranchesAndLocalMemory) {
  const InstructionMix mix = MixOf(
      "__global__ void k(float* x, int n) {\n  float t[64];\n  for (int i = 0; i < 64; ++i) t[i] = __expf(x[i]);\n"
      "#pragma unroll 1\n  for (int i = 0; i < n; ++i) t[(i * 7) & 63] += t[n & 63];\n  x[n] = t[n & 63];\n}\n",
      "sm_90a");
  EXPECT_GT(mix.local_accesses, 2);
  EXPECT_GT(mix.special_functions, 0);
  EXPECT_GT(mix.branches, 0);
  EXPECT_GT(mix.integer_operations, 0);
}

TEST_F(InstructionMixTest, IsNotKnownForArchitecturesThatItCannotDecode) {
  const CompileResult result = Compile("__global__ void k(float* x) { x[0] = 1; }\n", {"k"}, "sm_100");
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  EXPECT_EQ(result.facts.mix.instructions, -1);
  EXPECT_EQ(CountInstructions(result.program.image, "cpu").instructions, -1);
}

TEST(InstructionMix, ACubinThatIsCutOffIsRefused) { EXPECT_THROW(CountInstructions("\177ELF", "sm_90a"), Error); }

}  // namespace
}  // namespace evo
