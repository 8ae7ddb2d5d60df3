// The backward pass of a linear layer: a kernel for the gradient of the input, one that adds to those of the weights and the bias.
// buffers: DOUT f32 in [B, T, OC], INP f32 in [B, T, C], W f32 in [OC, C], DINP f32 out [B, T, C], DW f32 inout [OC, C], DBIAS f32 inout [OC]
// sizes: B=2 T=9 C=40 OC=33; B=1 T=16 C=16 OC=64; B=3 T=1 C=5 OC=7
// evo:launch linear_backward_input(DINP, DOUT, W, B * T, C, OC) grid(ceil_div(B * T, 16), ceil_div(C, 16)) block(16, 16)
// evo:launch linear_backward_weight(DW, DBIAS, DOUT, INP, B, T, C, OC) grid(ceil_div(OC, 16), ceil_div(C, 16)) block(16, 16)
#include <cuda_runtime.h>

// dinp = dout @ weight
__global__ void linear_backward_input(float* dinp, const float* dout, const float* weight, int BT, int C, int OC) {
    int bt = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y * blockDim.y + threadIdx.y;
    if (bt >= BT || c >= C) return;
    const float* dout_bt = dout + bt * OC;
    float val = 0.0f;
    for (int o = 0; o < OC; o++) {
        const float* wrow = weight + o * C;
        val += wrow[c] * dout_bt[o];
    }
    dinp[bt * C + c] = val;
}

// dweight += dout.T @ inp, dbias += sum of dout
__global__ void linear_backward_weight(float* dweight, float* dbias, const float* dout, const float* inp, int B, int T, int C,
                                       int OC) {
    int o = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y * blockDim.y + threadIdx.y;
    if (o >= OC || c >= C) return;
    float dw = 0.0f;
    float db = 0.0f;
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            float d = dout[b * T * OC + t * OC + o];
            dw += d * inp[b * T * C + t * C + c];
            db += d;
        }
    }
    dweight[o * C + c] += dw;
    if (c == 0) dbias[o] += db;
}
