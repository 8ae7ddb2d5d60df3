// Our own kernels, as far as they can be looked at without a GPU.
#include <gtest/gtest.h>

#include "evaluator/device/cuda/support_kernel_source.h"
#include "tests/cuda_device/nvrtc_bench.h"

namespace evo {
namespace {

TEST_F(NvrtcCompilerTest, OurOwnKernelsCompile) {
  for (const char* arch : {"sm_80", "sm_90a"}) {
    const CompileResult result = Compile(SupportKernelSource(), SupportKernelNames(), arch);
    ASSERT_EQ(result.outcome, Outcome::kOk) << arch << ": " << result.message << result.log;
    EXPECT_EQ(result.program.kernels.size(), SupportKernelNames().size());
  }
}

// A kernel that left out bytes between the arrays of two threads would leave there what a candidate has written.
TEST_F(NvrtcCompilerTest, Row30TheArraysThatScrubLocalMemoryAreAllThatAThreadHas) {
  for (const std::uint32_t bytes : kLocalScrubBytes) {
    const CompileResult result = Compile(SupportKernelSource(), {fmt::format("evo_scrub_local_{}", bytes)});
    ASSERT_EQ(result.outcome, Outcome::kOk) << result.message << result.log;
    EXPECT_EQ(result.facts.local_bytes, static_cast<int>(bytes));
    EXPECT_EQ(result.facts.spill_bytes, 0);
    EXPECT_LE(result.facts.registers, 32) << "or a multiprocessor cannot be filled";
    // The compiler has not left out the stores, nor what keeps the assembler from it.
    const std::size_t entry = result.program.ptx.find(fmt::format(".entry evo_scrub_local_{}(", bytes));
    ASSERT_NE(entry, std::string::npos);
    const std::size_t store = result.program.ptx.find("st.local", entry);
    EXPECT_NE(store, std::string::npos);
    EXPECT_NE(result.program.ptx.find("ld.local", store), std::string::npos);
  }
}

}  // namespace
}  // namespace evo
