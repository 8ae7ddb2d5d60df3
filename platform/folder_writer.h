#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "platform/descriptor.h"

namespace evo {

// Writes files into a folder of the user's cache for a process that is about to lose the right to: by a child, which ends with
// this object, and which nothing but this object can reach. Nothing is said of what cannot be written.
class FolderWriter {
 public:
  // The folder is created if need be, and must be the user's own (OwnFolder). Precondition: the process has one thread.
  explicit FolderWriter(const std::filesystem::path& folder);
  // What was given is written, and the child has ended.
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  // `name`: without a folder. Other processes see the whole file or none.
  void Write(std::string_view name, std::string_view contents);

 private:
  Descriptor socket_;
  pid_t child_ = -1;
};

}  // namespace evo
