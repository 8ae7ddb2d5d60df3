// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=3 W=4; H=13 W=12; H=40 W=130
// evo:launch advect(A, B, H, W) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

__global__ void advect(const float *q, float *r, int ny, int nx)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    int e = (i + 1) % nx, w = (i - 1 + nx) % nx, n = (j + 1) % ny, s = (j - 1 + ny) % ny;
    r[j * nx + i] = q[j * nx + i] + 0.1f * (q[j * nx + w] + q[j * nx + e] + q[s * nx + i] + q[n * nx + i] - 4 * q[j * nx + i]);
}
