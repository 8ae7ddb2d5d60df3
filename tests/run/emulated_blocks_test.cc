// Row 33 of docs/hazards.md, for champions of a GPU.
#include "evaluator/scheduling/emulated_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_templates/kernel_template.h"
#include "kernel_templates/task.h"
#include "platform/installation.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

ToolResult Sample(const std::string& body, const std::string& worker = "evo-worker") {
  const Task task = LoadTask(ShareDirectory() / "kernel_templates" / "row_sum");
  const std::string source =
      "// evo:launch k(X, Y, ROWS, COLS) grid(ROWS) block(32)\n"
      "__global__ void k(const float* x, float* y, int rows, int columns) {\n"
      "  const int row = blockIdx.x;\n  const int lane = threadIdx.x;\n" +
      body +
      "  float sum = 0;\n"
      "  for (int c = lane; c < columns; c += 32) sum += x[row * columns + c];\n"
      "  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);\n"
      "  if (lane == 0) y[row] = sum;\n}\n";
  return SampleEmulatedBlocks({(ProgramDirectory() / "../bin" / worker).string()}, task, source, "sm_90a", 7, {});
}

TEST(EmulatedBlocks, AreCleanForAnHonestKernel) {
  const ToolResult result = Sample("");
  EXPECT_EQ(result.result, "clean") << result.message;
  EXPECT_THAT(result.message, HasSubstr("case r4096_c2048: "));
}

TEST(EmulatedBlocks, ShowABlockThatZeroesTheNextOnesPart) {
  const ToolResult result = Sample("  if (lane == 0 && row + 1 < rows) y[row + 1] = 0;\n");
  EXPECT_EQ(result.result, "error");
  EXPECT_THAT(result.message, HasSubstr("race in global memory"));
}

TEST(EmulatedBlocks, ShowAnAccessOutsideAtTheTimedSizeOnly) {
  const ToolResult result = Sample("  if (rows == 4096 && row == 4095) y[row + 1] = 0;\n");
  EXPECT_EQ(result.result, "error");
  EXPECT_THAT(result.message, HasSubstr("writes 4 bytes"));
}

TEST(EmulatedBlocks, ShowATrapAtTheTimedSizeWithItsPlace) {
  const ToolResult result = Sample("  if (rows == 4096 && row == 4095) __trap();\n");
  EXPECT_EQ(result.result, "crash") << result.message;
  EXPECT_THAT(result.message, HasSubstr("case r4096_c2048: k: "));
}

TEST(EmulatedBlocks, SayWhatTheEmulationLacks) {
  const ToolResult result = Sample("  asm volatile(\"bar.sync 0;\");\n");
  EXPECT_EQ(result.result, "unsupported");
  EXPECT_THAT(result.message, HasSubstr("PTX"));
}

TEST(EmulatedBlocks, AreMissingWithoutWorkers) { EXPECT_EQ(Sample("", "no-such-worker").result, "missing"); }

}  // namespace
}  // namespace evo
