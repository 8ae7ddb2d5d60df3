#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "evaluator/compiler/compiler.h"
#include "evaluator/compiler/nvrtc/assembler.h"
#include "evaluator/compiler/nvrtc/nvrtc_library.h"

namespace evo {

struct NvrtcPaths {
  std::filesystem::path cuda_root;         // the toolkit: its libnvrtc and its headers
  std::filesystem::path standard_headers;  // <cstdint> and such, which NVRTC lacks: ShareDirectory() / "nvrtc"
  std::filesystem::path
      precompiled_headers;  // of this process alone; made if missing, removed with all it holds by the destructor
  // Where machine code is kept by its PTX, for all processes that are given the same folder. NVRTC assembles, and nothing is
  // kept, where this is empty or cannot be written, or the toolkit has no ptxas.
  std::filesystem::path assembled;
};

// Compiles candidates to a cubin for CompilerInput::arch, the PTX kept beside it. Every process needs its own instance and its
// own folder for precompiled headers: NVRTC does not take those of another process, and its threads do not scale. Refuses what
// PTX shows to be no honest kernel (ptx_checks.h). Throws Error where NVRTC, its headers or the folder are missing, or where it
// does not know the arch.
class NvrtcCompiler : public Compiler {
 public:
  explicit NvrtcCompiler(NvrtcPaths paths);
  ~NvrtcCompiler() override;
  NvrtcCompiler(const NvrtcCompiler&) = delete;
  NvrtcCompiler& operator=(const NvrtcCompiler&) = delete;

  CompileResult Compile(const CompilerInput& request) override;

  const std::string& version() const { return nvrtc_.version(); }

 private:
  NvrtcPaths paths_;
  NvrtcLibrary nvrtc_;
  std::optional<Assembler> assembler_;
};

}  // namespace evo
