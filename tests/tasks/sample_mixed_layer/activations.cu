// evo:launch quantized_linear(X, W, bias, Y, N, K, M) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
#include <stdint.h>

__global__ void quantized_linear(const uint8_t *__restrict__ X, const int8_t *__restrict__ W, const int *bias, int *Y,
                                 int out_features, int in_features, int batch)
{
    int o = threadIdx.x + blockIdx.x * blockDim.x;
    int b = threadIdx.y + blockIdx.y * blockDim.y;
    if (b < batch && o < out_features)
    {
        int32_t acc = 0;
        for (int i = 0; i < in_features; ++i)
            acc += static_cast<int32_t>(X[b * in_features + i]) * static_cast<int32_t>(W[o * in_features + i]);
        int q = (acc >> 6) + bias[o];
        q = q > 32767 ? 32767 : q;
        Y[b * out_features + o] = q < -32768 ? -32768 : q;
    }
}
