#pragma once

#include <sys/resource.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "platform/system_call_filter.h"

namespace evo {

// The files that a process may use. A folder stands for all that is below it. What does not exist is left out.
struct FileAccess {
  std::vector<std::filesystem::path> readable;  // may be read and executed
  std::vector<std::filesystem::path> listable;  // folders whose entries may be listed, and nothing else
  std::vector<std::filesystem::path> writable;  // may be read and written; nothing in them can be executed
};

// What a process may still do. Absent: no limit of that kind.
struct Confinement {
  std::optional<SystemCalls> calls;
  std::optional<FileAccess> files;
  std::optional<rlim_t> memory_bytes;  // of address space, for each process
  std::optional<rlim_t> file_bytes;    // of the largest file that it may write
  std::optional<rlim_t> open_files;    // at once; those in memory (memfd) are no part of the address space
};

// A layer of the confinement that is not in force, and why: "Landlock: the kernel has none".
using MissingLayers = std::vector<std::string>;

// Confines this process, its threads and all processes that they will start, for ever: no new privileges and no core files, then
// what `confinement` names. A layer that the machine does not have is left out and named in the result. Landlock holds the
// calling thread and what it starts: if other threads exist, it is named as missing, too.
MissingLayers Confine(const Confinement& confinement);

// The folders in `root` that hold programs and libraries, wherever a machine has them: all but those of people's data and of the
// system's settings. Of a folder that leads to one of `homes` it is what is beside the way there; the folder that has the home
// folders in it is none.
std::vector<std::filesystem::path> ProgramFolders(const std::filesystem::path& root,
                                                  const std::vector<std::filesystem::path>& homes);

// The home folders of the user: $HOME, and that of the system's list of users.
std::vector<std::filesystem::path> HomeFolders();

}  // namespace evo
