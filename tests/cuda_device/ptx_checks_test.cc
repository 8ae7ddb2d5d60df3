#include "evaluator/compiler/nvrtc/ptx_checks.h"

#include <gtest/gtest.h>

namespace evo {
namespace {

std::string Kernel(const std::string& body) {
  return ".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n" + body + "\n\tret;\n}\n";
}

TEST(PtxChecks, AnHonestKernelPasses) {
  EXPECT_FALSE(CheckPtx(Kernel("\tmov.u32 %r1, %tid.x;\n\tadd.s32 %r2, %r1, %ctaid.x;")));
  EXPECT_FALSE(CheckPtx(""));
}

TEST(PtxChecks, EveryClockIsCheating) {
  for (const char* name :
       {"%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%pm0", "%pm3_64"}) {
    const auto objection = CheckPtx(Kernel(std::string("\tmov.u64 %rd1,") + name + ";"));
    ASSERT_TRUE(objection) << name;
    EXPECT_EQ(objection->outcome, Outcome::kCheating);
    EXPECT_NE(objection->message.find(name), std::string::npos) << objection->message;
  }
  EXPECT_EQ(CheckPtx(Kernel("\tmov.u64 %rd1, %clock64;"))->message, "reads the clock (%clock64)");
}

TEST(PtxChecks, CommentsAndStringsDoNotCount) {
  EXPECT_FALSE(CheckPtx(Kernel("\t// mov.u64 %rd1, %clock64;\n\tmov.u32 %r1, 0;")));
  EXPECT_FALSE(CheckPtx(Kernel("\t/* %clock64 */ mov.u32 %r1, 0;")));
  EXPECT_FALSE(CheckPtx(".file 1 \"%clock64.cu\"\n" + Kernel("")));
  // What follows a comment counts again.
  EXPECT_TRUE(CheckPtx(Kernel("\t/* a */ mov.u64 %rd1, %clock64; // b")));
  EXPECT_TRUE(CheckPtx(Kernel("\t/*/ %r /*/ mov.u64 %rd1, %clock64;")));
}

TEST(PtxChecks, LaunchingFromTheDeviceIsCheating) {
  const auto objection = CheckPtx(".extern .func (.param .b32 r) cudaLaunchDeviceV2\n(\n);\n" + Kernel(""));
  ASSERT_TRUE(objection);
  EXPECT_EQ(objection->outcome, Outcome::kCheating);
  EXPECT_TRUE(CheckPtx(Kernel("\tcall.uni (r), cudaGraphLaunch, (p);")));
}

TEST(PtxChecks, AllocatingIsUnsupported) {
  const auto objection =
      CheckPtx(".extern .func  (.param .b64 func_retval0) malloc\n(\n\t.param .b64 malloc_param_0\n)\n;\n" + Kernel(""));
  ASSERT_TRUE(objection);
  EXPECT_EQ(objection->outcome, Outcome::kUnsupported);
  // A longer name is another name.
  EXPECT_FALSE(CheckPtx(Kernel("\tcall.uni my_malloc_free, ();")));
}

TEST(PtxChecks, EntryNamesAreTheKernels) {
  const std::string ptx = ".func helper(\n)\n{ ret; }\n" + Kernel("") + ".entry _Z1kILi32EEvPf()\n{ ret; }\n// .entry ghost\n";
  EXPECT_EQ(EntryNames(ptx), (std::vector<std::string>{"k", "_Z1kILi32EEvPf"}));
}

TEST(CheckPtx, RefusesToCountLaunches) {
  const auto objection = CheckPtx("mov.u64 %rd1, %gridid;");
  ASSERT_TRUE(objection);
  EXPECT_EQ(objection->outcome, Outcome::kCheating);
}

TEST(PtxChecks, VariablesWithinFunctionsAreUnsupported) {
  for (const char* body : {"\t.global .align 4 .u32 x;", "\t{ .const .u32 x = 3; }",
                           "\t// begin inline asm\n\t.shared .align 4 .b8 x[64];\n\t// end inline asm"}) {
    const auto objection = CheckPtx(Kernel(body));
    ASSERT_TRUE(objection) << body;
    EXPECT_EQ(objection->outcome, Outcome::kUnsupported);
    EXPECT_NE(objection->message.find("declares the variable x"), std::string::npos) << objection->message;
  }
  EXPECT_TRUE(CheckPtx(".global .align 4 .u32 _ZZ1kPfE5calls;\n" + Kernel("")));
  EXPECT_TRUE(CheckPtx("// begin inline asm\n.global .u32 x;\n// end inline asm\n"));
  // Shared memory and registers are declared within functions by the compiler itself.
  EXPECT_FALSE(CheckPtx(Kernel("\t.shared .align 4 .b8 _ZZ1kPfE4tile[64];\n\t.reg .b32 %r<3>;\n\tld.global.u32 %r1, [%rd1];")));
  EXPECT_FALSE(CheckPtx(".global .align 4 .b8 table[8] = {1, 2};\n" + Kernel("")));
}

TEST(PtxChecks, WhatIsNotDefinedIsUnsupported) {
  const auto objection = CheckPtx(".extern .func (.param .b32 func_retval0) pthread_create\n(\n);\n" + Kernel(""));
  ASSERT_TRUE(objection);
  EXPECT_EQ(objection->message, "calls pthread_create, which it does not define");
  EXPECT_EQ(CheckPtx(".extern .func puts\n(\n);\n")->message, "calls puts, which it does not define");
  EXPECT_TRUE(CheckPtx(".extern .global .align 4 .u32 x;\n" + Kernel("")));
  EXPECT_FALSE(CheckPtx(".extern .func  (.param .b32 func_retval0) vprintf\n(\n);\n.extern .shared .b8 s[];\n" + Kernel("")));
}

TEST(VariableNames, AreThoseOfGlobalAndConstantMemory) {
  const std::string ptx =
      ".visible .global .align 4 .u32 counter;\n.global .align 8 .b8 table[16] = {1, 2};\n.const .align 4 .f32 scale;\n"
      ".visible .entry k(.param .u64 .ptr .global .align 16 k_param_0)\n{ .shared .align 4 .b8 tile[64]; ld.global.f32 %f1, "
      "[%rd1]; }\n";
  EXPECT_EQ(VariableNames(ptx), (std::vector<std::string>{"counter", "table", "scale"}));
  EXPECT_TRUE(VariableNames("").empty());
}

}  // namespace
}  // namespace evo
