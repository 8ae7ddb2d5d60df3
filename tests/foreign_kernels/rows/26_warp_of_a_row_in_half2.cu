// buffers: X f16 in [R, 2 * C], G f16 in [2 * C], Y f16 out [R, 2 * C]
// sizes: R=1 C=1; R=70 C=45; R=300 C=129
// evo:launch rmsnorm_half2(X, G, Y, R, C) grid(ceil_div(R, 4)) block(32, 4)
#include <cuda_fp16.h>

// One warp for each row, two elements at a time.
__global__ void rmsnorm_half2(const half2* x, const half2* gamma, half2* y, int rows, int pairs)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float squares = 0.f;
    for (int p = threadIdx.x; p < pairs; p += 32) {
        const float2 v = __half22float2(x[row * pairs + p]);
        squares += v.x * v.x + v.y * v.y;
    }
    for (int mask = 16; mask > 0; mask >>= 1) squares += __shfl_xor_sync(0xffffffffu, squares, mask);
    const float r = rsqrtf(squares / (2 * pairs) + 1e-6f);
    for (int p = threadIdx.x; p < pairs; p += 32) {
        const float2 v = __half22float2(x[row * pairs + p]);
        const float2 g = __half22float2(gamma[p]);
        y[row * pairs + p] = __floats2half2_rn(v.x * r * g.x, v.y * r * g.y);
    }
}
