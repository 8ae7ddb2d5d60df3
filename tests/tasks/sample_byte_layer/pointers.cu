// evo:launch qgemm(X, W, bias, scale, Y, M, N, K) grid(ceil_div(M, 16), ceil_div(N, 8)) block(16, 8)
#include <stdint.h>

__global__ void qgemm(const int8_t *act, const int8_t *weight, const float *bias, float scale, float *out, int rows, int cols,
                      int depth)
{
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    const int c = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= rows || c >= cols) return;
    const int8_t *left = act + r * depth;
    const int8_t *right = weight + c * depth;
    int32_t dot = 0;
    for (int e = 0; e < depth; ++e)
    {
        const int a = __ldg(&left[e]);
        const int b = right[e];
        dot = dot + b * a;
    }
    out[r * cols + c] = static_cast<float>(dot) * scale + bias[c];
}
