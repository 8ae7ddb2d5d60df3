// The instructions of tensor cores that the cpu device runs, written as inline PTX.
#include <cmath>

#include "evaluator/compiler/host/host_assembly.h"
#include "tests/cpu_device/checked_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

// A warp's product of 16 x 16 and 16 x 8 elements, b by rows (`trans`) or by columns, with TYPE and its name in PTX.
constexpr const char* kProduct = R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void k(const float* a, const float* b, float* d) {
  __shared__ __align__(16) TYPE left[16][24], right[16][24];
  const int lane = threadIdx.x;
  for (int i = lane; i < 16 * 16; i += 32) left[i / 16][i % 16] = TYPE(a[i]);
  for (int i = lane; i < 16 * 8; i += 32) {
    if (TRANSPOSES) right[i / 8][i % 8] = TYPE(b[i]);
    else right[i % 8][i / 8] = TYPE(b[i]);
  }
  __syncthreads();
  unsigned x[4], y[2];
  float sums[4] = {1, 1, 1, 1};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"((unsigned)__cvta_generic_to_shared(&left[lane % 16][lane / 16 * 8])) : "memory");
  if (TRANSPOSES) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n" : "=r"(y[0]), "=r"(y[1])
                 : "r"((unsigned)__cvta_generic_to_shared(&right[lane % 16][0])));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];\n" : "=r"(y[0]), "=r"(y[1])
                 : "r"((unsigned)__cvta_generic_to_shared(&right[lane % 8][lane / 8 % 2 * 8])));
  }
  asm("mma.sync.aligned.m16n8k16.row.col.f32." NAME
      " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int e = 0; e < 4; ++e) d[(lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2] = sums[e];
}
)";

using TensorCoreTest = CheckedKernelTest;

TEST_F(TensorCoreTest, MultiplyLoadedMatrices) {
  std::vector<float> a(256), b(128), expected(128, 1);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 13) - 6;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 5 % 11) - 5;
  for (std::size_t m = 0; m < 16; ++m) {
    for (std::size_t n = 0; n < 8; ++n) {
      for (std::size_t k = 0; k < 16; ++k) expected[m * 8 + n] += a[m * 16 + k] * b[k * 8 + n];
    }
  }
  for (const auto& [type, name, transposes] :
       {std::tuple("half", "f16.f16.f32", "true"), std::tuple("__nv_bfloat16", "bf16.bf16.f32", "false")}) {
    const std::string source =
        With(With(With(kProduct, "TYPE", type), "NAME", "\"" + std::string(name) + "\""), "TRANSPOSES", transposes);
    const auto program = Load(source, "k", true);
    const Address d = Upload(std::vector<float>(128, -7));
    const DeviceStatus status = Run(*program, Launch({1, 1, 1}, {32, 1, 1}, {Upload(a), Upload(b), d}), 3);
    ASSERT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(Download<float>(d, 128), expected) << type;
  }
}

// A warp's product of 16 x 8 and 8 x 8 elements of tf32: it overwrites the sums or adds to them.
constexpr const char* kTf32Product = R"(
__global__ void k(const float* a, const float* b, float* d) {
  const int lane = threadIdx.x;
  unsigned x[4], y[2];
  for (int e = 0; e < 4; ++e) x[e] = __float_as_uint(a[(lane / 4 + e % 2 * 8) * 8 + lane % 4 + e / 2 * 4]);
  for (int e = 0; e < 2; ++e) y[e] = __float_as_uint(b[(lane % 4 + e * 4) * 8 + lane / 4]);
  float sums[4];
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
      : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "f"(0.0f));
  for (int times = 1; times < TIMES; ++times) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  }
  for (int e = 0; e < 4; ++e) d[(lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2] = sums[e];
}
)";

