// The tasks that come with evo under nvcc. NVRTC is tested with the compiler that the search uses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "kernel_templates/text_file.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// Compiles to a cubin with warnings as errors; gives what nvcc said, empty if it was content.
std::string Compile(const std::string& source, const std::string& arch) {
  const fs::path folder = fs::path(testing::TempDir()) / ("evo_nvcc_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "kernel.cu", std::ios::binary) << source;
  const std::string command = "cd " + folder.string() + " && " EVO_NVCC " --cubin -Werror all-warnings -arch=" + arch +
                              " -o kernel.cubin kernel.cu > log 2>&1";
  const int status = std::system(command.c_str());
  std::string log = ReadTextFile(folder / "log").value_or("");
  fs::remove_all(folder);
  if (status != 0 && log.empty()) log = "nvcc failed";
  return status == 0 ? "" : log;
}

class ShippedTask : public testing::TestWithParam<const char*> {};

// The oldest architecture that a template is for, of those tested.
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

TEST_P(ShippedTask, CompilesAsDrawnForHopper) {
  Rng rng(7);
  for (const KernelTemplate& kernel : LoadTemplates(fs::path(EVO_TASKS) / GetParam())) {
    EXPECT_EQ(Compile(RenderParameters(kernel.text, *kernel.space.Draw(rng)), "sm_90a"), "") << kernel.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, ShippedTask,
                         testing::Values("attention", "attention_bf16", "attention_causal", "attention_causal_d128",
                                         "attention_d128", "attention_gqa", "gemm", "layer_norm", "row_sum", "softmax",
                                         "transpose"),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace evo
