#include "kernel_templates/template_parts.h"

#include <gmock/gmock.h>

#include <string>

#include "kernel_templates/kernel_template.h"
#include "tests/kernel_templates/template_folder.h"

namespace evo {
namespace {

class TemplateParts : public TemplateFolder {
 protected:
  TemplateParts() { Write("task/sum.cuh", "// Sums.\n#pragma once\n__device__ float Sum(float a, float b) { return a + b; }\n"); }
  std::string Failure(const std::string& text) const { return TemplateFolder::Failure("task/k.cu", text); }
};

TEST_F(TemplateParts, StandInTheTextBetweenLinesThatNameThem) {
  const std::filesystem::path file =
      Write("task/k.cu", "// A kernel.\n#include <cuda_fp16.h>\n  #  include \"sum.cuh\"   // shared\nint x;");
  EXPECT_EQ(ReadTemplateText(file),
            "// A kernel.\n#include <cuda_fp16.h>\n// From sum.cuh:\n// Sums.\n"
            "__device__ float Sum(float a, float b) { return a + b; }\n// End of sum.cuh.\nint x;");
}

TEST_F(TemplateParts, AreReadOnceEvenIfTwoPartsNeedThem) {
  Write("task/mean.cuh", "#pragma once\n#include \"sum.cuh\"\nfloat mean;");
  const std::filesystem::path file = Write("task/k.cu", "#include \"mean.cuh\"\n#include \"sum.cuh\"\nint x;\n");
  EXPECT_EQ(ReadTemplateText(file),
            "// From mean.cuh:\n// From sum.cuh:\n// Sums.\n__device__ float Sum(float a, float b) { return a + b; }\n"
            "// End of sum.cuh.\nfloat mean;\n// End of mean.cuh.\nint x;\n");
}

TEST_F(TemplateParts, MayHoldParametersAndDirectives) {
  Write("task/size.cuh", "// evo:param SIZE 32 64\n#ifndef SIZE\n#define SIZE 32\n#endif\n");
  const std::string launch = "// evo:launch k(X) grid(1) block(SIZE)\n#include \"size.cuh\"\n__global__ void k(float* x) {}\n";
  EXPECT_EQ(LoadTemplate(Write("task/k.cu", launch)).space.Defaults(), (Parameters{{"SIZE", 32}}));
}

TEST_F(TemplateParts, BelongToTheFolderOfTheBaseOfAVariant) {
  Write("task/k.cu", "#include \"sum.cuh\"\n#ifndef N\n#define N 1\n#endif\n");
  const std::string text = ReadTemplateText(Write("other/k.cu", "#define N 2\n#include \"../task/k.cu\"\n")).value();
  EXPECT_THAT(text, testing::HasSubstr("float Sum("));
  EXPECT_THAT(text, testing::HasSubstr("#define N 2\n"));
}

TEST_F(TemplateParts, AreNoTemplates) {
  Write("task/k.cu", "// evo:launch k(X) grid(1) block(32)\n#include \"sum.cuh\"\n__global__ void k(float* x) {}\n");
  const std::vector<KernelTemplate> templates = LoadTemplates(root_ / "task");
  ASSERT_EQ(templates.size(), 1u);
  EXPECT_EQ(templates[0].name, "k");
}

// As nvcc finds them: beside the file that includes them, then in the folders that were named, in their order.
TEST_F(TemplateParts, AreFoundAsNvccFindsThem) {
  Write("common/mean.h", "#pragma once\n#include \"detail/half.cuh\"\nint mean;\n");
  Write("common/detail/half.cuh", "int half;\n");
  Write("third/mean.h", "int other;\n");
  Write("third/deep/far.hpp", "int far;\n");
  const std::filesystem::path file = Write("task/k.cu", "#include \"../common/mean.h\"\n#include \"deep/far.hpp\"\nint x;\n");
  const std::string text = ReadTemplateText(file, {root_ / "none", root_ / "third"}).value();
  EXPECT_EQ(text,
            "// From ../common/mean.h:\n// From detail/half.cuh:\nint half;\n// End of detail/half.cuh.\nint mean;\n"
            "// End of ../common/mean.h.\n// From deep/far.hpp:\nint far;\n// End of deep/far.hpp.\nint x;\n");
  const std::filesystem::path other = Write("task/other.cu", "#include \"mean.h\"\n");
  EXPECT_THAT(ReadTemplateText(other, {root_ / "third", root_ / "common"}).value(), testing::HasSubstr("int other;"));
}

TEST_F(TemplateParts, AnIncludeGuardIsAsGoodAsPragmaOnce) {
  Write("task/guard.h",
        "// A header.\n/* of\n * two */\n\n#ifndef GUARD_H_\n#define GUARD_H_\n#include <cuda_fp16.h>\n#if 1\nint "
        "g;\n#else\n#endif\n"
        "#endif  // GUARD_H_\n");
  const std::filesystem::path file = Write("task/k.cu", "#include \"guard.h\"\n#include \"../task/guard.h\"\nint x;\n");
  EXPECT_EQ(ReadTemplateText(file),
            "// From guard.h:\n// A header.\n/* of\n * two */\n\n#define GUARD_H_\n#include <cuda_fp16.h>\n#if 1\nint g;\n#else\n"
            "#endif\n// End of guard.h.\nint x;\n");
  Write("task/value.h", "#ifndef VALUE\n#define VALUE 3\n#endif\nint v;\n");
  EXPECT_THAT(ReadTemplateText(Write("task/v.cu", "#include \"value.h\"\n")).value(), testing::HasSubstr("#ifndef VALUE\n"))
      << "that is a default, not a guard";
}

TEST_F(TemplateParts, WithoutAGuardAreReadAgain) {
  Write("task/again.h", "int NAME;\n");
  const std::string text = ReadTemplateText(Write("task/k.cu", "#include \"again.h\"\n#include \"again.h\"\n")).value();
  EXPECT_NE(text.find("int NAME;"), text.rfind("int NAME;"));
}

TEST_F(TemplateParts, AHeaderOfTheToolkitMayStandInQuotes) {
  EXPECT_EQ(ReadTemplateText(Write("task/k.cu", "#include \"cuda_fp16.h\"\n#include \"cuda_runtime.h\"\n")),
            "#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n");
}

TEST_F(TemplateParts, MessagesNameTheFileAndLineOfTheHeader) {
  Write("task/size.h", "// sizes\n// evo:param SIZE 32 sixty\n");
  const std::string launch = "#include \"sum.cuh\"\n#include \"size.h\"\n// evo:launch k(X) grid(1) block(1)\n";
  const std::filesystem::path file = Write("task/k.cu", launch);
  EXPECT_THAT(UsageFailure([&] { LoadTemplate(file); }), testing::HasSubstr("task/size.h:2: evo:param SIZE: 'sixty'"));
  Write("task/size.h", "int x; // evo:param SIZE 32\n");
  EXPECT_THAT(UsageFailure([&] { LoadTemplate(file); }),
              testing::HasSubstr("task/size.h:1: a directive needs a line of its own"));
  Write("task/size.h", "\n");
  EXPECT_THAT(UsageFailure([&] { LoadTemplate(Write("task/k.cu", launch + "// evo:launch k(X)\n")); }),
              testing::HasSubstr("task/k.cu:4: evo:launch k: no grid(..)"));
}

TEST_F(TemplateParts, MistakesAreNamed) {
  EXPECT_EQ(Failure("int x;\n#include \"none.cuh\"\n"),
            "task/k.cu:2: #include \"none.cuh\": not found in " + (root_ / "task").string().substr(root_.string().size() + 1) +
                "; name its folder with --include, or write a header of the CUDA toolkit as <NAME>");
  const std::filesystem::path file = root_ / "task/k.cu";
  EXPECT_THAT(UsageFailure([&] {
                LoadTemplate(file, {"/usr/first", "/usr/second"});
              }),
              testing::HasSubstr("task, /usr/first, /usr/second; name its folder"));
  Write("task/bad.cuh", "\n#include \"k.cu\"\n");
  EXPECT_EQ(Failure("#include \"bad.cuh\"\n"),
            "task/bad.cuh:2: #include \"k.cu\": a .cu file; only a variant includes one, and nothing else");
}

TEST_F(TemplateParts, MayIncludeEachOtherInACircleOnlyWithAGuard) {
  Write("task/a.cuh", "#include \"b.cuh\"\n");
  Write("task/b.cuh", "int b;\n#include \"a.cuh\"\n");
  EXPECT_EQ(Failure("#include \"a.cuh\"\n"),
            "task/b.cuh:2: #include \"a.cuh\": the headers include each other in a circle; begin them with #pragma once, or "
            "remove one of these lines");
  Write("task/a.cuh", "#pragma once\n#include \"b.cuh\"\n");
  EXPECT_EQ(ReadTemplateText(Write("task/k.cu", "#include \"a.cuh\"\n")),
            "// From a.cuh:\n// From b.cuh:\nint b;\n// End of b.cuh.\n// End of a.cuh.\n");
}

}  // namespace
}  // namespace evo
