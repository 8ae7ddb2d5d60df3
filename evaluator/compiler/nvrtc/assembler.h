#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <utility>

namespace evo {

// Runs the toolkit's ptxas as a program and keeps its results by PTX, since many edits of a source do not change the PTX. ptxas
// takes as long as NVRTC for the same PTX, and its machine code was seen to be the same, byte by byte. Processes with the same
// folder share the results.
class Assembler {
 public:
  struct Assembled {
    bool ok = false;
    std::string log;    // the output of ptxas, with its report of registers
    std::string cubin;  // set if ok
  };

  // Creates the folder `kept` if it is missing. When an instance has added 64 MiB to it, it removes what it added first.
  Assembler(std::filesystem::path ptxas, std::filesystem::path kept);

  // `arch` is a real architecture: "sm_90a". Throws Error where ptxas cannot be run or the folder cannot be written.
  Assembled Assemble(const std::string& ptx, const std::string& arch);

 private:
  void Keep(const std::string& name, const Assembled& assembled);

  std::filesystem::path ptxas_;
  std::filesystem::path kept_;
  std::deque<std::pair<std::string, std::size_t>> added_;  // names and bytes, oldest first
  std::size_t added_bytes_ = 0;
};

}  // namespace evo
