#include "evaluator/compiler/nvrtc/nvrtc_library.h"

#include <fmt/format.h>

#include "core/error.h"

namespace evo {

NvrtcLibrary::NvrtcLibrary(const std::filesystem::path& cuda_root)
    : library_("NVRTC (libnvrtc)", CudaLibraryFolders(cuda_root), {"libnvrtc.so.13", "libnvrtc.so.12"},
               "install the CUDA toolkit 12.8 or newer and point CUDA_HOME at it") {
  decltype(&nvrtcVersion) get_version = nullptr;
  library_.Resolve(get_version, "nvrtcVersion");
  library_.Resolve(functions_.get_error_string, "nvrtcGetErrorString");
  library_.Resolve(functions_.create_program, "nvrtcCreateProgram");
  library_.Resolve(functions_.destroy_program, "nvrtcDestroyProgram");
  library_.Resolve(functions_.add_name_expression, "nvrtcAddNameExpression");
  library_.Resolve(functions_.compile_program, "nvrtcCompileProgram");
  library_.Resolve(functions_.get_program_log_size, "nvrtcGetProgramLogSize");
  library_.Resolve(functions_.get_program_log, "nvrtcGetProgramLog");
  library_.Resolve(functions_.get_lowered_name, "nvrtcGetLoweredName");
  library_.Resolve(functions_.get_cubin_size, "nvrtcGetCUBINSize");
  library_.Resolve(functions_.get_cubin, "nvrtcGetCUBIN");
  library_.Resolve(functions_.get_ptx_size, "nvrtcGetPTXSize");
  library_.Resolve(functions_.get_ptx, "nvrtcGetPTX");
  int major = 0;
  int minor = 0;
  get_version(&major, &minor);
  version_ = fmt::format("{}.{}", major, minor);
  if (major < 12 || (major == 12 && minor < 8)) {
    throw Error(fmt::format("{}: NVRTC {} has no precompiled headers; install CUDA 12.8 or newer", file().string(), version_));
  }
}

NvrtcProgram::NvrtcProgram(const NvrtcLibrary& nvrtc, const std::string& source, const std::string& name)
    : nvrtc_(nvrtc.functions()) {
  const nvrtcResult result = nvrtc_.create_program(&handle_, source.c_str(), name.c_str(), 0, nullptr, nullptr);
  if (result != NVRTC_SUCCESS)
    throw Error(fmt::format("nvrtcCreateProgram: {}; free memory or report this", nvrtc_.get_error_string(result)));
}

NvrtcProgram::~NvrtcProgram() { nvrtc_.destroy_program(&handle_); }

std::string NvrtcProgram::Log() const { return CopyText("log", nvrtc_.get_program_log_size, nvrtc_.get_program_log); }
std::string NvrtcProgram::Ptx() const { return CopyText("PTX", nvrtc_.get_ptx_size, nvrtc_.get_ptx); }

std::string NvrtcProgram::Cubin() const { return CopyText("cubin", nvrtc_.get_cubin_size, nvrtc_.get_cubin); }

std::string NvrtcProgram::CopyText(const char* what, SizeFunction size, TextFunction text) const {
  std::size_t bytes = 0;
  nvrtcResult result = size(handle_, &bytes);
  std::string taken(bytes, '\0');
  if (result == NVRTC_SUCCESS && bytes > 0) result = text(handle_, taken.data());
  if (result != NVRTC_SUCCESS) throw Error(fmt::format("NVRTC gave no {}: {}", what, nvrtc_.get_error_string(result)));
  // Texts come with a terminating zero, and a cubin may end with any byte.
  const bool is_text = size != nvrtc_.get_cubin_size;
  while (is_text && !taken.empty() && taken.back() == '\0') taken.pop_back();
  return taken;
}

}  // namespace evo
