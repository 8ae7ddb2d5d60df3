// NVRTC and ptxas as two steps: evaluator/compiler/nvrtc/assembler.h.
#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "tests/cuda_device/nvrtc_bench.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

// The sections of an ELF file by name, without the one where the tool tells its own command line.
std::map<std::string, std::string> Sections(const std::string& cubin) {
  Elf64_Ehdr header;
  std::memcpy(&header, cubin.data(), sizeof(header));
  std::vector<Elf64_Shdr> table(header.e_shnum);
  std::memcpy(table.data(), cubin.data() + header.e_shoff, table.size() * sizeof(Elf64_Shdr));
  std::map<std::string, std::string> sections;
  for (const Elf64_Shdr& section : table) {
    const std::string name = cubin.data() + table[header.e_shstrndx].sh_offset + section.sh_name;
    if (name != ".note.nv.tkinfo" && section.sh_type != SHT_NOBITS)
      sections[name] = cubin.substr(section.sh_offset, section.sh_size);
  }
  return sections;
}

class AssemblerTest : public NvrtcCompilerTest {
 protected:
  AssemblerTest() : kept_(fs::temp_directory_path() / fmt::format("evo_assembled_{}", ::getpid())) {
    NvrtcPaths paths = Paths();
    paths.precompiled_headers += "_assembled";
    paths.assembled = kept_;
    assembling_ = std::make_unique<NvrtcCompiler>(paths);
  }
  ~AssemblerTest() override { fs::remove_all(kept_); }

  std::size_t Kept() const {
    return static_cast<std::size_t>(std::count_if(fs::directory_iterator(kept_), fs::directory_iterator(),
                                                  [](const fs::directory_entry& e) { return e.path().extension() == ".log"; }));
  }

  fs::path kept_;
  std::unique_ptr<NvrtcCompiler> assembling_;
};

constexpr char kSmall[] =
    "__global__ void __launch_bounds__(1024, 2) k(float* x, int n) {\n  __shared__ float s[64];\n  s[threadIdx.x % 64] = x[n];\n"
    "  __syncthreads();\n  x[threadIdx.x] = s[n % 64] * expf(x[n]);\n}\n";

TEST_F(AssemblerTest, MakesTheMachineCodeThatNvrtcMakes) {
  for (const char* arch : {"sm_80", "sm_90a"}) {
    const CompileResult one = Compile(kSmall, {"k"}, arch);
    const CompileResult other = assembling_->Compile({kSmall, {"k"}, arch});
    ASSERT_EQ(other.outcome, Outcome::kOk) << other.message << other.log;
    EXPECT_EQ(Sections(one.program.image), Sections(other.program.image)) << arch;
    EXPECT_EQ(one.program.ptx, other.program.ptx);
    EXPECT_EQ(one.facts.registers, other.facts.registers);
    EXPECT_EQ(other.facts.static_shared_bytes, 256);
    EXPECT_EQ(one.program.kernels.at(0).symbol, other.program.kernels.at(0).symbol);
  }
}

TEST_F(AssemblerTest, AssemblesAPtxOnce) {
  const CompileResult one = assembling_->Compile({kSmall, {"k"}, "sm_90a"});
  EXPECT_EQ(Kept(), 1u);
  // Another source, the same PTX; another instance, as in another process.
  NvrtcPaths paths = Paths();
  paths.precompiled_headers += "_other";
  paths.assembled = kept_;
  paths.cuda_root = CudaRoot().value();
  NvrtcCompiler again(paths);
  const CompileResult other = again.Compile({std::string("// a comment\n") + kSmall, {"k"}, "sm_90a"});
  EXPECT_EQ(Kept(), 1u);
  EXPECT_EQ(one.program.image, other.program.image);
  EXPECT_EQ(one.facts.registers, other.facts.registers);
  EXPECT_EQ(assembling_->Compile({kSmall, {"k"}, "sm_80"}).outcome, Outcome::kOk);
  EXPECT_EQ(Kept(), 2u) << "another architecture is another program";
}

TEST_F(AssemblerTest, WithoutAPlaceToKeepThingsNvrtcAssembles) {
  fs::remove_all(kept_);
  for (int again = 0; again < 2; ++again) {
    const CompileResult result = assembling_->Compile({kSmall, {"k"}, "sm_90a"});
    EXPECT_EQ(result.outcome, Outcome::kOk) << result.message;
    EXPECT_EQ(result.facts.static_shared_bytes, 256);
  }
  EXPECT_FALSE(fs::exists(kept_));
}

// ptxas ends with status 0 whatever became of its file.
TEST_F(AssemblerTest, MachineCodeThatWasNotWrittenWholeIsNotUsed) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  for (const rlim_t bytes : {1900, 2500, 3500}) {
    const rlimit little{bytes, limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &little);
    const CompileResult result = assembling_->Compile({kSmall, {"k"}, "sm_90a"});
    ::setrlimit(RLIMIT_FSIZE, &limit);
    EXPECT_EQ(result.outcome, Outcome::kOk) << bytes << ": " << result.message;
    EXPECT_GT(result.program.image.size(), 3500u);
    EXPECT_EQ(Kept(), 0u);
  }
  std::signal(SIGXFSZ, before);
}

TEST_F(AssemblerTest, WhatItRefusesIsSaidAsNvrtcSaysIt) {
  const std::string source =
      "__global__ void k(float* x) { __shared__ float s[20000]; s[threadIdx.x] = x[0]; __syncthreads(); x[1] = s[5]; }\n";
  for (const std::string arch : {"sm_80", "sm_90a"}) {
    const CompileResult result = assembling_->Compile({source, {"k"}, arch});
    EXPECT_EQ(result.outcome, Outcome::kResourceLimit) << arch;
    EXPECT_EQ(result.message, Compile(source, {"k"}, arch).message);
    EXPECT_EQ(result.log.find(kept_.string()), std::string::npos);
  }
  const CompileResult malformed = assembling_->Compile({"__global__ void k() { asm(\"malformed;\"); }\n", {"k"}, "sm_90a"});
  EXPECT_EQ(malformed.outcome, Outcome::kCompileError);
  EXPECT_EQ(malformed.message.substr(0, 5), "ptxas") << malformed.message;
}

}  // namespace
}  // namespace evo
