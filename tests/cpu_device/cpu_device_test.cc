#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/cpu_device/kernel_bench.h"

namespace evo {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(CpuDeviceTest, AddsVectorsWithARaggedEnd) {
  const auto program = Load(
      "__global__ void k(const float* a, const float* b, float* c, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) c[i] = a[i] + b[i];\n}\n");
  std::vector<float> a(100), b(100, 1);
  std::iota(a.begin(), a.end(), 0.f);
  const Address c = Upload(std::vector<float>(128, -7));
  ASSERT_TRUE(Run(*program, Launch({4, 1, 1}, {32, 1, 1}, {Upload(a), Upload(b), c, Int(100)})).ok());
  const auto sum = Download<float>(c, 128);
  EXPECT_EQ(sum[0], 1);
  EXPECT_EQ(sum[99], 100);
  EXPECT_EQ(sum[100], -7);
}

TEST_F(CpuDeviceTest, NumbersBlocksAndThreadsInThreeDimensions) {
  const auto program = Load(
      "__global__ void k(int* out) {\n"
      "  int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n"
      "  int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
      "  out[b * blockDim.x * blockDim.y * blockDim.z + t] = b * 1000 + t;\n}\n");
  const Address out = Upload(std::vector<int>(24 * 24, -1));
  ASSERT_TRUE(Run(*program, Launch({2, 3, 4}, {4, 3, 2}, {out}), 5).ok());
  const auto got = Download<int>(out, 24 * 24);
  for (int i = 0; i < 24 * 24; ++i) ASSERT_EQ(got[i], i / 24 * 1000 + i % 24) << i;
}

constexpr const char* kBlockSum =
    "template <int N> __global__ void k(const float* in, float* out) {\n"
    "  __shared__ float tile[N], other[2][3];\n"
    "  other[1][2] = 0;\n"
    "  tile[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];\n"
    "  __syncthreads();\n"
    "  for (int s = N / 2; s > 0; s /= 2) {\n"
    "    if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];\n"
    "    __syncthreads();\n"
    "  }\n"
    "  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];\n}\n";

TEST_F(CpuDeviceTest, SumsThroughStaticSharedMemoryUnderAnySchedule) {
  const auto program = Load(kBlockSum, "k<128>");
  std::vector<float> in(256);
  std::iota(in.begin(), in.end(), 0.f);
  const Address from = Upload(in);
  for (std::uint64_t schedule = 0; schedule < 5; ++schedule) {
    const Address out = Upload(std::vector<float>(2, 0));
    ASSERT_TRUE(Run(*program, Launch({2, 1, 1}, {128, 1, 1}, {from, out}), schedule).ok());
    EXPECT_THAT(Download<float>(out, 2), ElementsAre(8128, 24512));
  }
  EXPECT_EQ(program->facts().static_shared_bytes, 512 + 128);
}

TEST_F(CpuDeviceTest, GivesDynamicSharedMemoryOfTheSizeLaunched) {
  const auto program = Load(
      "__global__ void k(int* out, int n) {\n"
      "  extern __shared__ __align__(16) int s[];\n"
      "  s[threadIdx.x] = threadIdx.x;\n  __syncthreads();\n  out[threadIdx.x] = s[n - 1 - threadIdx.x];\n}\n");
  const Address out = Upload(std::vector<int>(64, 0));
  ASSERT_TRUE(Run(*program, Launch({1, 1, 1}, {64, 1, 1}, {out, Int(64)}, 256)).ok());
  const auto got = Download<int>(out, 64);
  EXPECT_EQ(got.front(), 63);
  EXPECT_EQ(got.back(), 0);
  EXPECT_EQ(program->facts().dynamic_shared_bytes, 256);
}

TEST_F(CpuDeviceTest, PoisonsSharedMemoryAtEachBlock) {
  const auto program = Load(
      "__global__ void k(float* out) {\n  __shared__ float s[2];\n  extern __shared__ float d[];\n"
      "  out[2 * blockIdx.x] = s[0];\n  out[2 * blockIdx.x + 1] = d[0];\n  s[0] = d[0] = 1;\n}\n");
  const Address out = Upload(std::vector<float>(6, 0));
  ASSERT_TRUE(Run(*program, Launch({3, 1, 1}, {1, 1, 1}, {out}, 4)).ok());
  EXPECT_THAT(Download<float>(out, 6), Each(::testing::IsNan()));
}

TEST_F(CpuDeviceTest, ShufflesWithinAWarp) {
  const auto program = Load(
      "__global__ void k(float* out) {\n  float v = threadIdx.x;\n"
      "  for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffff, v, o);\n"
      "  float first = __shfl_sync(0xffffffff, (float)threadIdx.x, 0);\n"
      "  float down = __shfl_down_sync(0xffffffff, (float)(threadIdx.x % 32), 1);\n"
      "  unsigned odd = __ballot_sync(0xffffffff, threadIdx.x & 1);\n"
      "  out[threadIdx.x] = v * 1000 + first + down + (odd == 0xaaaaaaaau ? 0.5f : 0);\n}\n");
  const Address out = Upload(std::vector<float>(64, 0));
  ASSERT_TRUE(Run(*program, Launch({1, 1, 1}, {64, 1, 1}, {out}), 3).ok());
  const auto got = Download<float>(out, 64);
  EXPECT_EQ(got[0], 496 * 1000 + 0 + 1 + 0.5f);
  EXPECT_EQ(got[31], 496 * 1000 + 0 + 31 + 0.5f);
  EXPECT_EQ(got[32], 1520 * 1000.f + 32 + 1 + 0.5f);
}

TEST_F(CpuDeviceTest, LetsThreadsExitBeforeABarrier) {
  const auto program = Load(
      "__global__ void k(int* out, int n) {\n  __shared__ int s[64];\n  if (threadIdx.x >= n) return;\n"
      "  s[threadIdx.x] = threadIdx.x;\n  __syncthreads();\n  out[threadIdx.x] = s[n - 1 - threadIdx.x];\n}\n");
  const Address out = Upload(std::vector<int>(64, -1));
  ASSERT_TRUE(Run(*program, Launch({1, 1, 1}, {64, 1, 1}, {out, Int(40)}), 2).ok());
  const auto got = Download<int>(out, 64);
  EXPECT_EQ(got[0], 39);
  EXPECT_EQ(got[40], -1);
}

TEST_F(CpuDeviceTest, FindsADeadlock) {
  const auto program = Load(
      "__global__ void k(int* out) {\n  if (threadIdx.x < 16) { __syncthreads(); __syncwarp(); } else { __syncwarp(); "
      "__syncthreads(); }\n"
      "  out[threadIdx.x] = 1;\n}\n");
  const DeviceStatus status = Run(*program, Launch({1, 1, 1}, {32, 1, 1}, {Upload(std::vector<int>(32, 0))}));
  EXPECT_EQ(status.outcome, Outcome::kCrash);
  EXPECT_TRUE(status.sticky);
  EXPECT_THAT(status.message, HasSubstr("deadlock in block (0, 0, 0)"));
}

TEST_F(CpuDeviceTest, PermutesBlocksThreadsAndLanesWithEachSchedule) {
  const auto program = Load(
      "__global__ void k(int* counters, int* blocks, int* threads, int* lanes) {\n  int t = threadIdx.x;\n"
      "  if (blockIdx.x == 0) threads[t] = atomicAdd(&counters[0], 1);\n  if (t == 0) blocks[blockIdx.x] = "
      "atomicAdd(&counters[1], 1);\n"
      "  __syncwarp();\n  if (blockIdx.x == 0 && t < 32) lanes[t] = atomicAdd(&counters[2], 1);\n}\n");
  const auto run = [&](std::uint64_t schedule) {
    const std::array<Address, 4> buffers{Upload(std::vector<int>(3, 0)), Upload(std::vector<int>(16, 0)),
                                         Upload(std::vector<int>(64, 0)), Upload(std::vector<int>(32, 0))};
    EXPECT_TRUE(Run(*program, Launch({16, 1, 1}, {64, 1, 1}, {buffers[0], buffers[1], buffers[2], buffers[3]}), schedule).ok());
    return std::array{Download<int>(buffers[1], 16), Download<int>(buffers[2], 64), Download<int>(buffers[3], 32)};
  };
  std::array<std::set<std::vector<int>>, 3> seen;
  for (std::uint64_t schedule = 0; schedule < 6; ++schedule) {
    const auto orders = run(schedule);
    EXPECT_EQ(orders, run(schedule)) << "the same schedule is the same order";
    for (std::size_t i = 0; i < orders.size(); ++i) {
      std::vector<int> sorted = orders[i];
      const bool natural = std::is_sorted(sorted.begin(), sorted.end());
      EXPECT_TRUE(schedule != 0 || i == 2 || natural);
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t n = 0; n < sorted.size(); ++n) EXPECT_EQ(sorted[n], static_cast<int>(n));
      EXPECT_TRUE(seen[i].insert(orders[i]).second) << "schedule " << schedule << " repeats order " << i;
    }
  }
}

