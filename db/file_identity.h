#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace evo {

// A file by its device and inode, whatever its name.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

// Of the file that the path names now; unset if there is none.
std::optional<FileIdentity> IdentityOf(const std::string& path);

}  // namespace evo
