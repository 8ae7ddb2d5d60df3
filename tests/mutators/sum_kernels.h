#pragma once

#include <array>
#include <string_view>

namespace evo {

// Stencils with equal weights, in which they are found in other ways.
struct SumKernel {
  std::string_view name;
  std::string_view text;
  int dimensions;
  bool reads_beyond;  // elements that are left alone lie around those that are stored
};

inline constexpr std::array kSumKernels{
    // 27 points by a table of three dimensions in constant memory, with other weights above than below.
    SumKernel{"table", R"(// evo:launch box(A, B, D, H, W) grid(ceil_div(W, 32), ceil_div(H, 4), D) block(32, 4)
__constant__ float c[3][2][2] = {{{0.5f, 0.25f}, {0.25f, 0.125f}}, {{1, 0.5f}, {0.5f, 0.25f}}, {{0.1f, 0.2f}, {0.2f, 0.3f}}};
__global__ void box(const float* in, float* out, int nz, int ny, int nx) {
  const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y, k = blockIdx.z;
  if (i >= nx || j >= ny) return;
  const bool inside = i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && k > 0 && k < nz - 1;
  if (inside) {
    float sum = 0;
    for (int dk = 0; dk < 3; ++dk)
      for (int dj = -1; dj <= 1; ++dj)
        for (int di = -1; di <= 1; ++di) sum -= c[dk][dj != 0][di != 0] * in[((k + dk - 1) * ny + j + dj) * nx + i + di];
    out[(k * ny + j) * nx + i] = -sum / 9;
  } else {
    out[(k * ny + j) * nx + i] = 0.0f;
  }
}
)",
              3, false},
    // A star with arms of two, a number that is added, a scaled copy at edges, doubles in between.
    SumKernel{"arms", R"(// evo:launch star(A, B, D, H, W) grid(ceil_div(D * H * W, 128)) block(128)
__global__ void star(const float* u, float* v, int d, int h, int w) {
  const int id = blockIdx.x * 128 + threadIdx.x;
  if (id >= d * h * w) return;
  const int x = id % w, y = id / w % h, z = id / (w * h), s = w * h;
  const float near = 16.0f / 12.0f, far = -1.0f / 12.0f;
  if (!(x >= 2 && y >= 2 && z >= 2 && x < w - 2 && y < h - 2 && z + 2 < d)) {
    v[id] = 0.5f * u[id] - 1;
    return;
  }
  float sum = 3 * -2.5f * u[id] + 0.25f;
  sum = fmaf(near, u[id - 1] + u[id + 1] + u[id - w] + u[id + w] + u[id - s] + u[id + s], sum);
  sum += far * (u[id - 2] + u[id + 2] + u[id - 2 * w] + u[id + 2 * w] + u[id - 2 * s] + u[id + 2 * s]);
  v[id] = u[id] + 0.1 * sum;
}
)",
              3, false},
    // All elements of a box without its centre, only inside, to one side along the planes.
    SumKernel{"sided", R"(// evo:launch mean(A, B, W, H, D) grid(ceil_div(W - 2, 32), ceil_div(H - 2, 4), D - 1) block(32, 4)
__global__ void mean(const float* p, float* q, int nx, int ny, int nz) {
  const int x = blockIdx.x * 32 + threadIdx.x + 1;
  const int y = blockIdx.y * 4 + threadIdx.y + 1;
  const int z = blockIdx.z;
  if (x >= nx - 1 || y >= ny - 1) return;
  const float* at = p + (z * ny + y) * nx + x;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k <= 1; ++k) {
    for (int j = -1; j <= 1; ++j) {
      for (int i = -1; i <= 1; ++i) {
        if (i == 0 && j == 0) continue;
        sum += at[(k * ny + j) * nx + i];
      }
    }
  }
  q[(z * ny + y) * nx + x] = sum / 16.0f;
}
)",
              3, true},
    // 25 points of two dimensions with three weights, by the distance from the centre; zeros at edges.
    SumKernel{"square", R"(// evo:launch square(A, B, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)
#define RADIUS 2
__global__ void square(const float* img, float* dst, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x >= w || y >= h) return;
  float s = 0;
  bool near_edge = x < RADIUS || y < RADIUS || x + RADIUS >= w || y + RADIUS >= h;
  if (!near_edge) {
    const float f[3] = {1.5f, 0.5f, 0.25f};
    for (int i = -RADIUS; i <= RADIUS; ++i)
      for (int j = -RADIUS; j <= RADIUS; ++j) s += f[max(abs(i), abs(j))] * img[(y + i) * w + x + j];
  }
  dst[y * w + x] = s;
}
)",
              2, false}};

}  // namespace evo
