// Faults that show at the timed size only: rows 33 and 34 of docs/hazards.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluator/session/block_check.h"
#include "tests/cpu_device/kernel_bench.h"

namespace evo {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class SampledBlocksTest : public CpuDeviceTest {
 protected:
  // k(const float* a, float* b, int n) over two buffers of n floats, 64 threads a block.
  SampledBlocks Sample(const std::string& body, int n, unsigned blocks, milliseconds most = milliseconds(2000)) {
    const auto program = LoadOnNewDevice(
        "__global__ void k(const float* a, float* b, int n) {\n  const int t = threadIdx.x;\n"
        "  const int i = blockIdx.x * 64 + t;\n" +
        body + "}\n");
    const Address a = Upload(std::vector<float>(static_cast<std::size_t>(n), 1));
    const Address b = Upload(std::vector<float>(static_cast<std::size_t>(n), 0));
    return Finish(program, {Launch({blocks, 1, 1}, {64, 1, 1}, {a, b, Int(n)})}, {0, 5, most});
  }

  LoadedProgram* LoadOnNewDevice(const std::string& source) {
    device_ = MakeCpuDevice();
    return Load(source, "k", true).release();
  }

  // After a fault neither can be destroyed.
  SampledBlocks Finish(LoadedProgram* program, const Sequence& sequence, const BlockSample& sample) {
    SampledBlocks sampled = device_->RunBlocks(*program, sequence, sample);
    if (sampled.status.sticky)
      static_cast<void>(device_.release());
    else
      delete program;
    return sampled;
  }
};

TEST_F(SampledBlocksTest, FindsABarrierThatIsMissingAtTheTimedSizeOnly) {
  const std::string missing =
      "  __shared__ float s[64];\n  s[t] = a[i];\n  if (n <= 4096) __syncthreads();\n  b[i] = s[63 - t];\n";
  EXPECT_TRUE(Sample(missing, 4096, 64).status.ok());
  const SampledBlocks found = Sample(missing, 8192, 128);
  EXPECT_EQ(found.status.outcome, Outcome::kNondeterministic);
  EXPECT_THAT(found.status.message, HasSubstr("race in shared memory"));
  const SampledBlocks twin =
      Sample("  __shared__ float s[64];\n  s[t] = a[i];\n  __syncthreads();\n  b[i] = s[63 - t];\n", 8192, 128);
  EXPECT_TRUE(twin.status.ok()) << twin.status.message;
  EXPECT_EQ(twin.run, 128U) << "all of them, since there was time";
  EXPECT_EQ(twin.all, 128U);
}

TEST_F(SampledBlocksTest, FindsASyncwarpThatIsMissingAtTheTimedSizeOnly) {
  const std::string missing =
      "  __shared__ volatile float s[64];\n  s[t] = a[i];\n  if (gridDim.x < 100) __syncwarp();\n  b[i] = s[t ^ 1];\n";
  EXPECT_TRUE(Sample(missing, 4096, 64).status.ok());
  EXPECT_EQ(Sample(missing, 8192, 128).status.outcome, Outcome::kNondeterministic);
  EXPECT_TRUE(
      Sample("  __shared__ volatile float s[64];\n  s[t] = a[i];\n  __syncwarp();\n  b[i] = s[t ^ 1];\n", 8192, 128).status.ok());
}

TEST_F(SampledBlocksTest, FindsAnAccessThatIsOutOfBoundsInTheLastBlockOnly) {
  const SampledBlocks found = Sample("  b[i] = a[i + 1];\n", 64 * 4096, 4096, milliseconds(1));
  EXPECT_EQ(found.status.outcome, Outcome::kCheating);
  EXPECT_THAT(found.status.message, HasSubstr("reads 4 bytes"));
  const SampledBlocks twin = Sample("  b[i] = a[i + 1 < n ? i + 1 : 0];\n", 64 * 4096, 4096, milliseconds(1));
  EXPECT_TRUE(twin.status.ok()) << twin.status.message;
  EXPECT_LT(twin.run, 4096U) << "its time was over";
  EXPECT_GE(twin.run, 4U);
}

// Row 33: right only if blocks run in order.
TEST_F(SampledBlocksTest, FindsABlockThatPreparesItsNeighboursPart) {
  const std::string ahead =
      "  if (i + 64 < n) b[i + 64] = 0;\n  if (blockIdx.x == 0) b[i] = 0;\n  __syncthreads();\n  b[i] += a[i];\n";
  const SampledBlocks found = Sample(ahead, 64 * 4096, 4096, milliseconds(1));
  EXPECT_EQ(found.status.outcome, Outcome::kNondeterministic);
  EXPECT_THAT(found.status.message, HasSubstr("by two blocks"));
  EXPECT_TRUE(Sample("  b[i] = 0;\n  __syncthreads();\n  b[i] += a[i];\n", 64 * 4096, 4096, milliseconds(1)).status.ok());
}

TEST_F(SampledBlocksTest, ABlockThatDoesNotEndIsStopped) {
  const SampledBlocks stopped = Sample("  for (;;) b[i] += a[i];\n", 4096, 64, milliseconds(10));
  EXPECT_EQ(stopped.status.outcome, Outcome::kTimeout);
  EXPECT_TRUE(stopped.status.sticky);
}

constexpr const char* kTask = R"json({
  "name": "shifted", "summary": "y[i] = x[p[i]]", "sizes": ["N"],
  "arguments": [
    {"name": "x", "role": "in", "dtype": "f32", "shape": ["N"], "generators": ["normal"]},
    {"name": "p", "role": "in", "dtype": "i32", "shape": ["N"], "generators": ["permutation"]},
    {"name": "y", "role": "out", "dtype": "f32", "shape": ["N"], "check": {"l2": 1e-6, "max": 1e-5}}
  ],
  "cases": {
    "small": {"name": "small", "sizes": {"N": 256}},
    "search": [{"name": "gpu", "sizes": {"N": 1048576}}], "search_cpu": [{"name": "timed", "sizes": {"N": 8192}}],
    "held_out": [{"name": "c", "sizes": {"N": 512}}], "held_out_cpu": [{"name": "d", "sizes": {"N": 512}}]
  },
  "baseline": "k", "bytes": "8 * N", "operations": "N"
})json";

