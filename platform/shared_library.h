#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace evo {

// A library of the CUDA toolkit, opened at run time so that our programs start where it is absent. Closed never: these libraries
// keep threads and exit handlers of their own that do not survive being unmapped.
class SharedLibrary {
 public:
  // Tries every folder with every name, then the loader's own path with every name. Throws Error: `what` was not found, where was
  // looked, what the loader said, `remedy`.
  SharedLibrary(const std::string& what, const std::vector<std::filesystem::path>& folders, const std::vector<std::string>& names,
                const std::string& remedy);

  // Throws Error if the library has no such function.
  template <typename Function>
  void Resolve(Function& into, const char* name) const {
    into = reinterpret_cast<Function>(Find(name));
  }

  const std::filesystem::path& file() const { return file_; }

 private:
  void* Find(const char* name) const;

  void* handle_ = nullptr;
  std::filesystem::path file_;
};

// Where a toolkit under `cuda_root` keeps its libraries.
std::vector<std::filesystem::path> CudaLibraryFolders(const std::filesystem::path& cuda_root);

}  // namespace evo
