// Copies by tensor maps and barriers in shared memory, which a group of threads starts and another waits for.
#include "evaluator/compiler/host/host_assembly.h"
#include "tests/cpu_device/checked_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

// Thread 32 brings boxes of 32 x 8 unsigned numbers, one after another by way of two places; warp 0 stores them as they lie
// there.
constexpr const char* kCopyPieces = R"(
struct alignas(128) Map { unsigned long long opaque[16]; };
__device__ unsigned At(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void Make(void* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(At(barrier)), "r"(arrivals) : "memory");
}
__device__ void Arrive(void* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(At(barrier)) : "memory");
}
__device__ void Expect(void* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(At(barrier)), "r"(bytes) : "memory");
}
__device__ void Wait(void* barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(At(barrier)), "r"(parity) : "memory");
  }
}
__device__ void Copy(void* to, const Map* map, int x, int y, void* barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
               ::"r"(At(to)), "l"(map), "r"(At(barrier)), "r"(x), "r"(y) : "memory");
}
)";
constexpr const char* kCopyingKernel = R"(
__global__ void k(const __grid_constant__ Map map, unsigned* out, int x, int rows) {
  extern __shared__ __align__(1024) unsigned box[];
  __shared__ unsigned long long full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) { Make(&full[i], 1); Make(&empty[i], 32); }
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    for (int i = 0; i < rows / 8; ++i) {
      Wait(&empty[i % 2], i / 2 % 2 ^ 1);
      Expect(&full[i % 2], 1024);
      Copy(box + i % 2 * 256, &map, x, i * 8, &full[i % 2]);
    }
  } else if (threadIdx.x < 32) {
    for (int i = 0; i < rows / 8; ++i) {
      Wait(&full[i % 2], i / 2 % 2);
      for (int at = threadIdx.x; at < 256; at += 32) out[i * 256 + at] = box[i % 2 * 256 + at];
      Arrive(&empty[i % 2]);
    }
  }
}
)";

std::string Instead(std::string text, const std::string& name, const std::string& value) {
  const std::size_t at = text.find(name);
  EXPECT_NE(at, std::string::npos) << name;
  return text.replace(at, name.size(), value);
}

class TensorCopyTest : public CheckedKernelTest {
 protected:
  static constexpr int kRows = 40;
  static constexpr std::uint64_t kColumns = 36;

  // The status of the first schedule that fails; `out_` is what the last one stored. Boxes begin in column `x`.
  DeviceStatus RunCopies(const std::string& kernel, int x, std::uint32_t swizzle) {
    const CompileResult compiled = Compile(kCopyPieces + kernel, "k", true);
    if (compiled.outcome != Outcome::kOk) return {compiled.outcome, compiled.message, false};
    std::vector<unsigned> numbers(static_cast<std::size_t>(kRows - 5) * kColumns);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<unsigned>(i) + 1;
    for (std::uint64_t schedule = 0; schedule < 4; ++schedule) {
      device_ = MakeCpuDevice();
      auto program = Load(compiled);
      const Address out = Upload(std::vector<unsigned>(kRows * 32, 7));
      const TensorMapUse use{"map", "numbers", Dtype::kU32, {kColumns, kRows - 5}, {32, 8}, swizzle};
      DeviceStatus status =
          Run(*program, Launch({1, 1, 1}, {64, 1, 1}, {DeviceTensorMap{Upload(numbers), use}, out, Int(x), Int(kRows)}, 2048),
              schedule);
      out_ = Download<unsigned>(out, kRows * 32);
      if (status.ok()) continue;
      static_cast<void>(device_.release());
      static_cast<void>(program.release());
      device_ = MakeCpuDevice();
      return status;
    }
    return {};
  }

  // What a copy from column `x` on leaves in shared memory, 32 bits of every row of 128 bytes.
  static std::vector<unsigned> Expected(int x, std::uint32_t swizzle) {
    std::vector<unsigned> expected(kRows * 32);
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < 32; ++column) {
        const bool inside = row < kRows - 5 && x + column >= 0 && x + column < static_cast<int>(kColumns);
        const int turned = swizzle == 128 ? row % 8 : 0;
        const int place = row * 32 + ((column / 4) ^ turned) * 4 + column % 4;
        expected[static_cast<std::size_t>(place)] =
            inside ? static_cast<unsigned>(row * static_cast<int>(kColumns) + x + column) + 1 : 0;
      }
    }
    return expected;
  }

  std::vector<unsigned> out_;
};

TEST_F(TensorCopyTest, BringsBoxesWithZerosOutside) {
  for (const int x : {0, 8, -4, -3, 3, 36, -40}) {
    for (const std::uint32_t swizzle : {0u, 128u}) {
      const DeviceStatus status = RunCopies(kCopyingKernel, x, swizzle);
      ASSERT_TRUE(status.ok()) << status.message;
      EXPECT_EQ(out_, Expected(x, swizzle)) << x << ", " << swizzle;
    }
  }
}

TEST_F(TensorCopyTest, WhatDoesNotWaitRacesWithTheCopy) {
  const std::string others = "} else if (threadIdx.x < 32) {";
  const std::string reads = "} else if (threadIdx.x == 40) {\n    if (box[0] == 12345) out[0] = 1;\n  ";
  EXPECT_THAT(RunCopies(Instead(kCopyingKernel, others, reads + others), 0, 128).message,
              HasSubstr("race in shared memory: threads"));
  EXPECT_FALSE(RunCopies(Instead(kCopyingKernel, "Wait(&full[i % 2], i / 2 % 2);", ""), 0, 128).ok());
  EXPECT_FALSE(RunCopies(Instead(kCopyingKernel, "Wait(&empty[i % 2], i / 2 % 2 ^ 1);", ""), 0, 128).ok());
}

