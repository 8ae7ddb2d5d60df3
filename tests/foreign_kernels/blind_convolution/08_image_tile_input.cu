// Homework: filter of one image, blocks as large as the input tile, of which only the inner threads compute.
// buffers: I f32 in [H, W], F f32 in [5, 5], O f32 out [H, W]
// sizes: H=20 W=31; H=9 W=40; H=1 W=3
#define RAD 2
#define BLOCK 16
#define INNER (BLOCK - 2 * RAD)

__constant__ float mask[2 * RAD + 1][2 * RAD + 1];

// evo:constant mask = F
__global__ void filter_image(float *in, float *out, int w, int h) {
    __shared__ float tile[BLOCK][BLOCK];
    int lx = threadIdx.x, ly = threadIdx.y;
    int gx = blockIdx.x * INNER + lx - RAD;
    int gy = blockIdx.y * INNER + ly - RAD;
    bool inside = gx >= 0 && gx < w && gy >= 0 && gy < h;

    tile[ly][lx] = inside ? in[gy * w + gx] : 0.0f;
    __syncthreads();

    if (inside && lx >= RAD && lx < BLOCK - RAD && ly >= RAD && ly < BLOCK - RAD) {
        float v = 0.0f;
        for (int i = -RAD; i <= RAD; i++)
            for (int j = -RAD; j <= RAD; j++)
                v += tile[ly + i][lx + j] * mask[i + RAD][j + RAD];
        out[gy * w + gx] = v;
    }
}
// evo:launch filter_image(I, O, W, H) grid(ceil_div(W, 12), ceil_div(H, 12)) block(16, 16)
