#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace evo {

struct CommandResult {
  int status = -1;
  std::string output;  // of standard error, where compilers print everything; the first MiB
};

// A program, or one that it had started, was ended by a signal that something else sent, such as that of the kernel when memory
// runs out. What it was asked is not to blame, and may be asked again.
class CommandKilled : public Error {
 public:
  using Error::Error;
};

// Whether a process that was ended by this signal was ended by something else: its own faults have other signals.
bool ComesFromOutside(int signal);

// Runs a program to its end with standard input and output closed. It is in the process group of this process and dies if the
// group is killed or if the thread that started it ends. A `program` without a folder is searched on the PATH. It gets the
// environment of this process and those of the given variables that are not set there. Throws Error if there is no such program:
// "NAME is not installed; REMEDY", CommandKilled, and DiskFull if the program failed for lack of room.
CommandResult RunCommand(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const std::string& remedy, const std::vector<std::pair<std::string, std::string>>& environment = {});

// Removes every occurrence of `what`, such as the path of a temporary folder, from a program's output.
void CutAll(std::string& text, const std::string& what);

// The groups of the first line of a program's output in which the pattern (ECMAScript) is found, the whole match first; empty if
// there is none. Of each line, 2,000 characters are looked at: the stack that std::regex needs grows with the text.
std::vector<std::string> FindInLines(const std::string& output, const std::string& pattern);

// The contents of a file; empty if there is no such file.
std::string ReadFile(const std::filesystem::path& file);

// Throws Error if the file cannot be written, DiskFull if there is no room for it.
void WriteFile(const std::filesystem::path& file, const std::string& text);

}  // namespace evo
