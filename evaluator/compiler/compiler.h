#pragma once

#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/outcome.h"

namespace evo {

struct CompilerInput {
  std::string source;                           // a rendered .cu
  std::vector<std::string> kernel_expressions;  // what will be launched, in order, each once: "attention_split<BLOCK_M>"
  std::string arch;                             // "sm_90a"; the cpu device's compiler ignores it
  bool checked = false;  // cpu device: every access is checked as the program runs, which is slow; others ignore it
};

struct CompiledKernel {
  std::string expression;  // as asked for
  std::string symbol;      // its name in the image
};
BOOST_DESCRIBE_STRUCT(CompiledKernel, (), (expression, symbol))

// Device code ready to be loaded. `image` is a cubin, or the bytes of a shared object for the cpu device.
struct CompiledProgram {
  std::string image;
  std::string ptx;                      // empty on the cpu device
  std::vector<CompiledKernel> kernels;  // as in CompilerInput::kernel_expressions
  std::vector<std::string> variables;   // symbols of the image's own variables in global memory; empty on the cpu device
};

struct CompileResult {
  Outcome outcome = Outcome::kCompileError;  // kOk, kCompileError, kResourceLimit, kUnsupported or kCheating (reads the clock)
  std::string message;                       // the first error, one line; empty if ok
  std::string log;                           // the compiler's own words, at most 16 KiB
  CompiledProgram program;                   // set if ok
  CompiledProgram checked;                   // the same with every access checked; only on the cpu device
  KernelFacts facts;                         // what the compiler knows; -1 otherwise
  std::string program_digest;                // of the image and of how it is launched: equal ones do the same work
};

// Compiles candidates; kept for the life of a compile worker so that it stays warm. Never throws for a bad candidate; throws
// Error when the tool chain itself is missing.
class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual CompileResult Compile(const CompilerInput& request) = 0;
};

}  // namespace evo
