#include <gmock/gmock.h>

#include "tests/mutators/mutating.h"
#include "tests/mutators/stencil_kernels.h"

namespace evo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kHeat[] = R"(// evo:launch heat(A, B, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
__global__ void heat(const float* u, float* v, int width, int height) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  const int at = y * width + x;
  // The edge stays.
  if (x == 0 || x == width - 1 || y == 0 || y == height - 1) {
    v[at] = u[at];
    return;
  }
  v[at] = u[at - width] + u[at + width] + u[at - 1] + u[at + 1] - 4.0f * u[at];
}
)";

std::string ChildOfStencil(const std::string& source) { return FirstChildOf("stencil_rows", source, 1); }

std::string RefusedStencil(const std::string& source) { return WhyNoChildOf("stencil_rows", source); }

TEST(StencilRows, ReadsAsAPersonWouldHaveWrittenIt) {
  const std::string child = ChildOfStencil(kHeat);
  EXPECT_THAT(child, HasSubstr(R"(
// Neighbouring elements that move at once.
template <typename Type> struct alignas(ELEMENTS * sizeof(Type)) Items {
  Type values[ELEMENTS];
};

// Loads what a thread at column `x` needs of a row; past an edge the nearest element.
__device__ __forceinline__ void LoadAround(float (&to)[ELEMENTS + 2], const float* from,
    int x, int end, bool whole) {
  if (whole) {
    const Items<float> items = *reinterpret_cast<const Items<float>*>(from);
#pragma unroll
    for (int e = 0; e < ELEMENTS; ++e) to[e + 1] = items.values[e];
  } else {
#pragma unroll
    for (int e = 0; e < ELEMENTS; ++e) to[e + 1] = __ldg(&from[min(max(x + e, 0), end - 1) - x]);
  }
  to[0] = x > 0 ? __ldg(&from[-1]) : to[1];
  to[ELEMENTS + 1] = x + ELEMENTS < end ? __ldg(&from[ELEMENTS]) : to[ELEMENTS];
}
)"));
  EXPECT_THAT(child, HasSubstr(R"(
__global__ void heat(const float* __restrict__ u, float* __restrict__ v, int width, int height) {
  // A block walks through STEPS rows. Its threads keep what they still need of 3 of them in registers, and load one
  // row in each step, AHEAD steps before it is needed.
  constexpr int kKept = AHEAD + 3;
  const int first_x = (blockIdx.x * THREADS_X + threadIdx.x) * ELEMENTS;
  const int first = blockIdx.y * STEPS;
  const int end = min(first + STEPS, height);
  if (first_x >= width) return;
)"));
  EXPECT_THAT(child, HasSubstr(R"(
  float around[kKept][ELEMENTS + 2];
#pragma unroll
  for (int k = 1; k < kKept; ++k) {
    LoadAround(around[k], u + min(max(first + k - 2, 0), height - 1) * width + first_x, first_x, width, whole);
  }
#pragma unroll kKept
  for (int y = first; y < end; ++y) {
#pragma unroll
    for (int k = 1; k < kKept; ++k) {
#pragma unroll
      for (int j = 0; j < ELEMENTS + 2; ++j) {
        around[k - 1][j] = around[k][j];
      }
    }
    LoadAround(around[kKept - 1], u + min(max(y + kKept - 2, 0), height - 1) * width + first_x, first_x, width, whole);
    Items<float> results;
#pragma unroll
    for (int e = 0; e < ELEMENTS; ++e) {
      const int x = first_x + e;
      // The edge stays.
      if (x == 0 || x == width - 1 || y == 0 || y == height - 1) {
        results.values[e] = around[1][e + 1];
        continue;
      }
      results.values[e] = around[0][e + 1] + around[2][e + 1] + around[1][e] + around[1][e + 2] - 4.0f * around[1][e + 1];
    }
    const int to = y * width + first_x;
    if (whole) {
      *reinterpret_cast<Items<float>*>(&v[to]) = results;
    } else {
#pragma unroll
      for (int e = 0; e < ELEMENTS; ++e) {
        if (first_x + e < width) {
          v[to + e] = results.values[e];
        }
      }
    }
  }
}
)"));
}

TEST(StencilRows, BringsParametersAndLaunchesFewerThreads) {
  EXPECT_THAT(ChildOfStencil(kHeat),
              AllOf(HasSubstr("heat(A, B, W, H) grid(ceil_div(W, THREADS_X * ELEMENTS), ceil_div(H, STEPS)) block(THREADS_X)"),
                    HasSubstr("// evo:param THREADS_X 32 64 128 256\n// evo:param ELEMENTS 1 2 4\n"
                              "// evo:param STEPS 4 8 16 32 64 128\n// evo:param AHEAD 0 1 2\n"
                              "// evo:constraint (AHEAD + 3) * (ELEMENTS + 2) <= 160\n")));
}

TEST(StencilRows, UnderstandsWhatStudentsWrite) {
  for (const StencilKernel& kernel : kStencilKernels) {
    SCOPED_TRACE(kernel.name);
    const auto children = ChildrenOf("stencil_rows", std::string(kernel.text));
    // Planes also come through shared memory.
    EXPECT_THAT(children, SizeIs(kernel.dimensions == 3 && kernel.has_items ? 2 : 1));
    for (const std::string& child : children) {
      EXPECT_EQ(child.find("// evo:param ELEMENTS") != std::string::npos, kernel.has_items);
      EXPECT_EQ(child.find("// evo:param ROWS") != std::string::npos, kernel.dimensions == 3);
    }
  }
}

// Asynchronous copies need no registers, so that more is under way. Elements at edges are computed as the others are.
TEST(StencilRows, BringsPlanesThroughSharedMemory) {
  const auto children = ChildrenOf("stencil_rows", R"(// evo:launch heat(A, B, D, H, W) \
//   grid(ceil_div(W, 32), ceil_div(H, 4), ceil_div(D, 2)) block(32, 4, 2)
__global__ void heat(const float* u, float* v, int depth, int height, int width) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * 4 + threadIdx.y;
  const int z = blockIdx.z * 2 + threadIdx.z;
  if (x >= width || y >= height || z >= depth) return;
  const int at = (z * height + y) * width + x, plane = height * width;
  // The edge stays.
  if (x == 0 || x == width - 1 || y == 0 || y == height - 1 || z == 0 || z == depth - 1) {
    v[at] = u[at];
    return;
  }
  v[at] = u[at - plane] + u[at + plane] + u[at - width] + u[at + width] + u[at - 1] + u[at + 1] - 6.0f * u[at];
}
)");
  ASSERT_THAT(children, SizeIs(2));
  const std::string& child = children[1];
  EXPECT_THAT(child, HasSubstr("#include <cuda_pipeline.h>\n"));
  EXPECT_THAT(child, HasSubstr("__launch_bounds__(THREADS_X * THREADS_Y, BLOCKS)"));
  EXPECT_THAT(child, HasSubstr(R"(
  const auto advance = [&](int next) {
    // The plane is there, and no thread needs the one any more whose place the next takes.
    __pipeline_wait_prior(AHEAD - 1);
    __syncthreads();
    stage(next + AHEAD, slot == 0 ? AHEAD : slot - 1);
)"));
  EXPECT_THAT(child, HasSubstr(R"(
  for (int z = first; z < end; ++z, to_first += plane_size) {
    advance(z + 1);
)"));
  EXPECT_THAT(child, Not(HasSubstr("return;")));
  EXPECT_THAT(child, HasSubstr(R"(
        // The edge stays.
        results.values[e] =
            x == 0 || x == width - 1 ||)"));
  EXPECT_THAT(child, HasSubstr("\n                ? around[1][r + 1][e + 1]\n                : inside;\n"));
  EXPECT_THAT(child, HasSubstr("4 * (AHEAD + 1) * (THREADS_Y * ROWS + 2) * ((THREADS_X + 2) * ELEMENTS) <= 49152\n"));
}

// Two fields, each with its neighbours, and an element of a third, which is read as before.
TEST(StencilRows, KeepsTheNeighboursOfEachBuffer) {
  const std::string child =
      ChildOfStencil(R"(// evo:launch react(A, B, F, C, D, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
__global__ void react(const float* u, const double* v, const float* feed, float* u2, double* v2, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  int i = y * w + x;
  u2[i] = u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - feed[i] * u[i];
  v2[i] = v[i - 1] + v[i + 1] + v[i - w] + v[i + w] + feed[i] * v[i];
}
)");
  EXPECT_THAT(child, AllOf(HasSubstr("float around_u[kKept][ELEMENTS + 2];"), HasSubstr("double around_v[kKept][ELEMENTS + 2];"),
                           HasSubstr("- feed[i] * around_u[1][e + 1];"), HasSubstr("const int first = 1 + blockIdx.y * STEPS;")));
  // `feed` must not be read past the end.
  EXPECT_THAT(child, HasSubstr("if (x < 1) continue;\n      if (x >= w - 1) break;\n"));
}

// What lies outside of the grid may be computed, unless that does harm: `count` is 0 there.
TEST(StencilRows, DividesWithinTheGridOnly) {
  constexpr char kMean[] = R"(// evo:launch mean(A, B, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)
__global__ void mean(const unsigned char* in, unsigned char* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int sum = 0, count = 0;
  for (int i = -1; i <= 1; i++) {
    for (int j = -1; j <= 1; j++) {
      if (y + i < 0 || y + i >= h || x + j < 0 || x + j >= w) continue;
      sum += in[(y + i) * w + x + j];
      count++;
    }
  }
  out[y * w + x] = sum / count;
}
)";
  EXPECT_THAT(ChildOfStencil(kMean), HasSubstr("if (x >= w) break;\n"));
  EXPECT_THAT(ChildOfStencil(With(kMean, "sum / count", "sum / 9")), Not(HasSubstr("if (x >= w) break;\n")));
}

// Weights that all elements away from the edges read, whatever the data, are read once by each thread.
TEST(StencilRows, KeepsWeights) {
  const std::string source = With(With(With(kHeat, "int height)", "int height, const float* a)"), "B, W, H)", "B, W, H, C)"),
                                  "4.0f * u[at];", "a[0] * u[at] * a[1];");
  EXPECT_THAT(ChildOfStencil(source), HasSubstr(R"(  float own_a[2] = {};
  if (width - 1 > 1 && height - 1 > 1) {
#pragma unroll
    for (int i = 0; i < 2; ++i) own_a[i] = a[i];
  }
)"));
  EXPECT_THAT(ChildOfStencil(source), HasSubstr("- own_a[0] * around[1][e + 1] * own_a[1];"));
  // Not those that only some read, that follow from data, or that a condition on data decides about.
  EXPECT_THAT(ChildOfStencil(With(source, "a[1]", "a[x % 2]")), Not(HasSubstr("own_a")));
  EXPECT_THAT(ChildOfStencil(With(source, "a[1]", "a[(int)u[at]]")), Not(HasSubstr("own_a")));
  EXPECT_THAT(ChildOfStencil(With(source, "a[1]", "(u[at] < 9 ? a[1] : 0)")), Not(HasSubstr("own_a")));
}

// A loop that runs once under the present parameters is left out, and the edit asks for them.
TEST(StencilRows, LeavesOutALoopThatRunsOnce) {
  const std::string source = With(With(With(kHeat, "// evo:launch", "// evo:param ITEMS 1 2\n// evo:launch"), "__global__",
                                       "#ifndef ITEMS\n#define ITEMS 1\n#endif\n__global__"),
                                  "blockIdx.y * 8 + threadIdx.y", "blockIdx.y * 8 * ITEMS + threadIdx.y + i * 8");
  const std::string looped =
      With(With(source, "  const int y", "  for (int i = 0; i < ITEMS; ++i) {\n  const int y"), "* u[at];\n", "* u[at];\n  }\n");
  const Parent parent(looped);
  const auto proposals = SourceMutatorNamed("stencil_rows").Proposals(parent.Context());
  ASSERT_THAT(proposals, SizeIs(1));
  EXPECT_EQ(proposals[0].parameters.at("ITEMS"), 1);
  EXPECT_THAT(ChildOfStencil(looped), AllOf(HasSubstr("// evo:param ELEMENTS"), Not(HasSubstr("i < ITEMS"))));
  EXPECT_THAT(RefusedStencil(With(looped, "#define ITEMS 1", "#define ITEMS 2")), HasSubstr("returns out of a loop"));
}

TEST(StencilRows, TakesOtherLaunchBoundsAway) {
  EXPECT_THAT(ChildOfStencil(With(kHeat, "__global__ void", "__global__ void __launch_bounds__(256)")),
              Not(HasSubstr("__launch_bounds__(256)")));
}

TEST(StencilRows, SaysWhyAKernelIsLeftAsItIs) {
  const std::pair<std::string, const char*> kRefused[] = {
      {With(kHeat, "if (x == 0 || x == width - 1 || y == 0", "if (y == 0"), "past an edge, `u[at - 1]` reads another element"},
      {With(With(kHeat, "const float* u", "float* u"), "heat(A, B,", "heat(A, A,"), "may be the memory of another one"},
      {With(With(kHeat, "const float* u", "float* u"), "v[at] = u[at];", "u[at] = u[at];"),
       "it reads of u what other threads may have stored"},
      {With(kHeat, "const int at =", "width += 0;\n  const int at ="), "changes its parameter width"},
      {With(kHeat, "if (x >= width || y >= height) return;", "if (x >= width || y >= height || (x + y) % 2) return;"), "a box"},
      {With(kHeat, "v[at] = u[at - width] +", "v[0] = 0;\n  v[at] = u[at - width] +"), "a thread stores more than one element"},
      {With(kHeat, "u[at - 1]", "u[at - width / 5]"), "past an edge, `u[at - width / 5]`"},
      {With(With(kHeat, "__global__", "#if 1\n#define AT(y, x) ((y) * width + (x))\n#endif\n__global__"), "u[at - 1]",
            "u[AT(y, x - 1)]"),
       "`AT(y, x - 1)`"},
      {With(With(kHeat, "v[at] = u[at];", "v[at] = 0;"), "if (x == 0 ||", "if (width > 12 || x == 0 ||"),
       "it reads neighbours with some sizes only"}};
  for (const auto& [source, why] : kRefused) {
    EXPECT_THAT(RefusedStencil(source), HasSubstr(why)) << source;
  }
}

// Neighbours in a thread's own row alone, and a thread's number where it does not count.
TEST(StencilRows, TakesRowsThatAreForThemselves) {
  EXPECT_THAT(ChildOfStencil(With(With(kHeat, "u[at - width]", "u[at]"), "u[at + width]", "u[at]")),
              HasSubstr("// evo:param ELEMENTS"));
  EXPECT_THAT(ChildOfStencil(With(kHeat, "v[at] = u[at - width] +", "v[at + threadIdx.x * 0] = u[at - width] +")),
              HasSubstr("// evo:param ELEMENTS"));
}

// A size that only decides what is done at edges could be another in the next launch.
TEST(StencilRows, RefusesAKernelWithModes) {
  const std::string source = With(With(With(kHeat, "int height)", "int height, int mode)"), "B, W, H)", "B, W, H, M)"),
                                  "y == height - 1)", "y == height - 1 || mode == 3)");
  EXPECT_THAT(RefusedStencil(source), HasSubstr("mode decides what it does"));
}

// What nobody would take for a stencil is passed over in silence.
TEST(StencilRows, IsSilentAboutOtherKernels) {
  EXPECT_THAT(RefusedStencil(R"(// evo:launch sum(A, B, C, W) grid(ceil_div(W, 256)) block(256)
__global__ void sum(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
)"),
              "");
  EXPECT_THAT(RefusedStencil(R"(// evo:launch product(A, B, C, N) grid(ceil_div(N, 16), ceil_div(N, 16)) block(16, 16)
__global__ void product(const float* a, const float* b, float* c, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= n || y >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}
)"),
              "");
}

}  // namespace
}  // namespace evo
