#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string ChildOfTile(const std::string& source) { return FirstChildOf("stencil_rows", source, 1); }

std::string RefusedTile(const std::string& source) { return WhyNoChildOf("stencil_rows", source); }

constexpr char kTiled[] = R"(// evo:launch heat(A, B, W, H) grid(ceil_div(W, 16), ceil_div(H, 8)) block(16, 8)
__global__ void heat(const float* u, float* v, int w, int h) {
  __shared__ float tile[10][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 10; j += 8)
    for (int i = threadIdx.x; i < 18; i += 16) {
      const int gx = blockIdx.x * 16 + i - 1, gy = blockIdx.y * 8 + j - 1;
      tile[j][i] = gx >= 0 && gx < w && gy >= 0 && gy < h ? u[gy * w + gx] : 0.0f;
    }
  __syncthreads();
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
    v[y * w + x] = tile[j][i - 1] + tile[j][i + 1] + tile[j - 1][i] + tile[j + 1][i] - 4.0f * tile[j][i];
}
)";

TEST(StencilTile, BecomesOneWithoutSharedMemory) {
  EXPECT_THAT(
      ChildOfTile(kTiled),
      AllOf(HasSubstr("results.values[e] = around[1][e] + around[1][e + 2] + around[0][e + 1] + around[2][e + 1] - 4.0f * "
                      "around[1][e + 1];"),
            Not(HasSubstr("__shared__")), Not(HasSubstr("__syncthreads"))));
}

TEST(StencilTile, IsLeftAloneIfThreadsNeedMoreOfEachOther) {
  const std::string everywhere = With(kTiled, "if (x > 0 && x < w - 1 && y > 0 && y < h - 1)", "if (x < w && y < h)");
  // These are found by what they store.
  EXPECT_THAT(ChildOfTile(everywhere), AllOf(HasSubstr("// evo:param ELEMENTS"), HasSubstr(": 0.0f"))) << "zeros at edges";
  EXPECT_THAT(ChildOfTile(With(kTiled, "? u[gy * w + gx]", "? 2.0f * u[gy * w + gx]")), Not(HasSubstr("__shared__")));
  EXPECT_THAT(RefusedTile(With(kTiled, "  __syncthreads();\n", "")), HasSubstr("work together already"));
  // Some do not come to the barrier, but where all blocks are whole.
  EXPECT_THAT(ChildOfTile(With(kTiled, "  for (int j = threadIdx.y;", "  if (x >= w) return;\n  for (int j = threadIdx.y;")),
              HasSubstr("if (w % (16) != 0) __trap();"));
  EXPECT_THAT(RefusedTile(With(kTiled, "4.0f * tile[j][i]", "4.0f * tile[j][i] * tile[0][5]")), Not(HasSubstr("together")))
      << "an element of the block";
  // The condition does not decide whether the element is stored.
  EXPECT_THAT(RefusedTile(With(kTiled, "  if (x > 0",
                               "  if (x < w && y < h) v[y * w + x] = tile[j][i];\n  if (threadIdx.x > 3 && x > 0")),
              HasSubstr("what `threadIdx.x` stands for"));
}

// The launch line has a size that the kernel does not get: two of its launches are not one.
TEST(StencilTile, BlocksOfOtherSizesAreRunAnew) {
  constexpr char kOneBlock[] = R"(// evo:launch fold(X, Y) grid(1) block(N / 2) shared(N * 4)
__global__ void fold(const float* x, float* y) {
  extern __shared__ float part[];
  part[threadIdx.x] = x[threadIdx.x];
  part[threadIdx.x + blockDim.x] = x[threadIdx.x + blockDim.x];
  for (unsigned stride = blockDim.x; stride >= 1; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) *y = part[0];
}
)";
  EXPECT_TRUE(SourceMutatorNamed("stencil_rows").Proposals(Parent(ParseTemplate("kernel", kOneBlock)).Context()).empty());
}

// The other edge follows an edge.
constexpr char kRound[] = R"(// evo:launch ring(A, B, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
__global__ void ring(const float* u, float* v, int w, int h) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h) return;
  const int left = (x + w - 1) % w, right = x + 1 < w ? x + 1 : 0;
  const int up = y > 0 ? y - 1 : 0, down = y + 1 < h ? y + 1 : h - 1;
  v[y * w + x] = u[y * w + left] + u[y * w + right] + u[up * w + x] + u[down * w + x];
}
)";

TEST(StencilPeriodic, GoesRoundAlongOneAxis) {
  EXPECT_THAT(ChildOfTile(kRound), AllOf(HasSubstr("__device__ __forceinline__ int Wrapped(int at, int low, int end) {"),
                                         HasSubstr("to[0] = __ldg(&from[Wrapped(x - 1, 0, end) - x]);"),
                                         HasSubstr("to[ELEMENTS + 1] = __ldg(&from[Wrapped(x + ELEMENTS, 0, end) - x]);"),
                                         HasSubstr("min(max(y + kKept - 2, 0), h - 1)")));
  EXPECT_THAT(
      ChildOfTile(With(kRound, "y > 0 ? y - 1 : 0, down = y + 1 < h ? y + 1 : h - 1", "(y + h - 1) % h, down = (y + 1) % h")),
      HasSubstr("Wrapped(y + kKept - 2, 0, h)"));
}

TEST(StencilPeriodic, RefusesOtherEdges) {
  for (const char* other : {"x > 0 ? x - 1 : w - 2", "x > 0 ? x - 1 : 1", "x > 0 ? x - 1 : 0"})
    EXPECT_THAT(RefusedTile(With(kRound, "(x + w - 1) % w", other)), HasSubstr("past an edge, `u[y * w + ")) << other;
}

// The oldest level in time becomes the next one.
constexpr char kInPlace[] = R"(// evo:launch wave(P, C, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
__global__ void wave(float* p, const float* c, int w, int h) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 8 + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const int i = y * w + x;
  p[i] = 2.0f * c[i] - p[i] + 0.1f * (c[i - 1] + c[i + 1] + c[i - w] + c[i + w] - 4.0f * c[i]);
}
)";

TEST(StencilInPlace, ReadsWhatItOverwrites) {
  EXPECT_THAT(ChildOfTile(kInPlace),
              AllOf(HasSubstr("// evo:param ELEMENTS"), HasSubstr("if (x >= w - 1) break;"), HasSubstr("- p[")));
  EXPECT_THAT(RefusedTile(With(kInPlace, "- p[i]", "- p[i - 1]")), HasSubstr("it reads of p what other threads may have stored"));
  // What a thread has stored must be there when it reads it.
  EXPECT_THAT(ChildOfTile(With(kInPlace, "  p[i] = 2.0f", "  p[i] = 3.0f * p[i];\n  p[i] = 2.0f")),
              Not(HasSubstr("// evo:param ELEMENTS")));
}

}  // namespace
}  // namespace evo
