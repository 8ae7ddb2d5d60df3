#include "platform/scratch_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/error.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "evo-scratch-";
constexpr std::string_view kDrawn = "XXXXXX";  // mkdtemp draws them
constexpr const char* kLockFile = "evo-scratch.lock";
constexpr int kAttempts = 10;

Error CannotMake(const std::string& folder, int error) {
  return Error(fmt::format("{}: cannot be made ({}); set TMPDIR to a folder with room", folder, std::strerror(error)));
}

bool IsScratchName(const std::string& name) {
  return name.size() == kPrefix.size() + kDrawn.size() && name.starts_with(kPrefix) &&
         std::all_of(name.begin() + kPrefix.size(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

// A folder of this user, not a link to one.
bool IsOwn(const fs::path& folder) {
  struct stat found {};
  return ::lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid();
}

bool IsFile(const fs::path& file, int descriptor) {
  struct stat named {};
  struct stat open {};
  return ::lstat(file.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

// Removes the lock file last, so that what could not be removed is found again.
void Remove(const fs::path& folder) {
  std::error_code ignored;
  bool empty = true;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename() == kLockFile) continue;
    std::error_code failed;
    fs::remove_all(entry.path(), failed);
    empty = empty && !failed;
  }
  if (!empty) return;
  fs::remove(folder / kLockFile, ignored);
  fs::remove(folder, ignored);
}

void RemoveAbandoned(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const fs::path& folder = entry.path();
    if (!IsScratchName(folder.filename().string()) || !IsOwn(folder)) continue;
    const int lock = ::open((folder / kLockFile).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0) continue;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) Remove(folder);
    ::close(lock);
  }
}

// Makes the lock file of a new folder and takes its lock. -1 if another process took the folder for abandoned in between. Where
// the file system has no locks the file is left without one: nobody else can lock it either, and so nobody removes the folder.
int Lock(const fs::path& folder) {
  const fs::path file = folder / kLockFile;
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock < 0) {
    const int error = errno;
    ::rmdir(folder.c_str());
    throw CannotMake(file.string(), error);
  }
  const bool taken = ::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!taken && IsFile(file, lock)) return lock;
  ::close(lock);
  return -1;
}

fs::path Parent() {
  std::error_code failed;
  const fs::path parent = fs::temp_directory_path(failed);
  if (!failed) return fs::absolute(parent);
  const char* named = std::getenv("TMPDIR");
  throw Error(fmt::format("TMPDIR ({}): no folder for temporary files ({}); set it to a folder with room",
                          named == nullptr ? "not set" : named, failed.message()));
}

}  // namespace

void ScratchFolder::Open() {
  if (lock_ >= 0) return;
  const fs::path parent = Parent();
  RemoveAbandoned(parent);
  for (int attempt = 0; lock_ < 0; ++attempt) {
    std::string folder = (parent / fmt::format("{}{}", kPrefix, kDrawn)).string();
    if (attempt == kAttempts) throw CannotMake(folder, EAGAIN);
    if (::mkdtemp(folder.data()) == nullptr) throw CannotMake(folder, errno);
    lock_ = Lock(folder);
    path_ = folder;
  }
  ::setenv("TMPDIR", path_.c_str(), 1);
}

void ScratchFolder::OpenUnlessGiven() {
  const char* named = std::getenv("TMPDIR");
  const fs::path given = named == nullptr ? "" : named;
  if (IsScratchName(given.filename().string())) {
    if (IsOwn(given)) return;
    // That of the machine on which evo runs.
    ::setenv("TMPDIR", given.parent_path().c_str(), 1);
  }
  removed_ = false;
  Open();
}

void ScratchFolder::OpenApart() {
  const char* named = std::getenv("TMPDIR");
  fs::path parent = named == nullptr ? "" : named;
  if (IsScratchName(parent.filename().string())) parent = parent.parent_path();
  std::error_code failed;
  if (fs::is_directory(parent, failed))
    ::setenv("TMPDIR", parent.c_str(), 1);
  else
    ::unsetenv("TMPDIR");
  Open();
}

ScratchFolder::~ScratchFolder() {
  if (lock_ < 0) return;
  if (removed_) Remove(path_);
  ::close(lock_);
  if (!removed_) return;
  // A compiler that outlived a killed process may have written to its folder while Open removed it.
  RemoveAbandoned(path_.parent_path());
}

}  // namespace evo
