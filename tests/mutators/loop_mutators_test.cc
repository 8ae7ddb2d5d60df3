#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"
#include "tests/mutators/row_kernels.h"

namespace evo {
namespace {

TEST(Comments, AreKept) {
  const auto split = Bodies("loop_fission", R"(  float s = 0.0f, t = 0.0f;
  for (int i = 0; i < n; ++i) {
    // The sum
    // of all.
    s += in[i];   // coalesced
    t += in[i] * in[i];   // squares
  }
  out[0] = s + t;
)");
  ASSERT_THAT(split, testing::SizeIs(1));
  EXPECT_THAT(split[0], testing::HasSubstr("++i) {\n    // The sum\n    // of all.\n    s += in[i];   // coalesced\n  }\n"));
  EXPECT_THAT(split[0], testing::HasSubstr("++i) {\n    t += in[i] * in[i];   // squares\n  }\n"));
  const auto jammed = Bodies("unroll_and_jam", R"(  for (int i = 0; i < 32; ++i) {
    // Of a row.
    float s = 0.0f;   // empty
    for (int j = 0; j < n; ++j) s += in[i * n + j];
    out[i] = s;   // stored once
  }
)");
  ASSERT_FALSE(jammed.empty());
  EXPECT_THAT(jammed[0], testing::HasSubstr("      // Of a row.\n      float s = 0.0f;   // empty\n      float s_1 = 0.0f;\n"));
  EXPECT_THAT(jammed[0], testing::HasSubstr("      out[i] = s;   // stored once\n      out[i + 1] = s_1;\n"));
}

// What a mutator writes has the units of the file.
TEST(Indentation, IsThatOfTheFile) {
  EXPECT_TRUE(AnyContains(Bodies("unroll_pragma", "    if (n > 2) for (int i = 0; i < n; ++i) out[i] = 0;\n"),
                          "    if (n > 2)\n        #pragma unroll 2\n        for ("));
  const auto bodies = Bodies("strip_mine", R"(    for (int i = 0; i < n; ++i) {
        if (in[i] > 0) {
            out[i] = in[i];   // only those
        }
    }
)");
  ASSERT_FALSE(bodies.empty());
  EXPECT_EQ(bodies.front(), R"(    {
        int strip = 0;
        for (; strip + 1 < n; strip += 2) {
#pragma unroll
            for (int item = 0; item < 2; ++item) {
                const int i = strip + item;
                if (in[i] > 0) {
                    out[i] = in[i];   // only those
                }
            }
        }
        for (int i = strip; i < n; ++i) {
            if (in[i] > 0) {
                out[i] = in[i];   // only those
            }
        }
    }
)");
}

using testing::Contains;
using testing::IsEmpty;
using testing::SizeIs;

TEST(StripMine, RunsWholeStripsThenTheRemainder) {
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
  // Nests get only short strips.
  EXPECT_THAT(Bodies("strip_mine", "  for (int i = 0; i < n; ++i)\n    for (int j = n; j > 0; --j) out[i] += in[j];\n"),
              SizeIs(2));
}

TEST(StripMine, LeavesLoopsThatAreNotCounted) {
  for (const char* body : {"  for (int i = n; i > 0; --i) out[i] = 0;\n",  // downwards
                           "  for (int i = 0; i < n; ++i) { if (in[i] > 0) break; out[i] = 0; }\n",
                           "  for (int i = 0; i < n; ++i) { if (in[i] > 0) ++i; out[i] = 0; }\n",  // changes the counter
                           "  for (int i = 0; i < n; ++i) { out[i] = n; --n; }\n",                 // changes the bound
                           "  for (int i = 1; i < n; i *= 2) out[i] = 0;\n",
                           "  for (int i = 0; i < in[0]; ++i) out[i] = 0;\n",  // the bound is loaded in every iteration
                           "  for (int i = 0; i < n; ++i) { __shared__ float t; t = in[i]; out[i] = t; }\n",
                           "  for (float x = 0; x < scale; ++x) out[0] += x;\n",
                           "#pragma unroll\n  for (int i = 0; i < 8; ++i) out[i] = 0;\n",  // is unrolled completely anyway
                           "  int* p = &n;\n  for (int i = 0; i < n; ++i) { *p = 3; out[i] = 0; }\n"}) {
    EXPECT_THAT(Bodies("strip_mine", body), IsEmpty()) << body;
    EXPECT_THAT(Bodies("loop_peel", body), IsEmpty()) << body;
  }
  EXPECT_THAT(ChildrenOf("strip_mine", "#define PUT(i) out[i] = 0\n" + PlainKernel("  for (int i = 0; i < n; ++i) PUT(i);\n")),
              IsEmpty());
}

TEST(LoopPeel, PeelsTheFirstOrTheLastIteration) {
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

TEST(IndexStrength, ReplacesAnIndexByAPointer) {
  const auto children = ChildrenOf(
      "index_strength", Rows("  float s = 0.0f;\n  for (int c = 0; c < m; ++c) s += in[row + c * m];\n  out[row] = s;\n"));
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_NE(children[0].find("  const float* in_at = in + row;\n  for (int c = 0; c < m; ++c, in_at += m) s += *in_at;\n"),
            std::string::npos)
      << children[0];
  const auto stores =
      ChildrenOf("index_strength", Rows("  for (int c = 2; c < m; c += 3) out[(long long)c * n + row] *= 2.0f;\n"));
  ASSERT_THAT(stores, SizeIs(1));
  EXPECT_NE(stores[0].find("  float* out_at = out + (((long long)2) * n + row);\n  for (int c = 2; c < m; c += 3, out_at += n * "
                           "3) *out_at *= 2.0f;\n"),
            std::string::npos)
      << stores[0];
}

TEST(IndexStrength, LeavesOtherIndices) {
  for (const char* loop :
       {"for (int c = 0; c < m; ++c) out[c * c] = 1.0f;", "for (int c = 0; c < m; ++c) out[c % 4] = 1.0f;",
        "for (int c = 0; c < m; ++c) out[row] = 1.0f;", "for (int c = 0; c < m; ++c) { out[c] = 1.0f; ++c; }",
        "for (int c = 0; c < m; ++c) { out[c + row] = 1.0f; m = 3; }", "for (int c = 0; c < m; ++c) { out[c] = 1.0f; out += m; }",
        "for (int c = 0; c < m; ++c) for (int d = 0; d < 0; --d) out[c + d] = 1.0f;"}) {
    EXPECT_THAT(ChildrenOf("index_strength", Rows(std::string("  ") + loop + "\n")), IsEmpty()) << loop;
  }
}

}  // namespace
}  // namespace evo
