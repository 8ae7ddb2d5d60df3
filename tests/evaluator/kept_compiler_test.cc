#include "evaluator/workers/kept_compiler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "platform/command.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

class CountingCompiler : public Compiler {
 public:
  CompileResult Compile(const CompilerInput& request) override {
    ++compiled;
    CompileResult result;
    result.outcome = outcome;
    result.program.image = "image of " + request.source + " for " + request.arch;
    result.program.ptx = "ptx";
    for (const std::string& kernel : request.kernel_expressions) result.program.kernels.push_back({kernel, "_" + kernel});
    result.program.sections = {{".nv.global", 8, {{"v", 0, 8}}}};
    result.facts.registers = 17;
    return result;
  }
  int compiled = 0;
  Outcome outcome = Outcome::kOk;
};

class KeptCompilerTest : public ::testing::Test {
 protected:
  KeptCompilerTest() { fs::create_directories(folder_); }
  ~KeptCompilerTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  CompileResult Compile(const CompilerInput& request, const std::string& made_by = "1") {
    return KeptCompiler(compiler_, made_by, folder_,
                        [&](std::string_view name, std::string_view contents) {
                          WriteFile(folder_ / name, std::string(contents));
                          kept_ = name;
                        })
        .Compile(request);
  }

  const CompilerInput request_{"source", {"a", "b<2>"}, "sm_90a"};
  const fs::path folder_ = fs::temp_directory_path() / fmt::format("evo_kept_compiler_{}", ::getpid());
  CountingCompiler compiler_;
  std::string kept_;
};

TEST_F(KeptCompilerTest, ASecondProcessTakesWhatTheFirstHasKept) {
  const CompileResult first = Compile(request_);
  const CompileResult second = Compile(request_);
  EXPECT_EQ(compiler_.compiled, 1);
  for (const CompileResult* one : {&first, &second}) {
    EXPECT_EQ(one->outcome, Outcome::kOk);
    EXPECT_EQ(one->program.image, "image of source for sm_90a");
    EXPECT_EQ(one->program.ptx, "") << "the same whether it was kept or not";
    ASSERT_EQ(one->program.kernels.size(), 2U);
    EXPECT_EQ(one->program.kernels[1].symbol, "_b<2>");
    ASSERT_EQ(one->program.sections.size(), 1U);
    EXPECT_EQ(one->program.sections[0].symbols[0].name, "v");
    EXPECT_EQ(one->facts.registers, 17);
  }
}

TEST_F(KeptCompilerTest, WhateverDecidesWhatComesOutIsPartOfTheName) {
  Compile(request_);
  CompilerInput other = request_;
  other.source += " ";
  Compile(other);
  other = request_;
  other.arch = "sm_100a";
  EXPECT_EQ(Compile(other).program.image, "image of source for sm_100a");
  other = request_;
  other.kernel_expressions.pop_back();
  EXPECT_EQ(Compile(other).program.kernels.size(), 1U);
  Compile(request_, "another NVRTC");
  EXPECT_EQ(compiler_.compiled, 5);
}

TEST_F(KeptCompilerTest, ADamagedFileIsMadeAgain) {
  Compile(request_);
  const std::string whole = ReadFile(folder_ / kept_);
  std::string changed = whole;
  changed[whole.find("image of")] = 'I';
  int compiled = 1;
  for (const std::string& damaged :
       {std::string(), std::string("x"), whole.substr(0, 40), whole.substr(0, whole.size() - 1), whole + "x", changed}) {
    WriteFile(folder_ / kept_, damaged);
    EXPECT_EQ(Compile(request_).program.image, "image of source for sm_90a");
    EXPECT_EQ(compiler_.compiled, ++compiled) << damaged.size();
    EXPECT_EQ(ReadFile(folder_ / kept_), whole);
  }
}

TEST_F(KeptCompilerTest, WhatDoesNotCompileIsNotKept) {
  compiler_.outcome = Outcome::kCompileError;
  EXPECT_EQ(Compile(request_).outcome, Outcome::kCompileError);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(KeptCompilerTest, WithoutAFolderItCompiles) {
  for (int i = 1; i <= 2; ++i) {
    KeptCompiler kept(compiler_, "1", {}, [](std::string_view, std::string_view) { ADD_FAILURE(); });
    EXPECT_EQ(kept.Compile(request_).outcome, Outcome::kOk);
    EXPECT_EQ(compiler_.compiled, i);
  }
  const auto keep = [](std::string_view, std::string_view) {};
  EXPECT_EQ(KeptCompiler(compiler_, "1", folder_ / "missing", keep).Compile(request_).outcome, Outcome::kOk);
}

}  // namespace
}  // namespace evo
