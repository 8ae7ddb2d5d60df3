// buffers: RE f32 in [NZ, NY, NX], IM f32 in [NZ, NY, NX], SPECTRUM f32 out [64]
// sizes: NZ=1 NY=1 NX=1; NZ=4 NY=9 NX=20; NZ=12 NY=16 NX=33
// evo:memset SPECTRUM 0
// evo:launch shell_sums(RE, IM, SPECTRUM, NX, NY, NZ, 64) grid(ceil_div(NX, 8), ceil_div(NY, 4), ceil_div(NZ, 4)) block(8, 4, 4)

#define WAVE(i, n) ((i) <= (n) / 2 ? (i) : (i) - (n))

// Energy in shells of the wave number.
__global__ void shell_sums(const float* __restrict__ re, const float* __restrict__ im, float* __restrict__ spectrum,
                           int nx, int ny, int nz, int shells)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  const int k = blockIdx.z * blockDim.z + threadIdx.z;
  if (i < nx && j < ny && k < nz)
  {
    const float kx = WAVE(i, nx), ky = WAVE(j, ny), kz = WAVE(k, nz);
    const int shell = (int)(sqrtf(kx * kx + ky * ky + kz * kz) + 0.5f);
    if (shell < shells)
    {
      const int at = (k * ny + j) * nx + i;
      atomicAdd(&spectrum[shell], 0.5f * (re[at] * re[at] + im[at] * im[at]));
    }
  }
}
