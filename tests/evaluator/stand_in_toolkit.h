#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "platform/installation.h"

namespace evo {

// A folder that is taken for a CUDA toolkit, at first without a compute-sanitizer.
class StandInToolkit {
 public:
  explicit StandInToolkit(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_ / "bin");
    std::ofstream(folder_ / "calls");
    std::filesystem::create_directory_symlink(CudaRoot().value_or("/usr/local/cuda") / "include", folder_ / "include");
  }
  const std::filesystem::path& folder() const { return folder_; }

  // `script`: of a shell. It has the tool's name as $tool, the watched program and its arguments as "$@", and Report, which
  // writes lines into the log.
  void Write(const std::string& script) const {
    const std::filesystem::path program = folder_ / "bin" / "compute-sanitizer";
    std::ofstream(program) << "#!/bin/bash\necho \"$*\" >>" << (folder_ / "calls").string() << R"(
while [[ $1 == --* ]]; do
  case $1 in
    --tool) tool=$2 ;;
    --log-file) log=$2 ;;
  esac
  shift 2
done
Report() {
  printf '%s\n' '========= COMPUTE-SANITIZER' "$@" >"$log"
}
)" << script << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  // The arguments of each call, a line each.
  std::string Calls() const {
    std::ostringstream text;
    text << std::ifstream(folder_ / "calls").rdbuf();
    return text.str();
  }
  int Count() const {
    const std::string calls = Calls();
    return static_cast<int>(std::count(calls.begin(), calls.end(), '\n'));
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace evo
