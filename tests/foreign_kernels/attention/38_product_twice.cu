// One product for the scores and for the output, and between them a softmax in place with a block a row.
// buffers: Q f32 in [N, D], K f32 in [M, D], V f32 in [M, D], O f32 out [N, D]
// sizes: N=37 M=50 D=32; N=20 M=7 D=64
// evo:workspace S f32 [N, M]
// evo:launch gemm(Q, K, S, N, M, D, f32(1.0 / sqrt(D)), 1) grid(ceil_div(M, 16), ceil_div(N, 16)) block(16, 16)
// evo:launch row_softmax(S, S, M) grid(N) block(32)
// evo:launch gemm(S, V, O, N, D, M, f32(1.0), 0) grid(ceil_div(D, 16), ceil_div(N, 16)) block(16, 16)
#include <float.h>

__global__ void gemm(const float* A, const float* B, float* C, int m, int n, int k, float alpha, int transposed)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++) sum += A[row * k + i] * (transposed ? B[col * k + i] : B[i * n + col]);
    C[row * n + col] = alpha * sum;
}

__device__ float warp_max(float x)
{
    for (int offset = 16; offset > 0; offset >>= 1) x = fmaxf(x, __shfl_down_sync(0xffffffff, x, offset));
    return __shfl_sync(0xffffffff, x, 0);
}

__device__ float warp_sum(float x)
{
    for (int offset = 16; offset > 0; offset >>= 1) x += __shfl_down_sync(0xffffffff, x, offset);
    return __shfl_sync(0xffffffff, x, 0);
}

__global__ void row_softmax(const float* in, float* out, int n)
{
    const float* x = in + blockIdx.x * n;
    float* y = out + blockIdx.x * n;
    float most = -FLT_MAX;
    for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, x[i]);
    most = warp_max(most);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 32) sum += __expf(x[i] - most);
    sum = warp_sum(sum);
    for (int i = threadIdx.x; i < n; i += 32) y[i] = __expf(x[i] - most) / sum;
}
