// What g++ made of a source is device code, whatever the source looks like: the compiler without the rules for sources.
#include "evaluator/compiler/rules/image_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "kernel_templates/kernel_template.h"
#include "kernel_templates/renderer.h"
#include "kernel_templates/task.h"
#include "tests/cpu_device/kernel_bench.h"

namespace evo {
namespace {

using ::testing::HasSubstr;

class ImageRulesTest : public CpuDeviceTest {
 protected:
  // The message of a judged compilation, with and without checked accesses; "" if both are accepted.
  std::string Why(const std::string& body, const std::string& before = "") {
    const std::string source = before + "__global__ void k(float* y) {\n" + body + "\n}\n";
    for (const bool checked : {false, true}) {
      const CompileResult result = compiler_->Compile({source, {"k"}, "", checked, true});
      if (result.outcome == Outcome::kOk) continue;
      EXPECT_EQ(result.outcome, Outcome::kUnsupported) << result.log;
      return (checked ? "checked: " : "") + result.message;
    }
    return "";
  }
};

TEST_F(ImageRulesTest, MathematicsMemoryAndPrintfPass) {
  EXPECT_EQ(Why(R"(
    struct Pair { float a[40]; } one, two;
    memset(&one, threadIdx.x, sizeof one);
    two = one;
    double s, c;
    sincos(y[1], &s, &c);
    y[0] = __expf(y[1]) + powf(y[2], y[3]) + erff(y[4]) + tanhf(y[5]) + rsqrtf(y[6]) + float(s * c) + two.a[threadIdx.x]
         + fmodf(y[7], y[8]) + float(lround(y[9])) + __shfl_xor_sync(0xffffffffu, y[3], 1) + float(exp2(double(y[4])));
    if (y[0] > 3e38f) printf("%f\n", y[0]);
    if (y[0] < -3e38f) printf("small\n");
    __syncthreads();)"),
            "");
  EXPECT_EQ(Why("y[0] = table[threadIdx.x] + kept;", "__constant__ float table[3] = {1, 2, 3};\n__device__ float kept;\n"), "");
}

TEST_F(ImageRulesTest, FunctionsOfTheHostAreNamed) {
  EXPECT_EQ(Why("system(\"true\");"), "uses `system` of the host; a kernel calls functions of its own and of CUDA");
  EXPECT_THAT(Why("y[0] = rand();"), HasSubstr("`rand`"));
  EXPECT_THAT(Why("float* volatile kept = new float[blockDim.x]; y[0] = kept[0];"), HasSubstr("`operator new[](unsigned long)`"));
  EXPECT_THAT(Why("y[0] = reinterpret_cast<long>(&getenv);"), HasSubstr("`getenv`")) << "also where only its address is taken";
}

TEST_F(ImageRulesTest, NothingRunsWhenItIsLoaded) {
  EXPECT_THAT(Why("y[0] = at_start;", "static float at_start = sqrtf(blockDim.x);\n"), HasSubstr("runs code when it is loaded"));
  EXPECT_THAT(Why("", "struct Object { Object() { printf(\"here\"); } };\nstatic Object object;\n"),
              HasSubstr("runs code when it is loaded"));
  EXPECT_THAT(Why("", "__attribute__((constructor)) static void begin() { printf(\"begin\"); }\n"),
              HasSubstr("runs code when it is loaded"));
  EXPECT_THAT(Why("", "__attribute__((destructor)) static void end() { printf(\"end\"); }\n"),
              HasSubstr("runs code when it is loaded"));
  EXPECT_THAT(Why("other();",
                  "extern \"C\" void (*resolve())() { return nullptr; }\n"
                  "static void other() __attribute__((ifunc(\"resolve\")));\n"),
              HasSubstr("runs code when it is loaded"));
  EXPECT_THAT(Why("kept += 1; y[0] = kept;", "thread_local float kept;\n"), HasSubstr("data of the host's threads"));
}

TEST_F(ImageRulesTest, EveryShippedTemplatePasses) {
  int passed = 0;
  for (const auto& folder : FindTasks({ShareDirectory() / "kernel_templates"})) {
    for (const KernelTemplate& kernel : LoadTemplates(folder)) {
      const std::string source = RenderParameters(kernel.text, kernel.space.Defaults());
      CompilerInput input{source, {}, "", false, true};
      for (const Step& step : ParseTemplate(kernel.name, source).steps) {
        if (step.launch) input.kernel_expressions.push_back(step.launch->kernel_expression);
      }
      const CompileResult result = compiler_->Compile(input);
      EXPECT_THAT(result.message, ::testing::Not(::testing::AnyOf(HasSubstr("of the host"), HasSubstr("when it is loaded"))))
          << folder << kernel.name;
      passed += result.outcome == Outcome::kOk ? 1 : 0;
    }
  }
  EXPECT_GT(passed, 8);
}

TEST(ImageRules, WhatIsNoImageIsAnError) {
  EXPECT_THROW(ObjectionToImage(""), Error);
  EXPECT_THROW(ObjectionToImage(std::string(64, 'x')), Error);
}

}  // namespace
}  // namespace evo
