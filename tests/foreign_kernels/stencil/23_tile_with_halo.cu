// buffers: A f32 in [H, W], B f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch diffusion_tiled(A, B, W, H, f32(0.2)) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)
#define TILE 16

__global__ void diffusion_tiled(const float *u, float *un, int width, int height, float nu)
{
    __shared__ float s[TILE + 2][TILE + 2];
    int gx = blockIdx.x * TILE + threadIdx.x;
    int gy = blockIdx.y * TILE + threadIdx.y;
    int lx = threadIdx.x + 1;
    int ly = threadIdx.y + 1;

    if (gx < width && gy < height) {
        s[ly][lx] = u[gy * width + gx];
        if (threadIdx.x == 0 && gx > 0)                s[ly][0] = u[gy * width + gx - 1];
        if (threadIdx.x == TILE - 1 && gx < width - 1) s[ly][TILE + 1] = u[gy * width + gx + 1];
        if (threadIdx.y == 0 && gy > 0)                s[0][lx] = u[(gy - 1) * width + gx];
        if (threadIdx.y == TILE - 1 && gy < height - 1) s[TILE + 1][lx] = u[(gy + 1) * width + gx];
    }
    __syncthreads();

    if (gx > 0 && gy > 0 && gx < width - 1 && gy < height - 1)
        un[gy * width + gx] = s[ly][lx] + nu * (s[ly][lx - 1] + s[ly][lx + 1] + s[ly - 1][lx] + s[ly + 1][lx] - 4 * s[ly][lx]);
}
