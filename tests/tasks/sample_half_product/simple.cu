// evo:launch hgemm(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
#include <cuda_fp16.h>

__global__ void hgemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < M && col < N)
    {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
        {
            sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
        }
        C[row * N + col] = __float2half(sum);
    }
}
