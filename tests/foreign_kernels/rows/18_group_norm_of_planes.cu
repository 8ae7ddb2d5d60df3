// buffers: X f32 in [N, 6, P], W f32 in [6], B f32 in [6], Y f32 out [N, 6, P]
// sizes: N=1 P=2; N=13 P=25; N=40 P=131
// evo:launch group_norm_forward(X, W, B, Y, N, 6, P, 3) grid(ceil_div(N * 3, 64)) block(64)

// One thread for each group of an image.
__global__ void group_norm_forward(const float* x, const float* weight, const float* bias, float* y,
                                   int N, int C, int HW, int G) {
    int ng = blockIdx.x * blockDim.x + threadIdx.x;
    if (ng >= N * G) return;
    int n = ng / G, g = ng % G;
    int D = C / G;
    float sum = 0.0f, sum_sq = 0.0f;
    for (int d = 0; d < D; d++) {
        for (int p = 0; p < HW; p++) {
            float v = x[(n * C + g * D + d) * HW + p];
            sum += v;
            sum_sq += v * v;
        }
    }
    float mean = sum / (D * HW);
    float var = sum_sq / (D * HW) - mean * mean;
    float inv_std = rsqrtf(var + 1e-5f);
    for (int d = 0; d < D; d++) {
        int c = g * D + d;
        for (int p = 0; p < HW; p++) {
            int idx = (n * C + c) * HW + p;
            y[idx] = (x[idx] - mean) * inv_std * weight[c] + bias[c];
        }
    }
}
