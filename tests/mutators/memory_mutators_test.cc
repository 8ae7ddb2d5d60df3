#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(PrefetchNext, ReadsOneIterationAhead) {
  const auto children = Bodies("prefetch_next", "  for (int i = threadIdx.x; i < n; i += 128) {\n    out[i] = in[i] * in[i];\n  }\n");
  ASSERT_THAT(children, SizeIs(1));
  EXPECT_EQ(children[0], R"(  {
    const int first = threadIdx.x;
    float next{};
    if (first < n) next = in[first];
    for (int i = first; i < n; i += 128) {
      const float loaded = next;
      if (i + 128 < n) {
        next = in[i + 128];
      }
      out[i] = loaded * loaded;
    }
  }
)");
  const auto two = Bodies("prefetch_next", "  for (int i = 0; i < n; ++i) out[i] = in[i] + in[2 * i];\n");
  ASSERT_THAT(two, SizeIs(3));
  EXPECT_TRUE(AnyContains(two, "out[i] = loaded_0 + loaded_1;"));
  EXPECT_TRUE(AnyContains(two, "next = in[2 * (i + 1)];"));
}

TEST(PrefetchNext, ReadsOnlyWhatIsReadAnyway) {
  for (const char* body :
       {"  for (int i = 0; i < n; ++i) if (i > 2) out[i] = in[i];\n", "  for (int i = 0; i < n; ++i) out[i] = i > 2 ? in[i] : 0;\n",
        "  for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) out[i] += in[i];\n",
        "  for (int i = 0; i < n; ++i) out[i] = out[i + 1];\n",                                   // written meanwhile
        "  for (int i = 0; i < n; ++i) out[i] = in[n];\n",                                        // always the same
        "  for (int i = 0; i < n; ++i) { const int j = 2 * i; out[i] = in[j]; }\n",               // not known in advance
        "  for (int i = 0; i < n; ++i) { if (i > 3) continue; out[i] = in[i]; }\n",
        "  for (int i = 0; i < n; ++i) { if (i > 3) return; out[i] = in[i]; }\n"}) {
    EXPECT_THAT(Bodies("prefetch_next", body), IsEmpty()) << body;
  }
}

}  // namespace
}  // namespace evo
