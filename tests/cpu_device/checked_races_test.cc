#include "tests/cpu_device/checked_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

class CheckedRacesTest : public CheckedKernelTest {
 protected:
  void ExpectRace(const std::string& source, const std::string& what, std::array<std::uint32_t, 3> grid = {1, 1, 1},
                  std::uint64_t shared = 0) {
    const DeviceStatus status = RunChecked(source, grid, {64, 1, 1}, 128, shared);
    EXPECT_EQ(status.outcome, Outcome::kNondeterministic) << source << status.message;
    EXPECT_THAT(status.message, HasSubstr(what)) << source;
  }
  void ExpectClean(const std::string& source, std::array<std::uint32_t, 3> grid = {1, 1, 1}, std::uint64_t shared = 0) {
    const DeviceStatus status = RunChecked(source, grid, {64, 1, 1}, 128, shared);
    EXPECT_TRUE(status.ok()) << source << status.message;
  }
};

TEST_F(CheckedRacesTest, FindsAMissingBarrier) {
  const std::string exchange = "  __shared__ float s[64];\n  s[t] = a[t];\n";
  ExpectClean(Kernel(exchange + "  __syncthreads();\n  b[t] = s[63 - t];\n"));
  ExpectRace(Kernel(exchange + "  b[t] = s[63 - t];\n"), "race in shared memory: threads ");
  ExpectRace(Kernel(exchange + "  b[t] = s[t ^ 1];\n"), "without a barrier between them");
}

TEST_F(CheckedRacesTest, FindsAWriteThatDoesNotWaitForTheReaders) {
  const std::string loop =
      "  __shared__ float s[64];\n  float sum = 0;\n  for (int i = 0; i < 2; ++i) {\n    s[t] = a[i * 64 + t] + i;\n    "
      "__syncthreads();\n"
      "    sum += s[63 - t];\n";
  ExpectClean(Kernel(loop + "    __syncthreads();\n  }\n  b[t] = sum;\n"));
  ExpectRace(Kernel(loop + "  }\n  b[t] = sum;\n"), "race in shared memory");
  ExpectRace(Kernel("  __shared__ float s[64];\n  s[t] = a[t];\n  __syncthreads();\n  float v = s[63 - t];\n  s[t] = v;\n"),
             "race in shared memory");
}

TEST_F(CheckedRacesTest, KnowsReductionTrees) {
  const std::string head =
      "  __shared__ float s[64];\n  s[t] = a[t];\n  __syncthreads();\n  for (int h = 32; h > 0; h /= 2) {\n    if (t < h) s[t] "
      "+= s[t + h];\n";
  ExpectClean(Kernel(head + "    __syncthreads();\n  }\n  if (t == 0) b[0] = s[0];\n"));
  ExpectRace(Kernel(head + "  }\n  if (t == 0) b[0] = s[0];\n"), "race in shared memory");
}

TEST_F(CheckedRacesTest, OrdersLanesByWarpBarriersOnly) {
  const std::string head = "  __shared__ volatile float s[64];\n  s[t] = a[t];\n";
  ExpectClean(Kernel(head + "  __syncwarp();\n  b[t] = s[t ^ 1];\n"));
  ExpectRace(Kernel(head + "  b[t] = s[t ^ 1];\n"), "race in shared memory");
  ExpectRace(Kernel(head + "  __syncwarp();\n  b[t] = s[t ^ 32];\n"), "race in shared memory");
  ExpectClean(Kernel(head + "  __syncwarp(t % 32 < 16 ? 0xffffu : 0xffff0000u);\n  b[t] = s[t ^ 15];\n"));
  ExpectRace(Kernel(head + "  __syncwarp(t % 32 < 16 ? 0xffffu : 0xffff0000u);\n  b[t] = s[t ^ 16];\n"), "race in shared memory");
}

