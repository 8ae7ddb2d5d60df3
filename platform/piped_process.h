#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "platform/descriptor.h"

namespace evo {

// A program that this process talks to over the program's standard input and output. What it writes to its standard error is kept
// in memory for LastWords. It is in the process group of this process and dies if the group is killed or if the thread that
// started it ends. When this object goes, its pipes are closed, and it is left to end by itself. Not thread-safe. After one is
// made, this process ignores SIGPIPE.
class PipedProcess {
 public:
  // A `program` without a folder is searched on the PATH. Throws Error: "NAME is not installed; REMEDY".
  PipedProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments, const std::string& remedy);
  ~PipedProcess();
  PipedProcess(const PipedProcess&) = delete;
  PipedProcess& operator=(const PipedProcess&) = delete;

  using Time = std::chrono::steady_clock::time_point;
  enum class Talk { kDone, kEnded, kLate };
  // Writes all bytes. kEnded: the program reads no more.
  Talk Write(std::string_view bytes, Time deadline);
  // Adds what has come to `bytes`, at least one byte. kEnded: there will be no more.
  Talk Read(std::string& bytes, Time deadline);

  // How it ended, once Read or Write has said so: "killed by signal 9 (Killed)", "exit status 1".
  std::string HowItEnded() const;
  // The end of what it wrote to standard error.
  std::string LastWords() const;

 private:
  Descriptor to_;
  Descriptor from_;
  Descriptor errors_;
  pid_t pid_ = -1;
};

}  // namespace evo
