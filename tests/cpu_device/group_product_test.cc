// Products of warp groups (wgmma) on the cpu device, written as inline PTX.
#include "tests/cpu_device/checked_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

using GroupProductTest = CheckedKernelTest;

// A warp group's product of 64 x 16 and 16 x 64 elements, both either by k or by the output's index, with the 128-byte swizzle.
// It overwrites the sums, then adds the same.
constexpr const char* kGroupProduct = R"(
#include <cuda_fp16.h>
__global__ void k(const float* a, const float* b, float* d) {
  extern __shared__ __align__(1024) half tiles[];
  const int t = threadIdx.x, lane = t % 32;
  for (int i = t; i < 64 * 16; i += 128) {
    const int row = BY_K ? i / 16 : i % 16, column = BY_K ? i % 16 : i / 16;
    tiles[row * 64 + (column / 8 ^ row % 8) * 8 + column % 8] = half(a[i]);
    tiles[4096 + row * 64 + (column / 8 ^ row % 8) * 8 + column % 8] = half(b[i]);
  }
  BARRIER
  const unsigned at = (unsigned)__cvta_generic_to_shared(tiles);
  const unsigned long long x = (at & 0x3ffff) >> 4 | 64ull << 32 | 1ull << 62, y = x + 512;
  float s[32];
  for (int i = 0; i < 32; ++i) s[i] = 1000;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int add = 0; add < 2; ++add) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
                 "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, p, 1, 1, %35, %35;\n}\n"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]), "+f"(s[7]), "+f"(s[8]),
                   "+f"(s[9]), "+f"(s[10]), "+f"(s[11]), "+f"(s[12]), "+f"(s[13]), "+f"(s[14]), "+f"(s[15]), "+f"(s[16]),
                   "+f"(s[17]), "+f"(s[18]), "+f"(s[19]), "+f"(s[20]), "+f"(s[21]), "+f"(s[22]), "+f"(s[23]), "+f"(s[24]),
                   "+f"(s[25]), "+f"(s[26]), "+f"(s[27]), "+f"(s[28]), "+f"(s[29]), "+f"(s[30]), "+f"(s[31])
                 : "l"(x), "l"(y), "r"(add), "n"(BY_K ? 0 : 1));
  }
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 32; ++i) d[(t / 32 * 16 + lane / 4 + i / 2 % 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = s[i];
}
)";

TEST_F(GroupProductTest, MultiplyByWarpGroups) {
  std::vector<float> a(1024), b(1024), expected(4096);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 13) - 6, b[i] = static_cast<float>(i * 5 % 11) - 5;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t k = 0; k < 16; ++k) expected[i] += 2 * a[i / 64 * 16 + k] * b[i % 64 * 16 + k];
  }
  for (const char* by_k : {"true", "false"}) {
    const auto program = Load(With(With(kGroupProduct, "BY_K", by_k), "BARRIER", "__syncthreads();"), "k", true);
    const Address d = Upload(std::vector<float>(4096, -7));
    const DeviceStatus status = Run(*program, Launch({1, 1, 1}, {128, 1, 1}, {Upload(a), Upload(b), d}, 16384), 3);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(Download<float>(d, 4096), expected) << by_k;
  }
  // The left factor in registers.
  std::string source = With(kGroupProduct, "  float s[32];\n", R"(  unsigned r[4];
  for (int i = 0; i < 4; ++i) {
    const float* from = a + (t / 32 * 16 + lane / 4 + i % 2 * 8) * 16 + i / 2 * 8 + lane % 4 * 2;
    const half2 pair = __floats2half2_rn(from[0], from[1]);
    r[i] = *reinterpret_cast<const unsigned*>(&pair);
  }
  float s[32];
)");
  source = With(source, "p, %34, 0", "p, %37, 0");
  source = With(source, "%32, %33, p, 1, 1, %35, %35;", "{%32, %33, %34, %35}, %36, p, 1, 1, %38;");
  source = With(source, "\"l\"(x), ", "\"r\"(r[0]), \"r\"(r[1]), \"r\"(r[2]), \"r\"(r[3]), ");
  for (const char* by_k : {"true", "false"}) {
    const auto program = Load(With(With(source, "BY_K", by_k), "BARRIER", "__syncthreads();"), "k", true);
    const Address d = Upload(std::vector<float>(4096, -7));
    const DeviceStatus status = Run(*program, Launch({1, 1, 1}, {128, 1, 1}, {Upload(a), Upload(b), d}, 16384), 3);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(Download<float>(d, 4096), expected) << by_k;
  }
  const std::string open =
      With(With(With(kGroupProduct, "BY_K", "true"), "b[i]", "a[i]"), "const float* b, float* d", "float* d, int n");
  EXPECT_EQ(RunChecked(With(open, "BARRIER", "__syncthreads();"), {1, 1, 1}, {128, 1, 1}, 4096, 16384).message, "");
  EXPECT_THAT(RunChecked(With(open, "BARRIER", ""), {1, 1, 1}, {128, 1, 1}, 4096, 16384).message,
              HasSubstr("race in shared memory"));
}

