// buffers: A f64 in [N, N, N], B f64 inout [N, N, N], C f64 in [4]
// sizes: N=3; N=9; N=20
// evo:launch cube(A, B, C, N) grid(ceil_div(N, 16), ceil_div(N, 8)) block(16, 8)
constexpr int TX = 16, TY = 8;

using Plane = double[TY + 2][TX + 2];

__device__ void load_plane(Plane& p, const double* src, int n, int x0, int y0) {
  for (int i = threadIdx.y * TX + threadIdx.x; i < (TX + 2) * (TY + 2); i += TX * TY) {
    const int ly = i / (TX + 2), lx = i % (TX + 2);
    const int gx = x0 + lx - 1, gy = y0 + ly - 1;
    if (gx >= 0 && gx < n && gy >= 0 && gy < n) p[ly][lx] = src[gy * n + gx];
  }
}

__device__ double plane_sum(const Plane& p, int x, int y, double mid, double side, double diagonal) {
  return mid * p[y][x] + side * (p[y][x - 1] + p[y][x + 1] + p[y - 1][x] + p[y + 1][x]) +
         diagonal * (p[y - 1][x - 1] + p[y - 1][x + 1] + p[y + 1][x - 1] + p[y + 1][x + 1]);
}

// Three planes take turns in shared memory.
__global__ void cube(const double* in, double* out, const double* c, int n) {
  __shared__ Plane planes[3];
  const int x0 = blockIdx.x * TX, y0 = blockIdx.y * TY, x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  const int lx = threadIdx.x + 1, ly = threadIdx.y + 1;
  const bool inside = x > 0 && x < n - 1 && y > 0 && y < n - 1;
  const size_t nn = (size_t)n * n;
  load_plane(planes[0], in, n, x0, y0);
  load_plane(planes[1], in + nn, n, x0, y0);
  for (int z = 1; z < n - 1; ++z) {
    load_plane(planes[(z + 1) % 3], in + (z + 1) * nn, n, x0, y0);
    __syncthreads();
    if (inside) {
      double r = plane_sum(planes[z % 3], lx, ly, c[0], c[1], c[2]);
      r += plane_sum(planes[(z - 1) % 3], lx, ly, c[1], c[2], c[3]);
      r += plane_sum(planes[(z + 1) % 3], lx, ly, c[1], c[2], c[3]);
      out[z * nn + (size_t)y * n + x] = r;
    }
    __syncthreads();
  }
}
