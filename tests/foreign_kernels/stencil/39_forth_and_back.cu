// Two steps of the game of life on a torus: from one board to another, and back.
// buffers: A i32<2 inout [H, W]
// sizes: H=1 W=1; H=33 W=50; H=20 W=131
// evo:workspace B i32 [H, W]
// evo:launch life(A, B, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)
// evo:launch life(B, A, W, H) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void life(const int *cur, int *next, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0) continue;
            int xx = (x + dx + width) % width;
            int yy = (y + dy + height) % height;
            alive += cur[yy * width + xx];
        }
    int state = cur[y * width + x];
    if (state == 1 && (alive < 2 || alive > 3)) next[y * width + x] = 0;
    else if (state == 0 && alive == 3) next[y * width + x] = 1;
    else next[y * width + x] = state;
}