// The same of 64 x 32 and 32 x 64 bytes, which are the third and the fourth vector of rows of 128.
constexpr const char* kByteGroupProduct = R"(
__global__ void k(const TYPE* a, const TYPE* b, int* d) {
  extern __shared__ __align__(1024) TYPE tiles[];
  const int t = threadIdx.x, lane = t % 32;
  for (int i = t; i < 64 * 32; i += 128) {
    const int row = i / 32, column = 32 + i % 32;
    tiles[row * 128 + (column / 16 ^ row % 8) * 16 + column % 16] = a[i];
    tiles[8192 + row * 128 + (column / 16 ^ row % 8) * 16 + column % 16] = b[i];
  }
  BARRIER
  const unsigned at = (unsigned)__cvta_generic_to_shared(tiles + 32);
  const unsigned long long x = (at & 0x3ffff) >> 4 | 64ull << 32 | 1ull << 62, y = x + 512;
  int s[32];
  for (int i = 0; i < 32; ++i) s[i] = 1000;
  for (int add = 0; add < 2; ++add) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k32.s32.NAME.NAME {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, "
                 "%12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, p;\n}\n"
                 : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3]), "+r"(s[4]), "+r"(s[5]), "+r"(s[6]), "+r"(s[7]), "+r"(s[8]),
                   "+r"(s[9]), "+r"(s[10]), "+r"(s[11]), "+r"(s[12]), "+r"(s[13]), "+r"(s[14]), "+r"(s[15]), "+r"(s[16]),
                   "+r"(s[17]), "+r"(s[18]), "+r"(s[19]), "+r"(s[20]), "+r"(s[21]), "+r"(s[22]), "+r"(s[23]), "+r"(s[24]),
                   "+r"(s[25]), "+r"(s[26]), "+r"(s[27]), "+r"(s[28]), "+r"(s[29]), "+r"(s[30]), "+r"(s[31])
                 : "l"(x), "l"(y), "r"(add));
  }
  for (int i = 0; i < 32; ++i) d[(t / 32 * 16 + lane / 4 + i / 2 % 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = s[i];
}
)";

template <typename T>
std::vector<int> ByteGroupSums(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<int> sums(4096);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t k = 0; k < 32; ++k) sums[i] += 2 * a[i / 64 * 32 + k] * b[i % 64 * 32 + k];
  }
  return sums;
}

TEST_F(GroupProductTest, MultiplyBytesByWarpGroups) {
  std::vector<signed char> a(2048), b(2048);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<signed char>(i < 32 ? -128 : i * 37 % 256);
    b[i] = static_cast<signed char>(i < 32 ? -128 : i * 91 % 256);
  }
  const std::vector<unsigned char> c(a.begin(), a.end()), e(b.begin(), b.end());
  const std::string source = With(kByteGroupProduct, "BARRIER", "__syncthreads();");
  const auto of = [](const std::string& text, const char* type, const char* name) {
    return With(With(text, "TYPE", type), "NAME", name);
  };
  const Address d = Upload(std::vector<int>(4096, -7));
  const auto with_sign = Load(of(source, "signed char", "s8"), "k", true);
  const DeviceStatus status = Run(*with_sign, Launch({1, 1, 1}, {128, 1, 1}, {Upload(a), Upload(b), d}, 16384), 3);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(Download<int>(d, 4096), ByteGroupSums(a, b));
  for (const char* sums : {"int s[32]", "unsigned s[32]"}) {
    const auto without = Load(of(With(source, "int s[32]", sums), "unsigned char", "u8"), "k", true);
    ASSERT_TRUE(Run(*without, Launch({1, 1, 1}, {128, 1, 1}, {Upload(c), Upload(e), d}, 16384), 3).ok());
    EXPECT_EQ(Download<int>(d, 4096), ByteGroupSums(c, e));
  }
  const auto racing = Load(of(With(kByteGroupProduct, "BARRIER", ""), "signed char", "s8"), "k", true);
  EXPECT_THAT(Run(*racing, Launch({1, 1, 1}, {128, 1, 1}, {Upload(a), Upload(b), d}, 16384), 3).message,
              HasSubstr("race in shared memory"));
}

}  // namespace
}  // namespace evo
