// What nvcc takes without an #include, or with a small standard header, every other reader of a kernel takes, too: NVRTC, the
// compiler of the cpu device, the rules of sources and the parser. NVRTC makes the same code of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <regex>

#include "evaluator/compiler/host/host_compiler.h"
#include "evaluator/compiler/nvrtc/nvcc_compiler.h"
#include "evaluator/compiler/rules/source_rules.h"
#include "platform/installation.h"
#include "platform/user_cache.h"
#include "syntax/syntax_tree.h"
#include "tests/cuda_device/nvrtc_bench.h"

namespace evo {
namespace {

using ::testing::IsEmpty;

struct NvccFile {
  std::string name;
  std::string text;  // with a kernel `k`
};

void PrintTo(const NvccFile& file, std::ostream* out) { *out << file.name; }

// The kernel without comments and blank lines. What stands before it differs: NVRTC keeps constants of headers that nothing uses.
std::string KernelIn(const std::string& ptx) {
  static const std::regex comment("//[^\n]*");
  static const std::regex blank("\n\\s*\n+");
  const std::size_t entry = std::min(ptx.find(".visible .entry"), ptx.size());
  return std::regex_replace(std::regex_replace(ptx.substr(entry), comment, ""), blank, "\n");
}

class NvccAgreementTest : public NvrtcCompilerTest, public ::testing::WithParamInterface<NvccFile> {
 protected:
  static void SetUpTestSuite() {
    NvrtcCompilerTest::SetUpTestSuite();
    const auto scratch = std::filesystem::temp_directory_path() / fmt::format("evo_agreement_test_{}", ::getpid());
    host_ = std::make_unique<HostCompiler>(
        HostCompilerPaths{"g++", ShareDirectory() / "cpu", *CudaRoot() / "include", scratch / "host", UserCacheFolder()});
    parser_ = std::make_unique<SyntaxParser>(SyntaxPaths{*CudaRoot(), ShareDirectory() / "clang", ShareDirectory() / "syntax"});
    nvcc_ = std::make_unique<NvccCompiler>(*CudaRoot(), scratch / "nvcc");
  }
  static void TearDownTestSuite() {
    host_.reset();
    parser_.reset();
    NvrtcCompilerTest::TearDownTestSuite();
  }

