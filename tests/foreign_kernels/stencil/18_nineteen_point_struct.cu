// buffers: A f32 in [NZ, NY, NX], B f32 out [NZ, NY, NX]
// sizes: NZ=1 NY=1 NX=1; NZ=7 NY=9 NX=30; NZ=3 NY=12 NX=140
// evo:launch lap19({NX, NY, NZ}, A, B) grid(ceil_div(NX, 64), ceil_div(NY, 2), ceil_div(NZ, 2)) block(64, 2, 2)

struct Extent {
  int nx, ny, nz;
};

__device__ __forceinline__ size_t at(const Extent& e, int i, int j, int k) { return ((size_t)k * e.ny + j) * e.nx + i; }

__global__ void lap19(Extent e, const float* __restrict__ f, float* __restrict__ g) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  int k = blockIdx.z * blockDim.z + threadIdx.z;
  bool inside = i > 0 && i + 1 < e.nx && j > 0 && j + 1 < e.ny && k > 0 && k + 1 < e.nz;
  if (!inside) return;
  float faces = f[at(e, i - 1, j, k)] + f[at(e, i + 1, j, k)] + f[at(e, i, j - 1, k)] + f[at(e, i, j + 1, k)] +
                f[at(e, i, j, k - 1)] + f[at(e, i, j, k + 1)];
  float edges = f[at(e, i - 1, j - 1, k)] + f[at(e, i + 1, j - 1, k)] + f[at(e, i - 1, j + 1, k)] + f[at(e, i + 1, j + 1, k)] +
                f[at(e, i - 1, j, k - 1)] + f[at(e, i + 1, j, k - 1)] + f[at(e, i - 1, j, k + 1)] + f[at(e, i + 1, j, k + 1)] +
                f[at(e, i, j - 1, k - 1)] + f[at(e, i, j + 1, k - 1)] + f[at(e, i, j - 1, k + 1)] + f[at(e, i, j + 1, k + 1)];
  g[at(e, i, j, k)] = (2.0f * faces + edges - 24.0f * f[at(e, i, j, k)]) / 6.0f;
}
