#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"
#include "tests/mutators/row_kernels.h"

namespace evo {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// The fast one takes the logarithm of the base.
TEST(FastMath, RaisesOnlyWhatIsNeverNegative) {
  EXPECT_THAT(Bodies("fast_math", "  out[0] = powf(in[0] - scale, 2.0f);\n"), testing::IsEmpty());
  EXPECT_TRUE(AnyContains(Bodies("fast_math", "  out[0] = powf(fabsf(in[0]), scale);\n"), "__powf(fabsf(in[0]), scale)"));
  EXPECT_TRUE(AnyContains(Bodies("fast_math", "  out[0] = powf(10000.0f, scale);\n"), "__powf(10000.0f, scale)"));
}

TEST(FastMath, ReplacesFunctionsAndDivisions) {
  const auto children = Bodies("fast_math", "  out[0] = expf(in[0]) + expf(in[1]);\n  out[1] = logf(in[1]) / scale;\n");
  EXPECT_TRUE(AnyContains(children, "__expf(in[0]) + expf(in[1])"));
  EXPECT_TRUE(AnyContains(children, "__expf(in[0]) + __expf(in[1])"));
  EXPECT_TRUE(AnyContains(children, "__logf(in[1]) / scale"));
  EXPECT_TRUE(AnyContains(children, "__fdividef(logf(in[1]), scale)"));
  const auto inverse = Bodies("fast_math", "  out[0] = 1.0f / sqrtf(scale);\n  out[1] /= scale + 1.0f;\n");
  EXPECT_TRUE(AnyContains(inverse, "out[0] = rsqrtf(scale);"));
  EXPECT_TRUE(AnyContains(inverse, "out[0] = __frcp_rn(sqrtf(scale));"));
  EXPECT_TRUE(AnyContains(inverse, "out[1] = __fdividef(out[1], scale + 1.0f);"));
  EXPECT_THAT(Bodies("fast_math", "  out[0] = __expf(scale);\n"), testing::ElementsAre("  out[0] = expf(scale);\n"));
  const auto back = Bodies("fast_math",
                           "  out[0] = 2.0f * __fdividef(n + 1, scale - 1.0f);\n  out[1] = __frcp_rn(scale);\n"
                           "  out[2] = fmaxf(rsqrtf(in[0]), 0.0f);\n");
  EXPECT_TRUE(AnyContains(back, "out[0] = 2.0f * (static_cast<float>(n + 1) / (scale - 1.0f));"));
  EXPECT_TRUE(AnyContains(back, "out[1] = 1.0f / scale;"));
  EXPECT_TRUE(AnyContains(back, "fmaxf(1.0f / sqrtf(in[0]), 0.0f)"));
  EXPECT_THAT(back, SizeIs(3));
  // Integers, doubles and functions of this file stay.
  EXPECT_THAT(Bodies("fast_math", "  out[n / 2] = double(scale) / 3.0;\n"), IsEmpty());
  EXPECT_THAT(
      ChildrenOf("fast_math", "__device__ float gelu(float x) { return x; }\n" + PlainKernel("  out[0] = gelu(scale);\n")),
      IsEmpty());
}

TEST(Reciprocal, DividesOnce) {
  EXPECT_THAT(
      Bodies("reciprocal", "  for (int i = 0; i < n; ++i) out[i] = in[i] / scale;\n"),
      testing::ElementsAre("  const float inverse = 1.0f / scale;\n  for (int i = 0; i < n; ++i) out[i] = in[i] * inverse;\n"));
  EXPECT_THAT(Bodies("reciprocal", "  for (int i = 0; i < n; ++i) out[i] /= scale;\n"),
              testing::ElementsAre("  const float inverse = 1.0f / scale;\n  for (int i = 0; i < n; ++i) out[i] *= inverse;\n"));
  EXPECT_THAT(Bodies("reciprocal", "  for (int i = 0; i < n; ++i) {\n    scale += in[i];\n    out[i] = in[i] / scale;\n  }\n"),
              IsEmpty());
  EXPECT_THAT(Bodies("reciprocal", "  out[0] = in[0] / scale;\n"), IsEmpty());
  EXPECT_THAT(Bodies("reciprocal",
                     "#pragma unroll\n  for (int i = 0; i < n; ++i) out[i] = in[i] / (scale + 1.0f) + in[n] / (scale + 1.0f);\n"),
              testing::ElementsAre("  const float inverse = 1.0f / (scale + 1.0f);\n#pragma unroll\n"
                                   "  for (int i = 0; i < n; ++i) out[i] = in[i] * inverse + in[n] * inverse;\n"));
}

TEST(AccumulatorSplit, KeepsEveryTerm) {
  const auto children = Bodies("accumulator_split",
                               "  float sum = 0.0f;\n#pragma unroll 8\n  for (int i = 0; i < n; ++i) {\n    sum += in[i] * in[2 "
                               "* i];\n  }\n  out[0] = sum;\n");
  ASSERT_THAT(children, SizeIs(3));
  EXPECT_EQ(children[0], R"(  float sum = 0.0f;
  {
    float sum_1 = 0.0f;
    int i = 0;
#pragma unroll 8
    for (; i + 1 < n; i += 2) {
      sum += in[i] * in[2 * i];
      sum_1 += in[i + 1] * in[2 * (i + 1)];
    }
    for (; i < n; ++i) {
      sum += in[i] * in[2 * i];
    }
    sum += sum_1;
  }
  out[0] = sum;
)");
  EXPECT_NE(children[1].find("for (; i + 3 < n; i += 4)"), std::string::npos);
  EXPECT_NE(children[1].find("    sum += sum_2;\n    sum_1 += sum_3;\n    sum += sum_1;\n"), std::string::npos);
}

TEST(AccumulatorSplit, HandlesMaximaAndSteps) {
  const auto children =
      Bodies("accumulator_split",
             "  float top = in[0];\n  for (int i = threadIdx.x; i < n; i += 128) top = fmaxf(top, in[i]);\n  out[0] = top;\n");
  ASSERT_THAT(children, SizeIs(3));
  EXPECT_NE(children[0].find("    float top_1 = top;\n    int i = threadIdx.x;\n    for (; i + 128 < n; i += 2 * 128) {\n"),
            std::string::npos);
  EXPECT_NE(children[0].find("top_1 = fmaxf(top_1, in[i + 128]);"), std::string::npos);
  EXPECT_NE(children[0].find("top = fmaxf(top, top_1);"), std::string::npos);
}

TEST(AccumulatorSplit, LeavesOtherLoops) {
  for (const char* body : {"  float s = 0;\n  for (int i = 0; i < n; ++i) s += s * in[i];\n  out[0] = s;\n",  // uses the sum
                           "  float s = 0;\n  for (int i = 0; i < n; ++i) s += in[i++];\n  out[0] = s;\n",  // changes the counter
                           "  int s = 0;\n  for (int i = 0; i < n; ++i) s += i;\n  out[0] = s;\n",          // integers
                           "  float s = 0;\n  for (int i = n; i > 0; --i) s += in[i];\n  out[0] = s;\n",    // downwards
                           "  float s = 0;\n  for (int i = 0; i < n; ++i) { s += in[i]; out[i] = s; }\n",   // more than a sum
                           "  for (int i = 0; i < n; ++i) out[i] += in[i];\n",                              // not a scalar
                           "  float s = 0;\n  for (int i = 0; i < n; ++i) s += __shfl_xor_sync(~0u, s, 1);\n  out[0] = s;\n"}) {
    EXPECT_THAT(Bodies("accumulator_split", body), IsEmpty()) << body;
  }
}

TEST(ExpToExp2, FoldsTheScale) {
  const auto children = ChildrenOf("exp_to_exp2", Rows("  out[row] = expf(in[row] - out[row]);\n"));
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_TRUE(AnyContains(children, "out[row] = exp2f((in[row] - out[row]) * 1.4426950408889634f);"));
  EXPECT_TRUE(AnyContains(children, "out[row] = exp2f(fmaf(in[row], 1.4426950408889634f, -out[row] * 1.4426950408889634f));"));
  const auto two = ChildrenOf("exp_to_exp2", Rows("  out[row] = __expf(in[row] * out[0]) + expf(in[0]);\n"));
  EXPECT_TRUE(AnyContains(two, "exp2f(in[row] * (out[0] * 1.4426950408889634f)) + exp2f(in[0] * 1.4426950408889634f)"));
  // A sentinel may become infinite when it is scaled, so the difference is not expanded.
  EXPECT_THAT(ChildrenOf("exp_to_exp2", Rows("  float top = -3.0e38f;\n  out[row] = expf(top - fmaxf(top, in[row]));\n")),
              SizeIs(1));
  EXPECT_THAT(ChildrenOf("exp_to_exp2", Rows("  out[row] = exp(double(in[row]));\n")), IsEmpty());
  EXPECT_THAT(ChildrenOf("exp_to_exp2",
                         Rows("  out[row] = expf(in[row]);\n", kRowLaunch, "__device__ float expf2(float x) { return x; }\n")),
              SizeIs(1));
}

TEST(AccumulatePrecision, ChangesTheTypeOfASum) {
  const auto children = ChildrenOf(
      "accumulate_precision",
      Rows("  float sum = 0.0f;\n  float x = 1.0f;\n  for (int c = 0; c < m; ++c) sum += in[c] * x;\n  out[row] = sum;\n"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find("  double sum = 0.0f;\n  float x = 1.0f;\n"), std::string::npos);
  EXPECT_TRUE(
      AnyContains(ChildrenOf("accumulate_precision", With(children[0], "double sum", "double  sum")), "  float  sum = 0.0f;\n"));
  for (const char* body :
       {"  float sum = 0.0f;\n  sum += in[0];\n  out[row] = sum;\n",                                    // not in a loop
        "  float sum = 0.0f, x = 1.0f;\n  for (int c = 0; c < m; ++c) sum += x;\n  out[row] = sum;\n",  // two declarations
        "  float sum = 0.0f;\n  float* p = &sum;\n  for (int c = 0; c < m; ++c) sum += 1.0f;\n  out[row] = *p;\n"}) {
    EXPECT_THAT(ChildrenOf("accumulate_precision", Rows(body)), IsEmpty()) << body;
  }
}

}  // namespace
}  // namespace evo
