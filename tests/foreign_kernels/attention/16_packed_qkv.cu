// One matrix [B, T, 3, NH, HS] of queries, keys and values, a warp a query: each lane has two elements of the head.
// buffers: qkv f16 in [B, T, 3, NH, 64], out f16 out [B, T, NH, 64]
// sizes: B=1 T=34 NH=2; B=2 T=6 NH=1
#include <cuda_fp16.h>

#define HS 64
#define FULL 0xffffffffu

// evo:launch attention_packed(out, qkv, T, NH) grid(ceil_div(T, 4), NH, B) block(128)
__global__ void attention_packed(half* out, const half* qkv, int T, int NH) {
    int lane = threadIdx.x & 31;
    int t = blockIdx.x * 4 + (threadIdx.x >> 5);
    int h = blockIdx.y;
    int b = blockIdx.z;
    if (t >= T) return;
    int C3 = 3 * NH * HS;
    const half* q = qkv + (size_t)b * T * C3 + (size_t)t * C3 + h * HS;
    const half* k = qkv + (size_t)b * T * C3 + NH * HS + h * HS;
    const half* v = qkv + (size_t)b * T * C3 + 2 * NH * HS + h * HS;
    float q0 = __half2float(q[lane]);
    float q1 = __half2float(q[lane + 32]);
    float maxval = -INFINITY;
    float sum = 0.0f;
    float o0 = 0.0f, o1 = 0.0f;
    float scale = 1.0f / sqrtf((float)HS);
    for (int t2 = 0; t2 <= t; t2++) {
        float val = q0 * __half2float(k[(size_t)t2 * C3 + lane]) + q1 * __half2float(k[(size_t)t2 * C3 + lane + 32]);
        for (int o = 16; o > 0; o >>= 1) val += __shfl_xor_sync(FULL, val, o);
        val *= scale;
        float newmax = fmaxf(maxval, val);
        float fix = expf(maxval - newmax);
        float p = expf(val - newmax);
        sum = sum * fix + p;
        o0 = o0 * fix + p * __half2float(v[(size_t)t2 * C3 + lane]);
        o1 = o1 * fix + p * __half2float(v[(size_t)t2 * C3 + lane + 32]);
        maxval = newmax;
    }
    half* dst = out + ((size_t)(b * T + t) * NH + h) * HS;
    dst[lane] = __float2half(o0 / sum);
    dst[lane + 32] = __float2half(o1 / sum);
}
