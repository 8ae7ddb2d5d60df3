// What the user gets, compiled as the user compiles it.
#include "evaluator/compiler/nvrtc/nvcc_compiler.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "platform/installation.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

std::filesystem::path Folder() { return std::filesystem::temp_directory_path() / fmt::format("evo_nvcc_test_{}", ::getpid()); }

CompileResult Compile(const std::string& kernel, const std::vector<CompiledKernel>& kernels) {
  const ExportedKernel exported{"kernel.cu",
                                kernel,
                                "#include \"kernel.cu\"\n#include <cuda_runtime.h>\ninline const void* Launched() { return "
                                "reinterpret_cast<const void*>(&::k<64>); }\n",
                                {"-std=c++17", "-arch=sm_80"}};
  const CompileResult result = NvccCompiler(CudaRoot().value(), Folder()).Compile(exported, kernels);
  EXPECT_FALSE(std::filesystem::exists(Folder()));
  return result;
}

constexpr char kKernel[] =
    "__device__ unsigned calls;\ntemplate <int kBlock> __global__ void k(float* x) { x[threadIdx.x] = kBlock + calls++; }\n";

TEST(NvccCompiler, MakesTheKernelsThatTheHostPartLaunches) {
  const CompileResult result = Compile(kKernel, {{"k<64>", "_Z1kILi64EEvPf"}});
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
  EXPECT_EQ(result.program.image.substr(1, 3), "ELF");
  ASSERT_EQ(result.program.kernels.size(), 1U);
  ASSERT_EQ(result.program.sections.size(), 1U);
  EXPECT_EQ(result.program.sections[0].symbols.at(0).name, "calls");
  const CompileResult other = Compile(kKernel, {{"k<32>", "_Z1kILi32EEvPf"}});
  EXPECT_EQ(other.outcome, Outcome::kCompileError);
  EXPECT_THAT(other.message, HasSubstr("makes no kernel k<32>"));
}

// One source, two programs: what NVRTC is shown passes, and the user gets the other.
TEST(NvccCompiler, SeesWhatOnlyNvccSees) {
  const CompileResult result = Compile(std::string("#ifndef __CUDACC_RTC__\n#define k other\n#endif\n") + kKernel +
                                           "#undef k\ntemplate <int kBlock> __global__ void k(float* x, int n) { x[n] = 42; }\n",
                                       {{"k<64>", "_Z1kILi64EEvPf"}});
  EXPECT_EQ(result.outcome, Outcome::kCompileError);
}

TEST(NvccCompiler, SaysWhereTheErrorIs) {
  const CompileResult result = Compile(std::string(kKernel) + "\nint x = nothing;\n", {});
  EXPECT_EQ(result.outcome, Outcome::kCompileError);
  EXPECT_EQ(result.message, "nvcc: line 4: identifier \"nothing\" is undefined");
}

TEST(NvccCompiler, WithoutNvccNothingIsSaidOfTheKernel) {
  const CompileResult result = NvccCompiler("/nonexistent", Folder()).Compile({"kernel.cu", "", "", {}}, {});
  EXPECT_EQ(result.outcome, Outcome::kCancelled);
  EXPECT_EQ(result.message, "there is no /nonexistent/bin/nvcc");
}

}  // namespace
}  // namespace evo
