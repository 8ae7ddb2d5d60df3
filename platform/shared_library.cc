#include "platform/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.h"

namespace evo {
namespace fs = std::filesystem;

SharedLibrary::SharedLibrary(const std::string& what, const std::vector<fs::path>& folders, const std::vector<std::string>& names,
                             const std::string& remedy)
    : remedy_(remedy) {
  // Folders first, so that the chosen toolkit takes precedence over the loader's path.
  std::vector<fs::path> attempts;
  std::vector<std::string> looked_in;
  for (const fs::path& folder : folders) {
    looked_in.push_back(folder.string());
    for (const std::string& name : names) {
      std::error_code missing;
      if (fs::exists(folder / name, missing)) attempts.push_back(folder / name);
    }
  }
  for (const std::string& name : names) attempts.emplace_back(name);
  std::string first_reason;
  for (const fs::path& attempt : attempts) {
    // RTLD_LOCAL, since two versions of a library may be in one process and must not see each other's symbols.
    handle_ = ::dlopen(attempt.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      file_ = attempt;
      return;
    }
    const char* reason = ::dlerror();
    if (first_reason.empty() && reason != nullptr) first_reason = reason;
  }
  const std::string listed = looked_in.empty() ? "" : fmt::format("{} nor from ", fmt::join(looked_in, ", "));
  throw Error(fmt::format("{}: cannot be opened from {}the loader's path ({}); {}", what, listed, first_reason, remedy));
}

void* SharedLibrary::Find(const char* name) const {
  void* found = ::dlsym(handle_, name);
  if (found == nullptr) throw Error(fmt::format("{}: has no function {}; {}", file_.string(), name, remedy_));
  return found;
}

std::vector<fs::path> CudaLibraryFolders(const fs::path& cuda_root) {
  return {cuda_root / "lib64", cuda_root / "targets" / "x86_64-linux" / "lib", cuda_root / "lib"};
}

}  // namespace evo