  static inline std::unique_ptr<HostCompiler> host_;
  static inline std::unique_ptr<SyntaxParser> parser_;
  static inline std::unique_ptr<NvccCompiler> nvcc_;
};

TEST_P(NvccAgreementTest, EveryReaderTakesWhatNvccTakes) {
  const std::string& text = GetParam().text;
  const CompileResult nvrtc = Compile(text, {"k"}, "sm_80");
  ASSERT_EQ(nvrtc.outcome, Outcome::kOk) << nvrtc.message << nvrtc.log;
  const ExportedKernel exported{"kernel.cu", text, "#include \"kernel.cu\"\n", {"-std=c++17", "-arch=sm_80"}};
  const CompileResult nvcc = nvcc_->Compile(exported, nvrtc.program.kernels);
  ASSERT_EQ(nvcc.outcome, Outcome::kOk) << nvcc.message << nvcc.log;
  EXPECT_EQ(KernelIn(nvrtc.program.ptx), KernelIn(nvcc.program.ptx));
  const CompileResult host = host_->Compile({text, {"k"}, "", false, true});
  EXPECT_EQ(host.outcome, Outcome::kOk) << host.message << host.log;
  const auto objection = CheckSource(text);
  EXPECT_FALSE(objection) << ToString(*objection);
  EXPECT_THAT(parser_->Parse(text).errors(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    WithoutInclude, NvccAgreementTest,
    ::testing::Values(
        NvccFile{"infinity",
                 "__global__ void k(float* x) { x[0] = INFINITY; x[1] = -INFINITY; x[2] = HUGE_VALF; x[3] = HUGE_VAL; }"},
        NvccFile{
            "nan",
            "__global__ void k(float* x) { x[0] = NAN; x[1] = isnan(x[2]) ? 1.f : 0.f; x[3] = isinf(x[4]) + isfinite(x[5]); }"},
        NvccFile{"constants",
                 "__global__ void k(double* x) { x[0] = M_PI; x[1] = M_SQRT2; x[2] = M_PI_2 + M_LN2 + M_E * M_1_PI; x[3] = "
                 "M_2_SQRTPI * M_SQRT1_2; x[4] = M_LOG2E; }"},
        NvccFile{"integer_limits",
                 "__global__ void k(long long* x) { x[0] = INT_MAX; x[1] = INT_MIN; x[2] = UINT_MAX; x[3] = LLONG_MAX; x[4] = "
                 "CHAR_BIT; x[5] = SHRT_MAX + USHRT_MAX; x[6] = ULONG_MAX; x[7] = LONG_MIN; x[8] = max(LONG_MAX, "
                 "static_cast<long>(x[9])); }"},
        NvccFile{"integer_types",
                 "__global__ void k(int8_t* a, int16_t* b, int32_t* c, int64_t* d) { d[0] = a[0] + b[0] + c[0]; }"},
        NvccFile{
            "short_types",
            "__global__ void k(uint* x, ushort* y, ulong* z, u_int8_t* a, u_int32_t* b, u_char* c) { x[0] = y[0] + z[0] + a[0] "
            "+ b[0] + c[0]; }"},
        NvccFile{"sizes",
                 "struct Pair { int a; float b; };\n__global__ void k(size_t* x, ptrdiff_t n, std::size_t m, ssize_t s) { x[0] = "
                 "n + m + s; "
                 "x[1] = offsetof(Pair, b); x[2] = sizeof(std::nullptr_t); }"},
        NvccFile{"assert_and_printf", "__global__ void k(int* x) { assert(x[0] > 0); printf(\"%d\\n\", x[1]); }"},
        NvccFile{
            "min_max",
            "__global__ void k(int* x, unsigned* u, long long* l, float* f, double* d, size_t n) { x[0] = min(x[1], 3); u[0] = "
            "max(u[1], 3u); u[2] = min(3, u[3]); l[0] = max(l[1], 2LL); f[0] = min(f[1], 2.f); d[0] = max(f[1], 1.0); "
            "u[4] = min(n, static_cast<size_t>(3)); l[2] = min(l[3], 3LL); }"},
        NvccFile{
            "std_math",
            "__global__ void k(float* x, double* d, int* i) { x[0] = std::sqrt(x[1]); x[1] = std::exp(x[2]) + std::abs(x[3]); "
            "x[2] = std::fma(x[1], x[2], x[3]) + std::fmax(x[4], x[5]); d[0] = std::abs(d[1]) + std::log(d[2]); i[0] = "
            "std::abs(i[1]); x[4] = std::isnan(x[5]) + std::isfinite(x[6]); x[7] = std::pow(x[8], x[9]); }"},
        NvccFile{"mixed_pow", "__global__ void k(double* x, int* i) { x[0] = pow(2, i[0]); x[1] = pow(i[1], 2.5f); }"},
        NvccFile{"square_of_a_double", "__global__ void k(double* x) { x[0] = pow(x[1], 2); }"},
        NvccFile{"square_of_a_float", "__global__ void k(float* x) { x[0] = pow(x[1], 2); }"},
        NvccFile{"square_in_std", "__global__ void k(float* x) { x[0] = std::pow(x[1], 2) + ::pow(x[2], 2.0f); }"},
        NvccFile{"pow_of_their_own",
                 "struct S { __device__ int pow(int a, int b, int c) const { return a * b + c; } };\n__device__ float "
                 "pow(float a, int b, S s) { return a + b; }\n__global__ void k(float* x) { S s; x[0] = s.pow(1, 2, 3) + "
                 "pow(x[1], 2, s); }"},
        NvccFile{"wide_integers",
                 "__global__ void k(unsigned long long* x) { x[0] = static_cast<unsigned long long>((static_cast<unsigned "
                 "__int128>(x[1]) * x[2]) >> 64); }"},
        NvccFile{"vectors",
                 "__global__ void k(uchar4* x, float4* f, longlong2* l, uint* y) { x[0] = make_uchar4(1, 2, 3, 4); f[0] = "
                 "make_float4(1, "
                 "2, 3, 4); l[0].x = 1; dim3 grid(2, 3); uint3 at = threadIdx; y[0] = grid.x + at.y + warpSize; }"},
        NvccFile{"memory", "__global__ void k(int* x, float* f) { memcpy(x, f, 4); memset(x + 1, 0, 4); }"},
        NvccFile{"host_macros", "__global__ void k(int* x) { x[0] = RAND_MAX; x[1] = EXIT_FAILURE; }"},
        NvccFile{
            "device_math",
            "__global__ void k(float* x) { x[0] = rsqrtf(x[1]) + normcdff(x[2]) + sinpif(x[3]) + exp10f(x[4]) + rhypotf(x[5], "
            "x[6]) + erfinvf(x[7]) + __fdividef(x[8], x[9]) + __saturatef(x[10]); int e; x[11] = frexpf(x[12], &e); "
            "sincosf(x[13], x + 14, x + 15); }"}),
    [](const auto& given) { return given.param.name; });

INSTANTIATE_TEST_SUITE_P(
    WithAHeader, NvccAgreementTest,
    ::testing::Values(
        NvccFile{"cstdint",
                 "#include <cstdint>\n__global__ void k(std::uint32_t* x, int64_t n, uint64_t* y, int_fast32_t* z, uintmax_t* w) "
                 "{ x[0] "
                 "= UINT32_MAX; y[0] = n + INT64_MAX; z[0] = INT8_MIN; w[0] = UINT64_C(3); }"},
        NvccFile{"stdint",
                 "#include <stdint.h>\n__global__ void k(uint8_t* x, uint16_t* y, uintptr_t* z, int_least8_t* a) { z[0] = x[0] + "
                 "y[0] + "
                 "a[0]; }"},
        NvccFile{
            "cfloat",
            "#include <cfloat>\n__global__ void k(float* x, double* y) { x[0] = -FLT_MAX; x[1] = FLT_EPSILON; y[0] = DBL_MAX; }"},
        NvccFile{"climits",
                 "#include <climits>\n#include <limits.h>\n__global__ void k(long* x) { x[0] = INT_MAX; x[1] = LONG_MAX; }"},
        NvccFile{"cstddef",
                 "#include <cstddef>\n#include <cstdlib>\n__global__ void k(std::size_t* x, std::ptrdiff_t n) { x[0] = n + "
                 "offsetof(float4, y); }"},
        NvccFile{"cassert",
                 "#include <cassert>\n#include <cstdio>\n__global__ void k(int* x) { assert(x[0] > 0 && \"positive\"); }"},
        NvccFile{"traits",
                 "#include <type_traits>\n#include <utility>\n__global__ void k(float* x) { std::enable_if_t<std::is_same<float, "
                 "float>::value, float> y = std::move(x[1]); x[0] = y; }"},
        NvccFile{"initializer_list",
                 "#include <initializer_list>\n__global__ void k(float* x) { for (int i : {1, 2, 3}) x[i] = 1; }"},
        NvccFile{"runtime",
                 "#include <cuda_runtime.h>\n#include <device_launch_parameters.h>\n#include <math_constants.h>\n__global__ void "
                 "k(float* "
                 "x) { x[threadIdx.x] = INFINITY; x[1] = CUDART_PI_F; }"},
        NvccFile{"half",
                 "#include <cuda_fp16.h>\n#include <cmath>\n__global__ void k(half* x) { x[0] = __float2half(-INFINITY); }"}),
    [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace evo
