#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <utility>

namespace evo {

// The toolkit's ptxas, run as a program. It makes the machine code that NVRTC would make of the same PTX (seen byte by byte), in
// the same time, and what it made of a PTX is kept: many edits of a source change nothing of it. Processes that share a folder
// share what is kept.
class Assembler {
 public:
  struct Assembled {
    bool ok = false;
    std::string log;    // what ptxas said, its report of registers included
    std::string cubin;  // set if ok
  };

  // `kept` is made if missing. An instance adds 64 MiB to it at most; then what it added first gives way.
  Assembler(std::filesystem::path ptxas, std::filesystem::path kept);

  // `arch` is a real one: "sm_90a". Throws Error where ptxas cannot be run or the folder cannot be written.
  Assembled Assemble(const std::string& ptx, const std::string& arch);

 private:
  void Keep(const std::string& name, const Assembled& assembled);

  std::filesystem::path ptxas_;
  std::filesystem::path kept_;
  std::deque<std::pair<std::string, std::size_t>> added_;  // names and bytes, oldest first
  std::size_t added_bytes_ = 0;
};

}  // namespace evo
