// The gradient of weights, over batches and steps.
// buffers: DOUT f32 in [B, T, OC], INP f32 in [B, T, C], DW f32 inout [OC, C]
// sizes: B=2 T=9 C=40 OC=33; B=1 T=16 C=16 OC=64; B=3 T=1 C=5 OC=7
// evo:launch backward_weight(DW, DOUT, INP, B, T, C, OC) grid(ceil_div(OC, 16), ceil_div(C, 16)) block(16, 16)
__global__ void backward_weight(float* dweight, const float* dout, const float* inp, int B, int T, int C, int OC) {
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y * blockDim.y + threadIdx.y;
    if (o >= OC || c >= C) return;
    float dw = 0.0f;
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            dw += dout[b * T * OC + t * OC + o] * inp[b * T * C + t * C + c];
        }
    }
    dweight[o * C + c] += dw;
}
