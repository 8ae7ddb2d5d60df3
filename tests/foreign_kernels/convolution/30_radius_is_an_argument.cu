// One image; taps around each pixel, as far away as an argument says, that lie outside are left out.
// buffers: X f32 in [H, W], F f32 in [2 * R + 1, 2 * R + 1], Y f32 out [H, W]
// sizes: H=9 W=11 R=1; H=20 W=34 R=3; H=12 W=7 R=4

// evo:launch weigh_around(X, F, Y, W, H, R) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)
__global__ void weigh_around(const float* pixels, const float* weights, float* result, int columns, int lines, int radius) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float total = 0.0f;
    for (int v = y - radius; v <= y + radius; ++v) {
        for (int u = x - radius; u <= x + radius; ++u) {
            const bool outside = u < 0 || v < 0 || u >= columns || v >= lines;
            if (!outside) total += pixels[v * columns + u] * weights[(v - y + radius) * (2 * radius + 1) + (u - x + radius)];
        }
    }
    if (x < columns && y < lines) result[y * columns + x] = total;
}
