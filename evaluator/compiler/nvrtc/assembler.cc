#include "evaluator/compiler/nvrtc/assembler.h"

#include <fmt/format.h>
#include <unistd.h>

#include "core/digest.h"
#include "core/error.h"
#include "evaluator/compiler/rules/elf_file.h"
#include "platform/command.h"

namespace evo {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostKept = 64 << 20;

// ptxas spends a third of its time in page faults, since it touches some 10 MiB for the first time, page by page; it is more
// where many run at once in a virtual machine. With huge pages it has 450 faults instead of 3,080 (docs/adr/0007). C libraries
// other than glibc ignore this variable.
const std::vector<std::pair<std::string, std::string>> kHugePages = {
    {"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=16777216"}};

}  // namespace

Assembler::Assembler(fs::path ptxas, fs::path kept) : ptxas_(std::move(ptxas)), kept_(std::move(kept)) {
  std::error_code failed;
  fs::create_directories(kept_, failed);
  if (failed)
    throw Error(fmt::format("{}: cannot be created ({}); give a folder that can be written", kept_.string(), failed.message()));
}

Assembler::Assembled Assembler::Assemble(const std::string& ptx, const std::string& arch) {
  const std::string name = Digest(arch + "\n" + ptx);
  // The log is written last, by one rename: if it exists, the cubin exists too.
  if (Assembled known{true, ReadFile(kept_ / (name + ".log")), {}}; !known.log.empty()) {
    known.cubin = ReadFile(kept_ / (name + ".cubin"));
    if (!known.cubin.empty()) return known;
  }
  const std::string own = fmt::format("own{}", ::getpid());
  const fs::path source = kept_ / (own + ".ptx");
  const fs::path image = kept_ / (own + ".cubin");
  WriteFile(source, ptx);
  const CommandResult run = RunCommand(ptxas_, {"-v", "-arch=" + arch, "-o", image.string(), source.string()},
                                       "install the CUDA toolkit's ptxas again", kHugePages);
  Assembled assembled{run.status == 0, run.output, {}};
  CutAll(assembled.log, kept_.string() + "/");
  CutAll(assembled.log, own + ".ptx, ");
  if (!assembled.ok) return assembled;
  assembled.cubin = ReadFile(image);
  // On a full disk ptxas writes a part, or nothing, and says nothing.
  const std::string damaged = fmt::format("{}: ptxas did not write it whole; is the disk full?", image.string());
  if (!ElfFile(assembled.cubin, damaged).IsWhole()) throw Error(damaged);
  Keep(name, assembled);
  return assembled;
}

void Assembler::Keep(const std::string& name, const Assembled& assembled) {
  const std::string own = fmt::format("own{}", ::getpid());
  std::error_code ignored;
  fs::rename(kept_ / (own + ".cubin"), kept_ / (name + ".cubin"), ignored);
  WriteFile(kept_ / (own + ".log"), assembled.log);
  fs::rename(kept_ / (own + ".log"), kept_ / (name + ".log"), ignored);
  added_.emplace_back(name, assembled.cubin.size() + assembled.log.size());
  for (added_bytes_ += added_.back().second; added_bytes_ > kMostKept; added_.pop_front()) {
    added_bytes_ -= added_.front().second;
    for (const char* kind : {".log", ".cubin"}) fs::remove(kept_ / (added_.front().first + kind), ignored);
  }
}

}  // namespace evo
