#pragma once

#include <filesystem>

namespace evo {

// A private folder for the temporary files of this process's workers: precompiled headers, preambles, unfinished images. Workers
// are killed and cannot remove them, so the folder becomes their $TMPDIR and is removed with this object.
//
// A lock on a file in the folder says that its owner lives, also to processes that see other process numbers (containers, hosts
// that share the folder). The folders of owners that were killed have the file but not its lock: Open and the destructor remove
// them. Everything else in $TMPDIR is left as it is, whatever its name.
class ScratchFolder {
 public:
  // Makes no folder.
  ScratchFolder() = default;
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Makes the folder in $TMPDIR and sets $TMPDIR to it; later calls do nothing. Call it before the first worker is started, while
  // the process has one thread. Throws Error if the folder cannot be made.
  void Open();
  // For a worker: as Open, unless $TMPDIR is such a folder already, because evo has started the worker on this machine. The
  // folder stays when this process ends, which may not be allowed to remove it then; the next Open finds it.
  void OpenUnlessGiven();
  // For a worker that a launcher has started, perhaps on another machine: as Open, beside the folder that $TMPDIR names if that
  // is evo's, and in the system's folder for temporary files if there is no such folder here.
  void OpenApart();
  // Empty before Open.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;        // descriptor of the file whose lock is held
  bool removed_ = true;  // with this object
};

}  // namespace evo