// The last 13 bits of an element are not read, infinities stay, and sums are truncated.
TEST_F(TensorCoreTest, MultiplyTf32) {
  std::vector<float> a(128), b(64), expected(128);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7 % 13) - 6;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 5 % 11) - 5;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t k = 0; k < 8; ++k) expected[i] += 2 * a[i / 8 * 8 + k] * b[k * 8 + i % 8];
  }
  a[3] = std::nextafter(a[3], 100.0f), b[5] = std::nextafter(b[5], -100.0f);
  const auto program = Load(With(kTf32Product, "TIMES", "2"), "k", true);
  const Address d = Upload(std::vector<float>(128, -7));
  const DeviceStatus status = Run(*program, Launch({1, 1, 1}, {32, 1, 1}, {Upload(a), Upload(b), d}), 3);
  ASSERT_TRUE(status.ok()) << status.message;
  EXPECT_EQ(Download<float>(d, 128), expected);

  std::vector<float> few(128), ones(64, 1.0f);
  few[0] = 1, few[1] = 0x1p-24f, few[2] = 0x1.4p-23f;          // 1 and 1.75 units in the last place
  few[8] = -1, few[9] = -0x1p-24f, few[10] = -0x1.4p-23f;      // the same, negative
  few[16] = INFINITY, few[24] = 0x1p127f, few[25] = 0x1p127f;  // more than a float can be
  few[32] = 0x1p-130f, few[33] = 0x1.8p-136f;                  // denormal numbers, the second without its last bit
  const auto once = Load(With(kTf32Product, "TIMES", "1"), "k", true);
  ASSERT_TRUE(Run(*once, Launch({1, 1, 1}, {32, 1, 1}, {Upload(few), Upload(ones), d}), 3).ok());
  const auto sums = Download<float>(d, 128);
  EXPECT_EQ(sums[0], 1 + 0x1p-23f);
  EXPECT_EQ(sums[8], -1 - 0x1p-23f);
  EXPECT_EQ(sums[16], INFINITY);
  EXPECT_EQ(sums[24], INFINITY);
  EXPECT_EQ(sums[32], 0x1p-130f + 0x1p-136f);
  EXPECT_EQ(sums[40], 0.0f);
}

// A warp's product of 16 x 32 and 32 x 8 integers of TYPE, twice: the second adds to the first.
constexpr const char* kByteProduct = R"(
__global__ void k(const TYPE* a, const TYPE* b, int* d) {
  const int lane = threadIdx.x;
  unsigned x[4], y[2];
  for (int e = 0; e < 4; ++e)
    x[e] = *reinterpret_cast<const unsigned*>(a + (lane / 4 + e % 2 * 8) * 32 + lane % 4 * 4 + e / 2 * 16);
  for (int e = 0; e < 2; ++e) y[e] = *reinterpret_cast<const unsigned*>(b + lane / 4 * 32 + lane % 4 * 4 + e * 16);
  int sums[4];
  for (int e = 0; e < 4; ++e) sums[e] = START;
  for (int times = 0; times < 2; ++times) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.NAME.NAME.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  }
  for (int e = 0; e < 4; ++e) d[(lane / 4 + e / 2 * 8) * 8 + lane % 4 * 2 + e % 2] = sums[e];
}
)";

template <typename T>
std::vector<int> ByteSums(const std::vector<T>& a, const std::vector<T>& b, unsigned start) {
  std::vector<int> sums(128);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    unsigned sum = start;
    for (std::size_t k = 0; k < 32; ++k) sum += 2u * static_cast<unsigned>(a[i / 8 * 32 + k] * b[i % 8 * 32 + k]);
    sums[i] = static_cast<int>(sum);
  }
  return sums;
}

// Elements have the sign of their type, and sums wrap.
TEST_F(TensorCoreTest, MultiplyBytes) {
  std::vector<signed char> a(512), b(256);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<signed char>(i < 32 ? -128 : i * 37 % 256);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<signed char>(i < 32 ? -128 : i * 91 % 256);
  const std::vector<unsigned char> c(a.begin(), a.end()), e(b.begin(), b.end());
  const Address d = Upload(std::vector<int>(128, -7));
  const std::string source = With(kByteProduct, "START", "2147483647");
  const auto with_sign = Load(With(With(source, "TYPE", "signed char"), "NAME", "s8"), "k", true);
  ASSERT_TRUE(Run(*with_sign, Launch({1, 1, 1}, {32, 1, 1}, {Upload(a), Upload(b), d}), 3).ok());
  EXPECT_EQ(Download<int>(d, 128), ByteSums(a, b, 2147483647));
  const auto without = Load(With(With(source, "TYPE", "unsigned char"), "NAME", "u8"), "k", true);
  ASSERT_TRUE(Run(*without, Launch({1, 1, 1}, {32, 1, 1}, {Upload(c), Upload(e), d}), 3).ok());
  EXPECT_EQ(Download<int>(d, 128), ByteSums(c, e, 2147483647));
}

