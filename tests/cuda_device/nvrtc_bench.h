#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "evaluator/compiler/nvrtc/nvrtc_compiler.h"
#include "platform/installation.h"

namespace evo {

class NvrtcCompilerTest : public ::testing::Test {
 protected:
  static std::filesystem::path Folder() {
    return std::filesystem::temp_directory_path() / fmt::format("evo_nvrtc_test_{}", ::getpid());
  }

  static NvrtcPaths Paths() { return {CudaRoot().value(), ShareDirectory() / "nvrtc", Folder(), {}}; }

  // One compiler for all tests of a suite, as in a worker.
  static void SetUpTestSuite() { compiler_ = std::make_unique<NvrtcCompiler>(Paths()); }
  static void TearDownTestSuite() {
    compiler_.reset();
    EXPECT_FALSE(std::filesystem::exists(Folder())) << "the destructor removes the precompiled headers";
  }

  static CompileResult Compile(const std::string& source, const std::vector<std::string>& kernels = {"k"},
                               const std::string& arch = "sm_90a") {
    return compiler_->Compile({source, kernels, arch});
  }

  static std::size_t PrecompiledHeaders() {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(Folder()), std::filesystem::directory_iterator()));
  }

  static inline std::unique_ptr<NvrtcCompiler> compiler_;
};

}  // namespace evo
