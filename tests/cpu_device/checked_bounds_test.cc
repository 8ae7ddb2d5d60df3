#include <sys/resource.h>

#include "tests/cpu_device/checked_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

class CheckedBoundsTest : public CheckedKernelTest {
 protected:
  void ExpectOutside(const std::string& body, const std::string& what, std::uint64_t shared = 0) {
    const DeviceStatus status = RunChecked(Kernel(body), {1, 1, 1}, {64, 1, 1}, 64, shared);
    EXPECT_EQ(status.outcome, Outcome::kCheating) << body;
    EXPECT_TRUE(status.sticky) << body;
    EXPECT_THAT(status.message, HasSubstr(what)) << body;
  }
  void ExpectClean(const std::string& body, std::uint64_t shared = 0) {
    const DeviceStatus status = RunChecked(Kernel(body), {1, 1, 1}, {64, 1, 1}, 64, shared);
    EXPECT_TRUE(status.ok()) << body << status.message;
  }
};

TEST_F(CheckedBoundsTest, LetsPassWhatStaysInside) {
  ExpectClean("  b[t] = a[t] + a[n - 1];\n");
  ExpectClean("  if (t < 16) reinterpret_cast<float4*>(b)[t] = reinterpret_cast<const float4*>(a)[t];\n");
  ExpectClean("  float local[8];\n  for (int i = 0; i < 8; ++i) local[i] = a[(t + i) % n];\n  b[t] = local[t % 8];\n");
}

TEST_F(CheckedBoundsTest, FindsOneElementBehindABuffer) {
  ExpectOutside("  b[t] = a[t + 1];\n",
                "k: thread (63, 0, 0) of block (0, 0, 0): reads 4 bytes at offset 256 of a buffer of 256 bytes");
  ExpectOutside("  b[t + 1] = a[t];\n", "writes 4 bytes at offset 256 of a buffer of 256 bytes");
  ExpectOutside("  atomicAdd(&b[t + 1], 1.0f);\n", "changes 4 bytes at offset 256 of a buffer of 256 bytes");
  ExpectOutside("  if (t == 0) b[0] = reinterpret_cast<const float2*>(a + 1)[31].y;\n", "offset 256 of a buffer of 256 bytes");
}

TEST_F(CheckedBoundsTest, FindsOneElementBeforeABuffer) {
  ExpectOutside("  b[t] = a[t - 1];\n", "reads 4 bytes at offset -4 of a buffer of 256 bytes");
  ExpectOutside("  b[t - 1] = a[t];\n", "writes 4 bytes at offset -4 of a buffer of 256 bytes");
}

TEST_F(CheckedBoundsTest, FindsAnAccessThatStraddlesTheEnd) {
  ExpectOutside("  if (t == 0) *reinterpret_cast<double*>(b + 63) = a[0];\n",
                "writes 8 bytes at offset 252 of a buffer of 256 bytes");
}

TEST_F(CheckedBoundsTest, FindsWildAddresses) {
  ExpectOutside("  b[t] = a[(1LL << 30) + t];\n", "reads 4 bytes at an address that belongs to no buffer");
  ExpectOutside("  if (t == 5) *(float*)nullptr = a[t];\n", "writes 4 bytes at an address that belongs to no buffer");
}

TEST_F(CheckedBoundsTest, FindsCopiesThatGoTooFar) {
  ExpectOutside("  if (t == 0) memcpy(b, a, (n + 1) * 4);\n", "reads 260 bytes at offset 0 of a buffer of 256 bytes");
  ExpectOutside("  if (t == 0) memset(b, 0, n * 4 + 4);\n", "writes 260 bytes");
  ExpectClean("  if (t == 0) memcpy(b, a, n * 4);\n");
}

TEST_F(CheckedBoundsTest, FindsAnIndexBeyondStaticSharedMemory) {
  const std::string arrays = "  __shared__ float s[64], other[64];\n  s[t] = other[t] = a[t];\n  __syncthreads();\n";
  ExpectClean(arrays + "  b[t] = s[63 - t] + other[t];\n");
  ExpectOutside(arrays + "  b[t] = s[t + 1];\n", "reads 4 bytes at offset 256 of a shared variable of 256 bytes");
  ExpectOutside(arrays + "  other[t + 1] = 1;\n", "writes 4 bytes at offset 256 of a shared variable of 256 bytes");
  ExpectOutside(arrays + "  b[t] = s[t - 1];\n", "reads 4 bytes at offset -4 of a shared variable of 256 bytes");
}

