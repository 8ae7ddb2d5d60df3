#include "platform/confinement.h"

#include <pwd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
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

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder, failed)) entries.push_back(entry.path());
  return entries;
}

bool IsBelow(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// `entry` if no home is below it. Otherwise what is beside the way to the folder in which that home lies with those of others.
void AddBesideHomes(const fs::path& entry, const std::vector<fs::path>& homes, std::vector<fs::path>& folders) {
  std::error_code failed;
  const fs::path target = fs::canonical(entry, failed);
  const auto any_home = [&](const auto& test) { return std::any_of(homes.begin(), homes.end(), test); };
  if (failed || any_home([&](const fs::path& home) { return IsBelow(target, home); })) return;
  if (!any_home([&](const fs::path& home) { return IsBelow(home, target); })) {
    folders.push_back(entry);
    return;
  }
  const bool holds_homes = any_home([&](const fs::path& home) { return home.parent_path() == target; });
  if (holds_homes || fs::is_symlink(entry)) return;
  for (const fs::path& inner : EntriesOf(entry)) AddBesideHomes(inner, homes, folders);
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
  if (confinement.open_files) limited &= Limit(RLIMIT_NOFILE, *confinement.open_files);
  if (!limited) add("limits", std::strerror(errno));
  // Both of the others need it: otherwise they could mislead a program that has its owner's rights.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) add("no new privileges", std::strerror(errno));
  if (confinement.files) add("Landlock", RestrictFiles(*confinement.files));
  if (confinement.calls) add("seccomp", FilterSystemCalls(*confinement.calls));
  return missing;
}

std::vector<fs::path> ProgramFolders(const fs::path& root, const std::vector<fs::path>& homes) {
  constexpr std::array<std::string_view, 12> kOthers{"dev",  "etc",  "home", "lost+found", "media", "mnt",
                                                     "proc", "root", "run",  "srv",        "tmp",   "var"};
  // A service may have its home among the programs.
  constexpr std::array<std::string_view, 9> kPrograms{"bin", "gnu", "lib", "lib32", "lib64", "nix", "opt", "sbin", "usr"};
  const auto is_in = [](const auto& names, const fs::path& entry) {
    return std::find(names.begin(), names.end(), entry.filename().string()) != names.end();
  };
  std::vector<fs::path> folders;
  for (const fs::path& entry : EntriesOf(root)) {
    if (is_in(kOthers, entry)) continue;
    if (is_in(kPrograms, entry))
      folders.push_back(entry);
    else
      AddBesideHomes(entry, homes, folders);
  }
  return folders;
}

std::vector<fs::path> HomeFolders() {
  std::vector<fs::path> homes;
  const auto add = [&](const char* folder) {
    std::error_code failed;
    const fs::path home = fs::canonical(folder == nullptr ? "" : folder, failed);
    if (!failed && home.has_relative_path()) homes.push_back(home);  // a service may have "/"
  };
  add(std::getenv("HOME"));
  const passwd* user = ::getpwuid(::geteuid());
  if (user != nullptr) add(user->pw_dir);
  return homes;
}

}  // namespace evo
