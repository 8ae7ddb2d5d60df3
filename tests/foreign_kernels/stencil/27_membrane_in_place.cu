// buffers: NEW f32 inout [H, W], CUR f32 in [H, W]
// sizes: H=1 W=1; H=13 W=12; H=40 W=130
// evo:launch membrane(NEW, CUR, W, H) grid(ceil_div(W, 32), ceil_div(H, 8)) block(32, 8)

// The last level but one becomes the next one. The frame is held.
__global__ void membrane(float *old_and_new, const float *cur, int w, int h)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= w || r >= h) return;
    int k = r * w + c;
    if (c == 0 || r == 0 || c == w - 1 || r == h - 1) {
        old_and_new[k] = 0.0f;
        return;
    }
    float before = old_and_new[k];
    float pull = cur[k - 1] + cur[k + 1] + cur[k - w] + cur[k + w] - 4.0f * cur[k];
    old_and_new[k] = 1.99f * cur[k] - 0.99f * before + 0.25f * pull;
}
