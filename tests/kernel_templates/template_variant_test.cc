#include "kernel_templates/template_variant.h"

#include <gmock/gmock.h>

#include <string>

#include "kernel_templates/kernel_template.h"
#include "tests/kernel_templates/template_folder.h"

namespace evo {
namespace {

constexpr const char* kBase = R"(// evo:param BLOCK 64 128
// evo:param DEPTH 64
// evo:constraint BLOCK * DEPTH <= 16384
// evo:launch k(X, N) grid(ceil_div(N, BLOCK)) block(BLOCK) shared(DEPTH * 4)
#ifndef BLOCK
#define BLOCK 64
#endif

#ifndef DEPTH
#define DEPTH 64
#endif

#ifndef MASKED
#define MASKED 0
#endif

__global__ void k(float* x, int n) {}
)";

class TemplateVariant : public TemplateFolder {
 protected:
  TemplateVariant() { Write("base/k.cu", kBase); }
  std::string Failure(const std::string& text) const { return TemplateFolder::Failure("bad/k.cu", text); }
};

TEST_F(TemplateVariant, OtherFilesAreReadUnchanged) {
  EXPECT_EQ(ReadTemplateText(root_ / "base/k.cu"), kBase);
  EXPECT_EQ(ReadTemplateText(root_ / "missing.cu"), std::nullopt);
}

TEST_F(TemplateVariant, FixesWhatItDefines) {
  const std::filesystem::path file =
      Write("wide/k.cu", "// The same, wider.\n#define MASKED 1\n#define DEPTH 128   \n\n#include \"../base/k.cu\"\n");
  const KernelTemplate wide = LoadTemplate(file);
  EXPECT_EQ(wide.name, "k");
  EXPECT_THAT(wide.text, testing::HasSubstr("#define MASKED 1\n"));
  EXPECT_THAT(wide.text, testing::HasSubstr("// evo:param DEPTH 128\n"));
  ASSERT_EQ(wide.space.parameters.size(), 2u);
  EXPECT_THAT(wide.space.parameters[0].values, testing::ElementsAre(64, 128)) << "a parameter that is not fixed keeps its values";
  EXPECT_THAT(wide.space.parameters[1].values, testing::ElementsAre(128));
  EXPECT_EQ(wide.space.Defaults(), (Parameters{{"BLOCK", 64}, {"DEPTH", 128}}));
}

TEST_F(TemplateVariant, MayBeAVariantOfAVariant) {
  Write("wide/k.cu", "#define DEPTH 128\n#include \"../base/k.cu\"\n");
  const std::filesystem::path file = Write("masked/k.cu", "#define MASKED 1\n#include \"../wide/k.cu\"");
  const std::string text = ReadTemplateText(file).value();
  EXPECT_THAT(text, testing::HasSubstr("#define MASKED 1\n"));
  EXPECT_THAT(text, testing::HasSubstr("#define DEPTH 128\n"));
}

TEST_F(TemplateVariant, AParameterMayBeFixedAtAValueItDoesNotList) {
  const std::filesystem::path file = Write("small/k.cu", "#define BLOCK 32\n#include \"../base/k.cu\"\n");
  EXPECT_THAT(LoadTemplate(file).space.parameters[0].values, testing::ElementsAre(32));
}

TEST_F(TemplateVariant, MistakesAreNamed) {
  EXPECT_EQ(Failure("#define DEEP 1\n#include \"../base/k.cu\"\n"),
            "bad/k.cu:1: DEEP: the included file has no lines '#ifndef DEEP', '#define DEEP value', '#endif'");
  EXPECT_EQ(Failure("#define DEPTH 1\n#include \"../base/q.cu\"\n"),
            "bad/k.cu: the file that it includes, bad/../base/q.cu, cannot be read");
  const std::string form =
      "a variant has comments, '#define NAME integer' lines and then one #include of a .cu file, and nothing else";
  EXPECT_EQ(Failure("#define DEPTH 2 * 64\n#include \"../base/k.cu\"\n"), "bad/k.cu:1: " + form);
  EXPECT_EQ(Failure("#include \"../base/k.cu\"\n#define DEPTH 128\n"), "bad/k.cu:2: " + form);
  EXPECT_EQ(Failure("// evo:param DEPTH 128\n#include \"../base/k.cu\"\n"), "bad/k.cu:1: " + form);
  EXPECT_EQ(Failure("#include \"../base/k.cu\"\nint x;\n"), "bad/k.cu:2: " + form);
  EXPECT_EQ(Failure("#include \"k.cu\"\n").substr(0, 5), "bad/k") << "a circle must end";
  EXPECT_THAT(Failure("#include \"k.cu\"\n"), testing::HasSubstr("more than 8 variants include each other"));
  EXPECT_THAT(Failure("#define BLOCK 512\n#include \"../base/k.cu\"\n"), "")
      << "the variant itself is right; LoadTemplate checks constraints";
  EXPECT_THAT(UsageFailure([&] { LoadTemplate(root_ / "bad/k.cu"); }), testing::HasSubstr("the default values do not meet"));
}

}  // namespace
}  // namespace evo
