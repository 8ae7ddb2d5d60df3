#include "cli/scratch_folder.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>

#include "core/error.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "evo-scratch-";

void RemoveAbandoned(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    int owner = 0;
    if (name.rfind(kPrefix, 0) != 0) continue;
    if (std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), owner).ec != std::errc()) continue;
    if (::kill(owner, 0) != 0 && errno == ESRCH) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  const fs::path parent = fs::temp_directory_path();
  RemoveAbandoned(parent);
  path_ = parent / fmt::format("{}{}", kPrefix, ::getpid());
  std::error_code failed;
  fs::create_directory(path_, failed);
  if (failed)
    throw Error(fmt::format("{}: cannot be made ({}); set TMPDIR to a folder with room", path_.string(), failed.message()));
  ::setenv("TMPDIR", path_.c_str(), 1);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  // A compiler that outlived a killed process may have written to its folder after the constructor looked.
  RemoveAbandoned(path_.parent_path());
}

}  // namespace evo
