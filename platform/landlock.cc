#include "platform/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>

#include "platform/confinement.h"
#include "platform/descriptor.h"

namespace evo {
namespace {

// As the kernel's header has them since its versions 4 and 6 of Landlock; that of Debian 12 has version 2.
struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scopes;
};
constexpr std::uint64_t kTruncate = 1 << 14;
constexpr std::uint64_t kBindAndConnectTcp = 3;
constexpr std::uint64_t kAbstractSocketsAndSignals = 3;

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kReadDirectory = LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kRead = kReadFile | kReadDirectory | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kChange = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                  LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr std::uint64_t kMakeSpecial =
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
// The rights that mean something for what is not a folder.
constexpr std::uint64_t kOfFiles = kReadFile | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;

class Ruleset {
 public:
  explicit Ruleset(long version) : files_(kRead | kChange | kMakeSpecial) {
    if (version >= 2) files_ |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) files_ |= kTruncate;
    const RulesetAttributes attributes{files_, version >= 4 ? kBindAndConnectTcp : 0,
                                       version >= 6 ? kAbstractSocketsAndSignals : 0};
    const std::size_t size = version >= 6   ? sizeof attributes
                             : version >= 4 ? offsetof(RulesetAttributes, scopes)
                                            : offsetof(RulesetAttributes, network);
    descriptor_ = Descriptor(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  }

  bool ok() const { return descriptor_.get() >= 0; }
  // False if the path exists and the rule cannot be made.
  bool Allow(const std::filesystem::path& path, std::uint64_t rights) const {
    const Descriptor file(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (file.get() < 0) return true;
    struct stat found {};
    if (::fstat(file.get(), &found) == 0 && !S_ISDIR(found.st_mode)) rights &= kOfFiles;
    const landlock_path_beneath_attr rule{rights & files_, file.get()};
    return ::syscall(SYS_landlock_add_rule, descriptor_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  }
  bool Enforce() const { return ::syscall(SYS_landlock_restrict_self, descriptor_.get(), 0) == 0; }

 private:
  std::uint64_t files_;
  Descriptor descriptor_;
};

// Landlock holds the thread that asks for it, and none that runs already.
std::optional<std::string> FreeThreads() {
  std::error_code failed;
  const std::filesystem::directory_iterator threads("/proc/self/task", failed);
  if (failed) return "/proc does not say whether it holds every thread: " + failed.message();
  const auto others = std::distance(begin(threads), end(threads)) - 1;
  if (others == 0) return std::nullopt;
  return std::to_string(others) + " threads had been started before and are free of it";
}

}  // namespace

std::optional<std::string> RestrictFiles(const FileAccess& files) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 0 && errno != ENOSYS && errno != EOPNOTSUPP) return std::strerror(errno);  // a container may forbid it
  if (version < 1) return "the kernel has none (5.13 or newer, with landlock among its security modules)";
  const std::optional<std::string> free_threads = FreeThreads();  // /proc may be hidden afterwards
  const Ruleset ruleset(version);
  bool made = ruleset.ok();
  for (const auto& path : files.readable) made = made && ruleset.Allow(path, kRead);
  for (const auto& path : files.listable) made = made && ruleset.Allow(path, kReadDirectory);
  for (const auto& path : files.writable)
    made = made && ruleset.Allow(path, kReadFile | kReadDirectory | kChange | LANDLOCK_ACCESS_FS_REFER | kTruncate);
  if (made && ruleset.Enforce()) return free_threads;
  return std::strerror(errno);
}

}  // namespace evo
