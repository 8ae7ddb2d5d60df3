#include "evaluator/device/cuda/source_lines.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/cuda_device/nvrtc_bench.h"

namespace evo {
namespace {

using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

constexpr const char* kSource = R"(#include <cuda_fp16.h>
extern "C" __global__ void k(const float* a, float* b, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 256)
    sum += a[i];
  b[threadIdx.x] = sqrtf(sum);
}
)";

class SourceLinesTest : public NvrtcCompilerTest {
 protected:
  static CompileResult Compiled(bool line_info) {
    CompilerInput input{kSource, {"k"}, "sm_90a"};
    input.line_info = line_info;
    return compiler_->Compile(input);
  }
  std::set<int> LinesIn(const std::string& image) const {
    SourceLines lines(cupti_, image);
    std::set<int> found;
    for (std::uint64_t offset = 0; offset < 0x800; offset += 16) found.insert(lines.Of("k", offset));
    return found;
  }

  CuptiLibrary cupti_{CudaRoot().value()};
};

TEST_F(SourceLinesTest, AreThoseOfTheSource) {
  const CompileResult result = Compiled(true);
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  EXPECT_THAT(LinesIn(result.program.image), IsSupersetOf({4, 5, 6}));
  SourceLines lines(cupti_, result.program.image);
  EXPECT_EQ(lines.Of("no_such_function", 0), 0);
}

TEST_F(SourceLinesTest, AreNotKnownUnlessAskedFor) {
  const CompileResult result = Compiled(false);
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  EXPECT_THAT(LinesIn(result.program.image), UnorderedElementsAre(0));
}

TEST_F(SourceLinesTest, DoNotChangeTheMachineCode) {
  const CompileResult with = Compiled(true), without = Compiled(false);
  EXPECT_EQ(with.facts.registers, without.facts.registers);
  EXPECT_GT(with.facts.mix.instructions, 0);
  EXPECT_EQ(with.facts.mix.instructions, without.facts.mix.instructions);
}

}  // namespace
}  // namespace evo