TEST_F(CheckedBoundsTest, FindsAnIndexBeyondDynamicSharedMemory) {
  const std::string array = "  extern __shared__ float s[];\n  s[t] = a[t];\n  __syncthreads();\n";
  ExpectClean(array + "  b[t] = s[63 - t];\n", 256);
  ExpectOutside(array + "  b[t] = s[t + 1];\n", "reads 4 bytes at offset 256 of 256 bytes of dynamic shared memory", 256);
  ExpectOutside(array, "writes 4 bytes at offset 128 of 128 bytes of dynamic shared memory", 128);
}

TEST_F(CheckedBoundsTest, FindsAnotherThreadsLocalMemory) {
  ExpectOutside(
      "  __shared__ float* p;\n  float local = t;\n  if (t == 0) p = &local;\n  __syncthreads();\n  *p += 1;\n  "
      "__syncthreads();\n  b[t] = local;\n",
      "belongs to no buffer");
}

TEST_F(CheckedBoundsTest, KnowsTheGuardBytesOfAnAllocation) {
  auto program = Load(Kernel("  b[t] = a[t + 1];\n"), "k", true);
  DeviceMemory& memory = device_->memory();
  const Address a = memory.Allocate(4096 + 256 + 4096);
  const Address b = memory.Allocate(4096 + 256 + 4096);
  ASSERT_TRUE(Run(*program, Launch({1, 1, 1}, {64, 1, 1}, {a + 4096, b + 4096, Int(64)})).ok());
  memory.Guard(a + 4096, 256);
  const DeviceStatus status = Run(*program, Launch({1, 1, 1}, {64, 1, 1}, {a + 4096, b + 4096, Int(64)}));
  EXPECT_EQ(status.outcome, Outcome::kCheating);
  EXPECT_THAT(status.message, HasSubstr("reads 4 bytes at offset 256 of a buffer of 256 bytes"));
  static_cast<void>(device_.release());
  static_cast<void>(program.release());
}

TEST_F(CheckedBoundsTest, ForgetsFreedMemory) {
  auto program = Load(Kernel("  b[t] = a[t];\n"), "k", true);
  DeviceMemory& memory = device_->memory();
  const Address a = memory.Allocate(256);
  const Address b = memory.Allocate(256);
  memory.Free(a);
  EXPECT_EQ(Run(*program, Launch({1, 1, 1}, {64, 1, 1}, {a, b, Int(64)})).outcome, Outcome::kCheating);
  static_cast<void>(device_.release());
  static_cast<void>(program.release());
}

TEST_F(CheckedBoundsTest, LetsModuleVariablesAndConstantsPass) {
  const DeviceStatus status = RunChecked(
      "__device__ float table[64];\n__constant__ float fixed[4] = {1, 2, 3, 4};\n"
      "__device__ const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19};\n" +
          Kernel("  table[t] = a[t] + fixed[t % 4] + primes[t % 8];\n  __syncthreads();\n  b[t] = table[63 - t];\n"),
      {1, 1, 1}, {64, 1, 1}, 64);
  EXPECT_TRUE(status.ok()) << status.message;
}

TEST_F(CheckedBoundsTest, SaysWhenThereIsNoRoomForItsRecords) {
  auto program = Load(Kernel("  b[t] = a[t];\n"), "k", true);
  const Address a = device_->memory().Allocate(256);
  const Address b = device_->memory().Allocate(std::size_t{1} << 30);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit tight{std::size_t{8} << 30, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  const DeviceStatus status = Run(*program, Launch({1, 1, 1}, {64, 1, 1}, {a, b, Int(64)}));
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(status.outcome, Outcome::kResourceLimit);
  EXPECT_THAT(status.message, HasSubstr("no memory to check a buffer of 1073741824 bytes for races; use a smaller case"));
  static_cast<void>(device_.release());
  static_cast<void>(program.release());
}

TEST_F(CheckedBoundsTest, RefusesSourcesThatTouchTheMachinery) {
  EXPECT_EQ(Compile(Kernel("  evo_cpu_checker = nullptr;\n")).outcome, Outcome::kUnsupported);
  EXPECT_EQ(Compile("__attribute__((no_sanitize(\"thread\"))) " + Kernel("  b[t] = a[t];\n")).outcome, Outcome::kUnsupported);
}

}  // namespace
}  // namespace evo
