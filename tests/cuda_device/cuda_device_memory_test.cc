// Needs a GPU. Elsewhere the program starts and every test fails with what is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "evaluator/device/pattern.h"
#include "tests/cuda_device/cuda_device_bench.h"

namespace evo {
namespace {

using ::testing::Each;

constexpr std::uint64_t kThirteens = 0x4150000041500000ULL;  // 13.0f twice

std::vector<std::byte> Bytes(Device& device, Address address, std::size_t count) {
  std::vector<std::byte> bytes(count);
  EXPECT_TRUE(device.memory().Read(bytes, address).ok());
  return bytes;
}

// The program of one kernel, k.
std::unique_ptr<LoadedProgram> LoadOn(Device& device, Compiler& compiler, const std::string& source) {
  const CompileResult compiled = compiler.Compile({source, {"k"}, device.info().arch});
  EXPECT_EQ(compiled.outcome, Outcome::kOk) << compiled.message << compiled.log;
  LoadResult loaded = device.Load(compiled.program, 1);
  EXPECT_TRUE(loaded.status.ok()) << loaded.status.message;
  return std::move(loaded.program);
}

Preparation Scrubbing(std::uint64_t word) {
  Preparation preparation;
  preparation.scrubbed = {word, false};
  return preparation;
}

TEST_F(CudaDeviceTest, FillsAsTheHostDoes) {
  DeviceMemory& memory = device_->memory();
  const Address at = memory.Allocate(4096);
  for (const std::size_t offset : {0UL, 8UL, 3UL}) {
    for (const std::size_t bytes : {1UL, 8UL, 100UL, 2047UL}) {
      for (const bool random : {false, true}) {
        const DevicePattern pattern{0x0123456789abcdefULL, random};
        std::vector<std::byte> wanted(4096, std::byte{9});
        ASSERT_TRUE(memory.Write(at, wanted).ok());
        FillHere({reinterpret_cast<std::uint64_t>(wanted.data()) + offset, bytes, pattern});
        ASSERT_TRUE(memory.Poison({at + offset, bytes, pattern}).ok());
        EXPECT_EQ(Bytes(*device_, at, 4096), wanted) << offset << " " << bytes << " " << random;
        const Inspection same{Inspection::Kind::kPattern, at + offset, pattern.word, bytes, Dtype::kU8, !random};
        Inspection other = same;
        other.other ^= 1;
        const Inspected seen = device_->Inspect(std::vector<Inspection>{same, other});
        EXPECT_EQ(seen.results.at(0).different, 0U);
        EXPECT_GT(seen.results.at(1).different, 0U);
      }
    }
  }
  memory.Free(at);
}

TEST_F(CudaDeviceTest, WritesAnAnswerInEveryDtype) {
  DeviceMemory& memory = device_->memory();
  const std::vector<double> answer = {1.5, 2, 100, 0, 7.25, 3};
  const Address from = memory.Allocate(answer.size() * sizeof(double));
  const Address to = memory.Allocate(answer.size() * sizeof(double));
  ASSERT_TRUE(memory.Write(from, std::as_bytes(std::span(answer))).ok());
  for (const Dtype dtype : {Dtype::kF64, Dtype::kF32, Dtype::kF16, Dtype::kBF16, Dtype::kI64, Dtype::kI32, Dtype::kI16,
                            Dtype::kI8, Dtype::kU64, Dtype::kU32, Dtype::kU16, Dtype::kU8}) {
    std::vector<std::byte> wanted(answer.size() * ByteSize(dtype));
    FillHere({reinterpret_cast<std::uint64_t>(wanted.data()),
              wanted.size(),
              {},
              reinterpret_cast<std::uint64_t>(answer.data()),
              dtype});
    ASSERT_TRUE(memory.Poison({to, wanted.size(), {}, from, dtype}).ok());
    EXPECT_EQ(Bytes(*device_, to, wanted.size()), wanted) << ToString(dtype);
  }
}

// The answer waits in an array that the next launch does not initialise.
TEST_F(CudaDeviceTest, Row30LocalMemoryIsScrubbed) {
  constexpr int kThreads = 256;
  const auto blocks = static_cast<std::uint32_t>(8 * device_->info().multiprocessors);
  for (const int floats : {4, 16, 100, 1000, 5000}) {
    SCOPED_TRACE(floats);
    // ptxas keeps a small array in registers unless an index is unknown to it: `read` is 0 or 1.
    const auto program =
        LoadOn(*device_, *compiler_,
               fmt::format("extern \"C\" __global__ void __launch_bounds__({}) k(unsigned* found, int read) {{\n"
                           "  volatile float a[{}];\n  unsigned stale = 0, scrubbed = 0;\n"
                           "  for (int i = 0; i < {}; ++i) {{\n"
                           "    if (!read) {{ a[i + read / 2] = 42; continue; }}\n"
                           "    const float v = a[i + read / 2];\n    stale += v == 42.0f;\n    scrubbed += v == 13.0f;\n  }}\n"
                           "  atomicAdd(found, stale != 0);\n  atomicAdd(found + 1, scrubbed == {});\n}}\n",
                           kThreads, floats, floats, floats));
    const Address found = device_->memory().Allocate(8);
    const auto run = [&](int read) {
      const DeviceLaunch launch{
          0, {blocks, 1, 1}, {kThreads, 1, 1}, {0, 0, 0}, 0, false, {found, ScalarUse{Dtype::kI32, Number::Integer(read)}}};
      ASSERT_TRUE(device_->memory().Fill({found, 8, 0}).ok());
      const DeviceStatus status = device_->Run(*program, {launch}, 0);
      ASSERT_TRUE(status.ok()) << status.message;
    };
    for (int repeat = 0; repeat < 3; ++repeat) {
      run(0);
      ASSERT_TRUE(device_->Prepare(Scrubbing(kThirteens)).ok());
      run(1);
      std::vector<unsigned> counts(2);
      ASSERT_TRUE(device_->memory().Read(std::as_writable_bytes(std::span(counts)), found).ok());
      EXPECT_EQ(counts[0], 0U) << "threads that found what an earlier launch wrote";
      EXPECT_EQ(counts[1], blocks * kThreads) << "threads that found the pattern";
    }
    device_->memory().Free(found);
  }
}

TEST_F(CudaDeviceTest, Row30LocalMemoryIsScrubbedBeforeTimedLaunches) {
  const auto program =
      LoadOn(*device_, *compiler_,
             "extern \"C\" __global__ void k(float* out) {\n  volatile float a[64];\n  float v = 0;\n"
             "  for (int i = 0; i < 64; ++i) v += a[(i * 7 + threadIdx.x) % 64];\n  out[blockIdx.x * 256 + threadIdx.x] = v;\n"
             "  for (int i = 0; i < 64; ++i) a[i] = 42;\n}\n");
  const Address out = device_->memory().Allocate(256 * 256 * sizeof(float));
  TimedRun run{Scrubbing(kThirteens), {DeviceLaunch{0, {256, 1, 1}, {256, 1, 1}, {0, 0, 0}, 0, false, {out}}}};
  const TimedRuns timed = device_->Time(*program, std::vector<TimedRun>(5, run));
  ASSERT_TRUE(timed.status.ok()) << timed.status.message;
  std::vector<float> got(256 * 256);
  ASSERT_TRUE(device_->memory().Read(std::as_writable_bytes(std::span(got)), out).ok());
  EXPECT_THAT(got, Each(64 * 13.0f));
  device_->memory().Free(out);
}

TEST_F(CudaDeviceTest, Row31SharedMemoryHoldsThePatternOfTheRun) {
  const auto program = LoadOn(*device_, *compiler_,
                              "extern \"C\" __global__ void k(float* out) {\n  extern __shared__ float s[];\n"
                              "  out[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];\n  s[threadIdx.x] = 42;\n}\n");
  const Address out = device_->memory().Allocate(64 * 256 * sizeof(float));
  const DeviceLaunch launch{0, {64, 1, 1}, {256, 1, 1}, {0, 0, 0}, 1024, false, {out}};
  for (const float value : {13.0f, -2.5f}) {
    ASSERT_TRUE(device_->Prepare(Scrubbing(std::bit_cast<std::uint32_t>(value) * 0x100000001ULL)).ok());
    ASSERT_TRUE(device_->Run(*program, {launch}, 0).ok());
    std::vector<float> got(64 * 256);
    ASSERT_TRUE(device_->memory().Read(std::as_writable_bytes(std::span(got)), out).ok());
    EXPECT_THAT(got, Each(value));
  }
  device_->memory().Free(out);
}

TEST_F(CudaDeviceTest, Row29AllocationsTakeWholePagesAndFreePagesAreWatched) {
  DeviceMemory& memory = device_->memory();
  const std::size_t unit = memory.layout().unit_bytes;
  const Address first = memory.Allocate(100);
  const Address second = memory.Allocate(100);
  EXPECT_EQ(first % unit, 0U);
  EXPECT_EQ(second % unit, 0U);
  EXPECT_NE(first, second);
  memory.Free(first);
  const auto different = [&] {
    std::uint64_t bytes = 0;
    const std::vector<Inspection> unused = device_->UnusedMemory();
    const Inspected seen = device_->Inspect(unused);
    for (std::size_t i = 0; i < unused.size(); ++i) bytes += seen.results[i].different;
    return bytes;
  };
  EXPECT_EQ(different(), 0U);
  const std::uint64_t mine = 12;
  ASSERT_TRUE(memory.Write(first + unit - 8, std::as_bytes(std::span(&mine, 1))).ok());
  EXPECT_GT(different(), 0U);
  EXPECT_EQ(memory.Allocate(unit), first) << "a free page is used again";
  EXPECT_EQ(different(), 0U);
  memory.Free(first);
  memory.Free(second);
}

TEST_F(CudaDeviceTest, MoreLocalMemoryThanCanBeScrubbedIsRefused) {
  const CompileResult compiled =
      compiler_->Compile({"extern \"C\" __global__ void k(float* out, int n) {\n  volatile float a[20000];\n"
                          "  for (int i = 0; i < n; ++i) a[i] = i;\n  out[0] = a[n / 2];\n}\n",
                          {"k"},
                          device_->info().arch});
  ASSERT_EQ(compiled.outcome, Outcome::kOk) << compiled.message;
  EXPECT_EQ(device_->Load(compiled.program, 1).status.outcome, Outcome::kUnsupported);
}

}  // namespace
}  // namespace evo
