#include <gmock/gmock.h>

#include "tests/mutators/row_kernels.h"

namespace evo {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kLargest = "  float t = -INFINITY;\n  for (int c = 0; c < m; ++c) t = fmaxf(t, in[row * m + c]);\n";
const std::string kExponentials = "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) s += expf(in[row * m + c] - t);\n";
const std::string kLogarithm = "  out[row] = t + logf(s);\n";

std::vector<std::string> Fused(const std::string& body) { return ChildrenOf("online_softmax", Rows(body)); }

TEST(OnlineSoftmax, MakesOneLoopOfTwo) {
  const auto children = Fused(kLargest + kExponentials + kLogarithm);
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_THAT(children[0], HasSubstr(R"(  float s = 0.0f;
  for (int c = 0; c < m; ++c) {
    const float value = in[row * m + c];
    const float larger = fmaxf(t, value);
    if (larger != t) {
      s *= expf(t - larger);
      t = larger;
    }
    s += value >= t ? 1 : expf(value - t);
  }
  if (isinf(t) && 0 < m) s = t - t;
  out[row] = t + logf(s);
)"));
  EXPECT_EQ(children[0].find("t = fmaxf(t,"), std::string::npos);
  for (const char* sharing : {"thread_per_row_to_warp", "thread_per_row_to_block"}) {
    const auto shared = ChildrenOf(sharing, children[0]);
    ASSERT_THAT(shared, SizeIs(1));
    EXPECT_THAT(shared[0], HasSubstr("if (t != own_t) s *= expf(own_t - t);"));
  }
}

// The first value as the start of the maximum, variables of the bodies, scaled values, other spellings.
TEST(OnlineSoftmax, TakesOtherSpellings) {
  EXPECT_THAT(Fused("  float t = in[0];\n  for (int c = 1; c < m; ++c) t = fmaxf(t, in[c]);\n  float s = 0.0f;\n"
                    "  for (int k = 0; k < m; ++k) s += expf(in[k] - t);\n" +
                    kLogarithm),
              SizeIs(1));
  const auto scaled = Fused(
      "  float t = -1e30f;\n  for (int c = 0; c < m; ++c) {\n    const float v = in[c] * 0.5f;\n    if (v > t) t = "
      "v;\n  }\n  float s = 0.0f;\n  for (int c = 0; c < m; ++c) {\n    const float v = in[c] * 0.5f;\n    const float "
      "e = __expf(v - t);\n    s += e;\n  }\n" +
      kLogarithm);
  ASSERT_THAT(scaled, SizeIs(1));
  EXPECT_THAT(scaled[0], HasSubstr("const float value = (in[c] * 0.5f);"));
  EXPECT_THAT(scaled[0], HasSubstr("s *= __expf(t - larger);"));
}

TEST(OnlineSoftmax, LeavesOtherLoops) {
  const std::vector<std::string> bodies{
      kLargest + "  float s = 0.0f;\n  for (int c = 0; c < m - 1; ++c) s += expf(in[row * m + c] - t);\n",  // other values
      kLargest + "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) s += expf(in[row * m + c + 1] - t);\n",  // other values
      kLargest + "  float s = 1.0f;\n  for (int c = 0; c < m; ++c) s += expf(in[row * m + c] - t);\n",      // not from zero
      kLargest + "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) s += expf(t - in[row * m + c]);\n",      // the other way round
      kLargest + "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) s += in[row * m + c] - t;\n",            // no exponential
      kLargest + "  float s = 0.0f;\n  for (int c = 0; c < m; ++c) s += t * expf(in[row * m + c] - t);\n",  // more than it
      kLargest + "  out[row] = t;\n" + kExponentials,                                                       // needed before
      kLargest + "  const float h = t / 2;\n" + kExponentials + "  out[row] = h;\n",                        // needed before
      kLargest + "  t = t / 2;\n" + kExponentials,                                                          // changed before
      "  float t = in[1];\n  for (int c = 1; c < m; ++c) t = fmaxf(t, in[c]);\n  float s = 0.0f;\n"         // not the first
      "  for (int c = 0; c < m; ++c) s += expf(in[c] - t);\n",
      "  float t = in[0];\n  t = 0;\n  for (int c = 1; c < m; ++c) t = fmaxf(t, in[c]);\n  float s = 0.0f;\n"  // no longer
      "  for (int c = 0; c < m; ++c) s += expf(in[c] - t);\n",
      "  float t = 9.0f;\n  for (int c = 0; c < m; ++c) t = fminf(t, in[row * m + c]);\n" + kExponentials};  // a minimum
  for (const std::string& body : bodies) {
    EXPECT_THAT(Fused(body + kLogarithm), IsEmpty()) << body;
  }
}

}  // namespace
}  // namespace evo
