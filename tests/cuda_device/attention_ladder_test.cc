// The rungs of the attention ladder that are not for Hopper alone (docs/attention.md), compiled by NVRTC for every architecture
// that they promise to work on. No GPU is needed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>

#include "core/rng.h"
#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "kernel_templates/launch_plan.h"
#include "kernel_templates/renderer.h"
#include "platform/installation.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// What a block can have on sm_89, the least of the three.
constexpr std::uint64_t kSharedBytesOfAda = 99 * 1024;
// Settings of each rung beside its defaults.
constexpr int kDraws = 1;
// An array that lives in memory takes hundreds of bytes; NVRTC spills 20 of wmma for sm_90.
constexpr int kFewBytes = 32;

class AttentionLadder : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  static void SetUpTestSuite() {
    folder_ = fs::temp_directory_path() / fmt::format("evo_ladder_test_{}", ::getpid());
    compiler_ = std::make_unique<NvrtcCompiler>(NvrtcPaths{CudaRoot().value(), ShareDirectory() / "nvrtc", folder_});
  }
  static void TearDownTestSuite() { compiler_.reset(); }

  static KernelTemplate Template() { return LoadTemplate(ShareDirectory() / "kernel_templates" / std::get<0>(GetParam())); }

  static CompileResult Compile(const KernelTemplate& kernel, const Parameters& parameters) {
    const KernelTemplate rendered = ParseTemplate(kernel.name, RenderParameters(kernel.text, parameters));
    return compiler_->Compile({rendered.text, {"attention_" + kernel.name}, std::get<1>(GetParam())});
  }

  static fs::path folder_;
  static std::unique_ptr<NvrtcCompiler> compiler_;
};

fs::path AttentionLadder::folder_;
std::unique_ptr<NvrtcCompiler> AttentionLadder::compiler_;

TEST_P(AttentionLadder, StaysInRegistersAtItsDefaults) {
  const KernelTemplate kernel = Template();
  EXPECT_TRUE(CompilesFor(kernel.required_arch, std::get<1>(GetParam())));
  const CompileResult result = Compile(kernel, kernel.space.Defaults());
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
  EXPECT_LE(result.facts.spill_bytes, kFewBytes);
}

TEST_P(AttentionLadder, CompilesAsDrawn) {
  const KernelTemplate kernel = Template();
  Rng rng(5);
  for (int i = 0; i < kDraws; ++i) {
    const Parameters parameters = *kernel.space.Draw(rng);
    const CompileResult result = Compile(kernel, parameters);
    EXPECT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
  }
}

TEST_P(AttentionLadder, ItsDefaultsFitTheSharedMemoryOfAda) {
  const KernelTemplate kernel = Template();
  const Task task = LoadTask(ShareDirectory() / "kernel_templates" / fs::path(std::get<0>(GetParam())).parent_path());
  const auto plan = PlanLaunches(kernel, kernel.space.Defaults(), task, task.search_cuda.front());
  for (const auto& step : std::get<LaunchPlan>(plan).steps)
    EXPECT_LE(std::get<PlannedLaunch>(step).shared_bytes, kSharedBytesOfAda);
}

INSTANTIATE_TEST_SUITE_P(Rungs, AttentionLadder,
                         testing::Combine(testing::Values("attention/naive.cu", "attention/tiled.cu", "attention/warp.cu",
                                                          "attention/wmma.cu", "attention/mma.cu", "attention_causal/mma.cu",
                                                          "attention_bf16/warp.cu", "attention_bf16/mma.cu",
                                                          "attention_gqa/warp.cu"),
                                          testing::Values("sm_80", "sm_89", "sm_90")),
                         [](const auto& p) {
                           std::string name = std::string(std::get<0>(p.param)) + "_" + std::get<1>(p.param);
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace evo
