#pragma once

#include <filesystem>
#include <vector>

#include "evaluator/compiler/compiler.h"

namespace evo {

// Compiles what the user gets of a kernel as the user does: with the nvcc of a toolkit, which takes the host compiler's headers
// and its own, not evo's.
class NvccCompiler {
 public:
  // `scratch` is a folder of this process alone, which each compilation creates and removes.
  NvccCompiler(std::filesystem::path cuda_root, std::filesystem::path scratch)
      : nvcc_(cuda_root / "bin" / "nvcc"), scratch_(std::move(scratch)) {}

  // An image with these kernels and variables, under these symbols; none: whatever the file has. The outcome is kCancelled, with
  // the reason as its message, if there is no nvcc that can work. Otherwise as Compiler::Compile.
  CompileResult Compile(const ExportedKernel& exported, const std::vector<CompiledKernel>& kernels,
                        const std::vector<CompiledKernel>& variables = {}) const;

 private:
  std::filesystem::path nvcc_;
  std::filesystem::path scratch_;
};

}  // namespace evo
