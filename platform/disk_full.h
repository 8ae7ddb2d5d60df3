#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"

namespace evo {

// The disk, or the user's quota on it, has no room for a temporary file. What was asked is not to blame, and may be asked again
// when there is room.
class DiskFull : public Error {
 public:
  // `folder`: where the file was to be written.
  explicit DiskFull(const std::filesystem::path& folder);
};

// What a user can do about it: "free some there, or set TMPDIR ...".
inline constexpr const char* kMakeRoom = "free some there, or set TMPDIR to a folder with room";

// Whether a compiler says that it could not write a file for lack of room. What it quotes of a source does not count.
bool SaysDiskIsFull(const std::string& output);

}  // namespace evo
