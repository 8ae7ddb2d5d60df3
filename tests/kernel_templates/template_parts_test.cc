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

TEST_F(TemplateParts, MistakesAreNamed) {
  const std::string not_a_part = ": not a .cuh file of the template's own folder; write a header of the CUDA toolkit as <NAME>";
  EXPECT_EQ(Failure("int x;\n#include \"cuda_fp16.h\"\n"), "task/k.cu:2: #include \"cuda_fp16.h\"" + not_a_part);
  EXPECT_EQ(Failure("#include \"../task/sum.cuh\"\n"), "task/k.cu:1: #include \"../task/sum.cuh\"" + not_a_part);
  EXPECT_EQ(Failure("#include \"/etc/sum.cuh\"\n"), "task/k.cu:1: #include \"/etc/sum.cuh\"" + not_a_part);
  EXPECT_EQ(Failure("#include \"none.cuh\"\n"), "task/k.cu:1: #include \"none.cuh\": task/none.cuh cannot be read");
  Write("task/bad.cuh", "\n#include \"k.cu\"\n");
  EXPECT_EQ(Failure("#include \"bad.cuh\"\n"), "task/bad.cuh:2: #include \"k.cu\"" + not_a_part);
}

TEST_F(TemplateParts, MayNotIncludeEachOtherInACircle) {
  Write("task/a.cuh", "#include \"b.cuh\"\n");
  Write("task/b.cuh", "int b;\n#include \"a.cuh\"\n");
  EXPECT_EQ(Failure("#include \"a.cuh\"\n"),
            "task/b.cuh:2: #include \"a.cuh\": the parts include each other in a circle; remove one of these lines");
}

}  // namespace
}  // namespace evo
