// buffers: X f16 in [R, C], Q u8 out [R, C], S f16 out [R], Z f16 out [R]
// sizes: R=1 C=2; R=30 C=64; R=9 C=402
// evo:launch quant_u8_asym<4>(X, Q, S, Z, i64(R), i64(C)) grid(ceil_div(R, 4)) block(32, 4)
#include <cuda_fp16.h>

__device__ __forceinline__ float warp_max(float x) {
    for (int o = 16; o > 0; o /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, o));
    return x;
}

__device__ __forceinline__ float warp_min(float x) {
    return -warp_max(-x);
}

// Asymmetric 8-bit quantisation of the KV cache: a warp takes a head.
template <int WARPS>
__global__ void __launch_bounds__(32 * WARPS) quant_u8_asym(
        const half *__restrict__ src, unsigned char *__restrict__ dst,
        half *__restrict__ scale, half *__restrict__ zero, const long long rows, const long long cols) {
    const long long row = (long long)blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) {
        return;
    }
    src += row * cols;
    dst += row * cols;

    float lo = 65504.0f, hi = -65504.0f;
    for (const half2 *p = reinterpret_cast<const half2 *>(src) + threadIdx.x; p < reinterpret_cast<const half2 *>(src + cols); p += 32) {
        const float2 v = __half22float2(*p);
        lo = fminf(lo, fminf(v.x, v.y));
        hi = fmaxf(hi, fmaxf(v.x, v.y));
    }
    lo = warp_min(lo);
    hi = warp_max(hi);

    const float d = (hi - lo) / 255.0f;
    const float id = d != 0.0f ? 1.0f / d : 0.0f;
    for (int i = threadIdx.x; i < cols; i += 32) {
        dst[i] = (unsigned char)min(255, max(0, __float2int_rn((__half2float(src[i]) - lo) * id)));
    }
    if (threadIdx.x == 0) {
        scale[row] = __float2half(d);
        zero[row]  = __float2half(lo);
    }
}
