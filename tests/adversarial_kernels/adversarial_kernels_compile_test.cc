// Compiles every kernel in the compile role for the architecture of an H200, which needs NVRTC but no GPU.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/messages/message_codec.h"
#include "evaluator/workers/compile_role.h"
#include "platform/installation.h"
#include "tests/adversarial_kernels/adversarial_kernels.h"

namespace evo {
namespace {

class SilentChannel : public WorkerChannel {
 public:
  void Begin(Stage, bool) override {}
};

class CompiledAdversarialKernels : public ::testing::Test {
 protected:
  static std::unique_ptr<Compiler> MakeCompiler() {
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("evo_adversarial_{}", ::getpid());
    return std::make_unique<NvrtcCompiler>(NvrtcPaths{CudaRoot().value(), ShareDirectory() / "nvrtc", folder});
  }
  CompileResult Compile(const AdversarialKernel& kernel) {
    Message job;
    job = ToMessage(CompileRequest{SourceOf(kernel), "sm_90a", true, {}});
    return ToCompileResult(role_.Handle(job, channel_));
  }

  CompileRole role_{MakeCompiler(), nullptr};
  SilentChannel channel_;
};

TEST_F(CompiledAdversarialKernels, ThoseThatTheCompilerCatchesAreRefusedAndNoOthers) {
  for (const AdversarialKernel& kernel : AllAdversarialKernels()) {
    if (PendingReason(kernel, "cuda")) continue;
    const CompileResult result = Compile(kernel);
    if (kernel.caught_by == CaughtBy::kCompiler) {
      EXPECT_THAT(kernel.on_cuda, ::testing::Contains(result.outcome)) << kernel.name << ": " << result.message;
      EXPECT_NE(result.outcome, Outcome::kOk) << kernel.name;
    } else {
      EXPECT_EQ(result.outcome, Outcome::kOk) << kernel.name << ": " << result.message;
    }
  }
}

}  // namespace
}  // namespace evo
