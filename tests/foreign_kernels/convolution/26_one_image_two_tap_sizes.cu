// One image and one filter, whose height and width are sizes.
// buffers: a f32 in [H, W], b f32 in [R, S], c f32 out [H, W]
// sizes: H=1 W=1 R=1 S=1; H=17 W=40 R=3 S=5; H=33 W=20 R=4 S=7
// evo:launch conv(a, b, c, u64(H), u64(W), u64(R), u64(S)) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void conv(const float *a, const float *b, float *c, size_t h, size_t w, size_t taps_h, size_t taps_w)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= h || col >= w) return;
    int up = (taps_h - 1) / 2, left = (taps_w - 1) / 2;
    float sum = 0.0f;
    for (int i = 0; i < taps_h; ++i)
        for (int j = 0; j < taps_w; ++j) {
            int y = row - up + i, x = col - left + j;
            if (y >= 0 && y < h && x >= 0 && x < w) sum += a[y * w + x] * b[i * taps_w + j];
        }
    c[row * w + col] = sum;
}
