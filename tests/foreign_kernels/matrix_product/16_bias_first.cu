// A linear layer whose sums start with the bias, one row of blocks for each row, with C linkage.
// buffers: X f32 in [M, K], W f32 in [N, K], B f32 in [N], Y f32 out [M, N]
// sizes: M=33 N=24 K=40; M=8 N=72 K=16; M=2 N=3 K=9
extern "C" {
// evo:launch linear_forward(Y, X, W, B, M, N, K) grid(ceil_div(N, 64), M) block(64)
__global__ void linear_forward(float* out, const float* inp, const float* weight, const float* bias, int rows, int OC, int C) {
    const int r = blockIdx.y;
    const int o = blockIdx.x * blockDim.x + threadIdx.x;
    if (o < OC) {
        float val = bias ? bias[o] : 0.0f;
        const float* x = inp + (size_t)r * C;
        const float* w = weight + (size_t)o * C;
        for (int i = 0; i < C; i++) {
            val += x[i] * w[i];
        }
        out[(size_t)r * OC + o] = val;
    }
}
}
