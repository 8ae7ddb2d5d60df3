#include "kernel_templates/template_variant.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "kernel_templates/kernel_template.h"
#include "tests/kernel_templates/failure.h"

namespace evo {
namespace {

namespace fs = std::filesystem;

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

class TemplateVariant : public testing::Test {
 protected:
  TemplateVariant() : root_(fs::path(testing::TempDir()) / ("template_variant_test_" + std::to_string(::getpid()))) {
    Write("base/k.cu", kBase);
  }
  ~TemplateVariant() override { fs::remove_all(root_); }
  fs::path Write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
    return root_ / name;
  }
  // The failure of reading a variant with this text, without the folder's name.
  std::string Failure(const std::string& text) const {
    const fs::path file = Write("bad/k.cu", text);
    std::string message = UsageFailure([&] { ReadTemplateText(file); });
    for (std::size_t at = message.find(root_.string()); at != std::string::npos; at = message.find(root_.string())) {
      message.erase(at, root_.string().size() + 1);
    }
    return message;
  }
  fs::path root_;
};

TEST_F(TemplateVariant, AnyOtherFileIsReadAsItStands) {
  EXPECT_EQ(ReadTemplateText(root_ / "base/k.cu"), kBase);
  EXPECT_EQ(ReadTemplateText(root_ / "missing.cu"), std::nullopt);
}

TEST_F(TemplateVariant, FixesWhatItDefines) {
  const fs::path file =
      Write("wide/k.cu", "// The same, wider.\n#define MASKED 1\n#define DEPTH 128   \n\n#include \"../base/k.cu\"\n");
  const KernelTemplate wide = LoadTemplate(file);
  EXPECT_EQ(wide.name, "k");
  EXPECT_THAT(wide.text, testing::HasSubstr("#define MASKED 1\n"));
  EXPECT_THAT(wide.text, testing::HasSubstr("// evo:param DEPTH 128\n"));
  ASSERT_EQ(wide.space.parameters.size(), 2u);
  EXPECT_THAT(wide.space.parameters[0].values, testing::ElementsAre(64, 128)) << "what is not fixed stays open";
  EXPECT_THAT(wide.space.parameters[1].values, testing::ElementsAre(128));
  EXPECT_EQ(wide.space.Defaults(), (Parameters{{"BLOCK", 64}, {"DEPTH", 128}}));
}

TEST_F(TemplateVariant, OfAVariant) {
  Write("wide/k.cu", "#define DEPTH 128\n#include \"../base/k.cu\"\n");
  const fs::path file = Write("masked/k.cu", "#define MASKED 1\n#include \"../wide/k.cu\"");
  const std::string text = ReadTemplateText(file).value();
  EXPECT_THAT(text, testing::HasSubstr("#define MASKED 1\n"));
  EXPECT_THAT(text, testing::HasSubstr("#define DEPTH 128\n"));
}

TEST_F(TemplateVariant, AParameterMayBeFixedAtAValueItDoesNotList) {
  const fs::path file = Write("small/k.cu", "#define BLOCK 32\n#include \"../base/k.cu\"\n");
  EXPECT_THAT(LoadTemplate(file).space.parameters[0].values, testing::ElementsAre(32));
}

TEST_F(TemplateVariant, MistakesAreNamed) {
  EXPECT_EQ(Failure("#define DEEP 1\n#include \"../base/k.cu\"\n"),
            "bad/k.cu:1: DEEP: what is included has no '#ifndef DEEP', '#define DEEP value', '#endif'");
  EXPECT_EQ(Failure("#define DEPTH 1\n#include \"../base/q.cu\"\n"),
            "bad/k.cu: what it includes, bad/../base/q.cu, cannot be read");
  const std::string form =
      "a variant has comments, '#define NAME integer' lines and then one #include of a .cu file, and nothing else";
  EXPECT_EQ(Failure("#define DEPTH 2 * 64\n#include \"../base/k.cu\"\n"), "bad/k.cu:1: " + form);
  EXPECT_EQ(Failure("#include \"../base/k.cu\"\n#define DEPTH 128\n"), "bad/k.cu:2: " + form);
  EXPECT_EQ(Failure("// evo:param DEPTH 128\n#include \"../base/k.cu\"\n"), "bad/k.cu:1: " + form);
  EXPECT_EQ(Failure("#include \"../base/k.cu\"\nint x;\n"), "bad/k.cu:2: " + form);
  EXPECT_EQ(Failure("#include \"k.cu\"\n").substr(0, 5), "bad/k") << "a circle ends";
  EXPECT_THAT(Failure("#include \"k.cu\"\n"), testing::HasSubstr("includes itself over 8 files"));
  EXPECT_THAT(Failure("#define BLOCK 512\n#include \"../base/k.cu\"\n"), "") << "constraints are the template's matter:";
  EXPECT_THAT(UsageFailure([&] { LoadTemplate(root_ / "bad/k.cu"); }), testing::HasSubstr("the default values do not meet"));
}

}  // namespace
}  // namespace evo
