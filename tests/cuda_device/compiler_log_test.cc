#include "evaluator/compiler/nvrtc/compiler_log.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

CompileFailure Explain(const std::string& log) { return ExplainLog(log, "candidate.cu"); }

TEST(ExplainLog, TheFirstErrorWithItsLine) {
  const CompileFailure failure = Explain(
      "candidate.cu(3): warning: variable \"a\" was declared but never referenced\n"
      "candidate.cu(12): error: identifier \"nope\" is undefined\n    x[0] = nope;\n           ^\n"
      "candidate.cu(13): error: identifier \"y\" is undefined\n");
  EXPECT_EQ(failure.outcome, Outcome::kCompileError);
  EXPECT_EQ(failure.message, "line 12: identifier \"nope\" is undefined");
}

TEST(ExplainLog, OtherFilesAreNamedWithoutTheirFolder) {
  EXPECT_EQ(Explain("/opt/x/mma.h(56): catastrophic error: cannot open source file \"a.h\"\n").message,
            "mma.h line 56: cannot open source file \"a.h\"");
  EXPECT_EQ(Explain("__nv_name_map(2): error: identifier \"k2\" is undefined\n").message,
            "a kernel to be launched: identifier \"k2\" is undefined");
}

TEST(ExplainLog, PtxasLimitsAreResourceLimits) {
  const CompileFailure shared =
      Explain("ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x13880 bytes, 0xc000 max)\n");
  EXPECT_EQ(shared.outcome, Outcome::kResourceLimit);
  EXPECT_EQ(shared.message, "ptxas: Entry function '_Z1kPf' uses too much shared data (0x13880 bytes, 0xc000 max)");
  EXPECT_EQ(
      Explain(
          "ptxas info    : 0 bytes gmem\n ptxas error   : File uses too much global constant data (0x13880 bytes, 0x10000 max)\n")
          .outcome,
      Outcome::kResourceLimit);
}

// A kernel with wgmma whose __launch_bounds__ leave too few.
TEST(ExplainLog, TooFewRegistersAreAResourceLimit) {
  EXPECT_EQ(Explain("ptxas fatal   : (C7602) Insufficient registers (40) to compile instruction at line 385 in function _Z1k. "
                    "Try to compile with register target of 42 or higher.\n")
                .outcome,
            Outcome::kResourceLimit);
}

TEST(ExplainLog, WrongPtxIsACompileError) {
  const CompileFailure failure = Explain("ptxas application ptx input, line 23; error   : Unknown modifier '.foo'\n");
  EXPECT_EQ(failure.outcome, Outcome::kCompileError);
  EXPECT_EQ(failure.message, "ptxas: Unknown modifier '.foo'");
}

TEST(ExplainLog, SomethingElseIsStillAFailure) {
  EXPECT_EQ(Explain("").outcome, Outcome::kCompileError);
  EXPECT_FALSE(Explain("").message.empty());
  EXPECT_EQ(Explain("): error: ").outcome, Outcome::kCompileError);
}

constexpr char kReport[] =
    "ptxas info    : 4 bytes gmem\n"
    "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
    "ptxas info    : Function properties for a\n"
    "ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
    "ptxas info    : Used 10 registers, used 1 barriers, 128 bytes smem\n"
    "ptxas info    : Compiling entry function 'b' for 'sm_90a'\n"
    "ptxas info    : Function properties for b\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 0 barriers\n";

TEST(PtxasReport, LargestOverTheKernelsAskedFor) {
  const KernelFacts both = ReadPtxasReport(kReport, {"a", "b"});
  EXPECT_EQ(both.registers, 255);
  EXPECT_EQ(both.static_shared_bytes, 128);
  EXPECT_EQ(both.local_bytes, 16);
  EXPECT_EQ(both.spill_bytes, 20);
  const KernelFacts one = ReadPtxasReport(kReport, {"b"});
  EXPECT_EQ(one.registers, 255);
  EXPECT_EQ(one.static_shared_bytes, 0);
  EXPECT_EQ(one.spill_bytes, 0);
  EXPECT_EQ(ReadPtxasReport(kReport, {"c"}).registers, -1);
  EXPECT_EQ(ReadPtxasReport("", {"a"}).local_bytes, -1);
}

TEST(CapLog, KeepsTheBeginning) {
  EXPECT_EQ(CapLog("short", 1024), "short");
  const std::string capped = CapLog("first" + std::string(5000, 'x'), 1024);
  EXPECT_LE(capped.size(), 1024u);
  EXPECT_EQ(capped.substr(0, 5), "first");
  EXPECT_NE(capped.find("bytes more]"), std::string::npos);
}

}  // namespace
}  // namespace evo
