// A block of 32 x 8 threads brings a tile of 32 x 32 cells with its halo; each thread computes four cells. Outside lies zero.
// buffers: u f32 in [H, W], v f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=70 W=90
// evo:launch diffuse(u, v, W, H, f32(0.3)) grid(ceil_div(W, 32), ceil_div(H, 32)) block(32, 8)
#define SIDE 32

__global__ void diffuse(const float *u, float *v, int w, int h, float k)
{
    __shared__ float cells[SIDE + 2][SIDE + 2];
    const int x0 = blockIdx.x * SIDE - 1, y0 = blockIdx.y * SIDE - 1;
    for (int n = threadIdx.y * 32 + threadIdx.x; n < (SIDE + 2) * (SIDE + 2); n += 256) {
        const int x = x0 + n % (SIDE + 2), y = y0 + n / (SIDE + 2);
        cells[n / (SIDE + 2)][n % (SIDE + 2)] = x >= 0 && x < w && y >= 0 && y < h ? u[y * w + x] : 0.0f;
    }
    __syncthreads();
    for (int step = 0; step < SIDE; step += 8) {
        const int tx = threadIdx.x + 1, ty = threadIdx.y + step + 1;
        const int x = x0 + tx, y = y0 + ty;
        if (x < w && y < h) {
            const float around = cells[ty - 1][tx] + cells[ty + 1][tx] + cells[ty][tx - 1] + cells[ty][tx + 1];
            v[y * w + x] = cells[ty][tx] + k * (around - 4.0f * cells[ty][tx]);
        }
    }
}
