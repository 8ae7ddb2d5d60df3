#include "platform/confinement.h"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "platform/landlock.h"

namespace evo {
namespace fs = std::filesystem;

namespace {

// A limit that is lower already stays.
bool Limit(__rlimit_resource resource, rlim_t most) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return false;
  limit.rlim_max = std::min(limit.rlim_max, most);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  return ::setrlimit(resource, &limit) == 0;
}

}  // namespace

MissingLayers Confine(const Confinement& confinement) {
  MissingLayers missing;
  const auto add = [&](const char* layer, const std::optional<std::string>& why) {
    if (why) missing.push_back(std::string(layer) + ": " + *why);
  };
  bool limited = Limit(RLIMIT_CORE, 0);
  if (confinement.memory_bytes) limited &= Limit(RLIMIT_AS, *confinement.memory_bytes);
  if (confinement.file_bytes) limited &= Limit(RLIMIT_FSIZE, *confinement.file_bytes);
  if (!limited) add("limits", std::strerror(errno));
  // Both of the others need it: otherwise they could mislead a program that has its owner's rights.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) add("no new privileges", std::strerror(errno));
  if (confinement.files) add("Landlock", RestrictFiles(*confinement.files));
  if (confinement.calls) add("seccomp", FilterSystemCalls(*confinement.calls));
  return missing;
}

std::vector<fs::path> ProgramFolders() {
  constexpr std::array<std::string_view, 12> kOthers{"dev",  "etc",  "home", "lost+found", "media", "mnt",
                                                     "proc", "root", "run",  "srv",        "tmp",   "var"};
  std::vector<fs::path> folders;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/", failed)) {
    const std::string name = entry.path().filename().string();
    if (std::find(kOthers.begin(), kOthers.end(), name) == kOthers.end()) folders.push_back(entry.path());
  }
  return folders;
}

}  // namespace evo
