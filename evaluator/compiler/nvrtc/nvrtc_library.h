#pragma once

#include <nvrtc.h>

#include <filesystem>
#include <string>

#include "platform/shared_library.h"

namespace evo {

// The functions of NVRTC that evo calls.
struct NvrtcFunctions {
  decltype(&nvrtcGetErrorString) get_error_string = nullptr;
  decltype(&nvrtcCreateProgram) create_program = nullptr;
  decltype(&nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&nvrtcAddNameExpression) add_name_expression = nullptr;
  decltype(&nvrtcCompileProgram) compile_program = nullptr;
  decltype(&nvrtcGetProgramLogSize) get_program_log_size = nullptr;
  decltype(&nvrtcGetProgramLog) get_program_log = nullptr;
  decltype(&nvrtcGetLoweredName) get_lowered_name = nullptr;
  decltype(&nvrtcGetCUBINSize) get_cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) get_cubin = nullptr;
  decltype(&nvrtcGetPTXSize) get_ptx_size = nullptr;
  decltype(&nvrtcGetPTX) get_ptx = nullptr;
};

// NVRTC, loaded at run time from the toolkit's folder, else from the loader's path. Throws Error if there is no NVRTC, or if it
// is older than 12.8 and so has no precompiled headers.
class NvrtcLibrary {
 public:
  explicit NvrtcLibrary(const std::filesystem::path& cuda_root);

  const NvrtcFunctions& functions() const { return functions_; }
  const std::string& version() const { return version_; }  // "13.0"
  const std::filesystem::path& file() const { return library_.file(); }

 private:
  SharedLibrary library_;
  NvrtcFunctions functions_;
  std::string version_;
};

// One program of NVRTC, which this object owns. Throws Error if a function fails that cannot fail on a valid handle, since such a
// failure does not depend on the candidate.
class NvrtcProgram {
 public:
  NvrtcProgram(const NvrtcLibrary& nvrtc, const std::string& source, const std::string& name);
  ~NvrtcProgram();
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;

  nvrtcProgram handle() const { return handle_; }
  std::string Log() const;
  std::string Cubin() const;
  std::string Ptx() const;

 private:
  using SizeFunction = nvrtcResult (*)(nvrtcProgram, std::size_t*);
  using TextFunction = nvrtcResult (*)(nvrtcProgram, char*);
  std::string CopyText(const char* what, SizeFunction size, TextFunction text) const;

  const NvrtcFunctions& nvrtc_;
  nvrtcProgram handle_ = nullptr;
};

}  // namespace evo
