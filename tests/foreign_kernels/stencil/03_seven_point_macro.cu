// buffers: A f32 in [D, H, W], B f32 out [D, H, W]
// sizes: D=1 H=1 W=1; D=7 H=9 W=30; D=3 H=12 W=140
// evo:launch stencil7(A, B, W, H, D, 2, 6) grid(ceil_div(W, 32), ceil_div(H, 4), D) block(32, 4)
#define Index3D(_nx, _ny, _i, _j, _k) ((_i) + (_nx) * ((_j) + (_ny) * (_k)))

__global__ void stencil7(const float *A0, float *Anext, int nx, int ny, int nz, int c0, int c1)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z;
    if (i > 0 && j > 0 && k > 0 && i < nx - 1 && j < ny - 1 && k < nz - 1)
    {
        Anext[Index3D(nx, ny, i, j, k)] =
            (A0[Index3D(nx, ny, i, j, k + 1)] +
            A0[Index3D(nx, ny, i, j, k - 1)] +
            A0[Index3D(nx, ny, i, j + 1, k)] +
            A0[Index3D(nx, ny, i, j - 1, k)] +
            A0[Index3D(nx, ny, i + 1, j, k)] +
            A0[Index3D(nx, ny, i - 1, j, k)]) * c1
            - A0[Index3D(nx, ny, i, j, k)] * c0;
    }
}
