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

constexpr const char* kOperator = "integer_warp_group_contraction";

TEST(IntegerWarpGroupContraction, PromisesTheSameBits) {
  EXPECT_EQ(SourceMutatorNamed(kOperator).promise(), Promise::kExact);
  EXPECT_EQ(SourceMutatorNamed("warp_group_contraction").promise(), Promise::kReassociating);
}

// Two children whose threads copy and two by tensor maps, which a batch cannot have.
TEST(IntegerWarpGroupContraction, TakesBatchesByThreadsAlone) {
  EXPECT_EQ(ChildrenOf(kOperator, kByteGram).size(), 4u);
  EXPECT_EQ(ChildrenOf(kOperator, kByteLayer).size(), 2u);
}

// A row of a tile has 128 bytes and a product takes 32 of them. Instructions for bytes have no signs and no orders.
TEST(IntegerWarpGroupContraction, CopiesByThreads) {
  const std::string child = FirstChildOf(kOperator, kByteLayer, 2);
  for (const char* line : {"// evo:requires sm_90a\n",
                           "// evo:param TILE_M 64 128 192 256\n",
                           "// evo:constraint STAGES * (TILE_M + TILE_N) * 128 <= ",
                           "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {",
                           "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {",
                           "%64, %65, p;\\n}\"\n",
                           "\"+r\"(sums[127])\n",
                           "void MultiplyGroup(int (&sums)[64], ",
                           "void FinishProducts(int (&sums)[kCount]) {\n",
                           "return row * 128 + (vector ^ row % 8) * 16; }\n",
                           "\"r\"(max(0, min(count, 16)))\n",
                           "signed char (*tile_m)[TILE_M * 128] = ",
                           "const int steps = (K + 127) / 128;\n",
                           "const signed char* from_m = at_m(line, vector * 16);\n",
                           "pitch_m % 16 == 0;\n",
                           "      from_m += 128;\n",
                           "for (int part_k = 0; part_k < 128; part_k += 32) {\n",
                           "Describe(&tile_m[slot][(own_m + part_m) * 128 + part_k], 16)",
                           "Describe(&tile_n[slot][part_k], 16)",
                           "sums[part_m / 64][e] = 0;\n"})
    EXPECT_THAT(child, HasSubstr(line));
  EXPECT_THAT(child, HasSubstr("      int total = own[t / TILE_N * kRow + t % TILE_N];\n"
                               "      // Rounded to the nearest integer.\n"
                               "      const int rounded = __float2int_rn(total * scale + bias[j]);\n"));
  EXPECT_THAT(child, Not(HasSubstr("float sums")));
}

TEST(IntegerWarpGroupContraction, BringsTilesByTensorMaps) {
  const auto children = ChildrenOf(kOperator, kByteGram);
  ASSERT_EQ(children.size(), 4u);
  const std::string& child = children[2];
  for (const char* line :
       {"// evo:workspace U_padded u8 [K % 16 ? M : 1, ceil_div(K, 16) * 16]\n",
        "// evo:tensormap U_map = U dims(K, M) box(128, TILE_M) swizzle(128)\n",
        "// evo:tensormap V_padded_map = V_padded dims(ceil_div(K, 16) * 16, N) box(128, TILE_N) swizzle(128)\n",
        "// evo:launch PadRows(V, V_padded, N, K, ceil_div(K, 16) * 16) grid(ceil_div(K, 256), min(N, 65535)) block(256) when(K "
        "% 16)\n",
        "U_map, V_map) grid(min(ceil_div(M, TILE_M) * ceil_div(N, TILE_N), RESIDENT)) block(384) shared(", "when(K % 16 == 0)\n",
        "#define TILE_N 256\n", "m64n256k32.s32.u8.u8 {", "void PadRows(const void* from, unsigned char* to,",
        "  CopyBox(tile_m[slot], &map_m, step * 128, place.y * TILE_M, &full[slot]);\n",
        "  CopyBox(tile_n[slot], &map_n, step * 128, place.x * TILE_N, &full[slot]);\n",
        "    int sums[TILE_M / 128][TILE_N / 2];\n", "            int acc = own[t * 40 + lane];\n"})
    EXPECT_THAT(child, HasSubstr(line));
  EXPECT_THAT(child, Not(HasSubstr("@{")));
}

// The instruction takes factors of which one is signed and one is not.
TEST(IntegerWarpGroupContraction, MixesSigns) {
  const auto children = ChildrenOf(kOperator, With(kByteGram, "const unsigned char* v", "const signed char* v"));
  ASSERT_EQ(children.size(), 4u);
  EXPECT_THAT(children[0], AllOf(HasSubstr("k32.s32.u8.s8 {"), HasSubstr("void CopyPanels(\n    signed char* to, "),
                                 HasSubstr("void CopyPanels(\n    unsigned char* to, "),
                                 HasSubstr("  unsigned char (*tile_m)[TILE_M * 128] ="), HasSubstr("  signed char (*tile_n)[")));
  EXPECT_THAT(children[2], AllOf(HasSubstr("k32.s32.u8.s8 {"), HasSubstr("  unsigned char (*tile_m)[TILE_M * 128] ="),
                                 HasSubstr("  signed char (*tile_n)[TILE_N * 128] =")));
}

