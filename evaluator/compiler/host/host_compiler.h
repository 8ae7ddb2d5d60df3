#pragma once

#include <filesystem>
#include <string>

#include "evaluator/compiler/compiler.h"

namespace evo {

struct HostCompilerPaths {
  std::filesystem::path compiler = "g++";
  std::filesystem::path cpu_headers;   // what a kernel sees on the cpu device
  std::filesystem::path cuda_include;  // the toolkit's types
  std::filesystem::path scratch;       // a private folder, made and removed by the compiler object
};

// Compiles kernels for the cpu device with g++, as shared objects. Options are fixed: -O2 -march=native, no fast-math. The
// prelude is precompiled once for each mode. A checked program's accesses each call the device: g++'s -fsanitize=thread makes the
// calls (unlike -fsanitize=address it never leaves out a store behind a load of the same place) and the prelude has the
// functions; no sanitizer library.
class HostCompiler : public Compiler {
 public:
  // Throws Error when the host compiler does not work.
  explicit HostCompiler(HostCompilerPaths paths);
  ~HostCompiler() override;
  CompileResult Compile(const CompilerInput& request) override;

 private:
  std::vector<std::string> Options(bool checked) const;
  // The header to include first, precompiled when it is first asked for.
  std::filesystem::path Prelude(bool checked);

  HostCompilerPaths paths_;
};

// The first error of g++'s output as "line 12: message"; paths of the scratch folder are cut from the log.
std::string FirstHostError(const std::string& log);

}  // namespace evo
