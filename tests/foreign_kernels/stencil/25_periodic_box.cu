// buffers: A f64 in [NZ, NY, NX], B f64 out [NZ, NY, NX]
// sizes: NZ=1 NY=2 NX=3; NZ=7 NY=9 NX=30; NZ=6 NY=12 NX=70
// evo:launch smooth(A, B, NX, NY, NZ) grid(ceil_div(NX, 32), ceil_div(NY, 4), NZ) block(32, 4)

// All three axes go round.
__global__ void smooth(const double *in, double *out, unsigned nx, unsigned ny, unsigned nz)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z;
    if (x >= nx || y >= ny) return;
    double sum = 0.0;
    for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                const int xx = (x + dx + nx) % nx, yy = (y + dy + ny) % ny, zz = (z + dz + nz) % nz;
                sum += in[((size_t)zz * ny + yy) * nx + xx] * (dx == 0 && dy == 0 && dz == 0 ? 0.5 : 1.0 / 52);
            }
    out[((size_t)z * ny + y) * nx + x] = sum;
}
