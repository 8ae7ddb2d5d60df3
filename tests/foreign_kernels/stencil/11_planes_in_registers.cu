// buffers: A f32 in [D, H, W], B f32 out [D, H, W]
// sizes: D=2 H=1 W=1; D=7 H=9 W=30; D=3 H=12 W=140
// evo:launch register_pipeline(A, B, W, H, D) grid(ceil_div(W, 16), ceil_div(H, 16)) block(16, 16)

__global__ void register_pipeline(const float *g_input, float *g_output, const int dimx, const int dimy, const int dimz)
{
    int ix = blockIdx.x * blockDim.x + threadIdx.x;
    int iy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ix < 1 || iy < 1 || ix >= dimx - 1 || iy >= dimy - 1) return;
    int in_idx = iy * dimx + ix;
    int stride = dimx * dimy;
    float behind, current, infront;

    current = g_input[in_idx];
    infront = g_input[in_idx + stride];
    for (int i = 1; i < dimz - 1; i++) {
        in_idx += stride;
        behind = current;
        current = infront;
        infront = g_input[in_idx + stride];
        float value = 0.4f * current;
        value += 0.1f * (infront + behind + g_input[in_idx - dimx] + g_input[in_idx + dimx] + g_input[in_idx - 1] + g_input[in_idx + 1]);
        g_output[in_idx] = value;
    }
}
