// The program of the adversarial kernels on a machine without a GPU, or with every GPU hidden.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "platform/command.h"
#include "platform/installation.h"

namespace evo {
namespace {

TEST(AdversarialKernelsWithoutGpu, ExitWithOneLineThatSaysWhatIsMissing) {
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  const CommandResult result = RunCommand(ProgramDirectory() / "adversarial_kernels_test", {"--device=cuda"}, "build it");
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_THAT(result.output, ::testing::MatchesRegex("adversarial_kernels_test --device=cuda: [^\n]+ use --device cpu\n"));
}

}  // namespace
}  // namespace evo
