// One flat index, half with sums in float, bias and ReLU.
// buffers: X f16 in [M, K], W f16 in [K, N], bias f16 in [N], Y f16 out [M, N]
// sizes: M=33 N=24 K=40; M=17 N=70 K=16
#include <cuda_fp16.h>

// evo:launch linear_relu(X, W, bias, Y, M, N, K) grid((M * N + 255) / 256) block(256)
__global__ void linear_relu(const half* __restrict__ x, const half* __restrict__ w, const half* __restrict__ bias,
                            half* __restrict__ y, int m, int n, int k) {
    const int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= m * n) {
        return;
    }
    const int r = tid / n;
    const int c = tid - r * n;
    float acc = 0.f;
#pragma unroll 4
    for (int i = 0; i < k; ++i) {
        acc += __half2float(x[r * k + i]) * __half2float(w[i * n + c]);
    }
    acc += __half2float(bias[c]);
    y[tid] = __float2half(acc > 0.f ? acc : 0.f);
}