class BlockCheckTest : public CpuDeviceTest {
 protected:
  static Task MakeTask() { return ParseTask(kTask, "// evo:launch k(x, p, y, N) grid(N / 256) block(256)\n", "shifted"); }

  std::optional<Failure> Check(const std::string& source, const std::vector<std::string>& kernels,
                               const std::vector<Case>& cases) {
    device_ = MakeCpuDevice();
    CompileResult compiled = compiler_->Compile({source, kernels, "", true});
    EXPECT_EQ(compiled.outcome, Outcome::kOk) << compiled.message;
    BlockCheck check(*device_, task_, 3, milliseconds(2000));
    auto failure = check.Run({source, compiled.program}, cases);
    result_ = check.result();
    if (check.stopped()) static_cast<void>(device_.release());
    return failure;
  }

  Task task_ = MakeTask();
  ToolResult result_;
};

TEST_F(BlockCheckTest, RunsEveryLaunchAtTheTimedSize) {
  const std::string head =
      "// evo:workspace half f32 [N]\n// evo:launch one(x, p, half, N) grid(N / 256) block(256)\n"
      "// evo:launch two(half, y, N) grid(N / 256) block(256)\n"
      "__global__ void one(const float* x, const int* p, float* half, int n) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n  half[i] = x[p[i]];\n}\n";
  const auto honest = Check(head +
                                "__global__ void two(const float* half, float* y, int n) {\n  __shared__ float s[256];\n"
                                "  const int t = threadIdx.x;\n  s[t] = half[blockIdx.x * 256 + t];\n  __syncthreads();\n"
                                "  y[blockIdx.x * 256 + t] = s[t ^ 255];\n}\n",
                            {"one", "two"}, task_.search_cpu);
  EXPECT_FALSE(honest) << honest->message;
  EXPECT_EQ(result_.result, "clean");
  EXPECT_EQ(result_.message, "case timed: 32 of 32 blocks; case timed: 32 of 32 blocks");
  const auto racing = Check(head +
                                "__global__ void two(const float* half, float* y, int n) {\n  __shared__ float s[256];\n"
                                "  const int t = threadIdx.x;\n  s[t] = half[blockIdx.x * 256 + t];\n"
                                "  if (n < 1000) __syncthreads();\n  y[blockIdx.x * 256 + t] = s[t ^ 255];\n}\n",
                            {"one", "two"}, task_.search_cpu);
  ASSERT_TRUE(racing);
  EXPECT_EQ(racing->outcome, Outcome::kNondeterministic);
  EXPECT_THAT(racing->message, HasSubstr("case timed: two: "));
}

// The second launch follows the indices that the first has left, in a workspace and in a variable of the module.
TEST_F(BlockCheckTest, LaterLaunchesFindWhatEarlierOnesHaveDone) {
  const std::string source =
      "// evo:workspace order i32 [N]\n// evo:launch one(p, order, N) grid(N / 256) block(256)\n"
      "// evo:launch two(x, order, y, N) grid(N / 256) block(256)\n"
      "__device__ int first_of_all;\n"
      "__global__ void one(const int* p, int* order, int n) {\n  const int i = blockIdx.x * 256 + threadIdx.x;\n  order[i] = "
      "p[i];\n"
      "  if (i == 0) first_of_all = p[0] + 1;\n}\n"
      "__global__ void two(const float* x, const int* order, float* y, int n) {\n"
      "  const int i = blockIdx.x * 256 + threadIdx.x;\n  y[i] = x[order[i]] + x[first_of_all - 1];\n}\n";
  const auto failure = Check(source, {"one", "two"}, task_.search_cpu);
  EXPECT_FALSE(failure) << failure->message;
  EXPECT_EQ(result_.result, "clean");
}

TEST_F(BlockCheckTest, SizesOfAGpuAreSampled) {
  const std::string launch = "// evo:launch k(x, p, y, N) grid(N / 256) block(256)\n";
  const std::string head =
      "__global__ void k(const float* x, const int* p, float* y, int n) {\n  __shared__ float s[256];\n  const int t = "
      "threadIdx.x;\n"
      "  s[t] = x[p[blockIdx.x * 256 + t]];\n";
  const std::string tail = "  y[blockIdx.x * 256 + t] = s[t ^ 255];\n}\n";
  const auto honest = Check(launch + head + "  __syncthreads();\n" + tail, {"k"}, task_.search_cuda);
  EXPECT_FALSE(honest) << honest->message;
  EXPECT_THAT(result_.message, HasSubstr(" of 4096 blocks"));
  const auto racing = Check(launch + head + "  if (n < 1000000) __syncthreads();\n" + tail, {"k"}, task_.search_cuda);
  ASSERT_TRUE(racing);
  EXPECT_EQ(racing->outcome, Outcome::kNondeterministic);
}

}  // namespace
}  // namespace evo
