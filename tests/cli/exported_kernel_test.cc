// Templates as a user gets them: nvcc makes the same kernels of the export and its host part as NVRTC makes of the source.
#include "cli/exported_kernel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/export_kernel.h"
#include "evaluator/compiler/nvrtc/nvcc_compiler.h"
#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "kernel_templates/renderer.h"
#include "platform/installation.h"

namespace evo {
namespace {

std::filesystem::path Folder(const char* purpose) {
  return std::filesystem::temp_directory_path() / fmt::format("evo_exported_{}_{}", purpose, ::getpid());
}

// "" if nvcc makes every kernel that the launch lines name.
std::string WhyNot(const std::filesystem::path& folder, const std::string& name) {
  const Task task = LoadTask(folder);
  const KernelTemplate kernel = LoadTemplate(folder / (name + ".cu"));
  const std::string source = RenderParameters(kernel.text, kernel.space.Defaults());
  CompilerInput input{source, {}, "sm_90a"};
  for (const Step& step : kernel.steps) {
    if (step.launch) input.kernel_expressions.push_back(step.launch->kernel_expression);
  }
  NvrtcCompiler nvrtc({CudaRoot().value(), ShareDirectory() / "nvrtc", Folder("nvrtc"), {}});
  const CompileResult judged = nvrtc.Compile(input);
  if (judged.outcome != Outcome::kOk) return judged.message;
  const CompileResult made =
      NvccCompiler(CudaRoot().value(), Folder("nvcc"))
          .Compile(MakeExportedKernel(WithoutHeaderStop(source), ParseTemplate(name, source), task, "sm_90a"),
                   judged.program.kernels);
  return made.outcome == Outcome::kOk ? "" : fmt::format("{}: {}\n{}", ToString(made.outcome), made.message, made.log);
}

TEST(ExportedKernel, NvccMakesTheKernelsOfShippedTemplates) {
  const std::filesystem::path tasks = ShareDirectory() / "kernel_templates";
  EXPECT_EQ(WhyNot(tasks / "softmax", "warp"), "");
  EXPECT_EQ(WhyNot(tasks / "gemm", "tiled"), "");
  EXPECT_EQ(WhyNot(tasks / "attention", "mma_split"), "");
  EXPECT_EQ(WhyNot(tasks / "attention", "wgmma"), "");
  EXPECT_EQ(WhyNot(tasks / "gemm_fp16", "wgmma"), "");
}

// All of them, for a change of the compilers' options.
TEST(ExportedKernel, DISABLED_NvccMakesTheKernelsOfAllTemplates) {
  for (const auto& folder : FindTasks({ShareDirectory() / "kernel_templates"})) {
    for (const KernelTemplate& kernel : LoadTemplates(folder))
      EXPECT_EQ(WhyNot(folder, kernel.name), "") << folder << kernel.name;
  }
}

}  // namespace
}  // namespace evo
