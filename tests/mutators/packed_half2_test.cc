#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> Halves(const std::string& body) {
  const std::string head =
      "#include <cuda_fp16.h>\n// evo:launch k(A, B, C, N) grid(1) block(128)\n"
      "__global__ void k(const half* a, const half* b, float* out, int n) {\n";
  std::vector<std::string> bodies;
  for (const std::string& child : ChildrenOf("packed_half2", head + body + "}\n")) {
    const std::size_t begin = child.find(") {\n", child.find("__global__")) + 4;
    bodies.push_back(child.substr(begin, child.rfind('}') - begin));
  }
  return bodies;
}

TEST(PackedHalf2, ConvertsTwoAtATime) {
  const auto bodies = Halves("  float s = 0;\n  for (int i = 0; i < n; ++i) s += __half2float(a[i + 2]);\n  out[0] = s;\n");
  EXPECT_THAT(bodies, ElementsAre("  float s = 0;\n  {\n    int i = 0;\n"
                                  "    if (reinterpret_cast<unsigned long long>(&a[0 + 2]) % 4 == 0) {\n"
                                  "      for (; i + 1 < n; i += 2) {\n"
                                  "        const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(&a[i + 2]));\n"
                                  "        s += pair.x;\n        s += pair.y;\n      }\n    }\n"
                                  "    for (; i < n; ++i) {\n      s += __half2float(a[i + 2]);\n    }\n  }\n  out[0] = s;\n"));
}

TEST(PackedHalf2, MultipliesTwoAtATime) {
  const auto bodies = Halves(
      "  float s[2] = {};\n#pragma unroll\n  for (int i = 0; i < 8; ++i) {\n    const float x = __half2float(a[i]) * "
      "__half2float(b[i]);\n    s[i % 2] += x;\n  }\n  out[0] = s[0] + s[1];\n");
  ASSERT_THAT(bodies, SizeIs(2));
  EXPECT_THAT(bodies[0],
              HasSubstr("      {\n        const float x = pair_0.y * pair_1.y;\n        s[(i + 1) % 2] += x;\n      }\n"));
  EXPECT_THAT(bodies[1], HasSubstr("#pragma unroll\n    for (int i = 0; i < 8; i += 2) {\n"
                                   "      const float2 pair = __half22float2(__hmul2(*reinterpret_cast<const __half2*>(&a[i]), "
                                   "*reinterpret_cast<const __half2*>(&b[i])));\n"));
}

TEST(PackedHalf2, TakesBfloat16) {
  const auto children = ChildrenOf("packed_half2",
                                   "#include <cuda_bf16.h>\n// evo:launch k(A, B, N) grid(1) block(128)\n"
                                   "__global__ void k(const __nv_bfloat16* a, float* out, int n) {\n"
                                   "  for (int i = 0; i < n; ++i) out[i] = __bfloat162float(a[i]);\n}\n");
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0], HasSubstr("__bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&a[i]))"));
}

TEST(PackedHalf2, LeavesElementsWithoutAPartner) {
  for (const char* body : {
           "  float s = 0;\n  for (int i = 0; i < n; i += 2) s += __half2float(a[i]);\n  out[0] = s;\n",
           "  float s = 0;\n  for (int i = 0; i < n; ++i) s += __half2float(a[2 * i]);\n  out[0] = s;\n",
           "  float s = 0;\n  for (int i = 0; i < n; ++i) {\n    if (i != 3) s += __half2float(a[i]);\n  }\n  out[0] = s;\n",
           "  float s = 0;\n  for (int i = 0; i < n; ++i) {\n    if (s > 3) break;\n    s += __half2float(a[i]);\n  }\n  out[0] "
           "= s;\n",
           // The loop may store to what it reads.
           "  half* t = reinterpret_cast<half*>(out);\n  for (int i = 0; i < n; ++i) t[i + 1] = "
           "__float2half(__half2float(t[i]));\n",
           "  float s = 0;\n  for (int i = 0; i < n; ++i) s += out[i];\n  out[0] = s;\n",
       }) {
    EXPECT_THAT(Halves(body), IsEmpty()) << body;
  }
}

}  // namespace
}  // namespace evo
