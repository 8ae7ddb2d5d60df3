#include "platform/installation.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"

namespace evo {
namespace fs = std::filesystem;

fs::path ProgramDirectory() { return fs::read_symlink("/proc/self/exe").parent_path(); }

fs::path ShareDirectory() {
  const fs::path share = (ProgramDirectory() / ".." / "share" / "evo").lexically_normal();
  if (!fs::is_directory(share)) {
    throw Error(fmt::format("{}: not found; evo needs its share/ folder next to its bin/ folder: unpack or build it again",
                            share.string()));
  }
  return share;
}

std::optional<fs::path> CudaRoot() {
  std::vector<fs::path> roots;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) roots.emplace_back(value);
  }
  if (const char* path = std::getenv("PATH")) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      std::error_code missing;
      const fs::path nvcc = fs::canonical(fs::path(folder) / "nvcc", missing);
      if (!missing) roots.push_back(nvcc.parent_path().parent_path());
    }
  }
  roots.emplace_back("/usr/local/cuda");
  for (const fs::path& root : roots) {
    if (fs::exists(root / "include" / "cuda_runtime.h")) return root;
  }
  return std::nullopt;
}

}  // namespace evo