TEST_F(CheckedRacesTest, OrdersLanesByShufflesAndVotes) {
  ExpectClean(Kernel(
      "  __shared__ float s[64];\n  s[t] = a[t];\n  float v = __shfl_xor_sync(0xffffffffu, a[t], 1);\n  b[t] = s[t ^ 3] + v;\n"));
  ExpectClean(Kernel(
      "  __shared__ float s[64];\n  s[t] = a[t];\n  int any = __any_sync(0xffffffffu, t == 3);\n  b[t] = s[t ^ 3] + any;\n"));
  ExpectClean(Kernel("  int all = __syncthreads_count(a[t] == 0);\n  b[t] = all;\n"));
  ExpectClean(
      Kernel("  float v = t;\n  for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);\n  b[t] = v;\n"));
}

TEST_F(CheckedRacesTest, KnowsDoubleBuffering) {
  const std::string kernel =
      "#define N 16\n__global__ void k(const float* a, float* b, int n) {\n  const int t = threadIdx.x, x = t % 8, y = t / 8;\n"
      "  __shared__ float left[2][8][8], right[2][8][8];\n  left[0][y][x] = a[t];\n  right[0][y][x] = a[t] + 1;\n  "
      "__syncthreads();\n  float sum = 0;\n"
      "  for (int tile = 0; tile < 4; ++tile) {\n    const int now = tile % 2;\n"
      "    if (tile < 3) { left[now ^ 1][y][x] = a[t] + tile; right[now ^ 1][y][x] = tile; }\n"
      "    for (int i = 0; i < 8; ++i) sum += left[now][y][i] * right[now][i][x];\n    BARRIER\n  }\n  b[t] = sum;\n}\n";
  ExpectClean("#define BARRIER __syncthreads();\n" + kernel);
  ExpectRace("#define BARRIER\n" + kernel, "race in shared memory");
}

TEST_F(CheckedRacesTest, KnowsAtomics) {
  const std::string head = "  __shared__ int bins[8];\n  if (t < 8) bins[t] = 0;\n";
  const std::string count = "  atomicAdd(&bins[(t + a[t]) % 8], 1);\n";
  const std::string tail = "  if (t < 8) b[t] = bins[t];\n";
  ExpectClean(Kernel(head + "  __syncthreads();\n" + count + "  __syncthreads();\n" + tail, "int"));
  EXPECT_EQ(output_[7], 8);
  ExpectRace(Kernel(head + count + "  __syncthreads();\n" + tail, "int"), "race in shared memory");
  ExpectRace(Kernel(head + "  __syncthreads();\n" + count + tail, "int"), "race in shared memory");
  ExpectClean(Kernel("  atomicAdd(&b[t % 4], 1);\n  atomicMax(&b[5], t);\n", "int"), {3, 1, 1});
  // The usual way to build an atomic operation that CUDA lacks.
  ExpectClean(
      Kernel("  __shared__ int s;\n  if (t == 0) s = 0;\n  __syncthreads();\n  int old = s, assumed;\n"
             "  do {\n    assumed = old;\n    old = atomicCAS(&s, assumed, assumed + t);\n  } while (old != assumed);\n"
             "  __syncthreads();\n  b[t] = s;\n",
             "int"));
  EXPECT_EQ(output_[0], 63 * 32);
}

TEST_F(CheckedRacesTest, ForgivesThreadsThatWriteTheSame) {
  ExpectClean(Kernel("  __shared__ float s[32];\n  s[t / 2] = t / 2;\n  __syncthreads();\n  b[t] = s[t % 32];\n"));
  ExpectClean(
      Kernel("  __shared__ int found;\n  found = 0;\n  __syncthreads();\n  if (a[t] == 0) found = 1;\n  __syncthreads();\n  b[t] "
             "= found;\n"));
  ExpectRace(Kernel("  __shared__ float s[32];\n  s[t / 2] = t;\n  __syncthreads();\n  b[t] = s[t % 32];\n"),
             "written after written");
  ExpectRace(Kernel("  __shared__ float s;\n  if (t == 40 || t == 3) s = t;\n"), "written after written");
}

