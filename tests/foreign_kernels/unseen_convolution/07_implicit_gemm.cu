// As a product whose one factor is gathered: tiles in shared memory, indices of the window by division.
// buffers: X f16 in [N, C, H, W], F f16 in [K, C, 3, 3], Y f16 out [N, K, H, W]
// sizes: N=2 C=3 K=4 H=9 W=11; N=1 C=5 K=18 H=6 W=34; N=1 C=1 K=1 H=2 W=3
#include <cuda_fp16.h>
constexpr int kTile = 16;

struct ConvParams {
  int n, c, h, w, k;
};

// evo:launch implicit_gemm(X, F, Y, {N, C, H, W, K}) grid(ceil_div(N * H * W, 16), ceil_div(K, 16)) block(16, 16)
__global__ void implicit_gemm(const half* __restrict__ x, const half* __restrict__ f, half* __restrict__ y, ConvParams p) {
  __shared__ float tile_f[kTile][kTile];
  __shared__ float tile_x[kTile][kTile];
  const int pixel = blockIdx.x * kTile + threadIdx.x;
  const int oc = blockIdx.y * kTile + threadIdx.y;
  const int crs = p.c * 9;
  const int n = pixel / (p.h * p.w), rest = pixel % (p.h * p.w);
  const int oy = rest / p.w, ox = rest % p.w;
  float acc = 0.f;
  for (int base = 0; base < crs; base += kTile) {
    const int kf = base + threadIdx.x;
    tile_f[threadIdx.y][threadIdx.x] = (oc < p.k && kf < crs) ? __half2float(f[oc * crs + kf]) : 0.f;
    const int kx = base + threadIdx.y;
    const int c = kx / 9, r = kx % 9 / 3, s = kx % 3;
    const int iy = oy + r - 1, ix = ox + s - 1;
    float v = 0.f;
    if (n < p.n && kx < crs && iy >= 0 && iy < p.h && ix >= 0 && ix < p.w)
      v = __half2float(x[((n * p.c + c) * p.h + iy) * p.w + ix]);
    tile_x[threadIdx.y][threadIdx.x] = v;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) acc += tile_f[threadIdx.y][i] * tile_x[i][threadIdx.x];
    __syncthreads();
  }
  if (n < p.n && oc < p.k) y[((n * p.k + oc) * p.h + oy) * p.w + ox] = __float2half(acc);
}
