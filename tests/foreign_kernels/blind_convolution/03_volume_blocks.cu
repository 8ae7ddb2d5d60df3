// Convolution of volumes in a lab's own code for scans: a block of three dimensions, output channels and samples in the grid.
// buffers: vol f32 in [N, CI, D, H, W], ker f32 in [CO, CI, 3, 3, 3], bias f32 in [CO], res f32 out [N, CO, D, H, W]
// sizes: N=1 CI=2 CO=3 D=5 H=6 W=9; N=2 CI=3 CO=2 D=4 H=5 W=18; N=1 CI=1 CO=5 D=2 H=9 W=3
#define IDX5(n, c, z, y, x, C, D, H, W) (((((n) * (C) + (c)) * (D) + (z)) * (H) + (y)) * (W) + (x))
#define KS 3
#define HALF_K (KS / 2)

__global__ void conv3d_kernel(const float *vol, const float *ker, const float *bias, float *res,
                              int N, int Cin, int Cout, int D, int H, int W)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int zc = blockIdx.z * blockDim.z + threadIdx.z;
    int z = zc % D;
    int co = (zc / D) % Cout;
    int n = zc / (D * Cout);

    if (x >= W || y >= H || n >= N)
        return;

    float acc = bias[co];
    for (int ci = 0; ci < Cin; ci++) {
        for (int kz = 0; kz < KS; kz++) {
            int iz = z + kz - HALF_K;
            if (iz < 0 || iz >= D)
                continue;
            for (int ky = 0; ky < KS; ky++) {
                int iy = y + ky - HALF_K;
                if (iy < 0 || iy >= H)
                    continue;
                for (int kx = 0; kx < KS; kx++) {
                    int ix = x + kx - HALF_K;
                    if (ix < 0 || ix >= W)
                        continue;
                    acc += vol[IDX5(n, ci, iz, iy, ix, Cin, D, H, W)] * ker[IDX5(co, ci, kz, ky, kx, Cin, KS, KS, KS)];
                }
            }
        }
    }
    res[IDX5(n, co, z, y, x, Cout, D, H, W)] = acc;
}
// evo:launch conv3d_kernel(vol, ker, bias, res, N, CI, CO, D, H, W) grid(ceil_div(W, 8), ceil_div(H, 8), ceil_div(N * CO * D, 4)) block(8, 8, 4)
