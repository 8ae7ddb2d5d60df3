#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "core/error.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as the kernel follows
constexpr mode_t kNewFile = 0666;
constexpr mode_t kPermissions = 07777;
constexpr mode_t kWithoutSetId = 01777;

using Status = struct stat;

// Of the file at the end of all links; unset if there is none.
std::optional<Status> StatusOf(const std::string& file) {
  Status status{};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  return status;
}

Error CannotWrite(const std::string& file, int error) {
  return Error(fmt::format("{}: cannot be written ({}); check the folder and the free space", file, std::strerror(error)));
}

// The descriptor of this program that already writes there: /dev/stdout, or the file that it is redirected to.
std::optional<int> OwnOutput(const Status& there) {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    Status own{};
    if (::fstat(descriptor, &own) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino) return descriptor;
  }
  return std::nullopt;
}

// 0, or the number of the error.
int WriteAll(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return 0;
}

void WriteThrough(const std::string& file, const std::string& text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) throw CannotWrite(file, errno);
  const int error = WriteAll(descriptor, text);
  const bool closed = ::close(descriptor) == 0;
  if (error != 0 || !closed) throw CannotWrite(file, error != 0 ? error : errno);
}

// The file that the links lead to; it need not exist.
std::string Followed(const std::string& file) {
  fs::path at = file;
  for (int link = 0; link < kMostLinks; ++link) {
    std::error_code none;
    const fs::path next = fs::read_symlink(at, none);
    if (none) return at.string();
    at = at.parent_path() / next;  // `next` alone if it is absolute
  }
  throw CannotWrite(file, ELOOP);
}

// A new file beside `file`, for this user alone until it is complete. Its name is set.
int CreateBeside(const std::string& file, std::string& name) {
  for (int attempt = 0;; ++attempt) {
    name = fmt::format("{}.{}-{}.tmp", file, ::getpid(), attempt);
    const int made = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kNewFile);
    if (made >= 0 || errno != EEXIST) return made;
  }
}

// Gives a new file the owner, as far as this user may, and the permissions of the file that it replaces.
void KeepAccess(int descriptor, const Status& old) {
  const bool same_owner = ::fchown(descriptor, old.st_uid, old.st_gid) == 0;
  ::fchmod(descriptor, old.st_mode & (same_owner ? kPermissions : kWithoutSetId));
}

void Replace(const std::string& file, const std::optional<Status>& there, const std::string& text) {
  if (there && ::access(file.c_str(), W_OK) != 0) throw CannotWrite(file, errno);
  std::string temporary;
  const int descriptor = CreateBeside(file, temporary);
  if (descriptor < 0) throw CannotWrite(file, errno);
  if (there) KeepAccess(descriptor, *there);
  int error = WriteAll(descriptor, text);
  if (error == 0 && ::fsync(descriptor) != 0) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), file.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(temporary.c_str());
  throw CannotWrite(file, error);
}

}  // namespace

bool IsRegularOutput(const std::string& file) {
  const auto there = StatusOf(file);
  return !there || (S_ISREG(there->st_mode) && !OwnOutput(*there));
}

void WriteOutputFile(const std::string& file, const std::string& text) {
  if (file.empty()) throw UsageError("a file without a name cannot be written; name one");
  const auto there = StatusOf(file);
  if (!there) return Replace(Followed(file), there, text);
  if (const auto own = OwnOutput(*there); own && !S_ISCHR(there->st_mode)) {
    if (const int error = WriteAll(*own, text); error != 0) throw CannotWrite(file, error);
    return;
  }
  if (S_ISREG(there->st_mode)) return Replace(Followed(file), there, text);
  if (S_ISCHR(there->st_mode) || S_ISFIFO(there->st_mode)) return WriteThrough(file, text);
  throw UsageError(fmt::format("{}: {}; name a file", file,
                               S_ISDIR(there->st_mode)   ? "a folder"
                               : S_ISBLK(there->st_mode) ? "a disk"
                                                         : "neither a file nor a device that can be written to"));
}

}  // namespace evo
