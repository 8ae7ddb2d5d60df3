// The second half of a transformer's block: half, weights in rows of outputs, bias, GELU by tanh, a residual.
// buffers: X f16 in [M, K], W f16 in [N, K], B f16 in [N], R f16 in [M, N], Y f16 out [M, N]
// sizes: M=33 N=24 K=40; M=8 N=72 K=16; M=2 N=3 K=9
#include <cuda_fp16.h>

__device__ __forceinline__ float gelu_tanh(float v) {
    constexpr float kBeta = 0.7978845608028654f;
    constexpr float kKappa = 0.044715f;
    const float inner = kBeta * (v + kKappa * v * v * v);
    return 0.5f * v * (1.0f + tanhf(inner));
}

__device__ __forceinline__ float load_f(const half* p, size_t at) { return __half2float(__ldg(p + at)); }

// evo:launch fused_mlp_out(Y, X, W, B, R, M, N, K) grid(ceil_div(N, 64), M) block(64)
__global__ void fused_mlp_out(half* out, const half* inp, const half* weight, const half* bias, const half* residual, int BT,
                              int OC, int C) {
    const int bt = blockIdx.y;
    const int o = blockIdx.x * blockDim.x + threadIdx.x;
    if (bt >= BT || o >= OC) return;

    float val = (bias != nullptr) ? __half2float(bias[o]) : 0.0f;
    for (int i = 0; i < C; i++) {
        val += load_f(inp, (size_t)bt * C + i) * load_f(weight, (size_t)o * C + i);
    }
    val = gelu_tanh(val) + __half2float(residual[(size_t)bt * OC + o]);
    out[(size_t)bt * OC + o] = __float2half_rn(val);
}
