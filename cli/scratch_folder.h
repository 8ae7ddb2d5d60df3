#pragma once

#include <filesystem>

namespace evo {

// A folder for the temporary files of this process's workers: precompiled headers, preambles, unfinished images. Workers are
// killed and cannot remove them, so the folder becomes their $TMPDIR and is removed with this object. The constructor and the
// destructor also remove the folders of processes that were killed before they could.
class ScratchFolder {
 public:
  // Throws Error if the folder cannot be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

 private:
  std::filesystem::path path_;
};

}  // namespace evo
