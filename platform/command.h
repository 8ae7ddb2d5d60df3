#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace evo {

struct CommandResult {
  int status = -1;
  std::string output;  // standard error: compilers say everything there
};

// Runs a tool to its end with standard input and output closed. It is in our process group, and dies with us if that is killed.
// `program` with a folder is taken as it stands, else searched on the path. It has our environment, with these variables where
// they are not set. Throws Error where there is no such program: "NAME is not installed; REMEDY".
CommandResult RunCommand(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                         const std::string& remedy, const std::vector<std::pair<std::string, std::string>>& environment = {});

// Takes every occurrence out of what a tool said: the path of a folder of ours, say.
void CutAll(std::string& text, const std::string& what);

// The whole of a file; empty where there is none.
std::string ReadFile(const std::filesystem::path& file);

// Throws Error where it cannot be written.
void WriteFile(const std::filesystem::path& file, const std::string& text);

}  // namespace evo
