#include "evaluator/device/cuda/cupti_library.h"

#include <fmt/format.h>

#include <vector>

#include "core/error.h"

namespace evo {
namespace {

std::vector<std::filesystem::path> CuptiFolders(const std::filesystem::path& cuda_root) {
  std::vector<std::filesystem::path> folders = CudaLibraryFolders(cuda_root);
  folders.push_back(cuda_root / "extras" / "CUPTI" / "lib64");
  return folders;
}

}  // namespace

CuptiLibrary::CuptiLibrary(const std::filesystem::path& cuda_root)
    : library_("CUPTI (libcupti)", CuptiFolders(cuda_root), {"libcupti.so.13", "libcupti.so.12"},
               "install CUPTI of the CUDA toolkit and point CUDA_HOME at it") {
  library_.Resolve(get_result_string_, "cuptiGetResultString");
}

void CuptiLibrary::Require(CUptiResult result, const char* call) const {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  get_result_string_(result, &text);
  const char* remedy = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
                           ? "let users read GPU performance data (NVreg_RestrictProfilingToAdminUsers=0) or run as root"
                           : "end other profilers of this process, and see `evo doctor`";
  throw Error(fmt::format("{}: {} ({}), {}; {}", call, text == nullptr ? "unknown" : text, static_cast<int>(result),
                          library_.file().string(), remedy));
}

}  // namespace evo
