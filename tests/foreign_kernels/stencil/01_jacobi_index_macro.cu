// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch jacobi(A, B, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)
#define IDX(i, j) ((i) * nx + (j))

__global__ void jacobi(const float *u, float *u_new, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;

    if (i > 0 && i < ny - 1 && j > 0 && j < nx - 1)
        u_new[IDX(i, j)] = 0.25f * (u[IDX(i - 1, j)] + u[IDX(i + 1, j)] + u[IDX(i, j - 1)] + u[IDX(i, j + 1)]);
}
