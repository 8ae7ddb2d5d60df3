#pragma once

#include <filesystem>
#include <string>

#include "evaluator/compiler/compiler.h"

namespace evo {

struct HostCompilerPaths {
  std::filesystem::path compiler = "g++";
  std::filesystem::path cpu_headers;   // the headers that a kernel includes on the cpu device
  std::filesystem::path cuda_include;  // the toolkit's headers, for its types
  std::filesystem::path scratch;       // a private folder, which the compiler object creates and removes
  std::filesystem::path cache;         // where precompiled headers are kept for later processes; empty: nowhere
};

// Compiles kernels for the cpu device with g++, as shared objects, with fixed options: -O2 -march=native and no fast-math. The
// prelude is precompiled for each mode (prelude_cache.h). In a checked program every access calls the device: g++'s
// -fsanitize=thread inserts the calls, since unlike -fsanitize=address it never omits a store that follows a load of the same
// address, and the prelude defines the functions. No sanitizer library is linked.
class HostCompiler : public Compiler {
 public:
  // Throws Error if the host compiler does not work.
  explicit HostCompiler(HostCompilerPaths paths);
  ~HostCompiler() override;
  CompileResult Compile(const CompilerInput& request) override;

 private:
  std::vector<std::string> Options(bool checked) const;

  HostCompilerPaths paths_;
  std::filesystem::path prelude_, checked_prelude_;  // the header that every program includes first
};

// What to do where the compiler is absent.
inline constexpr char kHostCompilerRemedy[] = "the cpu device needs it: apt-get install g++";

// The first error in g++'s output, as "line 12: message".
std::string FirstHostError(const std::string& log);

}  // namespace evo
