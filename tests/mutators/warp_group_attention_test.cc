#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string StudentsAttention(const char* task) {
  return LoadTemplate(ShareDirectory() / "kernel_templates" / task / "naive.cu").text;
}

std::string ByGroups(const std::string& source) {
  const auto children = ChildrenOf("warp_group_attention", source);
  EXPECT_THAT(children, SizeIs(2)) << source;
  return children.empty() ? "" : children.front();
}

TEST(WarpGroupAttention, BringsParametersAndBlocks) {
  const std::string child = ByGroups(StudentsAttention("attention"));
  EXPECT_THAT(child, AllOf(HasSubstr("// evo:requires sm_90a\n"), HasSubstr("// evo:param TILE_KEYS 64 128\n"),
                           HasSubstr("// evo:param GROUPS 1 2 3 4\n"), HasSubstr("// evo:param STAGES 2 3 4\n"),
                           HasSubstr("// evo:param BLOCKS 1 2 3 4\n"),
                           HasSubstr("// evo:constraint (TILE_KEYS * 3 / 4 + 68) * GROUPS * 128 * BLOCKS <= 65536\n")));
  EXPECT_THAT(child, AllOf(HasSubstr("grid(ceil_div(S, GROUPS * 64), H, B) block(GROUPS * 128) "
                                     "shared((GROUPS * 64 + 2 * STAGES * TILE_KEYS) * 128)\n"),
                           HasSubstr("__global__ __launch_bounds__(GROUPS * 128, BLOCKS) void attention_naive("),
                           HasSubstr("#include <cuda_pipeline.h>\n")));
  // Scores of tiles of either size with both factors in shared memory; weights stay in registers.
  EXPECT_THAT(child, AllOf(HasSubstr("(float (&sums)[64], unsigned long long a, unsigned long long b, int adds)"),
                           HasSubstr("(float (&sums)[32], const unsigned (&a)[4], unsigned long long b, int adds)"),
                           HasSubstr("\"{%32, %33, %34, %35}, %36, p, 1, 1, 1;\\n}\"")));
  EXPECT_THAT(child, Not(HasSubstr("own_row"))) << "nothing needs it";
}

TEST(WarpGroupAttention, KnowsWhatCausalRowsSee) {
  const std::string child = ByGroups(StudentsAttention("attention_causal"));
  EXPECT_THAT(child, AllOf(HasSubstr("const int end = min(last_key, first_row + kRows);\n"),
                           HasSubstr("int(gridDim.x - 1 - blockIdx.x) * kRows;\n  const int own_row = first_row + warp * 16;\n"),
                           HasSubstr("if (key >= last_key || key > own_row + i / 2 % 2 * 8 + lane / 4) scores[i] = -INFINITY;")));
}

// Longer rows leave fewer registers for blocks.
TEST(WarpGroupAttention, BeginsWithWhatHasRegisters) {
  const std::string source = StudentsAttention("attention");
  EXPECT_THAT(ByGroups(source), AllOf(HasSubstr("#define GROUPS 2\n"), HasSubstr("#define BLOCKS 2\n")));
  EXPECT_THAT(ByGroups(With(source, "#define HEAD_DIM 64", "#define HEAD_DIM 128")),
              AllOf(HasSubstr("#define GROUPS 2\n"), HasSubstr("#define BLOCKS 1\n")));
}

TEST(WarpGroupAttention, TakesNamesThatAreFree) {
  const std::string child = ByGroups(With(StudentsAttention("attention"), "// Threads of a block.",
                                          "#define GROUPS 3\n#define kPanel 4\nstruct MultiplyGroup {};\n"));
  EXPECT_THAT(child, AllOf(HasSubstr("evo:param GROUPS_2 1 2 3 4"), HasSubstr("kPanel_2 = TILE_KEYS * 64;"),
                           HasSubstr("MultiplyGroup_2(scores, ")));
}

TEST(WarpGroupAttention, SaysWhyNot) {
  const std::string source = StudentsAttention("attention");
  const auto why = [](const std::string& text) { return RefusalsOf("warp_group_attention", text); };
  EXPECT_THAT(why(source), IsEmpty());
  EXPECT_THAT(why(With(source, "#define HEAD_DIM 64", "#define HEAD_DIM 32")),
              ElementsAre("attention_naive: its rows have 32 elements, and products of warp groups take 64, 128, 192 or 256"));
  EXPECT_THAT(why(With(source, "// evo:launch", "// evo:requires sm_80\n// evo:launch")),
              ElementsAre("attention_naive: its source requires sm_80, and products of warp groups sm_90a"));
  EXPECT_THAT(why(With(source, "return sum * scale;", "return sum * scale + 1e-3f * sum * sum;")), IsEmpty())
      << "what is no attention is fuse_attention's to say";
}

}  // namespace
}  // namespace evo
