#include <gmock/gmock.h>

#include "tests/mutators/plain_kernels.h"

namespace evo {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(PrefetchNext, ReadsOneIterationAhead) {
  const auto children =
      Bodies("prefetch_next", "  for (int i = threadIdx.x; i < n; i += 128) {\n    out[i] = in[i] * in[i];\n  }\n");
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

TEST(PrefetchNext, PrefetchesOnlyWhatIsAlwaysRead) {
  for (const char* body :
       {"  for (int i = 0; i < n; ++i) if (i > 2) out[i] = in[i];\n",
        "  for (int i = 0; i < n; ++i) out[i] = i > 2 ? in[i] : 0;\n",
        "  for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) out[i] += in[i];\n",
        "  for (int i = 0; i < n; ++i) out[i] = out[i + 1];\n",                      // written in the loop
        "  for (int i = 0; i < n; ++i) out[i] = in[n];\n",                           // the same in every iteration
        "  for (int i = 0; i < n; ++i) { const int j = 2 * i; out[i] = in[j]; }\n",  // address not known one iteration earlier
        "  for (int i = 0; i < n; ++i) { if (i > 3) continue; out[i] = in[i]; }\n",
        "  for (int i = 0; i < n; ++i) { if (i > 3) return; out[i] = in[i]; }\n"}) {
    EXPECT_THAT(Bodies("prefetch_next", body), IsEmpty()) << body;
  }
}

TEST(RegisterCache, KeepsWhatLoopsReadAgain) {
  const auto children = Bodies("register_cache", R"(  float top = 0.0f;
  for (int i = threadIdx.x; i < n; i += 128) top = fmaxf(top, in[i]);
  __syncthreads();
#pragma unroll 2
  for (int i = threadIdx.x; i < n; i += 128) {
    out[i] = in[i] - top;
  }
)");
  ASSERT_THAT(children, SizeIs(5));
  EXPECT_EQ(children[1], R"(  float top = 0.0f;
  float cached[4];
#pragma unroll
  for (int item = 0; item < 4; ++item) {
    const int i = threadIdx.x + item * 128;
    if (i < n) {
      cached[item] = in[i];
    }
  }
#pragma unroll
  for (int item = 0; item < 4; ++item) {
    const int i = threadIdx.x + item * 128;
    if (i < n) {
      top = fmaxf(top, cached[item]);
    }
  }
  for (int i = threadIdx.x + 4 * 128; i < n; i += 128) {
    top = fmaxf(top, in[i]);
  }
  __syncthreads();
  #pragma unroll
  for (int item = 0; item < 4; ++item) {
    const int i = threadIdx.x + item * 128;
    if (i < n) {
      out[i] = cached[item] - top;
    }
  }
#pragma unroll 2
  for (int i = threadIdx.x + 4 * 128; i < n; i += 128) {
    out[i] = in[i] - top;
  }
)");
}

TEST(RegisterCache, LeavesReadsThatMayDiffer) {
  const std::string first = "  float s = 0.0f;\n  for (int i = 0; i < n; ++i) s += in[i];\n";
  const std::string second = "  for (int i = 0; i < n; ++i) out[i] = in[i] * s;\n";
  EXPECT_THAT(Bodies("register_cache", first + second), SizeIs(5));
  EXPECT_THAT(Bodies("register_cache", first), IsEmpty());
  EXPECT_THAT(Bodies("register_cache", first + "  n -= 1;\n" + second), IsEmpty());
  EXPECT_THAT(Bodies("register_cache", first + "  in += 1;\n" + second), IsEmpty());
  EXPECT_THAT(Bodies("register_cache", first + "  for (int i = 1; i < n; ++i) out[i] = in[i] * s;\n"), IsEmpty());
  EXPECT_THAT(Bodies("register_cache", first + "  for (int i = 0; i < n; ++i) out[i] = in[n - i] * s;\n"), IsEmpty());
  // Written in between, or read only under conditions.
  EXPECT_THAT(
      Bodies("register_cache", "  for (int i = 0; i < n; ++i) out[i] += 1;\n  for (int i = 0; i < n; ++i) out[i] *= 2;\n"),
      IsEmpty());
  const std::string checked = "  for (int i = 0; i < n; ++i) if (i > 3) out[i] += in[i];\n";
  EXPECT_THAT(Bodies("register_cache", checked + checked), IsEmpty());
}

TEST(CacheHintStore, TakesStoresToGlobalMemory) {
  EXPECT_THAT(Bodies("cache_hint_store", "  out[n] = in[0] + 1.0f;\n"),
              testing::ElementsAre("  __stcs(&out[n], in[0] + 1.0f);\n", "  __stcg(&out[n], in[0] + 1.0f);\n",
                                   "  __stwt(&out[n], in[0] + 1.0f);\n"));
  EXPECT_TRUE(
      AnyContains(Bodies("cache_hint_store", "  float* to = out + n;\n  *to = n;\n"), "__stcg(to, static_cast<float>(n));"));
  EXPECT_TRUE(AnyContains(Bodies("cache_hint_store", "  float4 v;\n  v.x = 0;\n  *reinterpret_cast<float4*>(out) = v;\n"),
                          "__stcs(reinterpret_cast<float4*>(out), v);"));
  EXPECT_THAT(Bodies("cache_hint_store", "  __stcs(&out[n], scale);\n  __stcg(out + 1, scale);\n"),
              testing::IsSupersetOf({"  out[n] = scale;\n  __stcg(out + 1, scale);\n",
                                     "  __stcs(&out[n], scale);\n  *(out + 1) = scale;\n",
                                     "  __stwt(&out[n], scale);\n  __stcg(out + 1, scale);\n"}));
}

TEST(CacheHintStore, LeavesOtherStores) {
  for (const char* body : {"  __shared__ float t[8];\n  t[n] = 0.0f;\n", "  float t[8];\n  t[n] = 0.0f;\n  out[0] += t[0];\n",
                           "  __shared__ float t[8];\n  float* p = n > 0 ? t : out;\n  p[0] = 1.0f;\n", "  out[0] += 1.0f;\n",
                           "  __shared__ float t[8];\n  out = t;\n  out[0] = 1.0f;\n", "  n = 3;\n"}) {
    EXPECT_THAT(Bodies("cache_hint_store", body), IsEmpty()) << body;
  }
}

}  // namespace
}  // namespace evo
