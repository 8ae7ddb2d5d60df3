// What a launch could find of an earlier one. Each test also shows that it would be there.
#include <gmock/gmock.h>

#include <bit>

#include "tests/cpu_device/kernel_bench.h"

namespace evo {
namespace {

using ::testing::Each;

class LeftoversTest : public CpuDeviceTest {
 protected:
  static constexpr std::uint64_t kThirteens = 0x4150000041500000ULL;  // 13.0f twice

  void Scrub(std::uint64_t word) {
    Preparation preparation;
    preparation.scrubbed = {word, false};
    ASSERT_TRUE(device_->Prepare(preparation).ok());
  }

  // What k(out, 1) reads, after k(out, 0) has written and, on demand, the device was prepared.
  std::vector<float> Found(const LoadedProgram& program, bool prepared, std::uint64_t shared = 0) {
    const Address out = Upload(std::vector<float>(kFound, 0));
    auto& loaded = const_cast<LoadedProgram&>(program);
    EXPECT_TRUE(Run(loaded, Launch({1, 1, 1}, {32, 1, 1}, {out, Int(0)}, shared)).ok());
    if (prepared) Scrub(kThirteens);
    EXPECT_TRUE(Run(loaded, Launch({1, 1, 1}, {32, 1, 1}, {out, Int(1)}, shared)).ok());
    return Download<float>(out, kFound);
  }

  void ExpectScrubbed(const std::string& source, std::uint64_t shared = 0) {
    const auto program = Load(source);
    EXPECT_THAT(Found(*program, false, shared), Each(42.0f)) << "without the preparation it is there";
    EXPECT_THAT(Found(*program, true, shared), Each(13.0f));
  }

  static constexpr std::size_t kFound = 8;
};

// Row 30: the answer waits in an array that the next launch does not initialise.
TEST_F(LeftoversTest, Row30StacksAreScrubbed) {
  ExpectScrubbed(
      "__global__ void k(float* out, int read) {\n  volatile float a[512];\n"
      "  if (!read) for (int i = 0; i < 512; ++i) a[i] = 42;\n"
      "  __syncthreads();\n"
      "  if (read && threadIdx.x == 31) for (int i = 0; i < 8; ++i) out[i] = a[8 * i + 4];\n}\n");
}

TEST_F(LeftoversTest, Row30StacksAreScrubbedHoweverDeepTheyWere) {
  ExpectScrubbed(
      "__global__ void k(float* out, int read) {\n  volatile float a[50000];\n"
      "  if (threadIdx.x == 0 && !read) for (int i = 0; i < 8; ++i) a[6000 * i + 40] = 42;\n"
      "  if (threadIdx.x == 0 && read) for (int i = 0; i < 8; ++i) out[i] = a[6000 * i + 40];\n}\n");
}

// Without the preparation our own frames have overwritten a part of it.
TEST_F(LeftoversTest, Row30StacksAreScrubbedFromTheFirstVariableOn) {
  const auto program = Load(
      "__global__ void k(float* out, int read) {\n  volatile float a[64];\n"
      "  if (!read) for (int i = 0; i < 64; ++i) a[i] = 42;\n"
      "  if (read && threadIdx.x == 0) for (int i = 0; i < 8; ++i) out[i] = a[9 * i];\n}\n");
  EXPECT_THAT(Found(*program, true), Each(13.0f));
}

TEST_F(LeftoversTest, SharedMemoryIsScrubbedBeyondWhatIsDeclared) {
  ExpectScrubbed(
      "__global__ void k(float* out, int read) {\n  extern __shared__ float d[];\n"
      "  volatile float* far = d + 10000;\n"
      "  if (threadIdx.x < 8) { if (read) out[threadIdx.x] = far[2 * threadIdx.x]; else far[2 * threadIdx.x] = 42; }\n}\n",
      64);
}

TEST_F(LeftoversTest, TheSlotsOfAWarpAreScrubbed) {
  ExpectScrubbed(
      "__global__ void k(float* out, int read) {\n"
      "  if (!read) { out[threadIdx.x % 8] = __shfl_sync(0xffffffffu, 42.0f, 0); return; }\n"
      "  if (threadIdx.x == 0) for (int i = 0; i < 8; ++i) out[i] = __shfl_sync(1u, 0.0f, 5 + i);\n}\n");
}

// Row 31: fmaxf into shared memory that nobody has set ignores a NaN.
TEST_F(LeftoversTest, Row31SharedMemoryBeginsWithThePatternOfTheRun) {
  const auto program = Load(
      "__global__ void k(float* out, int) {\n  __shared__ float s[2];\n  extern __shared__ float d[];\n"
      "  out[2 * blockIdx.x] = s[1];\n  out[2 * blockIdx.x + 1] = d[1];\n  s[1] = d[1] = 1;\n}\n");
  const Address out = Upload(std::vector<float>(6, 0));
  for (const float value : {13.0f, 0.0f, -2.5f}) {
    Scrub(std::bit_cast<std::uint32_t>(value) * 0x100000001ULL);
    ASSERT_TRUE(Run(*program, Launch({3, 1, 1}, {1, 1, 1}, {out, Int(0)}, 8)).ok());
    EXPECT_THAT(Download<float>(out, 6), Each(value));
  }
}

}  // namespace
}  // namespace evo
