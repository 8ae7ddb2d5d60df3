// What of an image lasts from launch to launch, in cubins that NVRTC and ptxas make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "evaluator/compiler/nvrtc/cubin_sections.h"
#include "tests/cuda_device/nvrtc_bench.h"

namespace evo {
namespace {

using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class ImageSectionsTest : public NvrtcCompilerTest {
 protected:
  // "name offset bytes" of everything in a section; empty if the image does not have it.
  static std::vector<std::string> Symbols(const CompileResult& result, const std::string& section) {
    std::vector<std::string> symbols;
    for (const ImageSection& one : result.program.sections) {
      if (one.name != section) continue;
      for (const ImageSymbol& symbol : one.symbols)
        symbols.push_back(fmt::format("{} {} {}", symbol.name, symbol.offset, symbol.bytes));
      symbols.push_back(fmt::format("{}", one.bytes));
    }
    return symbols;
  }

  static void ExpectRefused(const std::string& source, const std::string& what) {
    const CompileResult result = Compile(source);
    EXPECT_EQ(result.outcome, Outcome::kUnsupported) << source << result.log;
    EXPECT_THAT(result.message, HasSubstr(what));
    EXPECT_TRUE(result.program.image.empty());
  }
};

TEST_F(ImageSectionsTest, VariablesAreListedWithTheirPlaces) {
  const CompileResult result = Compile(
      "__device__ char flag;\n__device__ unsigned ticket;\nstatic __device__ float hidden[3];\n"
      "__device__ const float weights[2] = {1, 2};\n__constant__ float table[4] = {1, 2, 3, 4};\n"
      "__global__ void k(float* x, int i) { ++flag; x[i] = atomicAdd(&ticket, 1u) + hidden[i]++ + weights[i & 1] + table[i & 3]; "
      "}\n");
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
  EXPECT_THAT(Symbols(result, ".nv.global.init"), ElementsAre("weights 0 8", "8"));
  EXPECT_THAT(Symbols(result, ".nv.constant3"), ElementsAre("table 0 16", "16"));
  EXPECT_THAT(Symbols(result, ".nv.global"),
              UnorderedElementsAre(StartsWith("flag "), StartsWith("ticket "), StartsWith("hidden "), _));
}

TEST_F(ImageSectionsTest, AnImageWithoutVariablesHasNone) {
  const CompileResult result = Compile(
      "extern __shared__ float dynamic[];\n__global__ void k(float* x) {\n  __shared__ float s[32];\n  s[threadIdx.x] = "
      "x[threadIdx.x] "
      "+ dynamic[0];\n  __syncthreads();\n  x[threadIdx.x] = s[31 - threadIdx.x] * 1.2345e-7f;\n}\n");
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  EXPECT_THAT(result.program.sections, IsEmpty());
}

TEST_F(ImageSectionsTest, VariablesWithinFunctionsAreRefused) {
  ExpectRefused("__global__ void k(float* x) { static float calls; x[0] = calls++; }\n", "calls");
  ExpectRefused("__global__ void k(float* x) { static __device__ float calls; x[0] = calls++; }\n", "within a function");
  ExpectRefused(
      "template <int N> __device__ int Count() { static int calls[N]; return calls[0]++; }\n__global__ void k(float* x) { x[0] = "
      "Count<4>(); }\n",
      "within a function");
  for (const char* space : {"global", "const", "shared"}) {
    ExpectRefused(
        fmt::format("__device__ unsigned ticket;\n__global__ void k(unsigned* x) {{\n  unsigned v;\n  asm volatile(\"{{ .{} "
                    ".align 4 .u32 \" \"ticket; mov.u32 %0, 3; }}\" : \"=r\"(v));\n  x[0] = v + ticket;\n}}\n",
                    space),
        "ticket");
  }
}

TEST_F(ImageSectionsTest, WhatInlinePtxDeclaresOutsideOfItsFunctionIsRefused) {
  ExpectRefused(
      "__global__ void k(unsigned* x) { x[0] = 1; asm volatile(\"ret; }\\n.visible .global .align 4 .u32 held;\\n.func rest() "
      "{\"); }\n",
      "held");
}

TEST_F(ImageSectionsTest, FunctionsOfTheHostAreRefused) {
  const CompileResult result =
      Compile("extern \"C\" __device__ int system(const char*);\n__global__ void k(float* x) { x[0] = system(nullptr); }\n",
              {"k"}, "compute_90a");
  EXPECT_EQ(result.outcome, Outcome::kUnsupported);
  EXPECT_THAT(result.message, HasSubstr("calls system, which it does not define"));
}

TEST_F(ImageSectionsTest, ASymbolThatThePtxDoesNotDeclareIsRefused) {
  const CompileResult result = Compile("__device__ float sum;\n__global__ void k(float* x) { x[0] = sum++; }\n");
  ASSERT_EQ(result.outcome, Outcome::kOk);
  const auto known = LastingSections(result.program.image, {"sum"});
  EXPECT_EQ(std::get<std::vector<ImageSection>>(known).size(), 1U);
  const auto unknown = LastingSections(result.program.image, {"other"});
  ASSERT_TRUE(std::holds_alternative<CubinObjection>(unknown));
  EXPECT_THAT(std::get<CubinObjection>(unknown).message, HasSubstr("sum"));
}

TEST_F(ImageSectionsTest, ADamagedImageIsAnError) {
  const CompileResult result = Compile("__global__ void k(float* x) { x[0] = 1; }\n");
  for (const std::size_t bytes : {0U, 3U, 60U, 300U})
    EXPECT_THROW(LastingSections(result.program.image.substr(0, bytes), {}), Error);
  EXPECT_THROW(LastingSections("no image", {}), Error);
}

}  // namespace
}  // namespace evo
