#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/outcome.h"

namespace evo {

// What a source is called in messages and in the lines of an image.
inline constexpr char kCompiledName[] = "candidate.cu";

struct CompilerInput {
  std::string source;                           // a rendered .cu
  std::vector<std::string> kernel_expressions;  // the kernels to launch, in order, each once: "attention_split<BLOCK_M>"
  std::string arch;                             // "sm_90a"; the cpu device's compiler ignores it
  bool checked = false;                  // cpu device: check every access at run time, which is slow; other devices ignore it
  bool judged = false;                   // cpu device: refuse an image that is more than device code; other devices ignore it
  bool line_info = false;                // the image says which lines its instructions are of; the cpu device ignores it
  std::vector<std::string> variables{};  // `__constant__` variables that are filled from outside: "filters::weights"
};

// A kernel, or a variable that is filled from outside.
struct CompiledKernel {
  std::string expression;  // as in the request
  std::string symbol;      // its name in the image
};
BOOST_DESCRIBE_STRUCT(CompiledKernel, (), (expression, symbol))

// A variable of an image.
struct ImageSymbol {
  std::string name;
  std::uint64_t offset = 0;  // in its section
  std::uint64_t bytes = 0;
};
BOOST_DESCRIBE_STRUCT(ImageSymbol, (), (name, offset, bytes))

// A part of an image's memory that lasts from launch to launch: `__device__` and `__constant__` variables.
struct ImageSection {
  std::string name;
  std::uint64_t bytes = 0;
  std::vector<ImageSymbol> symbols;  // at least one, by offset
};
BOOST_DESCRIBE_STRUCT(ImageSection, (), (name, bytes, symbols))

// Device code ready to be loaded. `image` is a cubin, or the bytes of a shared object for the cpu device.
struct CompiledProgram {
  std::string image;
  std::string ptx;                          // empty on the cpu device
  std::vector<CompiledKernel> kernels;      // as in CompilerInput::kernel_expressions
  std::vector<ImageSection> sections;       // all memory of the image that lasts from launch to launch; empty on the cpu device
  std::vector<CompiledKernel> variables{};  // as in CompilerInput::variables
  // Where sizes are compiled in (evo:size): the values of their macros in this image, and the same source with other values. A
  // launch at other sizes than those of its image would be wrong.
  std::map<std::string, std::int64_t> sizes{};
  std::vector<CompiledProgram> others{};  // these have no others
};

struct CompileResult {
  Outcome outcome = Outcome::kCompileError;  // kOk, kCompileError, kResourceLimit, kUnsupported or kCheating (reads the clock)
  std::string message;                       // the first error, one line; empty if ok
  std::string log;                           // the compiler's output, at most 16 KiB
  CompiledProgram program;                   // set if ok
  CompiledProgram checked;                   // the same program with every access checked; only on the cpu device
  KernelFacts facts;                         // what the compiler reports; -1 for what it does not
  std::string program_digest;                // of the image and its launches: programs with equal digests do the same work
  bool machine_failed = false;               // the machine could not compile it: nothing is said of the source; not ok then
};

// What the user gets of a kernel: the exported file, and a file beside it that includes it and launches its kernels.
struct ExportedKernel {
  std::string kernel_file;           // its name, without a folder: "kernel.cu"
  std::string kernel;                // its text
  std::string host;                  // the text of the other
  std::vector<std::string> options;  // of nvcc, as the files say them: "-std=c++17", "-arch=sm_80"
};
BOOST_DESCRIBE_STRUCT(ExportedKernel, (), (kernel_file, kernel, host, options))

// Compiles candidates. A compile worker keeps one for its whole life, so that it stays warm. Compile never throws for a bad
// candidate; it throws Error if the tool chain itself is missing, DiskFull if there is no room for its files.
class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual CompileResult Compile(const CompilerInput& request) = 0;
};

}  // namespace evo