TEST_F(CpuDeviceTest, ShowsAMissingBarrierUnderSomeSchedule) {
  const auto program = Load(
      "__global__ void k(int* out, int* s) {\n  s[threadIdx.x] = threadIdx.x;\n  out[threadIdx.x] = s[blockDim.x - 1 - "
      "threadIdx.x];\n}\n");
  const auto run = [&](std::uint64_t schedule) {
    const Address out = Upload(std::vector<int>(64, 0));
    EXPECT_TRUE(Run(*program, Launch({1, 1, 1}, {64, 1, 1}, {out, Upload(std::vector<int>(64, -1))}), schedule).ok());
    return Download<int>(out, 64);
  };
  EXPECT_NE(run(0), run(1));
}

TEST_F(CpuDeviceTest, MultipliesMatricesOfAWarp) {
  const auto program = Load(
      "#include <mma.h>\nusing namespace nvcuda;\n__global__ void k(const half* a, const half* b, float* c) {\n"
      "  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;\n"
      "  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;\n"
      "  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;\n"
      "  wmma::fill_fragment(fc, 1.0f);\n  wmma::load_matrix_sync(fa, a, 16);\n  wmma::load_matrix_sync(fb, b, 16);\n"
      "  wmma::mma_sync(fc, fa, fb, fc);\n  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 2;\n"
      "  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);\n}\n");
  std::vector<_Float16> a(256), b(256);
  for (int i = 0; i < 256; ++i) {
    a[i] = static_cast<_Float16>(i % 7 - 3);
    b[i] = static_cast<_Float16>(i % 5 - 2);
  }
  const Address c = Upload(std::vector<float>(256, 0));
  ASSERT_TRUE(Run(*program, Launch({1, 1, 1}, {32, 1, 1}, {Upload(a), Upload(b), c})).ok());
  const auto got = Download<float>(c, 256);
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      float sum = 1;
      for (int i = 0; i < 16; ++i) sum += static_cast<float>(a[row * 16 + i]) * static_cast<float>(b[column * 16 + i]);
      ASSERT_EQ(got[row * 16 + column], 2 * sum) << row << ", " << column;
    }
  }
}

