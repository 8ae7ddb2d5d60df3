#include "cli/tool_files.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "platform/installation.h"
#include "platform/user_cache.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> FoldersIn(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  std::istringstream list(value == nullptr ? "" : value);
  for (std::string folder; std::getline(list, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

// Whether people's data are in it: a home folder is, or is below it.
bool HoldsAHome(const fs::path& folder, const std::vector<fs::path>& homes) {
  std::error_code failed;
  const fs::path target = fs::canonical(folder, failed);
  return !failed && std::any_of(homes.begin(), homes.end(), [&](const fs::path& home) {
    return std::mismatch(target.begin(), target.end(), home.begin(), home.end()).first == target.end();
  });
}

// The folder with bin/, lib/ and others in which a set of tools is installed; only these where there is more in it.
std::vector<fs::path> ToolFolders(const fs::path& prefix, const std::vector<fs::path>& homes) {
  if (!HoldsAHome(prefix, homes)) return {prefix};
  std::vector<fs::path> folders;
  for (const char* part : {"bin", "include", "lib", "lib64", "libexec", "nvvm", "targets"}) folders.push_back(prefix / part);
  return folders;
}

// Compilers may be installed where people's data are.
std::vector<fs::path> CompilerFolders(const std::vector<fs::path>& homes) {
  std::vector<fs::path> folders;
  for (const fs::path& folder : FoldersIn("PATH")) {
    std::error_code missing;
    const fs::path compiler = fs::canonical(folder / "g++", missing);
    if (missing || compiler.parent_path().filename() != "bin") continue;
    const auto parts = ToolFolders(compiler.parent_path().parent_path(), homes);
    folders.insert(folders.end(), parts.begin(), parts.end());
  }
  return folders;
}

}  // namespace

FileAccess ToolFiles() {
  const std::vector<fs::path> homes = HomeFolders();
  FileAccess files;
  files.readable = ProgramFolders("/", homes);
  const auto add = [&](const std::vector<fs::path>& paths) {
    files.readable.insert(files.readable.end(), paths.begin(), paths.end());
  };
  add({"/proc", "/etc/alternatives", "/etc/ld.so.cache", "/dev/zero", "/dev/urandom"});
  add({ProgramDirectory(), ShareDirectory(), UserCacheFolder()});
  for (const auto& entry : fs::directory_iterator(ShareDirectory())) add({entry.path()});  // links, in a build tree
  if (const auto cuda = CudaRoot()) add(ToolFolders(*cuda, homes));
  add(CompilerFolders(homes));
  for (const fs::path& folder : FoldersIn("LD_LIBRARY_PATH")) {
    if (!HoldsAHome(folder, homes)) add({folder});
  }
  files.writable = {fs::temp_directory_path(), "/dev/null"};
  return files;
}

FileAccess DriverFiles() {
  FileAccess files = ToolFiles();
  for (const char* settings :
       {"/etc/nvidia", "/etc/localtime", "/run/nvidia", "/run/nvidia-persistenced", "/run/nvidia-topologyd"})
    files.readable.emplace_back(settings);
  files.listable = {"/dev"};
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/dev", failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("nvidia") || name == "dxg") files.writable.push_back(entry.path());
  }
  // Threads get their names in /proc/self. A server that shares the GPU (MPS) is met in a folder of its own.
  for (const char* shared : {"/dev/shm", "/proc/self"}) files.writable.emplace_back(shared);
  const char* server = std::getenv("CUDA_MPS_PIPE_DIRECTORY");
  files.writable.emplace_back(server == nullptr ? "/tmp/nvidia-mps" : server);
  return files;
}

}  // namespace evo
