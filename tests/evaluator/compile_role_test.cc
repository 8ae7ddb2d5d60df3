#include "evaluator/workers/compile_role.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/messages/message_codec.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "platform/disk_full.h"
#include "platform/installation.h"

namespace evo {
namespace {

class SilentChannel : public WorkerChannel {
 public:
  void Begin(Stage, bool) override {}
};

class CompileRoleTest : public ::testing::Test {
 protected:
  static std::unique_ptr<Compiler> MakeCompiler() {
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("evo_compile_role_{}", ::getpid());
    return std::make_unique<NvrtcCompiler>(NvrtcPaths{CudaRoot().value(), ShareDirectory() / "nvrtc", folder});
  }
  CompileResult Compile(const std::string& source, const std::string& arch) {
    Message job;
    job = ToMessage(CompileRequest{source, arch, true, {}});
    return ToCompileResult(role_.Handle(job, channel_));
  }
  CompileRole role_{MakeCompiler(), nullptr};
  SilentChannel channel_;
};

TEST_F(CompileRoleTest, WhatRequiresAnotherArchitectureIsUnsupported) {
  const std::string source = "// evo:requires sm_90a\n// evo:launch k(1) grid(1) block(32)\n__global__ void k(int) {}\n";
  const CompileResult older = Compile(source, "sm_80");
  EXPECT_EQ(older.outcome, Outcome::kUnsupported);
  EXPECT_EQ(older.message, "requires sm_90a, and this is compiled for sm_80");
  EXPECT_EQ(Compile(source, "sm_90").outcome, Outcome::kUnsupported);
  EXPECT_EQ(Compile(source, "sm_90a").outcome, Outcome::kOk);
}

// Says a number of times that the disk is full.
class CompilerOnAFullDisk : public Compiler {
 public:
  explicit CompilerOnAFullDisk(int times) : times_(times) {}
  CompileResult Compile(const CompilerInput&) override {
    if (times_-- > 0) throw DiskFull("/scratch");
    CompileResult result;
    result.outcome = Outcome::kOk;
    return result;
  }