TEST_F(CpuDeviceTest, HasHalfArithmeticAtomicsAndIntrinsics) {
  const auto program = Load(
      "#include <cuda_fp16.h>\n__global__ void k(float* out, const half* h) {\n"
      "#pragma unroll 2\n  for (int i = 0; i < 2; ++i) atomicAdd(&out[0], 1.0f);\n#pragma unroll\n  for (int i = 0; i < 2; ++i) "
      ";\n"
      "  half2 p = __hfma2(__floats2half2_rn(2, 3), __float2half2_rn(2), __float2half2_rn(1));\n"
      "  out[1] = __low2float(p) + __high2float(p);\n  out[2] = __expf(0) + rsqrtf(4) + __ldg(&out[1]);\n"
      "  out[3] = max(1, 2.5f) + __popc(7) + __half2float(hexp(h[0]));\n}\n");
  const Address out = Upload(std::vector<float>(4, 0));
  ASSERT_TRUE(Run(*program, Launch({1, 1, 1}, {32, 1, 1}, {out, Upload(std::vector<_Float16>(1, 0))})).ok());
  EXPECT_THAT(Download<float>(out, 4), ElementsAre(64, 12, 13.5f, 6.5f));
}

TEST_F(CpuDeviceTest, ChecksArgumentsBeforeLaunching) {
  const auto program = Load("__global__ void k(float* out, int n) { out[0] = n; }\n");
  const Address out = Upload(std::vector<float>(1, 0));
  const DeviceStatus count = Run(*program, Launch({1, 1, 1}, {1, 1, 1}, {out}));
  EXPECT_EQ(count.outcome, Outcome::kLaunchError);
  EXPECT_EQ(count.message, "k takes 2 arguments, the launch line gives 1");
  const DeviceStatus size = Run(*program, Launch({1, 1, 1}, {1, 1, 1}, {out, ScalarUse{Dtype::kF64, Number::Real(1)}}));
  EXPECT_EQ(size.message, "k: argument 2 has 4 bytes, the launch line gives 8");
}

