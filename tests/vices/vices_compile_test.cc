// Every vice through the compile role for an H200's architecture: needs NVRTC and no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "core/installation.h"
#include "evaluator/compile_role.h"
#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "evaluator/evaluation_messages.h"
#include "tests/vices/vices.h"

namespace evo {
namespace {

class SilentChannel : public WorkerChannel {
 public:
  void Begin(const std::string&, bool) override {}
};

class CompiledVices : public ::testing::Test {
 protected:
  static std::unique_ptr<Compiler> MakeCompiler() {
    const auto folder = std::filesystem::temp_directory_path() / fmt::format("evo_vices_{}", ::getpid());
    return std::make_unique<NvrtcCompiler>(NvrtcPaths{CudaRoot().value(), ShareDirectory() / "nvrtc", folder});
  }
  CompileResult Compile(const Vice& vice) {
    Message job;
    job.header = {{"source", SourceOf(vice)}, {"arch", "sm_90a"}};
    return ToCompileResult(role_.Handle(job, channel_));
  }

  CompileRole role_{MakeCompiler(), nullptr};
  SilentChannel channel_;
};

TEST_F(CompiledVices, OnlyThoseAreRefusedThatMustBe) {
  for (const Vice& vice : AllVices()) {
    if (PendingReason(vice, "cuda")) continue;
    const CompileResult result = Compile(vice);
    if (vice.caught_by == CaughtBy::kCompiler) {
      EXPECT_THAT(vice.on_cuda, ::testing::Contains(result.outcome)) << vice.name << ": " << result.message;
      EXPECT_NE(result.outcome, Outcome::kOk) << vice.name;
    } else {
      EXPECT_EQ(result.outcome, Outcome::kOk) << vice.name << ": " << result.message;
    }
  }
}

}  // namespace
}  // namespace evo
