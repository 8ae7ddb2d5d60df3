#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::SizeIs;

TEST(StripMine, TakesWholeStripsThenTheRest) {
  const auto children = Bodies(
      "strip_mine", "#pragma unroll 2\n  for (int i = 1; i < n; ++i) {\n    // Doubled.\n    out[i] = 2.0f * in[i];\n  }\n");
  ASSERT_THAT(children, SizeIs(4));
  EXPECT_EQ(children[1], R"(  {
    int strip = 1;
    for (; strip + 3 < n; strip += 4) {
#pragma unroll
      for (int item = 0; item < 4; ++item) {
        const int i = strip + item;
        // Doubled.
        out[i] = 2.0f * in[i];
      }
    }
    for (int i = strip; i < n; ++i) {
      // Doubled.
      out[i] = 2.0f * in[i];
    }
  }
)");
  EXPECT_TRUE(AnyContains(Bodies("strip_mine", "  for (int i = threadIdx.x; i <= n; i += 64 * 2) out[i] = in[i];\n"),
                          "for (; strip + 7 * (64 * 2) <= n; strip += 8 * (64 * 2)) {"));
  // A nest grows fast.
  EXPECT_THAT(Bodies("strip_mine", "  for (int i = 0; i < n; ++i)\n    for (int j = n; j > 0; --j) out[i] += in[j];\n"),
              SizeIs(2));
}

TEST(StripMine, LeavesLoopsThatAreNotCounted) {
  for (const char* body : {"  for (int i = n; i > 0; --i) out[i] = 0;\n",  // downwards
                           "  for (int i = 0; i < n; ++i) { if (in[i] > 0) break; out[i] = 0; }\n",
                           "  for (int i = 0; i < n; ++i) { if (in[i] > 0) ++i; out[i] = 0; }\n",  // moves the counter
                           "  for (int i = 0; i < n; ++i) { out[i] = n; --n; }\n",                 // moves the bound
                           "  for (int i = 1; i < n; i *= 2) out[i] = 0;\n",
                           "  for (int i = 0; i < in[0]; ++i) out[i] = 0;\n",  // the bound is read anew
                           "  for (int i = 0; i < n; ++i) { __shared__ float t; t = in[i]; out[i] = t; }\n",
                           "  for (float x = 0; x < scale; ++x) out[0] += x;\n",
                           "#pragma unroll\n  for (int i = 0; i < 8; ++i) out[i] = 0;\n",  // is written out anyway
                           "  int* p = &n;\n  for (int i = 0; i < n; ++i) { *p = 3; out[i] = 0; }\n"}) {
    EXPECT_THAT(Bodies("strip_mine", body), IsEmpty()) << body;
    EXPECT_THAT(Bodies("loop_peel", body), IsEmpty()) << body;
  }
  EXPECT_THAT(ChildrenOf("strip_mine", "#define PUT(i) out[i] = 0\n" + PlainKernel("  for (int i = 0; i < n; ++i) PUT(i);\n")),
              IsEmpty());
}

TEST(LoopPeel, TakesTheFirstOrTheLast) {
  const auto children = Bodies("loop_peel", "#pragma unroll 4\n  for (int i = threadIdx.x; i < n; i += 32) out[i] = in[i];\n");
  ASSERT_THAT(children, SizeIs(2));
  EXPECT_EQ(children[0], R"(  {
    const int first = threadIdx.x;
    if (first < n) {
      const int i = first;
      out[i] = in[i];
    }
#pragma unroll 4
    for (int i = first + 32; i < n; i += 32) {
      out[i] = in[i];
    }
  }
)");
  EXPECT_EQ(children[1], R"(  {
    int i = threadIdx.x;
#pragma unroll 4
    for (; i + 32 < n; i += 32) {
      out[i] = in[i];
    }
    if (i < n) {
      out[i] = in[i];
    }
  }
)");
  EXPECT_THAT(Bodies("loop_peel", "  for (int i = 0; i < n; ++i) {\n    if (in[i] < 0) continue;\n    out[i] = 0;\n  }\n"),
              IsEmpty());
}

}  // namespace
}  // namespace evo
