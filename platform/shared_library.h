#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

// A library that is opened at run time, so that evo's programs start without it. It is never closed, because these libraries
// (those of the CUDA toolkit, libclang) have threads and exit handlers that must not be unmapped.
class SharedLibrary {
 public:
  // Tries every name in every folder, then every name on the loader's path. If nothing can be opened, throws an Error that names
  // `what`, the folders, the loader's reason and the `remedy`.
  SharedLibrary(const std::string& what, const std::vector<std::filesystem::path>& folders, const std::vector<std::string>& names,
                const std::string& remedy);

  // Throws Error, with the remedy, if the library has no such function.
  template <typename Function>
  void Resolve(Function& into, const char* name) const {
    into = reinterpret_cast<Function>(Find(name));
  }

  const std::filesystem::path& file() const { return file_; }

 private:
  void* Find(const char* name) const;

  void* handle_ = nullptr;
  std::filesystem::path file_;
  std::string remedy_;
};

// The folders in which a toolkit under `cuda_root` has its libraries.
std::vector<std::filesystem::path> CudaLibraryFolders(const std::filesystem::path& cuda_root);

}  // namespace evo
