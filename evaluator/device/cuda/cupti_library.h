#pragma once

#include <cupti.h>

#include <filesystem>

#include "platform/shared_library.h"

namespace evo {

// CUPTI, opened at run time. Throws Error where it is missing.
class CuptiLibrary {
 public:
  explicit CuptiLibrary(const std::filesystem::path& cuda_root);

  // Throws Error if this CUPTI has no such function.
  template <typename Function>
  void Resolve(Function& into, const char* name) const {
    library_.Resolve(into, name);
  }
  // Throws Error unless the call went well; says what to do.
  void Require(CUptiResult result, const char* call) const;

 private:
  SharedLibrary library_;
  decltype(&cuptiGetResultString) get_result_string_ = nullptr;
};

}  // namespace evo