// __dp4a of words is the same with elements of four bytes.
TEST(IntegerWarpGroupContraction, TakesProductsOfWords) {
  const auto children = ChildrenOf(kOperator, kWordProduct);
  ASSERT_EQ(children.size(), 4u);
  for (const char* line :
       {"k32.s32.s8.s8 {", "  int (*tile_m)[TILE_M * 32] = ", "const int steps = (K4 + 31) / 32;\n",
        "for (int part_k = 0; part_k < 32; part_k += 8) {\n", "return row * 32 + (vector ^ row % 8) * 4; }\n",
        "\"r\"(4 * max(0, min(count, 4)))\n", "8 products of words each", "  int sums[GROUP_ROWS / 64][TILE_N / 2];\n",
        "pitch_n % 4 == 0;\n", "C[row * N + col] = acc > 0 ? acc : 0;\n"})
    EXPECT_THAT(children[0], HasSubstr(line));
  // The map says what its elements are: the buffer may be one of bytes.
  for (const char* line : {"// evo:tensormap A_map = A type(u32) dims(W, M) box(32, TILE_M) swizzle(128)\n",
                           "// evo:workspace B_padded u32 [W % 4 ? N : 1, ceil_div(W, 4) * 4]\n",
                           "void PadRows(const void* from, unsigned int* to,", "  CopyBox(tile_m[slot], &map_m, step * 32, "})
    EXPECT_THAT(children[2], HasSubstr(line));
  std::string source = kWordProduct;
  for (const auto& [part, other] : {std::pair("const int* __restrict__ A", "const unsigned* A"),
                                    {"const int* __restrict__ B", "const unsigned* B"},
                                    {"int a4", "unsigned a4"},
                                    {"int b4", "unsigned b4"},
                                    {"int acc", "unsigned acc"}})
    source = With(source, part, other);
  EXPECT_THAT(FirstChildOf(kOperator, source, 4),
              AllOf(HasSubstr("k32.s32.u8.u8 {"), HasSubstr("  unsigned int sums[GROUP_ROWS")));
  EXPECT_THAT(RefusalsOf(kOperator, With(kWordProduct, "const int* __restrict__ A", "const unsigned* A")),
              ElementsAre(HasSubstr("the factor `a4` is no element of words of four bytes")));
  for (const char* other : {"integer_tensor_contraction", "tile_contraction", "warp_group_contraction"})
    EXPECT_THAT(ChildrenOf(other, kWordProduct), IsEmpty()) << other;
}

TEST(IntegerWarpGroupContraction, TakesWordsBehindCasts) {
  const std::string child = FirstChildOf(kOperator, kCastProduct, 2);  // not by tensor maps
  for (const char* line :
       {"const int steps = ((K / 4) + 31) / 32;\n", "    const int* x = reinterpret_cast<const int*>(X + m * K);\n",
        "    return &x[i];\n", "    const int* w = (const int*)&W[n * K];\n", "      Y[m * N + n] = 0.5f * total;\n",
        "k32.s32.s8.s8 {"})
    EXPECT_THAT(child, HasSubstr(line));
  EXPECT_THAT(ChildrenOf(kOperator, With(kCastProduct, "x[i]", "x[2 * i]")), IsEmpty());
  const std::string words_apart = With(kCastProduct, "x[i]", "*(const int*)(X + m * K + i)");
  EXPECT_THAT(ChildrenOf(kOperator, words_apart), IsEmpty()) << "neighbouring elements of X are no neighbouring words";
  EXPECT_THAT(ChildrenOf(kOperator, With(words_apart, "const int8_t* X", "const int64_t* X")), IsEmpty());
  EXPECT_THAT(ChildrenOf(kOperator, With(kCastProduct, "(X + m * K)", "(Y + m * K)")), IsEmpty()) << "written";
  EXPECT_THAT(ChildrenOf(kOperator, With(kCastProduct, "(X + m * K)", "(X + m * m)")), IsEmpty()) << "not linear";
}

TEST(IntegerWarpGroupContraction, ReadsAsAPersonWouldHaveWrittenIt) {
  for (const char* source : {kByteLayer, kByteGram}) {
    for (const std::string& child : ChildrenOf(kOperator, source)) {
      std::istringstream lines(child);
      for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), line.starts_with("// evo:") || line.starts_with("__global__") ? 250u : 150u) << line;
    }
  }
}

TEST(IntegerWarpGroupContraction, SaysWhyNot) {
  const auto why_not = [](const std::string& source) { return RefusalsOf(kOperator, source); };
  EXPECT_THAT(why_not(kByteLayer), IsEmpty());
  EXPECT_THAT(why_not(kHalves), ElementsAre("hgemm: it sums up in float, and tensor cores add up products of bytes in int"));
  EXPECT_THAT(why_not(kBytes), ElementsAre("quantised: neighbouring elements of `(int)b[c * w + x]` do not go along the sum's "
                                           "index, and nothing transposes bytes"));
  EXPECT_THAT(why_not(With(kByteGram, "v[q * S + s]", "v[s * Q + q]")), Contains(HasSubstr("and nothing transposes bytes")));
  EXPECT_THAT(why_not("// evo:requires sm_80\n" + std::string(kByteGram)),
              Contains("gram: its source requires sm_80, and products of warp groups sm_90a"));
  EXPECT_THAT(RefusalsOf("warp_group_contraction", kByteGram),
              ElementsAre(HasSubstr("it sums up in int, and tensor cores do in")));
}

}  // namespace
}  // namespace evo
