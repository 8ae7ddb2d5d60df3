// buffers: SRC f32 in [NZ, NY, NX], DST f32 out [NZ, NY, NX]
// sizes: NZ=1 NY=1 NX=1; NZ=7 NY=9 NX=30; NZ=3 NY=12 NX=140
// evo:launch relax(SRC, DST, NX, NY, NZ) grid(ceil_div(NX * NY * NZ, 256)) block(256)

__global__ void relax(const float* src, float* dst, unsigned nx, unsigned ny, unsigned nz)
{
  const unsigned cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= nx * ny * nz) return;
  const unsigned i = cell % nx;
  const unsigned j = (cell / nx) % ny;
  const unsigned k = cell / (nx * ny);
  float value = src[cell];
  if (i != 0 && i != nx - 1 && j != 0 && j != ny - 1 && k != 0 && k != nz - 1) {
    const float neighbours = src[cell - 1] + src[cell + 1] + src[cell - nx] + src[cell + nx] +
                             src[cell - nx * ny] + src[cell + nx * ny];
    value = 0.2f * value + 0.8f / 6.0f * neighbours;
  }
  dst[cell] = value;
}
