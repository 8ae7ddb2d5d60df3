// Compiles the tasks that come with evo with nvcc. The tests of the evaluator's compiler do so with NVRTC.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "kernel_templates/text_file.h"
#include "tests/kernel_templates/task_names.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// Runs nvcc on a file in a folder that is removed afterwards, with warnings as errors. Returns the output of a failure, else
// nothing.
std::string RunNvcc(const fs::path& folder, const std::string& file, const std::string& options) {
  fs::create_directories(folder);
  const std::string command =
      "cd " + folder.string() + " && " EVO_NVCC " -Werror all-warnings " + options + " -o compiled " + file + " > log 2>&1";
  const int status = std::system(command.c_str());
  std::string log = ReadTextFile(folder / "log").value_or("");
  fs::remove_all(folder);
  if (status != 0 && log.empty()) log = "nvcc failed";
  return status == 0 ? "" : log;
}

fs::path ScratchFolder() { return fs::path(testing::TempDir()) / ("evo_nvcc_" + std::to_string(::getpid())); }

std::string Compile(const std::string& source, const std::string& arch) {
  fs::create_directories(ScratchFolder());
  std::ofstream(ScratchFolder() / "kernel.cu", std::ios::binary) << source;
  return RunNvcc(ScratchFolder(), "kernel.cu", "--cubin -arch=" + arch);
}

class ShippedTask : public testing::TestWithParam<std::string> {};

// Tasks whose templates differ much from one setting of the parameters to another.
class DrawnTask : public ShippedTask {};

// The oldest of the tested architectures that a template supports.
std::string OldestArch(const KernelTemplate& kernel) {
  return kernel.required_arch.empty() ? "sm_80" : std::max<std::string>("sm_80", kernel.required_arch);
}

TEST_P(ShippedTask, CompilesAtDefaultsForItsOldestArchitecture) {
  const Task task = LoadTask(fs::path(EVO_TASKS) / GetParam());
  for (const KernelTemplate& kernel : LoadTemplates(task.directory)) {
    EXPECT_EQ(Compile(RenderParameters(kernel.text, {}), OldestArch(kernel)), "") << kernel.name;
  }
  EXPECT_EQ(Compile(task.reference, "sm_80"), "");
}

TEST_P(DrawnTask, CompilesAsDrawnForHopper) {
  Rng rng(7);
  for (const KernelTemplate& kernel : LoadTemplates(fs::path(EVO_TASKS) / GetParam())) {
    EXPECT_EQ(Compile(RenderParameters(kernel.text, *kernel.space.Draw(rng)), "sm_90a"), "") << kernel.name;
  }
}

// The file itself, whose parts nvcc finds in its folder, and not the text that evo makes of it.
TEST(ShippedTemplate, WithPartsCompilesAsItStands) {
  for (const auto& [file, arch] : {std::pair{"attention/mma_split.cu", "sm_80"}, {"attention_causal/wgmma_short.cu", "sm_90a"}}) {
    EXPECT_EQ(RunNvcc(ScratchFolder(), (fs::path(EVO_TASKS) / file).string(), std::string("--ptx -arch=") + arch), "") << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, ShippedTask, testing::ValuesIn(TaskNames(EVO_TASKS)), [](const auto& p) { return p.param; });
INSTANTIATE_TEST_SUITE_P(Tasks, DrawnTask,
                         testing::Values("attention", "attention_bf16", "attention_causal", "attention_causal_d128",
                                         "attention_d128", "attention_gqa", "gemm", "gemm_bf16", "gemm_fp16", "layer_norm",
                                         "linear_gelu_bf16", "row_sum", "softmax", "transpose"),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace evo