TEST_F(TensorCopyTest, WhatNobodyBringsIsADeadlock) {
  const DeviceStatus status =
      RunCopies(Instead(kCopyingKernel, "Copy(box + i % 2 * 256, &map, x, i * 8, &full[i % 2]);", ""), 0, 0);
  EXPECT_EQ(status.outcome, Outcome::kCrash);
  EXPECT_THAT(status.message, HasSubstr("33 of 64 threads wait at a barrier that the others never reach"));
  EXPECT_THAT(RunCopies(Instead(kCopyingKernel, "Expect(&full[i % 2], 1024)", "Expect(&full[i % 2], 1028)"), 0, 0).message,
              HasSubstr("deadlock"));
}

TEST_F(TensorCopyTest, MisuseEndsTheKernel) {
  EXPECT_THAT(RunCopies(Instead(kCopyingKernel, "Make(&full[i], 1); ", ""), 0, 0).message,
              HasSubstr("the barrier was not initialised"));
  EXPECT_THAT(RunCopies(Instead(kCopyingKernel, "Make(&empty[i], 32)", "Make(&empty[i], 1)"), 0, 0).outcome == Outcome::kOk,
              false);
  EXPECT_THAT(RunCopies(Instead(kCopyingKernel, "Copy(box + i", "Copy(box + 4 + i"), 0, 0).message,
              HasSubstr("an address in shared memory is no multiple of 128"));
  EXPECT_EQ(RunCopies(Instead(kCopyingKernel, "Copy(box + i", "Copy(box + 256 + i"), 0, 0).outcome, Outcome::kCheating);
}

TEST_F(TensorCopyTest, AMapNeedsAParameterOfItsSize) {
  const DeviceStatus status = RunCopies("__global__ void k(const void* map, unsigned* out, int x, int rows) {}", 0, 0);
  EXPECT_EQ(status.outcome, Outcome::kLaunchError);
  EXPECT_THAT(status.message, HasSubstr("argument 1 has 8 bytes, the launch line gives 128"));
}

// A warp stores four matrices of 8 x 8 elements of 16 bits, whose rows it takes from a.
TEST_F(TensorCopyTest, StoresMatrices) {
  const auto kernel = Kernel(R"(
  __shared__ __align__(16) unsigned short s[32][8];
  const unsigned short* from = (const unsigned short*)a;
  unsigned r[4];
  for (int m = 0; m < 4; ++m) {
    const int at = (m * 8 + t / 4) * 8 + t % 4 * 2;
    r[m] = at | (at + 1) << 16;
  }
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               ::"r"((unsigned)__cvta_generic_to_shared(s[t])), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
  __syncwarp();
  for (int i = t; i < 128; i += 32) b[i] = s[i / 4][i % 4 * 2] + s[i / 4][i % 4 * 2 + 1] * 1000;
)",
                             "int");
  ASSERT_EQ(RunChecked(kernel, {1, 1, 1}, {32, 1, 1}, 128).message, "");
  for (int i = 0; i < 128; ++i) EXPECT_EQ(output_[static_cast<std::size_t>(i)], 2 * i + (2 * i + 1) * 1000);
}

// cp.async of less than 16 bytes, as at the end of a row, writes zeros behind them.
TEST_F(TensorCopyTest, CopiesAnyNumberOfBytes) {
  const auto kernel = [](int bytes) {
    return Kernel(With(R"(
  __shared__ __align__(16) signed char s[32][16];
  for (int i = 0; i < 4; ++i) b[t * 4 + i] = 0x01010101;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               ::"r"((unsigned)__cvta_generic_to_shared(s[t])), "l"(b + t * 4), "r"(BYTES) : "memory");
  for (int i = 0; i < 4; ++i) b[t * 4 + i] = s[t][i * 4] + s[t][i * 4 + 1] + s[t][i * 4 + 2] + s[t][i * 4 + 3];
)",
                       "BYTES", std::to_string(bytes)),
                  "int");
  };
  for (const int bytes : {0, 5, 8, 15, 16}) {
    ASSERT_EQ(RunChecked(kernel(bytes), {1, 1, 1}, {32, 1, 1}, 128).message, "") << bytes;
    for (int i = 0; i < 128; ++i)
      EXPECT_EQ(output_[static_cast<std::size_t>(i)], std::clamp(bytes - i % 4 * 4, 0, 4)) << bytes << " bytes";
  }
  EXPECT_THAT(RunChecked(kernel(17), {1, 1, 1}, {32, 1, 1}, 128).message, HasSubstr("16 bytes expected, or less for zeros"));
}

TEST(HostAssembly, TakesAPredicateAsARegister) {
  EXPECT_EQ(HostAssembly(R"("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                          : "=r"(d) : "r"(b), "r"(q) : "memory")"),
            "evo_cpu::WaitAt((d), (b), (q))");
  EXPECT_EQ(HostAssembly(R"("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory")"),
            "evo_cpu::ArriveAt(evo_cpu::_, (b))");
  EXPECT_EQ(HostAssembly(R"("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 0, 1, p;\n}"
                          : "=r"(d) : "r"(b), "r"(q) : "memory")"),
            std::nullopt);
}

}  // namespace
}  // namespace evo
