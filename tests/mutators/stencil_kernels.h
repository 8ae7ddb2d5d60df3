#pragma once

#include <array>
#include <string_view>

namespace evo {

// Stencils as students write them: other names, orders, blocks, edges and sources of weights than evo's templates.
struct StencilKernel {
  std::string_view name;
  std::string_view text;
  int dimensions;
  bool has_items;  // whether a thread may take several columns
};

inline constexpr std::array kStencilKernels{
    // Flat indices, zeros at the edge.
    StencilKernel{"flat", R"(// evo:launch heat(A, B, W, H) grid(ceil_div(W * H, 256)) block(256)
__global__ void heat(const float *u, float *un, int nx, int ny)
{
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    int i = id % nx;
    int j = id / nx;
    if (id < nx * ny)
    {
        if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
        {
            un[id] = u[id] + 0.1f * (u[id - 1] + u[id + 1] + u[id - nx] + u[id + nx] - 4.0f * u[id]);
        }
        else
            un[id] = 0.0f;
    }
}
)",
                  2, true},
    // Unsigned indices, the nearest element past an edge, in four ways.
    StencilKernel{"clamped",
                  R"(// evo:launch lap(A, B, D, H, W) grid(ceil_div(W, 16), ceil_div(H, 4), ceil_div(D, 4)) block(16, 4, 4)
__global__ void lap(const float* A, float* B, int n, int m, int p) {
  unsigned int c = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned int a = blockIdx.z * blockDim.z + threadIdx.z;
  if (a < n && b < m && c < p) {
    int am = a > 0 ? a - 1 : 0, ap = min((int)a + 1, n - 1);
    int bm = max((int)b - 1, 0), bp = b < m - 1 ? b + 1 : b;
    int cm = c == 0 ? c : c - 1, cp = c + 1 == p ? c : c + 1;
    float centre = A[(a * m + b) * p + c];
    float s = A[(am * m + b) * p + c] + A[(ap * m + b) * p + c];
    s += A[(a * m + bm) * p + c] + A[(a * m + bp) * p + c];
    s += A[(a * m + b) * p + cm] + A[(a * m + b) * p + cp];
    B[(a * m + b) * p + c] = centre + 0.1f * (s - 6.0f * centre);
  }
}
)",
                  3, true},
    // A filter of constants in loops, skipped past the edges; the block is transposed.
    StencilKernel{"filter", R"(// evo:launch blur(A, B, W, H) grid(ceil_div(H, 8), ceil_div(W, 16)) block(8, 16)
#define R 2
__constant__ float f[5][5] = {{1, 2, 3, 2, 1}, {2, 4, 6, 4, 2}, {3, 6, 9, 6, 3}, {2, 4, 6, 4, 2}, {1, 2, 3, 2, 1}};
__global__ void blur(const float* img, float* dst, int w, int h) {
  int x = blockIdx.y * blockDim.y + threadIdx.y;
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= w) return;
  if (y >= h) return;
  float s = 0;
  for (int dy = -R; dy <= R; dy++) {
    for (int dx = -R; dx <= R; dx++) {
      int yy = y + dy, xx = x + dx;
      if (yy < 0 || yy >= h || xx < 0 || xx >= w) continue;
      s += f[dy + R][dx + R] * img[yy * w + xx];
    }
  }
  dst[y * w + x] = s;
}
)",
                  2, true},
    // A star with long arms that only elements away from the edges have, by pointers.
    StencilKernel{"star", R"(// evo:launch wave(A, B, W, H, D) grid(ceil_div(W - 6, 32), ceil_div(H - 6, 4), D - 6) block(32, 4)
__constant__ float c[4] = {-2.8f, 1.6f, -0.2f, 0.025f};
__global__ void wave(const float* p, float* q, int nx, int ny, int nz) {
  const int x = blockIdx.x * 32 + threadIdx.x + 3;
  const int y = blockIdx.y * 4 + threadIdx.y + 3;
  const int z = blockIdx.z + 3;
  if (x >= nx - 3 || y >= ny - 3) return;
  const int s = nx * ny;
  const float* at = p + z * s + y * nx + x;
  float lap = 3.0f * c[0] * at[0];
#pragma unroll 1
  for (int r = 1; r <= 3; ++r) lap += c[r] * (at[r] + at[-r] + at[r * nx] + at[-r * nx] + at[r * s] + at[-r * s]);
  q[z * s + y * nx + x] = lap;
}
)",
                  3, false},
    // What a thread stores depends on what it reads, and some threads store to what was there.
    StencilKernel{"upwind", R"(// evo:launch upwind(A, B, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
__device__ float limited(float a, float b) { return a * b <= 0.0f ? 0.0f : (fabsf(a) < fabsf(b) ? a : b); }
__global__ void upwind(const float* v, float* w, int width, int height) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < 1 || col < 1 || row >= height - 1 || col >= width - 1) return;
  const long long i = (long long)row * width + col;
  float speed = v[i];
  if (speed > 0.5f)
    w[i] = speed - limited(v[i] - v[i - 1], v[i + 1] - v[i]);
  else
    w[i] = speed + __ldg(v + i + width) - __ldg(&v[i - width]);
}
)",
                  2, false},
    // 27 points, written out in part, with weights in an array and a copy at the edges.
    StencilKernel{"box", R"(// evo:launch box(A, B, i64(D), i64(H), i64(W)) grid(ceil_div(D * H * W, 128)) block(128)
__global__ void box(const float* in, float* out, size_t nz, size_t ny, size_t nx) {
  size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= nz * ny * nx) return;
  size_t k = t / (nx * ny), j = t / nx % ny, i = t % nx;
  float w[3] = {0.5f, 0.25f, 0.125f};
  float sum = in[t];
  if (k > 0 && k + 1 < nz && j > 0 && j + 1 < ny && i > 0 && i + 1 < nx) {
    sum = 0.0f;
    for (int dk = 0; dk < 3; ++dk) {
      for (int dj = 0; dj < 3; ++dj) {
        const float* line = in + ((k + dk - 1) * ny + j + dj - 1) * nx + i;
        sum += w[(dk != 1) + (dj != 1)] * line[0];
        sum += 0.5f * w[(dk != 1) + (dj != 1)] * (line[-1] + line[1]);
      }
    }
  }
  out[t] = sum;
}
)",
                  3, true},
    // Elements within a frame, the number of which is passed; a row at a time.
    StencilKernel{"framed", R"(// evo:launch framed(A, B, W - 2, H - 2) grid(ceil_div(W - 2, 64), H - 2) block(64)
__global__ void framed(const float* a, float* b, int nx, int ny) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  if (i >= nx) return;
  const int pitch = nx + 2;
  const float* at = &a[(j + 1) * pitch + i + 1];
  b[(j + 1) * pitch + i + 1] = at[0] * 0.5f + 0.1f * (at[-pitch - 1] + at[-pitch + 1] + at[pitch - 1] + at[pitch + 1]);
}
)",
                  2, true},
    // Neighbours to one side only, in a grid with planes that lie apart.
    StencilKernel{"sided", R"(// evo:launch sided(A, B, H, W) grid(ceil_div(W, 64), H) block(64)
__global__ void sided(const float* __restrict__ src, float* __restrict__ dst, int rows, int pitch) {
  const int c = blockIdx.x * 64 + threadIdx.x, r = blockIdx.y;
  if (c >= pitch) return;
  float sum = src[r * pitch + c];
  if (r + 1 < rows) sum += 0.5f * src[(r + 1) * pitch + c];
  if (r + 2 < rows) sum += 0.5f * src[(r + 2) * pitch + c];
  if (c + 1 < pitch) sum += 0.5f * src[r * pitch + c + 1];
  dst[r * pitch + c] = sum;
}
)",
                  2, true}};

}  // namespace evo
