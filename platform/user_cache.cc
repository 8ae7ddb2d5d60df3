#include "platform/user_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <system_error>

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr auto kKeep = std::chrono::days(30);

// To the administrator, nothing else tells.
bool BelongsToUser(const fs::path& folder) {
  struct stat found {};
  return ::stat(folder.c_str(), &found) == 0 && found.st_uid == ::geteuid();
}

}  // namespace

fs::path UserCacheFolder() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return fs::path(cache) / "evo";
  if (const std::string home = variable("HOME"); !home.empty()) return fs::path(home) / ".cache" / "evo";
  return {};
}

fs::path OwnFolder(const fs::path& folder) {
  if (folder.empty()) return {};
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (!failed && BelongsToUser(folder)) fs::permissions(folder, fs::perms::owner_all, failed);
  return failed || !BelongsToUser(folder) ? fs::path() : folder;
}

bool IsOwnFile(const fs::path& file) {
  struct stat found {};
  return ::lstat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == ::geteuid();
}

void RemoveUnused(const fs::path& folder) {
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    const auto used = file.last_write_time(ignored);
    if (!ignored && now - used > kKeep) fs::remove_all(file.path(), ignored);
  }
}

void MarkUsed(const fs::path& file) {
  std::error_code ignored;
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
}

}  // namespace evo