TEST_F(CheckedRacesTest, TellsPartsOfAWordApart) {
  ExpectClean(Kernel("  __shared__ unsigned char s[64];\n  s[t] = t;\n  __syncthreads();\n  b[t] = s[63 - t];\n"));
  ExpectClean("#include <cuda_fp16.h>\n" +
              Kernel("  __shared__ half s[64];\n  s[t] = __float2half(t);\n  __syncthreads();\n"
                     "  half2 both = reinterpret_cast<half2*>(s)[t / 2];\n  b[t] = __low2float(both);\n"));
  ExpectRace(Kernel("  __shared__ unsigned char s[64];\n  s[t] = t;\n  b[t] = s[t ^ 1];\n"), "race in shared memory");
}

TEST_F(CheckedRacesTest, FindsRacesInGlobalMemory) {
  ExpectRace(Kernel("  b[t] = t;\n  b[64 + t] = b[t ^ 1];\n"), "race in global memory: threads ");
  ExpectClean(Kernel("  b[t] = t;\n  __syncthreads();\n  b[64 + t] = b[t ^ 1];\n"));
  ExpectRace(Kernel("  b[t] = blockIdx.x;\n"), "by two blocks, which nothing orders", {2, 1, 1});
  ExpectRace(Kernel("  if (blockIdx.x == 0) b[t] = 5;\n  else b[64 + t] = b[t];\n"), "by two blocks", {2, 1, 1});
  ExpectRace("__device__ float total;\n" + Kernel("  total += a[t] + t;\n"),
             "race in global memory: threads 0 and 1 at a module variable");
  ExpectClean(Kernel("  b[blockIdx.x * 64 + t] = a[t];\n"), {2, 1, 1});
}

TEST_F(CheckedRacesTest, KnowsTheTicketOfTheLastBlock) {
  const std::string ticket =
      "__device__ unsigned tickets = 0;\n" +
      Kernel(
          "  __shared__ bool last;\n  b[1 + blockIdx.x] = blockIdx.x + 1;\n  if (t == 0) {\n    __threadfence();\n"
          "    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;\n  }\n  __syncthreads();\n"
          "  if (last && t < gridDim.x) b[64 + t] = b[1 + t];\n");
  ExpectClean(ticket, {3, 1, 1});
}

TEST_F(CheckedRacesTest, KnowsMatricesOfAWarp) {
  const std::string head =
      "#include <mma.h>\nusing namespace nvcuda;\n__global__ void k(const float* a, float* b, int n) {\n  const int t = "
      "threadIdx.x, w = t / 32;\n"
      "  __shared__ half s[2][256];\n  __shared__ float r[2][256];\n  for (int i = t % 32; i < 256; i += 32) s[w][i] = "
      "__float2half(i % 3);\n"
      "  __syncwarp();\n  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;\n"
      "  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;\n  wmma::fragment<wmma::accumulator, 16, 16, 16, "
      "float> fc;\n"
      "  wmma::fill_fragment(fc, 0.0f);\n  wmma::load_matrix_sync(fa, s[w], 16);\n";
  const std::string tail = "  wmma::mma_sync(fc, fa, fb, fc);\n  wmma::store_matrix_sync(r[w], fc, 16, wmma::mem_row_major);\n";
  ExpectClean(head + "  wmma::load_matrix_sync(fb, s[w], 16);\n" + tail + "  __syncwarp();\n  b[t] = r[w][255 - t % 32];\n}\n");
  ExpectRace(head + "  wmma::load_matrix_sync(fb, s[w ^ 1], 16);\n" + tail + "  __syncwarp();\n  b[t] = r[w][t % 32];\n}\n",
             "race in shared memory");
  ExpectRace(head + "  wmma::load_matrix_sync(fb, s[w], 16);\n" + tail + "  b[t] = r[w][(t + 1) % 32];\n}\n",
             "race in shared memory");
}

TEST_F(CheckedRacesTest, SaysWhoAndWhere) {
  const DeviceStatus status = RunChecked(
      Kernel("  __shared__ float s[64];\n  if (t == 3) s[35] = 1;\n  if (t == 40) b[t] = s[35];\n"), {1, 1, 1}, {64, 1, 1}, 64);
  EXPECT_EQ(
      status.message,
      "k: thread (40, 0, 0) of block (0, 0, 0): race in shared memory: threads 3 and 40 at offset 140 of a shared variable of "
      "256 bytes, read after written without a barrier between them");
}

}  // namespace
}  // namespace evo