TEST_F(CpuDeviceTest, RefusesMoreThanADeviceHas) {
  const auto program = Load("__global__ void k(float* out) { __shared__ float s[20000]; s[threadIdx.x] = 1; out[0] = s[0]; }\n");
  const Address out = Upload(std::vector<float>(1, 0));
  EXPECT_EQ(Run(*program, Launch({1, 1, 1}, {1025, 1, 1}, {out})).outcome, Outcome::kResourceLimit);
  EXPECT_EQ(Run(*program, Launch({1, 1, 1}, {1, 1, 1}, {out}, 300'000)).outcome, Outcome::kResourceLimit);
  const DeviceStatus shared = Run(*program, Launch({1, 1, 1}, {1, 1, 1}, {out}));
  EXPECT_EQ(shared.outcome, Outcome::kResourceLimit);
  EXPECT_THAT(shared.message, HasSubstr("80000 bytes of static shared memory"));
}

TEST_F(CpuDeviceTest, NamesTheLineOfACompileError) {
  const CompileResult result =
      Compile("__global__ void k(float* out) {\n  __shared__\n  float s[4];\n  s[0] = 1;\n  out[0] = undeclared;\n}\n");
  EXPECT_EQ(result.outcome, Outcome::kCompileError);
  EXPECT_THAT(result.message, HasSubstr("line 5: "));
  EXPECT_THAT(result.message, HasSubstr("undeclared"));
}

TEST_F(CpuDeviceTest, SaysWhatIsNotSupported) {
  const CompileResult assembly = Compile("__global__ void k(float* out) {\n  asm volatile(\"membar.gl;\");\n  out[0] = 1; }\n");
  EXPECT_EQ(assembly.outcome, Outcome::kUnsupported);
  EXPECT_EQ(assembly.message, "line 2: inline PTX is not supported on the cpu device");
  EXPECT_EQ(
      Compile("#include <cooperative_groups.h>\n__global__ void k(float* out) { cooperative_groups::this_grid(); }\n").outcome,
      Outcome::kUnsupported);
  EXPECT_EQ(Compile("__global__ void k(long long* out) { out[0] = clock64(); }\n").outcome, Outcome::kCheating);
  EXPECT_EQ(Compile("__shared__ float s[4];\n__global__ void k(float* out) { out[0] = s[0]; }\n").outcome, Outcome::kUnsupported);
}

TEST_F(CpuDeviceTest, HasGroupsOfBlocksAndWarps) {
  const auto program = Load(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void k(float* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  __shared__ float last;
  if (block.thread_rank() == block.size() - 1) last = 7;
  cg::sync(block);
  float* mine = out + 8 * block.thread_rank();
  mine[0] = cg::reduce(warp, float(warp.thread_rank()), cg::plus<float>{});
  mine[1] = cg::reduce(tile, float(block.thread_rank()), cg::greater<float>{});
  mine[2] = warp.meta_group_rank() + 10 * warp.meta_group_size();
  mine[3] = tile.shfl_down(float(block.thread_rank()), 2);
  mine[4] = tile.shfl_xor(float(block.thread_rank()), 1);
  mine[5] = last + 10 * cg::exclusive_scan(tile, 1) + 100 * cg::inclusive_scan(tile, 2, cg::plus<int>());
  mine[6] = tile.ballot(tile.thread_rank() < 3);
  mine[7] = tile.any(block.thread_rank() == 63);
}
)");
  const Address out = Upload(std::vector<float>(8 * 64, 0));
  ASSERT_TRUE(Run(*program, Launch({1, 1, 1}, {32, 2, 1}, {out}), 3).ok());
  const std::vector<float> got = Download<float>(out, 8 * 64);
  for (int thread = 0; thread < 64; ++thread) {
    const float* mine = got.data() + static_cast<std::ptrdiff_t>(8) * thread;
    const auto rank = static_cast<float>(thread);
    EXPECT_EQ(mine[0], 496);
    EXPECT_EQ(mine[1], static_cast<float>(thread / 8 * 8 + 7));
    EXPECT_EQ(mine[2], static_cast<float>(thread / 32 + 20));
    EXPECT_EQ(mine[3], thread % 8 < 6 ? rank + 2 : rank);
    EXPECT_EQ(mine[4], static_cast<float>(thread ^ 1));
    EXPECT_EQ(mine[5], static_cast<float>(7 + 10 * (thread % 8) + 200 * (thread % 8 + 1)));
    EXPECT_EQ(mine[6], 7);
    EXPECT_EQ(mine[7], thread / 8 == 7 ? 1 : 0);
  }
}

TEST_F(CpuDeviceTest, TimesASequence) {
  const auto program = Load(
      "__global__ void k(float* out, int n) { float s = 0; for (int i = 0; i < n; ++i) s += 1.0f / (i + 1); out[threadIdx.x] = "
      "s; }\n");
  const Address out = Upload(std::vector<float>(32, 0));
  const Sequence sequence{DeviceFill{out, 128, 0}, Launch({1, 1, 1}, {32, 1, 1}, {out, Int(1000)}),
                          Launch({1, 1, 1}, {32, 1, 1}, {out, Int(1000)})};
  const std::vector<TimedRun> runs(3, TimedRun{{true, {}, {}, {{out, 128, {}}}, 1024, {{out, 128}}}, sequence});
  const TimedRuns timed = device_->Time(*program, runs);
  ASSERT_TRUE(timed.status.ok());
  ASSERT_EQ(timed.times.size(), 3u);
  for (const SequenceTime& time : timed.times) {
    EXPECT_GT(time.busy_ticks, 0u);
    EXPECT_GE(time.span_ticks, time.busy_ticks);
    EXPECT_GT(time.wall_ns, 0u);
  }
}

}  // namespace
}  // namespace evo
