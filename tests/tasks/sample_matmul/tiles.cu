// evo:launch matMulTiled(A, B, C, M, N, K) grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16)
#define TS 16

__global__ void matMulTiled(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[TS][TS];
    __shared__ float Bs[TS][TS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TS + ty;
    int col = blockIdx.x * TS + tx;

    float acc = 0.0f;
    for (int t = 0; t < (K + TS - 1) / TS; t++)
    {
        As[ty][tx] = (row < M && t * TS + tx < K) ? A[row * K + t * TS + tx] : 0.0f;
        Bs[ty][tx] = (t * TS + ty < K && col < N) ? B[(t * TS + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TS; k++)
            acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = acc;
}
