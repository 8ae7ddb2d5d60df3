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

#include "platform/confinement.h"

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
    descriptor_ = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  }
  ~Ruleset() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Ruleset(const Ruleset&) = delete;
  Ruleset& operator=(const Ruleset&) = delete;

  bool ok() const { return descriptor_ >= 0; }
  // False if the path exists and the rule cannot be made.
  bool Allow(const std::filesystem::path& path, std::uint64_t rights) const {
    const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (file < 0) return true;
    struct stat found {};
    if (::fstat(file, &found) == 0 && !S_ISDIR(found.st_mode)) rights &= kOfFiles;
    const landlock_path_beneath_attr rule{rights & files_, file};
    const bool added = ::syscall(SYS_landlock_add_rule, descriptor_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    ::close(file);
    return added;
  }
  bool Enforce() const { return ::syscall(SYS_landlock_restrict_self, descriptor_, 0) == 0; }

 private:
  std::uint64_t files_;
  int descriptor_ = -1;
};

}  // namespace

std::optional<std::string> RestrictFiles(const FileAccess& files) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 0 && errno != ENOSYS && errno != EOPNOTSUPP) return std::strerror(errno);  // a container may forbid it
  if (version < 1) return "the kernel has none (5.13 or newer, with landlock among its security modules)";
  const Ruleset ruleset(version);
  bool made = ruleset.ok();
  for (const auto& path : files.readable) made = made && ruleset.Allow(path, kRead);
  for (const auto& path : files.listable) made = made && ruleset.Allow(path, kReadDirectory);
  for (const auto& path : files.writable)
    made = made && ruleset.Allow(path, kReadFile | kReadDirectory | kChange | LANDLOCK_ACCESS_FS_REFER | kTruncate);
  if (made && ruleset.Enforce()) return std::nullopt;
  return std::strerror(errno);
}

}  // namespace evo
