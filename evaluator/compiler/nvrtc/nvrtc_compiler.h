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
  std::filesystem::path standard_headers;  // <cstdint> and others that NVRTC lacks: ShareDirectory() / "nvrtc"
  // A folder of this process alone. The constructor creates it if it is missing, and the destructor removes it with its contents.
  std::filesystem::path precompiled_headers;
  // The folder of machine code by PTX, which several processes may share. If it is empty or cannot be written, or if the toolkit
  // has no ptxas, then NVRTC assembles and nothing is kept.
  std::filesystem::path assembled;
};

// Compiles candidates to PTX and a cubin for CompilerInput::arch. Every process needs its own instance and its own folder for
// precompiled headers, because NVRTC does not accept those of another process and does not scale with threads. Refuses kernels
// whose PTX shows that they cheat (ptx_checks.h). Where the disk is full it compiles without precompiled headers, which takes
// longer. Throws Error if NVRTC, its headers or the folder are missing, or if NVRTC does not know the architecture.
class NvrtcCompiler : public Compiler {
 public:
  explicit NvrtcCompiler(NvrtcPaths paths);
  ~NvrtcCompiler() override;
  NvrtcCompiler(const NvrtcCompiler&) = delete;
  NvrtcCompiler& operator=(const NvrtcCompiler&) = delete;

  CompileResult Compile(const CompilerInput& request) override;

  const std::string& version() const { return nvrtc_.version(); }
  const std::filesystem::path& file() const { return nvrtc_.file(); }

 private:
  bool HasRoomForHeaders() const;

  NvrtcPaths paths_;
  NvrtcLibrary nvrtc_;
  bool precompiles_ = true;  // until there is no room for precompiled headers
  std::optional<Assembler> assembler_;
};

}  // namespace evo
