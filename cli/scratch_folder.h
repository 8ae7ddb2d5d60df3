#pragma once

#include <filesystem>

namespace evo {

// A folder for what this process's workers leave lying about: precompiled headers, preambles, half-made images. Workers are
// killed rather than asked to tidy up, so the folder is theirs (it becomes $TMPDIR) and goes with the process that made it. What
// earlier processes left behind, killed before they could, is removed too.
class ScratchFolder {
 public:
  // Throws Error when the temporary folder cannot be written to.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

 private:
  std::filesystem::path path_;
};

}  // namespace evo
