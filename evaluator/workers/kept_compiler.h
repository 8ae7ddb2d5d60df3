#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "evaluator/compiler/compiler.h"

namespace evo {

// Compiles evo's own kernels, or takes what an earlier process has kept of them. Not for candidates.
class KeptCompiler : public Compiler {
 public:
  // Puts a file of that name into the folder, if it can.
  using Keep = std::function<void(std::string_view name, std::string_view contents)>;

  // `made_by`: all that decides what comes out, beside the input: versions and options. `folder`: of the user's own (OwnFolder);
  // empty: nothing is kept. `compiler` must outlive the object.
  KeptCompiler(Compiler& compiler, std::string made_by, std::filesystem::path folder, Keep keep);

  // The result has no PTX. Whatever is wrong with a kept file, the source is compiled.
  CompileResult Compile(const CompilerInput& request) override;

 private:
  std::string NameOf(const CompilerInput& request) const;

  Compiler& compiler_;
  std::string made_by_;
  std::filesystem::path folder_;
  Keep keep_;
};

}  // namespace evo
