// Pixels outside are left out of the mean. One block after another takes rows.
// buffers: src f32 in [H, W], dst f32 out [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=70
// evo:launch mean_filter(src, dst, W, H) grid(8) block(64)

__global__ void mean_filter(const float *__restrict__ src, float *__restrict__ dst, int w, int h)
{
    for (int y = blockIdx.x; y < h; y += gridDim.x) {
        for (int x = threadIdx.x; x < w; x += blockDim.x) {
            float total = 0.0f;
            int n = 0;
            for (int dy = -1; dy <= 1; dy++) {
                for (int dx = -1; dx <= 1; dx++) {
                    if (y + dy < 0 || y + dy >= h || x + dx < 0 || x + dx >= w) continue;
                    total += src[(y + dy) * w + x + dx];
                    n++;
                }
            }
            dst[y * w + x] = total / n;
        }
    }
}
