#include <gmock/gmock.h>

#include <sstream>

#include "tests/mutators/byte_kernels.h"
#include "tests/mutators/contraction_kernels.h"
#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// With the larger tiles to begin with; the other child has smaller ones.
std::string OfIntegers(const std::string& source) { return FirstChildOf("integer_tensor_contraction", source, 2); }

std::vector<std::string> WhyNotIntegers(const std::string& source) { return RefusalsOf("integer_tensor_contraction", source); }

TEST(IntegerTensorContraction, BringsParametersAndBlocks) {
  const auto children = ChildrenOf("integer_tensor_contraction", kByteLayer);
  ASSERT_EQ(children.size(), 2u);
  EXPECT_THAT(children[0], AllOf(HasSubstr("// evo:param TILE_K 32 64 128\n"), HasSubstr("// evo:param STAGES 2 3 4\n"),
                                 HasSubstr("// evo:constraint TILE_M * TILE_K / 16 % (WARPS_M * WARPS_N * 32) == 0\n"),
                                 HasSubstr("#define TILE_M 128\n"), HasSubstr("#define TILE_K 64\n")));
  EXPECT_THAT(children[0], HasSubstr("grid(ceil_div(M, TILE_M), ceil_div(N, TILE_N), BATCH) block(WARPS_M * WARPS_N * 32) "
                                     "shared(max(STAGES * (TILE_M * (TILE_K + 16) + TILE_N * (TILE_K + 16)), "
                                     "WARPS_M * (TILE_N + WARPS_N * 8) * 64))\n"));
  EXPECT_THAT(children[0],
              AllOf(HasSubstr("#include <cuda_pipeline.h>\n"), HasSubstr("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "),
                    HasSubstr("void CopyVector(signed char* to, const signed char* from, long long count) {\n"),
                    HasSubstr("part[i] = i < count ? from[i] : 0;\n"), HasSubstr("int sums[kWarpM / 16][kWarpN / 8][4] = {};\n"),
                    HasSubstr("// Four matrices of 8 x 16 elements of shared memory"), Not(HasSubstr("LoadTransposed"))));
  EXPECT_THAT(children[1], AllOf(HasSubstr("#define TILE_M 32\n"), HasSubstr("#define WARPS_M 1\n")));
  EXPECT_THAT(OfIntegers(kByteGram), HasSubstr("m16n8k32.row.col.s32.u8.u8.s32 "));
}

TEST(IntegerTensorContraction, ReadsAsAPersonWouldHaveWrittenIt) {
  const std::string child = OfIntegers(kByteLayer);
  EXPECT_THAT(child, HasSubstr("for (int part_k = 0; part_k < TILE_K; part_k += 32) {\n"));
  EXPECT_THAT(child, HasSubstr("&tile_m[slot][own_m + u * 16 + lane % 16][part_k + lane / 16 * 16]);\n"));
  EXPECT_THAT(child, HasSubstr("&tile_n[slot][own_n + v * 16 + lane / 16 * 8 + lane % 8][part_k + lane / 8 % 2 * 16]);\n"));
  EXPECT_THAT(child, HasSubstr(", &x[i * K + k], inside ? K - k : 0);\n")) << "the address that __ldg reads";
  EXPECT_THAT(child, HasSubstr(", &W[j * K + k], inside ? K - k : 0);\n")) << "what a variable of the loop stands for";
  EXPECT_THAT(child, HasSubstr("      int total = own[t / kWarpN * kRow + t % kWarpN];\n"
                               "      // Rounded to the nearest integer.\n"
                               "      const int rounded = __float2int_rn(total * scale + bias[j]);\n"));
  std::istringstream lines(child);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), line.starts_with("// evo:") ? 250u : 150u) << line;
}

TEST(IntegerTensorContraction, SaysWhyNot) {
  EXPECT_THAT(WhyNotIntegers(kByteLayer), IsEmpty());
  EXPECT_THAT(WhyNotIntegers(kBytes), ElementsAre("quantised: neighbouring elements of `(int)b[c * w + x]` do not go along the "
                                                  "sum's index, and nothing transposes bytes"));
  EXPECT_THAT(WhyNotIntegers(kHalves),
              ElementsAre("hgemm: it sums up in float, and tensor cores add up products of bytes in int"));
  for (const auto& [source, why] : kRefused) EXPECT_THAT(WhyNotIntegers(source), IsEmpty()) << "tile_contraction says " << why;
  const char* const no_element = "is no element of signed or unsigned char converted to int";
  const std::vector<std::tuple<const char*, const char*, const char*>> changes{
      {"int total", "long long total", "it sums up in long long, and"},
      {"int total", "float total", "it sums up in float, and"},
      {"const signed char left", "const unsigned char left", no_element},
      {"const int right = static_cast<int>", "const int right = static_cast<unsigned char>", no_element},
      {"const int right = static_cast<int>", "const float right = static_cast<int>", no_element},
      {"const signed char* W", "const int* W", no_element},
      {"const signed char* W", "const char* W", no_element},
      {"const signed char* W", "const unsigned char* W", "its factors are of two types, signed and unsigned char"},
      {"x[i * K + k]", "x[k * M + i]", "nothing transposes bytes"},
      {"right * left", "right * left * 3", "it adds more than the product of two elements"},
      {"total + right", "total - right", ""}};
  for (const auto& [from, to, why] : changes) {
    const std::string source = With(kByteLayer, from, to);
    EXPECT_THAT(ChildrenOf("integer_tensor_contraction", source), IsEmpty()) << source;
    if (*why != '\0') {
      EXPECT_THAT(WhyNotIntegers(source), Contains(HasSubstr(why))) << source;
    }
  }
}

}  // namespace
}  // namespace evo
