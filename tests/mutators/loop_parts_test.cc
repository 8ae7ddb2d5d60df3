#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kBefore = "  float s = 0;\n  float t = 0;\n  float a[8];\n  __shared__ float h[8];\n";
const std::string kAfter = "  out[0] = s + t + a[n] + h[n];\n";

std::vector<std::string> Children(const std::string& mutator, const std::string& loops) {
  std::vector<std::string> children;
  for (const std::string& body : Bodies(mutator, kBefore + loops + kAfter)) {
    children.push_back(body.substr(kBefore.size(), body.size() - kBefore.size() - kAfter.size()));
  }
  return children;
}

TEST(LoopFusion, MergesTwoLoops) {
  EXPECT_THAT(Children("loop_fusion",
                       "  for (int i = 0; i < 8; ++i) a[i] = in[i];\n#pragma unroll\n  for (int i = 0; i < 8; ++i) {\n    const "
                       "float x = in[i + n];\n"
                       "    a[i] += x;\n  }\n"),
              ElementsAre("  for (int i = 0; i < 8; ++i) {\n    a[i] = in[i];\n    {\n      const float x = in[i + n];\n      "
                          "a[i] += x;\n    }\n  }\n"));
  EXPECT_THAT(
      Children("loop_fusion", "  for (int i = 0; i < n; ++i) s += in[i];\n  for (int i = 0; i < n; ++i) t += in[2 * i];\n"),
      SizeIs(1));
}

TEST(LoopFission, SplitsALoop) {
  EXPECT_THAT(
      Children(
          "loop_fission",
          "#pragma unroll 4\n  for (int i = 0; i < n; ++i) {\n    const float x = in[i];\n    s += x;\n    t += x * x;\n  }\n"),
      ElementsAre("#pragma unroll 4\n  for (int i = 0; i < n; ++i) {\n    const float x = in[i];\n    s += x;\n  }\n"
                  "#pragma unroll 4\n  for (int i = 0; i < n; ++i) {\n    const float x = in[i];\n    t += x * x;\n  }\n"));
}

TEST(LoopParts, AreLeftIfTheyDependOnEachOther) {
  for (const auto& [first, second] :
       std::vector<std::pair<std::string, std::string>>{{"s += in[i];", "t += s;"},
                                                        {"t += s;", "s += in[i];"},
                                                        {"s += in[i];", "s += in[i];"},
                                                        {"a[i] = in[i];", "s += a[7 - i];"},
                                                        {"a[i] = in[i];", "a[n] = 0;"},
                                                        {"out[i] = in[i];", "out[i + 1] = 0;"},
                                                        {"out[i] = in[i];", "s += out[n];"},
                                                        {"h[i] = in[i];", "s += h[i];"},
                                                        {"out[i] = in[i];", "s += h[i];"},
                                                        {"s += in[i];", "__syncthreads();"},
                                                        {"s += in[i];", "t += __shfl_sync(~0u, in[i], 0);"},
                                                        {"s += in[i];", "if (in[i] > 0) continue;"},
                                                        {"if (in[i] > 0) return;", "s += in[i];"}}) {
    const std::string head = "  for (int i = 0; i < 8; ++i) ";
    EXPECT_THAT(Children("loop_fusion", head + "{\n    " + first + "\n  }\n" + head + "{\n    " + second + "\n  }\n"), IsEmpty())
        << first << second;
    EXPECT_THAT(Children("loop_fission", head + "{\n    " + first + "\n    " + second + "\n  }\n"), IsEmpty()) << first << second;
  }
  EXPECT_THAT(Children("loop_fusion", "  for (int i = 0; i < n; ++i) s += in[i];\n  for (int i = 1; i < n; ++i) t += in[i];\n"),
              IsEmpty());
  EXPECT_THAT(Children("loop_fusion",
                       "  for (int i = 0; i < n; ++i) s += in[i];\n  s *= 2;\n  for (int i = 0; i < n; ++i) t += in[i];\n"),
              IsEmpty());
  // The second part needs what the first part computes.
  EXPECT_THAT(
      Children("loop_fission", "  for (int i = 0; i < 8; ++i) {\n    s += in[i];\n    const float x = s;\n    t += x;\n  }\n"),
      IsEmpty());
  EXPECT_THAT(Children("loop_fission",
                       "  for (int i = 0; i < 8; ++i) {\n    const float x = a[i];\n    a[i] = in[i];\n    t += x;\n  }\n"),
              IsEmpty());
}

}  // namespace
}  // namespace evo