// Without .ftz, the smallest results are denormal.
TEST_F(TensorCoreTest, RaiseToAPower) {
  const std::vector<float> x{0.0f, 3.0f, -1.5f, -INFINITY, INFINITY, NAN, -130.0f, 200.0f};
  for (const auto& [name, least] : {std::pair("ex2.approx.ftz.f32", 0.0f), std::pair("ex2.approx.f32", std::exp2(-130.0f))}) {
    const std::string source =
        Kernel("  float y;\n  asm(\"" + std::string(name) + " %0, %1;\" : \"=f\"(y) : \"f\"(a[t]));\n  b[t] = y;\n");
    const auto program = Load(source, "k", true);
    const Address to = Upload(std::vector<float>(x.size(), -7));
    const DeviceStatus status = Run(*program, Launch({1, 1, 1}, {8, 1, 1}, {Upload(x), to, Int(8)}), 1);
    ASSERT_TRUE(status.ok()) << status.message;
    const auto y = Download<float>(to, x.size());
    EXPECT_THAT(y, ::testing::ElementsAre(1.0f, 8.0f, ::testing::FloatEq(0.35355339f), 0.0f, INFINITY,
                                          ::testing::NanSensitiveFloatEq(NAN), least, INFINITY));
  }
}

// The rows that ldmatrix reads are accesses like others.
TEST_F(TensorCoreTest, ChecksWhatIsLoaded) {
  const auto kernel = [](const std::string& barrier, const std::string& address) {
    return Kernel(
        "  __shared__ __align__(16) float s[4 * 32];\n  s[t] = s[t + 32] = s[t + 64] = s[t + 96] = a[t];\n  " + barrier +
        "\n  unsigned r[4];\n  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
        "    : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3])\n    : \"r\"((unsigned)__cvta_generic_to_shared(" +
        address + ")));\n  b[t] = r[0];\n");
  };
  const std::string barrier = "__syncthreads();";
  EXPECT_EQ(RunChecked(kernel(barrier, "s + t * 4"), {1, 1, 1}, {32, 1, 1}, 32).message, "");
  EXPECT_THAT(RunChecked(kernel("", "s + t * 4"), {1, 1, 1}, {32, 1, 1}, 32).message, HasSubstr("race in shared memory"));
  EXPECT_EQ(RunChecked(kernel(barrier, "s + t * 4 + 4"), {1, 1, 1}, {32, 1, 1}, 32).outcome, Outcome::kCheating);
  EXPECT_THAT(RunChecked(kernel(barrier, "s + t * 4 + (t == 3)"), {1, 1, 1}, {32, 1, 1}, 32).message,
              HasSubstr("an address is no multiple of 16"));
}

TEST(HostAssembly, TakesOneInstructionThatItKnows) {
  EXPECT_EQ(HostAssembly(R"("ldmatrix.sync.aligned.m8n8.x1.shared.b16 " "{%0}, [%1];\n" : "=r"(r) : "r"(f(a, b)) : "memory")"),
            "evo_cpu::LoadMatrices<false>((r), (f(a, b)))");
  for (const char* other : {R"("membar.gl;")", R"("mov.u32 %0, %1;" : "=r"(r) : "r"(a))",
                            R"("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1 + 16];" : "=r"(r) : "r"(a))",
                            R"("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1]; membar.gl;" : "=r"(r) : "r"(a))",
                            R"("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%2];" : "=r"(r) : "r"(a))",
                            R"("ldmatrix.sync.aligned.m8n8.x1." SPACE ".b16 {%0}, [%1];" : "=r"(r) : "r"(a))",
                            R"("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%[from]];" : "=r"(r) : [from] "r"(a))", R"()"})
    EXPECT_EQ(HostAssembly(other), std::nullopt) << other;
}

}  // namespace
}  // namespace evo