 private:
  int times_;
};

TEST(CompileRoleOnAFullDisk, WaitsForRoomAndChargesNoCandidate) {
  const Message job =
      ToMessage(CompileRequest{"// evo:launch k(1) grid(1) block(32)\n__global__ void k(int) {}\n", "sm_90a", true, {}});
  SilentChannel channel;
  CompileRole patient(std::make_unique<CompilerOnAFullDisk>(1), nullptr);
  EXPECT_EQ(ToCompileResult(patient.Handle(job, channel)).outcome, Outcome::kOk);
  CompileRole hurried(std::make_unique<CompilerOnAFullDisk>(1), nullptr, {}, std::chrono::milliseconds(0));
  const CompileResult failed = ToCompileResult(hurried.Handle(job, channel));
  EXPECT_TRUE(failed.machine_failed);
  EXPECT_NE(failed.outcome, Outcome::kOk);
  EXPECT_EQ(failed.message,
            "/scratch: no space is left there for temporary files; free some there, or set TMPDIR to a folder with room");
  EXPECT_EQ(ToCompileResult(hurried.Handle(job, channel)).outcome, Outcome::kOk) << "the worker lives on";
}

TEST_F(CompileRoleTest, ASourceIsTheSameForEveryCompiler) {
  const std::string launch = "// evo:launch k(1) grid(1) block(32)\n";
  const CompileResult conditional = Compile(launch + "#ifdef __CUDACC_RTC__\n#endif\n__global__ void k(int) {}\n", "sm_90a");
  EXPECT_EQ(conditional.outcome, Outcome::kUnsupported);
  EXPECT_EQ(conditional.message.substr(0, 40), "line 2: `#ifdef` on `__CUDACC_RTC__`: co");
  const CompileResult expression =
      Compile("// evo:launch k<__CUDA_ARCH__>(1) grid(1) block(32)\ntemplate <int N> __global__ void k(int) {}\n", "sm_90a");
  EXPECT_EQ(expression.outcome, Outcome::kUnsupported);
  EXPECT_NE(expression.message.find("`__CUDA_ARCH__`"), std::string::npos) << expression.message;
}

// That kernel redistributes registers among its warps; a setting that spills has no chance.
TEST_F(CompileRoleTest, TheHopperTemplateCompilesWithoutSpills) {
  const KernelTemplate kernel = LoadTemplate(ShareDirectory() / "kernel_templates" / "attention" / "wgmma.cu");
  for (const Parameters& parameters : {Parameters{}, Parameters{{"BLOCK_M", 128}, {"BLOCK_N", 176}}}) {
    const CompileResult result = Compile(RenderParameters(kernel.text, parameters), "sm_90a");
    ASSERT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
    EXPECT_LE(result.facts.spill_bytes, 64) << result.log;
    EXPECT_EQ(result.log.find("serialized"), std::string::npos) << result.log;
  }
}

// ptxas waits after every single wgmma if registers are scarce, or if it cannot follow the accumulators through branches and
// loops.
TEST_F(CompileRoleTest, HopperTemplatesForShortSequencesKeepTheirProductsInFlight) {
  const std::filesystem::path folder = ShareDirectory() / "kernel_templates" / "attention";
  const auto expect_in_flight = [&](const KernelTemplate& kernel, const Parameters& parameters) {
    const CompileResult result = Compile(RenderParameters(kernel.text, parameters), "sm_90a");
    ASSERT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
    EXPECT_EQ(result.facts.spill_bytes, 0) << kernel.name << result.log;
    EXPECT_EQ(result.log.find("serialized"), std::string::npos) << kernel.name << result.log;
  };
  const KernelTemplate split = LoadTemplate(folder / "wgmma_split.cu");
  for (const Parameters& parameters :
       {Parameters{}, Parameters{{"GROUPS", 4}, {"TILES", 2}}, Parameters{{"GROUPS", 1}, {"TILES", 8}},
        Parameters{{"BLOCK_Q", 16}, {"GROUPS", 2}, {"SPECULATE", 0}}}) {
    expect_in_flight(split, parameters);
  }
  expect_in_flight(LoadTemplate(folder.parent_path() / "attention_causal" / "wgmma_split.cu"), {});
  const KernelTemplate rows = LoadTemplate(folder / "wgmma_short.cu");
  for (const Parameters& parameters : {Parameters{}, Parameters{{"BLOCK_M", 64}}, Parameters{{"KEY_GROUPS", 1}, {"TILES", 8}},
                                       Parameters{{"QUERY_REGISTERS", 1}}, Parameters{{"SPECULATE", 0}}}) {
    expect_in_flight(rows, parameters);
  }
  expect_in_flight(LoadTemplate(folder.parent_path() / "attention_causal" / "wgmma_short.cu"), {});
}

TEST_F(CompileRoleTest, HopperTemplatesOfMatrixProductsKeepTheirProductsInFlight) {
  const std::filesystem::path folder = ShareDirectory() / "kernel_templates";
  for (const char* task : {"gemm_fp16", "gemm_bf16", "linear_gelu_bf16"}) {
    const KernelTemplate kernel = LoadTemplate(folder / task / "wgmma.cu");
    for (const Parameters& parameters :
         {Parameters{}, Parameters{{"CLUSTER", 1}, {"BLOCK_N", 192}}, Parameters{{"BLOCK_M", 256}, {"BLOCK_N", 128}},
          Parameters{{"BLOCK_K", 128}, {"STAGES", 2}}}) {
      const CompileResult result = Compile(RenderParameters(kernel.text, parameters), "sm_90a");
      ASSERT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
      EXPECT_EQ(result.facts.spill_bytes, 0) << task << result.log;
      EXPECT_EQ(result.log.find("serialized"), std::string::npos) << task << result.log;
    }
  }
}

}  // namespace
}  // namespace evo
